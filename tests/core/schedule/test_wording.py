"""Numbers in sentences."""

from core.schedule.wording import counted, iterations


def test_one_is_not_several() -> None:
    assert [counted(n, "cycle") for n in (0, 1, 2)] == ["0 cycles", "1 cycle", "2 cycles"]
    assert counted(1200, "cycle", "{:,}".format) == "1,200 cycles"
    assert [iterations(n) for n in (1, 2)] == ["one iteration", "2 iterations"]

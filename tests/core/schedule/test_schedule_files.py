"""Schedule files: what is read, what is a bad file and where, and bytes that do not change."""

from __future__ import annotations

import json

import pytest
from schedule_cases import CASES, graph, kernel_schedules, tiny_schedules

from core.diagnostics import InputError
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup
from core.schedule.read import load_schedule, parse_schedule
from core.schedule.write import dump_schedule, schedule_document

GRAPH = graph("kernels", "gemm")
TEXT = """\
schema: twill.schedule/1
ii: 512
groups: {load0: {kind: load, grant: 24}, compute0: {kind: compute, grant: 160}}
rings: {load_a: 2, load_b0: 3}
ops:
  load_a: {start: 0, group: load0}
  load_b0: {start: 256, group: load0}
  dot0_0: {start: 1112, group: compute0}
  dot0_1: {start: 1368, group: compute0}
origin: {by: solver, status: optimal, model: exact, seed: 1}
"""


def test_every_key_is_read() -> None:
    assert parse_schedule(TEXT, "s.yaml", GRAPH) == Schedule(
        512,
        {"load0": ScheduledGroup("load", 24), "compute0": ScheduledGroup("compute", 160)},
        {
            "load_a": Placement(0, "load0"),
            "load_b0": Placement(256, "load0"),
            "dot0_0": Placement(1112, "compute0"),
            "dot0_1": Placement(1368, "compute0"),
        },
        {"load_a": 2, "load_b0": 3},
        Origin("solver", "optimal", "exact", 1),
    )


def test_json_is_read_too() -> None:
    schedule = parse_schedule(TEXT, "s.yaml", GRAPH)
    assert parse_schedule(json.dumps(schedule_document(schedule)), "s.json", GRAPH) == schedule


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("  dot0_1: {start: 1368, group: compute0}\n", "", "missing-op", "dot0_1"),
        ("dot0_1:", "dot0_2:", "unknown-op", "did you mean 'dot0_1'?"),
        ("1368, group: compute0", "1368, group: compute1", "unknown-group", "did you mean 'compute0'?"),
        ("{kind: compute, grant", "{kind: computing, grant", "unknown-kind", "did you mean 'compute'?"),
        ("{kind: compute, grant: 160}", "{kind: compute}", "missing-key", "grant"),
        ("{kind: compute, grant: 160}", "{grant: 160}", "missing-key", "kind"),
        ("load_b0: 3", "dot0_0: 3", "no-ring", "not in shared memory"),
        ("load_b0: 3", "load_b1: 3", "unknown-op", "did you mean 'load_b0'?"),
        ("load_b0: 3", "load_b0: -1", "bad-value", "greater than or equal to 0"),
        ("start: 256", "start: -1", "bad-value", "greater than or equal to 0"),
        ("start: 256", "start: 2.5", "bad-value", "integer"),
        ("start: 256", f"start: {2**62}", "bad-value", "less than or equal to 1000000000"),
        ("start: 256, group", "start: 256, grup", "unknown-key", "did you mean 'group'?"),
        ("256, group: load0}", "256, group: load0, delay: 1}", "bad-delay", "its queue allows 0"),
        ("ii: 512", "ii: 0", "bad-value", "greater than or equal to 1"),
        ("ii: 512\n", "", "missing-key", "ii"),
        ("schedule/1", "schedule/9", "newer-schema", "twill.schedule/1"),
        ("rings:", "ring:", "unknown-key", "did you mean 'rings'?"),
        ("  dot0_1: {start", "  dot0_0: {start", "duplicate-key", "dot0_0"),
    ],
)
def test_each_fault_has_its_place(old: str, new: str, code: str, words: str) -> None:
    line = TEXT[: TEXT.index(old)].count("\n") + 1
    if code == "missing-op":
        line = 5  # the key `ops`
    elif old == "ii: 512\n":
        line = 1  # the document
    with pytest.raises(InputError) as caught:
        parse_schedule(TEXT.replace(old, new, 1), "s.yaml", GRAPH)
    (diagnostic,) = [d for d in caught.value.diagnostics if d.code == code]
    assert words in f"{diagnostic.message} {diagnostic.hint}"
    assert (diagnostic.file, diagnostic.line) == ("s.yaml", line)


def test_a_schedule_of_another_graph_is_a_bad_file() -> None:
    with pytest.raises(InputError) as caught:
        load_schedule(CASES / "kernels" / "schedules" / "layer_norm.yaml", GRAPH)
    codes = {diagnostic.code for diagnostic in caught.value.diagnostics}
    assert codes == {"unknown-op", "missing-op"}


@pytest.mark.parametrize(("folder", "schedules"), [("tiny", tiny_schedules()), ("kernels", kernel_schedules())])
def test_what_is_written_reads_back_equal_and_to_the_same_bytes(folder: str, schedules: dict[str, Schedule]) -> None:
    for name, schedule in schedules.items():
        text = dump_schedule(schedule)
        again = parse_schedule(text, name, graph(folder, name))
        assert again == schedule
        assert dump_schedule(again) == text


def test_the_written_form_is_that_of_the_format() -> None:
    assert dump_schedule(parse_schedule(TEXT, "s.yaml", GRAPH)) == TEXT


def test_delays_and_a_missing_status_survive() -> None:
    text = TEXT.replace("status: optimal, ", "")
    schedule = parse_schedule(text, "s.yaml", GRAPH)
    assert schedule.origin == Origin("solver", "")
    assert dump_schedule(schedule) == text
    delayed = Schedule(1, {"g": ScheduledGroup("compute", 8)}, {"a": Placement(3, "g", 2), "b": Placement(0, "g")})
    assert "  a: {start: 3, group: g, delay: 2}\n  b: {start: 0, group: g}\n" in dump_schedule(delayed)

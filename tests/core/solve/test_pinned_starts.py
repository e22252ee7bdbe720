"""Pins that contradict each other, the dependences or a unit: no II, told by arithmetic and not by a time-out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from solve_cases import answer, graph

from core.graph.model import Graph, Pin
from core.schedule.bounds import bounds, certificates
from core.schedule.check import check
from core.solve.events import SolveOptions, Status
from core.solve.solve import solve


def pinned(**starts: int) -> Graph:
    """Two tiles of 64 rows: a key load takes 1112 cycles, a product 576 and the tensor core for 512."""
    return replace(graph("kernels", "fa_fwd_hopper_2x64"), pins={op: Pin(start=start) for op, start in starts.items()})


@pytest.mark.parametrize(
    ("starts", "sentence"),
    [
        (
            {"qk0": 4000, "max0": 4100},
            "max0 is pinned to cycle 4100 and cannot start before 4576: qk0 -> max0 begins with qk0, pinned to cycle "
            "4000",
        ),
        (
            {"qk0": 1111},
            "qk0 is pinned to cycle 1111 and cannot start before 1112: load_k -> qk0 begins with load_k, which starts "
            "at cycle 0 or later",
        ),
    ],
)
def test_a_chain_that_does_not_fit_excludes_every_interval(starts: dict[str, int], sentence: str) -> None:
    loop = pinned(**starts)
    found = bounds(loop)
    assert found.lower_bound is None and [c.sentence for c in found.certificates] == [sentence]
    result = solve(loop, SolveOptions())
    assert result.status is Status.INFEASIBLE
    assert [entry.by for entry in result.trail] == ["dependence"]


def test_a_chain_around_the_loop_bounds_the_interval() -> None:
    """The state of one iteration is there for the next one, which pins put early."""
    loop = graph("kernels", "figure_1")
    least = answer(loop)
    assert least.schedule is not None and least.ii == 2
    late = {"s": Pin(start=0), "p": Pin(start=1), "o": Pin(start=7)}
    after = replace(loop, pins=late)
    assert bounds(after).lower_bound == 2 and answer(after).ii == 2
    edge = next(d for d in loop.dependences if d.distance)
    assert (edge.source, edge.target) == ("o", "o")
    back = tuple(replace(d, target="s") if d is edge else d for d in loop.dependences)
    carried = replace(loop, dependences=back, pins=late)
    found = bounds(carried)
    assert found.lower_bound == 8 and found.rec_mii == 3
    certificate = found.certificates[0]
    assert (certificate.required, certificate.available, certificate.ops) == (1, 0, ("o", "s"))
    result = answer(carried)
    assert result.ii == 8 and result.schedule is not None and check(carried, result.schedule).legal


def test_two_ops_pinned_to_a_unit_at_once_have_no_interval() -> None:
    loop = pinned(qk0=2000, qk1=2100)
    # They meet at 2047 too, but that is no reason for what is below.
    assert [c.required for c in bounds(loop).certificates] == [2048]
    assert [c.required for c in certificates(loop, 2047)] == [2048, 2]
    result = solve(loop, SolveOptions())
    assert result.status is Status.INFEASIBLE
    (entry,) = result.trail[1:]
    assert (entry.by, entry.lowest, entry.ii) == ("unit", 2048, 4 * 2048)


@pytest.mark.parametrize("apart", [3072, 2548])
def test_where_pins_meet_at_some_intervals_the_least_other_one_is_found(apart: int) -> None:
    """Each product has the tensor core for 512 cycles, so neither may begin so near the other around the interval."""
    result = answer(pinned(qk0=2000, qk1=2000 + apart))
    assert result.ii == next(ii for ii in range(2048, 8192) if 512 <= apart % ii <= ii - 512)

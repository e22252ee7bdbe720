# pyright: reportUnknownMemberType=false
"""Variables of the exact model in time: stage and slot of every op, and the order of moments around one period."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.solve.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


@dataclass(frozen=True, slots=True)
class Moment:
    """An op's start (or its start on the unit, after the delay) plus an offset, as cycle `phase + II * stage`.

    `stage` is that of the op or of its start on the unit, named by `clock`, plus `wraps`.
    """

    clock: str
    offset: int
    phase: cp_model.IntVar
    wraps: cp_model.LinearExpr | int


class Times:
    """Start = II * stage + slot for every op, the same for its start on the unit where the op may be delayed.

    The phases of moments are compared by one Boolean per ordered pair, shared by units, issue, live ranges and
    dependences: copies of a live range at an anchor are then linear in stages and Booleans, and exact. Stages enter
    only by their differences, `lag`, a variable per pair of ops: what the search learns then holds wherever the pair
    is (without this, proofs with many stages take more than 50 times as long). `most_periods` bounds the periods of
    any live range. `still` is called for every new pair.
    """

    def __init__(
        self,
        cp: cp_model.CpModel,
        problem: Problem,
        ii: int,
        stages: int,
        still: Callable[[], None] | None = None,
    ) -> None:
        self.cp = cp
        self._still = still
        self.ii = ii
        self._stages = stages
        self.most_periods = stages + _longest_tail(problem, ii)
        self._moments: dict[tuple[str, int], Moment] = {}
        self._later: dict[tuple[str, int, str, int], cp_model.IntVar] = {}
        self._lags: dict[tuple[str, str], cp_model.IntVar] = {}
        self._on_unit: dict[str, str] = {}
        self.slot: dict[str, cp_model.IntVar] = {}
        self.stage: dict[str, cp_model.IntVar] = {}
        self.start: dict[str, cp_model.IntVar] = {}
        self.unit_start: dict[str, cp_model.IntVar] = {}
        for name, op in problem.graph.ops.items():
            self._add_clock(name, stages)
            self._on_unit[name] = name
            self.unit_start[name] = self.start[name]
            if op.queue:
                # A delayed start may fall into later stages than any issue.
                delayed = f"{name}\0"  # not a name that a file can hold
                self._add_clock(delayed, stages + op.queue // ii + 1)
                cp.add(self.start[delayed] >= self.start[name])
                cp.add(self.start[delayed] <= self.start[name] + op.queue)
                self._on_unit[name] = delayed
                self.unit_start[name] = self.start.pop(delayed)

    def _add_clock(self, name: str, stages: int) -> None:
        self.slot[name] = self.cp.new_int_var(0, self.ii - 1, f"slot:{name}")
        self.stage[name] = self.cp.new_int_var(0, stages - 1, f"stage:{name}")
        self.start[name] = self.cp.new_int_var(0, stages * self.ii - 1, f"start:{name}")
        self.cp.add(self.start[name] == self.ii * self.stage[name] + self.slot[name])
        self._moments[name, 0] = Moment(name, 0, self.slot[name], 0)

    def at(self, op: str, offset: int = 0, *, on_unit: bool = False) -> Moment:
        """The moment `offset` cycles after the op's start, or after its start on the unit."""
        return self._moment(self._on_unit[op] if on_unit else op, offset)

    def block(self, op: str, offset: int, cycles: int, slack: int) -> tuple[Moment, Moment]:
        """Begin and end of a block of so many cycles that begins up to `slack` later than `offset` says."""
        clock = self._on_unit[op]
        if slack:
            loose = f"{clock}\0{offset}"
            if loose not in self.slot:
                self._add_clock(loose, self._stages + (offset + slack) // self.ii + 1)
                begin = self.start.pop(loose)
                self.cp.add(begin >= self.unit_start[op] + offset)
                self.cp.add(begin <= self.unit_start[op] + offset + slack)
            clock, offset = loose, 0
        return self._moment(clock, offset), self._moment(clock, offset + cycles)

    def _moment(self, clock: str, offset: int) -> Moment:
        periods, rest = divmod(offset, self.ii)
        if (clock, rest) not in self._moments:
            wraps = self.cp.new_bool_var("")
            phase = self.cp.new_int_var(0, self.ii - 1, f"phase:{clock}+{rest}")
            self.cp.add(phase == self.slot[clock] + rest - self.ii * wraps)
            self._moments[clock, rest] = Moment(clock, rest, phase, wraps)
        moment = self._moments[clock, rest]
        return replace(moment, wraps=moment.wraps + periods) if periods else moment

    def later(self, one: Moment, other: Moment) -> cp_model.IntVar | int:
        """Literal: the phase of `one` is after that of `other`."""
        if (one.clock, one.offset) == (other.clock, other.offset):
            return 0
        pair = (one.clock, one.offset, other.clock, other.offset)
        if pair not in self._later:
            if self._still is not None:
                self._still()
            literal = self.cp.new_bool_var("")
            self.cp.add(one.phase >= other.phase + 1).only_enforce_if(literal)
            self.cp.add(one.phase <= other.phase).only_enforce_if(~literal)
            self._later[pair] = literal
        return self._later[pair]

    def lag(self, begin: Moment, end: Moment) -> cp_model.LinearExpr | int:
        """Stage of `end` less that of `begin`."""
        a, b = begin.clock, end.clock
        beyond = end.wraps - begin.wraps
        if a == b:
            return beyond
        if (a, b) not in self._lags:
            most = self.most_periods
            self._lags[a, b] = self.cp.new_int_var(-most, most, f"lag:{a},{b}")
            self.cp.add(self._lags[a, b] == self.stage[b] - self.stage[a])
        return self._lags[a, b] + beyond

    def copies(self, begin: Moment, end: Moment, periods: int, anchor: Moment) -> cp_model.LinearExprT:
        """How many iterations' [begin, end + periods * II) cover the anchor's slot; exact unless it ends first."""
        return self.lag(begin, end) + periods + self.later(end, anchor) - self.later(begin, anchor)

    def not_before(
        self, moment: Moment, periods: int, earliest: Moment, given: Sequence[cp_model.BoolVarT] = ()
    ) -> None:
        """moment + periods * II >= earliest, said in stages and order, where all `given` hold."""
        late = self.lag(earliest, moment) + periods >= self.later(earliest, moment)
        self.cp.add(late).only_enforce_if(*given)

    def disjoint(
        self, first: Moment, cycles: int, second: Moment, other_cycles: int, given: Sequence[cp_model.BoolVarT]
    ) -> None:
        """[first, first + cycles) and [second, second + other_cycles) share no slot, where all `given` hold."""
        if cycles + other_cycles > self.ii:
            self.cp.add_bool_or([~literal for literal in given])
            return
        second_later = self.later(second, first)
        gap = second.phase - first.phase
        self.cp.add(gap >= cycles).only_enforce_if(*given, second_later)
        self.cp.add(gap <= self.ii - other_cycles).only_enforce_if(*given, second_later)
        self.cp.add(gap <= -other_cycles).only_enforce_if(*given, ~second_later)
        self.cp.add(gap >= cycles - self.ii).only_enforce_if(*given, ~second_later)


def _longest_tail(problem: Problem, ii: int) -> int:
    """Periods by which a live range may end after the last stage."""
    ops = problem.graph.ops
    written = [op.latency + op.hand_off_cycles + op.queue for op in ops.values()]
    read = [ii * d.distance + d.release + ops[d.target].queue for d in problem.graph.dependences]
    return max([*written, *read], default=0) // ii + 2

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""One z3 solver asked about many sets of named constraints of one graph at one interval."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.explain.constraints import Constraint, Topic
from core.explain.guarded import GuardedSystem
from core.graph.model import Graph
from core.schedule.model import Schedule
from core.solve.confirm.clauses import boolean_name
from core.solve.confirm.reading import read_schedule
from core.solve.events import Verdict
from core.solve.interrupt import interruptible

if TYPE_CHECKING:
    import z3

ANY_STEPS = 0
"""No limit but the clock."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """FEASIBLE with a `schedule`, which a judge must see, or INFEASIBLE with a `core`: of what was assumed, constraints
    that with `always` and at most `MORE_GROUPS` more groups of each kind exclude the interval."""

    verdict: Verdict
    schedule: Schedule | None = None
    core: frozenset[Constraint] = frozenset()


class Assumptions:
    """`always`: constraints that hold whatever is assumed."""

    def __init__(self, graph: Graph, ii: int, constraints: Iterable[Constraint]) -> None:
        import z3

        self._system = GuardedSystem(graph, ii, constraints)
        self.always = self._system.always
        self._context = z3.Context()
        self._solver = z3.SimpleSolver(ctx=self._context)
        # As in `core.solve.confirm`: the arithmetic solver for difference logic by Bellman and Ford.
        self._solver.set("smt.arith.solver", 1)
        self._solver.from_string(self._system.text)
        names = {c: boolean_name(literal) for c, literal in self._system.guards.items()}
        self._literals = {c: z3.Bool(name, self._context) for c, name in names.items()}
        self._constraints = {name: c for c, name in names.items()}

    def ask(
        self,
        held: Collection[Constraint],
        graph: Graph,
        limit_s: float,
        stopped: Callable[[], bool],
        steps: int = ANY_STEPS,
    ) -> Opinion:
        """The opinion on these smallest constraints, with all of `always` among them; `graph`: the one with only
        them. `steps`: of the solver, of which it does some 3 million a second, which it may take."""
        import z3

        self._solver.set("rlimit", steps)
        deadline = time.monotonic() + limit_s
        assumed = [literal for constraint, literal in self._literals.items() if constraint in held]

        def is_over() -> bool:
            return stopped() or time.monotonic() >= deadline

        try:
            answer = interruptible(lambda: self._solver.check(*assumed), self._context.interrupt, is_over)
        except z3.Z3Exception:
            if not is_over():
                raise
            return Opinion(Verdict.UNKNOWN)
        if answer == z3.unsat:
            return Opinion(Verdict.INFEASIBLE, core=self._core())
        if answer == z3.sat:
            values = _values(self._solver.model())
            return Opinion(Verdict.FEASIBLE, read_schedule(graph, self._system.as_held(held), values))
        return Opinion(Verdict.UNKNOWN)

    def _core(self) -> frozenset[Constraint]:
        return frozenset(self._constraints[str(literal)] for literal in self._solver.unsat_core())


def group_counts(constraints: Iterable[Constraint]) -> frozenset[Constraint]:
    """Those that z3 has no opinion on beyond `MORE_GROUPS`."""
    return frozenset(c for c in constraints if c.topic is Topic.GROUP_COUNT)


def _values(model: z3.ModelRef) -> dict[str, int]:
    """The integers and Booleans (0 or 1) by name."""
    import z3

    values: dict[str, int] = {}
    for constant in model.decls():
        value = model[constant]
        values[constant.name()] = value.as_long() if isinstance(value, z3.IntNumRef) else int(z3.is_true(value))
    return values

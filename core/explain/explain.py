"""The answer to a question, ever better: arithmetic at once, then cores, their confirmation, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from core.explain.answer import BY_RULE, Z3, Core, Explanation, ProofState, Relaxation
from core.explain.binding import binding
from core.explain.certified import certificate_reason, group_reason
from core.explain.clock import Clock, Solver
from core.explain.constraints import Constraint, named_constraints
from core.explain.cores import Cores, Found
from core.explain.decisions import Decisions
from core.explain.growth import grown
from core.explain.needs import needs
from core.explain.options import ExplainOptions
from core.explain.prober import Prober
from core.explain.question import Question, refused
from core.explain.reasons import Teller
from core.explain.relaxations import Relaxations, by_size, other_groups
from core.explain.sensitivity import by_room, sensitivities
from core.graph.model import Graph
from core.schedule.bounds import SEARCH_FACTOR, certificates
from core.schedule.edits import set_ii
from core.solve.events import Verdict

MANY = 8
"""A core of more reasons also says which II they allow."""


_NOTHING: Mapping[Constraint, int] = {}


def explain(
    question: Question,
    options: ExplainOptions | None = None,
    emit: Callable[[Explanation], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Explanation:
    """Answers the question. `emit` gets every better answer as it is known, the last one included; `stopped` is asked
    now and then. Raises RuntimeError if the two solvers contradict one another (an internal error)."""
    answering = _Answering(question, options or ExplainOptions(), emit or _ignore, stopped or _never)
    answering.run()
    return answering.answer


class _Answering:
    """One question, and the answer so far. Cores are told in the order of `_found`."""

    def __init__(
        self,
        question: Question,
        options: ExplainOptions,
        emit: Callable[[Explanation], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._question = question
        self._options = options
        self._emit = emit
        self._clock = Clock(options.total_s, stopped)
        self._solver = Solver(options.call_s, options.seed)
        self._found: list[Found] = []
        self.answer = Explanation(
            question.title, question.ii, Verdict.UNKNOWN, ProofState.UNKNOWN, in_place=question.in_place
        )

    def run(self) -> None:
        """Answers, as far as the limits allow."""
        question = self._question
        if refused(question):
            core = Core((group_reason(question),), ProofState.PROVED_MINIMAL, BY_RULE)
            self._say(verdict=Verdict.INFEASIBLE, state=core.state, cores=(core,))
            for relaxation in other_groups(question, Prober(question.ii, self._solver), self._clock):
                self._add(relaxation)
            self._say(done=True)
            return
        certified = certificates(question.graph, question.ii)
        if certified:
            cores = tuple(Core((certificate_reason(c, question.graph),), ProofState.PROVED) for c in certified)
            self._say(verdict=Verdict.INFEASIBLE, state=ProofState.PROVED, cores=cores)
        constraints = named_constraints(question.graph, question.asked)
        decisions = Decisions(question.graph, question.ii, constraints, self._solver)
        verdict = Verdict.UNKNOWN
        if not certified:
            verdict = self._by_known(decisions.prober)
            if verdict is Verdict.UNKNOWN:
                verdict = grown(decisions, self._clock)
        if verdict is Verdict.UNKNOWN:
            verdict = decisions.verdict(constraints, self._clock)
        if verdict is Verdict.INFEASIBLE:
            self._reasons(decisions)
            self._help(decisions)
        elif verdict is Verdict.FEASIBLE:
            self._say(verdict=verdict, state=ProofState.PROVED, binding=binding(question.graph, question.ii))
        if self._options.sensitivity:
            self._depends(decisions.prober)
        self._say(done=True)

    def _by_known(self, prober: Prober) -> Verdict:
        """What the known schedule says, at the interval asked about; it may help later too."""
        question = self._question
        if question.known is None or question.known.ii > question.ii:
            return Verdict.UNKNOWN
        prober.schedules.append(replace(set_ii(question.known, question.ii), rings={}))
        return prober.at_once(question.graph)

    def _reasons(self, decisions: Decisions) -> None:
        """Cores, each told at once and again when it is confirmed; then whether there are others."""
        enough = tuple(decisions.narrowed((), decisions.constraints))
        first = (self._told(decisions, Found(enough, False)),) if len(enough) < len(decisions.constraints) else ()
        self._say(verdict=Verdict.INFEASIBLE, state=ProofState.PROVED, cores=self.answer.cores or first)
        finder = Cores(decisions, self._clock.part(self._options.cores_s))
        for core in finder.find(self._options.cores):
            number = len(self._found)
            if number and not core.minimal and len(core.constraints) > MANY:
                break  # nearly all there is, which says nothing
            self._found.append(core)
            told = self._told(decisions, core)
            self._tell(number, told)
            self._tell(number, replace(told, confirmed_by=self._confirmed(decisions, core)))
        only = False if len(self._found) > 1 else finder.only(self._found[0]) if self._found else None
        self._say(only=only)

    def _help(self, decisions: Decisions) -> None:
        """What would make it possible; between the cheap changes and the others, which dependences matter."""
        relaxations = Relaxations(
            self._question, decisions, self._found, self._solver, self._clock, self._options.change_s
        )
        for relaxation in relaxations.find():
            self._add(relaxation)
        for number, core in enumerate(self._found):
            self._refine(decisions, number, core)
        for relaxation in relaxations.latencies():
            self._add(relaxation)

    def _depends(self, known: Prober) -> None:
        """Which costs the least II depends on; `known` has seen schedules at the interval asked about."""
        graph, clock = self._question.graph, Clock(self._options.total_s, self._clock.stopped)
        result = self._solver.least_ii(graph, clock, SEARCH_FACTOR * self._question.ii)
        if result is None or result.ii is None or result.proved_lower_bound < result.ii or result.schedule is None:
            return
        least_ii = result.ii
        self._say(least_ii=least_ii)
        at, below = (known if known.ii == ii else Prober(ii, self._solver) for ii in (least_ii, least_ii - 1))
        at.schedules.append(result.schedule)
        for found in sensitivities(graph, least_ii, at, below, clock):
            self._say(sensitivity=tuple(sorted([*self.answer.sensitivity, found], key=by_room)))

    def _refine(self, decisions: Decisions, number: int, core: Found) -> None:
        refined = Cores(decisions, self._clock.part(self._options.refine_s)).refined(core)
        self._found[number] = refined
        told = replace(self._told(decisions, refined), confirmed_by=self.answer.cores[number].confirmed_by)
        if refined.constraints != core.constraints:
            told = replace(told, confirmed_by=self._confirmed(decisions, refined))
        if not refined.refined or len(told.reasons) > MANY:
            told = self._with_nearest(told, decisions.graph_of(refined.constraints))
        counted = needs(
            decisions.graph_of(refined.constraints),
            refined.constraints,
            decisions.prober,
            self._clock.part(self._options.call_s),
        )
        self._tell(number, replace(told, reasons=self._told(decisions, refined, counted).reasons))
        if self.answer.only:
            # Of what the dependences were as a whole, other ones may do as well.
            self._say(only=Cores(decisions, self._clock.part(self._options.refine_s)).only(refined))

    def _with_nearest(self, core: Core, alone: Graph) -> Core:
        """The core with the least II that it allows: above the one asked about, which it excludes."""
        asked = self._question.ii
        result = self._solver.least_ii(alone, self._clock.part(self._options.call_s), SEARCH_FACTOR * asked)
        if result is None:
            return core
        ii, bound = result.ii, max(result.proved_lower_bound, asked + 1)
        return replace(core, nearest_ii=ii or bound, nearest_proved=ii is not None and bound >= ii)

    def _told(self, decisions: Decisions, found: Found, counted: Mapping[Constraint, int] = _NOTHING) -> Core:
        """The core in words."""
        teller = Teller(self._question, decisions.graph_of(found.constraints), counted)
        return Core(
            teller.reasons(found.constraints), ProofState.PROVED_MINIMAL if found.minimal else ProofState.PROVED
        )

    def _confirmed(self, decisions: Decisions, found: Found) -> str | None:
        return Z3 if decisions.confirmed(found.constraints, self._clock) else None

    def _tell(self, number: int, core: Core) -> None:
        cores = [*self.answer.cores[:number], core, *self.answer.cores[number + 1 :]]
        if number == 0 and len(self._found) == 1:
            cores = [core]  # in the place of the bare certificates, or of what is not minimal yet
        self._say(cores=tuple(cores), state=cores[0].state)

    def _add(self, relaxation: Relaxation) -> None:
        self._say(relaxations=tuple(sorted([*self.answer.relaxations, relaxation], key=by_size)))

    def _say(self, **known: Any) -> None:
        self.answer = replace(self.answer, seconds=self._clock.seconds(), **known)
        self._emit(self.answer)


def _ignore(answer: Explanation) -> None:
    """Nobody listens."""


def _never() -> bool:
    return False

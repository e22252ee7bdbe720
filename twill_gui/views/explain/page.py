"""An explanation as a page of linked text. No Qt: the page is HTML, its links are numbers of targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape

from core.explain.answer import (
    BY_RULE,
    NOTHING,
    Core,
    Explanation,
    Highlight,
    ProofState,
    Reason,
    Relaxation,
    Sensitivity,
)
from core.graph.model import Dependence
from core.schedule.report import Family, Violation
from twill_gui.models.arithmetic import FirstLayer, Share
from twill_gui.theme import Colors
from twill_gui.views.explain.nouns import Nouns, together

EDGES_SHOWN = 12
_ONLY_WITHOUT_QUEUEING = (
    "It is impossible only while asynchronous ops start at once: with a queue before their unit it is possible."
)
BULLET = "\N{BULLET}"


class Stage(Enum):
    """RUNNING: better answers may come. DONE: this is the last one. CANCELLED: the user wanted no more. FAILED: an
    internal error ended it."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Target:
    """What a link lights up, and what it does: selects its ops, chooses a core, or applies a relaxation."""

    lit: Highlight
    core: int | None = None
    relaxation: Relaxation | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """The text and its links: `href="N"` leads to `targets[N]`. `cores`: what each core lights up."""

    html: str
    targets: tuple[Target, ...]
    cores: tuple[Highlight, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a page tells: the question in words, what arithmetic says, the answer so far, and how far it has come.
    `chosen`: the core that is lit while nothing is pointed at. `applicable`: whether a relaxation can be applied."""

    title: str
    first: FirstLayer
    answer: Explanation
    stage: Stage
    chosen: int | None
    applicable: Callable[[Relaxation], bool]


def write_page(facts: Facts, nouns: Nouns, colors: Colors) -> Page:
    """The page of an answer."""
    writer = _Writer(facts, nouns, colors)
    html = "".join(writer.sections())
    cores = tuple(together(map(writer.lit, core.reasons)) for core in facts.answer.cores)
    return Page(html, tuple(writer.targets), cores)


_STATES = {
    ProofState.PROVED_MINIMAL: "proved, and minimal: none of these can be left out",
    ProofState.PROVED: "proved, not minimised: perhaps not all of these are needed",
    ProofState.UNKNOWN: "not decided",
}


def headline(facts: Facts) -> tuple[str, str]:
    """The answer in one line, and what is known of how sure it is."""
    answer, title = facts.answer, facts.title
    waiting = {Stage.RUNNING: "searching", Stage.CANCELLED: "cancelled", Stage.FAILED: "ended by an internal error"}
    note = waiting.get(facts.stage, "")
    verdict = answer.verdict.value
    if verdict == "infeasible":
        return f"{title} is impossible", "; ".join(part for part in (_STATES[answer.state].split(":")[0], note) if part)
    if verdict == "feasible":
        where = " if other ops move" if answer.in_place else ""
        return f"{title} is possible{where}", "; ".join(part for part in ("proved by a schedule", note) if part)
    if facts.stage is Stage.DONE:
        return f"No answer in {answer.seconds:.0f} s", f"whether {title} is possible is not known"
    return f"Why not {title}?", note


class _Writer:
    """Collects the targets of the links that it writes."""

    def __init__(self, facts: Facts, nouns: Nouns, colors: Colors) -> None:
        self._facts = facts
        self._nouns = nouns
        self._colors = colors
        self.targets: list[Target] = []

    def sections(self) -> Iterable[str]:
        """The page from top to bottom."""
        answer = self._facts.answer
        if answer.in_place:
            yield self._section("With all other ops where they are", map(self._violation, answer.in_place))
        many = len(answer.cores) > 1
        for number, core in enumerate(answer.cores):
            yield self._core(number, core, many)
        if answer.only:
            yield self._muted("There is no other reason.")
        elif answer.cores and answer.only is None and answer.done:
            yield self._muted("Whether there are other reasons is not known.")
        yield self._section("What leaves least room", (self._reason(reason) for reason in answer.binding))
        if answer.queueing_helps:
            yield self._muted(_ONLY_WITHOUT_QUEUEING)
        helps = [r for r in answer.relaxations if r.new is not None]
        yield self._section("What would help, each by itself", map(self._relaxation, helps))
        others = [self._linked(r.sentence) for r in answer.relaxations if r.new is None]
        yield self._section("What would not help", others)
        yield self._section("How far each cost may change, alone", map(self._sensitivity, answer.sensitivity))
        yield from self._arithmetic()

    def lit(self, reason: Reason) -> Highlight:
        """What a reason is about."""
        return self._nouns.shown(reason.highlight)

    # Pieces

    def _core(self, number: int, core: Core, many: bool) -> str:
        chosen = self._facts.chosen == number
        mark = "\N{BLACK CIRCLE}" if chosen else "\N{WHITE CIRCLE}"
        name = f"Reason {number + 1}" if many else "Because"
        head = self._link(f"{mark} {name}", Target(together(map(self.lit, core.reasons)), core=number))
        sure = f"{_STATES[core.state]}; {self._confirmation(core)}"
        rows = [self._reason(reason, f"{place}.") for place, reason in enumerate(core.reasons, 1)]
        if core.nearest_ii is not None:
            least = "the least II is" if core.nearest_proved else "no II is possible below"
            rows.append(self._muted_text(f"with these alone {least} {core.nearest_ii}"))
        return f"<h4>{head}</h4>{self._muted(sure)}{_list(rows)}"

    def _confirmation(self, core: Core) -> str:
        if core.confirmed_by == BY_RULE:
            return "a rule by itself"
        certified = {certificate.sentence for certificate in self._facts.first.certificates}
        by = "arithmetic" if all(reason.sentence in certified for reason in core.reasons) else "one solver"
        so_far = " so far" if self._facts.stage is Stage.RUNNING else ""
        return f"confirmed by a second solver ({core.confirmed_by})" if core.confirmed_by else by + so_far

    def _reason(self, reason: Reason, mark: str = BULLET) -> str:
        text = f"{self._link(mark, Target(self.lit(reason)))} {self._linked(reason.sentence)}"
        if len(reason.dependences) > 1:
            text += self._edges(reason.dependences)
        return text

    def _edges(self, dependences: Sequence[Dependence]) -> str:
        rows = [self._edge(dependence) for dependence in dependences[:EDGES_SHOWN]]
        if len(dependences) > EDGES_SHOWN:
            rows.append(self._muted_text(f"and {len(dependences) - EDGES_SHOWN} more dependences"))
        return "".join(f"<br>&nbsp;&nbsp;{row}" for row in rows)

    def _edge(self, dependence: Dependence) -> str:
        later = f", \N{GREEK SMALL LETTER DELTA} {dependence.distance}" if dependence.distance else ""
        arrow = f"{dependence.source} \N{RIGHTWARDS ARROW} {dependence.target}"
        lit = Highlight((dependence.source, dependence.target), (dependence,))
        return f"{self._link(arrow, Target(lit))} {dependence.latency}{later}"

    def _violation(self, violation: Violation) -> str:
        units = (violation.subject,) if violation.subject and violation.family is Family.UNIT else ()
        groups = (violation.subject,) if violation.subject and not units else ()
        lit = self._nouns.shown(Highlight(violation.ops, units=units, groups=groups))
        return f"{self._link(BULLET, Target(lit))} {self._linked(violation.message)}"

    def _sensitivity(self, found: Sensitivity) -> str:
        lit = self._nouns.shown(found.highlight)
        return f"{self._link(BULLET, Target(lit))} {self._linked(found.sentence)}"

    def _relaxation(self, relaxation: Relaxation) -> str:
        change = f"<b>{escape(str(relaxation.old))} \N{RIGHTWARDS ARROW} {escape(str(relaxation.new))}</b>"
        text = f"{change}: {self._linked(relaxation.text)}"
        if self._facts.applicable(relaxation):
            lit = self._nouns.shown(relaxation.highlight)
            text += f" &nbsp;{self._link('Apply', Target(lit, relaxation=relaxation))}"
        return text

    def _arithmetic(self) -> Iterable[str]:
        first = self._facts.first
        yield f"<h4>Arithmetic at II {first.ii}</h4>"
        yield from (f"<p>{self._share(share)}</p>" for share in (*first.units, *first.issue, *first.memory))
        if first.recurrence is not None:
            needs, has = first.recurrence.latency, first.recurrence.distance * first.ii
            lit = Highlight(first.recurrence.ops, first.edges)
            link = self._link("slowest recurrence", Target(lit))
            yield f"<p>{link}: needs {needs}, has {has} {self._mark(needs <= has)}{self._edges(first.edges)}</p>"

    def _share(self, share: Share) -> str:
        lit = together([self._nouns.named(share.subject), Highlight(share.ops)])
        name = self._link(share.subject, Target(lit))
        return f"{name}: needs {share.required}, has {share.available} {self._mark(share.enough)}"

    def _mark(self, good: bool) -> str:
        colour = self._colors.good if good else self._colors.error
        sign = "\N{CHECK MARK}" if good else "\N{MULTIPLICATION SIGN}"
        return f'<span style="color: {colour}">{sign}</span>'

    def _section(self, title: str, rows: Iterable[str]) -> str:
        written = list(rows)
        return f"<h4>{escape(title)}</h4>{_list(written)}" if written else ""

    def _linked(self, sentence: str) -> str:
        return "".join(
            self._link(noun.text, Target(noun.lit)) if noun.lit != NOTHING else escape(noun.text)
            for noun in self._nouns.pieces(sentence)
        )

    def _link(self, text: str, target: Target) -> str:
        self.targets.append(target)
        return f'<a href="{len(self.targets) - 1}">{escape(text)}</a>'

    def _muted(self, text: str) -> str:
        return f"<p>{self._muted_text(text)}</p>"

    def _muted_text(self, text: str) -> str:
        return f'<span style="color: {self._colors.muted}">{escape(text)}</span>'


def _list(rows: Sequence[str]) -> str:
    return "".join(f"<p>{row}</p>" for row in rows)

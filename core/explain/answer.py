"""What an explanation says: plain values, all that a view or a script needs to show it and to link its nouns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from core.graph.model import Dependence
from core.schedule.report import Family, Violation
from core.solve.events import Verdict

Z3 = "z3"
BY_RULE = "check"
"""Who confirms a core: the second solver, or the judge, whose rule it is word for word."""


class ProofState(Enum):
    """PROVED_MINIMAL: none of a core's reasons can be left out. PROVED: perhaps some can. UNKNOWN: no answer within
    the limits, which is no claim."""

    PROVED_MINIMAL = "proved_minimal"
    PROVED = "proved"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Highlight:
    """What views light up for an item: ops by id, dependences, units, and groups by their kind, or by their name in a
    schedule where the item is about one group."""

    ops: tuple[str, ...] = ()
    dependences: tuple[Dependence, ...] = ()
    units: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


NOTHING = Highlight()


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that must hold and does not leave room enough.

    `subject` names the unit, group kind, memory or op; `required` and `available` are in the rule's own amount (cycles,
    registers, bytes, columns, groups), None where nothing is counted. The rest are the parts of `highlight`.
    """

    family: Family
    subject: str
    required: int | None
    available: int | None
    ops: tuple[str, ...]
    sentence: str
    dependences: tuple[Dependence, ...] = ()
    units: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def highlight(self) -> Highlight:
        """What this reason is about."""
        return Highlight(self.ops, self.dependences, self.units, self.groups)

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's `cores` entries."""
        return {
            "family": self.family.value,
            "subject": self.subject,
            "required": self.required,
            "available": self.available,
            "ops": list(self.ops),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Core:
    """Reasons that together exclude what is asked, whatever all other rules say.

    `confirmed_by`: the second solver, if it was asked about these reasons alone and agreed;
    `check` where a rule says it word for word. `nearest_ii`: for a core of
    many reasons the least II that they allow (`nearest_proved`), or one below which they allow none.
    """

    reasons: tuple[Reason, ...]
    state: ProofState
    confirmed_by: str | None = None
    nearest_ii: int | None = None
    nearest_proved: bool = False


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One change that makes possible what is asked, or that does not however large it is (`new` None).

    `what` names the number, `subject` the op, unit or group kind it belongs to, if any. `least`: it is proved that one
    step less is not enough; for None, that none is.
    """

    what: str
    subject: str | None
    old: int | str
    new: int | str | None
    least: bool
    sentence: str
    highlight: Highlight = NOTHING

    @property
    def text(self) -> str:
        """The sentence, and whether less might do."""
        sure = self.least or self.new is None
        return self.sentence if sure else f"{self.sentence} (perhaps a smaller change is enough)"

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's `relaxations` entries."""
        return {
            "what": self.what,
            "subject": self.subject,
            "old": self.old,
            "new": self.new,
            "least": self.least,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far a cost that `ops` have in common may change, alone, while the least II stays what it is.

    One less than `least` makes a smaller II possible (None: not even 0 does), one more than `most` a greater one
    necessary (None: not even twice the cost does). `proved`: both are exact, else the room is at least that.
    """

    what: str
    ops: tuple[str, ...]
    old: int
    least: int | None
    most: int | None
    proved: bool
    sentence: str
    highlight: Highlight = NOTHING

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's `sensitivity` entries."""
        return {
            "what": self.what,
            "ops": list(self.ops),
            "old": self.old,
            "least": self.least,
            "most": self.most,
            "proved": self.proved,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to a question, as far as it is known; each one that is given later says more.

    `verdict`: whether what is asked is possible at all. `only`: there is no reason beside the first core; None: not
    known. `binding`: where it is possible, what has least room left. `in_place`: what is broken if all other ops stay
    where they are. `least_ii`, where sensitivity was asked for: the least II, if it is proved, of
    whose costs `sensitivity` speaks. `done`: nothing more will come.
    """

    title: str
    ii: int
    verdict: Verdict
    state: ProofState
    cores: tuple[Core, ...] = ()
    only: bool | None = None
    relaxations: tuple[Relaxation, ...] = ()
    binding: tuple[Reason, ...] = ()
    in_place: tuple[Violation, ...] = ()
    least_ii: int | None = None
    sensitivity: tuple[Sensitivity, ...] = ()
    seconds: float = 0.0
    done: bool = False

    @property
    def confirmed_by(self) -> str | None:
        """The second solver, if it has confirmed every core."""
        by = {core.confirmed_by for core in self.cores}
        return by.pop() if len(by) == 1 else None

    @property
    def queueing_helps(self) -> bool:
        """Whether asynchronous ops that wait in a queue for their unit make it possible: it is impossible only without
        queueing."""
        return any(relaxation.what == "queue" and relaxation.new is not None for relaxation in self.relaxations)

    def as_json(self) -> dict[str, Any]:
        """The command line's document. `core_states` is in the order of `cores`."""
        return {
            "question": self.title,
            "ii": self.ii,
            "verdict": self.verdict.value,
            "state": self.state.value,
            "cores": [[reason.as_json() for reason in core.reasons] for core in self.cores],
            "core_states": [
                {
                    "state": core.state.value,
                    "confirmed_by": core.confirmed_by,
                    "nearest_ii": core.nearest_ii,
                    "nearest_proved": core.nearest_proved,
                }
                for core in self.cores
            ],
            "only": self.only,
            "queueing_helps": self.queueing_helps,
            "confirmed_by": self.confirmed_by,
            "relaxations": [relaxation.as_json() for relaxation in self.relaxations],
            "binding": [reason.as_json() for reason in self.binding],
            "in_place": [violation.as_json() for violation in self.in_place],
            "least_ii": self.least_ii,
            "sensitivity": [sensitivity.as_json() for sensitivity in self.sensitivity],
            "seconds": round(self.seconds, 3),
        }

"""Stand-ins for the process of an explanation, for every end that one can come to. In a module, as spawn needs."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from multiprocessing.connection import Connection

from core.explain.answer import Core, Explanation, Highlight, ProofState, Reason, Relaxation
from core.explain.options import ExplainOptions
from core.explain.question import Question
from core.schedule.report import Family
from core.solve.events import Failed, Verdict
from twill_gui.jobs.supervisor import Finished

UNIT = Reason(Family.UNIT, "x", 2, 1, ("a",), "x is busy 2 of 1 cycles (a 2)", units=("x",))
WIDER = Relaxation("groups", "compute", 2, 3, True, "3 groups: compute instead of 2", Highlight(groups=("compute",)))


def recurrence(question: Question) -> Reason:
    """The carried value of the small graph, as a reason."""
    dependences = question.graph.dependences
    sentence = "the recurrence a -> b -> a takes 5 cycles in one iteration"
    return Reason(Family.DEPENDENCE, "recurrence", 5, 4, ("a", "b"), sentence, dependences)


def refused(question: Question) -> Explanation:
    """Two reasons, one of them confirmed, and what would help."""
    cores = (
        Core((recurrence(question),), ProofState.PROVED_MINIMAL, "z3"),
        Core((UNIT, recurrence(question)), ProofState.PROVED),
    )
    return Explanation(
        question.title, question.ii, Verdict.INFEASIBLE, ProofState.PROVED_MINIMAL, cores, False, (WIDER,), seconds=0.5
    )


def answers(connection: Connection, question: Question, options: ExplainOptions) -> None:
    answer = refused(question)
    connection.send(replace(answer, cores=answer.cores[:1], relaxations=()))
    connection.send(replace(answer, done=True))
    connection.send(Finished())


def until_stopped(connection: Connection, question: Question, options: ExplainOptions) -> None:
    connection.send(refused(question))
    connection.recv()
    connection.send(Finished())


def does_not_know(connection: Connection, question: Question, options: ExplainOptions) -> None:
    unknown = Explanation(question.title, question.ii, Verdict.UNKNOWN, ProofState.UNKNOWN, seconds=30.0, done=True)
    connection.send(unknown)
    connection.send(Finished())


def crash(connection: Connection, question: Question, options: ExplainOptions) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fail(connection: Connection, question: Question, options: ExplainOptions) -> None:
    connection.send(Failed("ValueError: no", "Traceback: ..."))

"""Reasons that stand by themselves: certificates of arithmetic, and a group that may not hold an op."""

from __future__ import annotations

from core.explain.answer import Reason
from core.explain.constraints import may_hold
from core.explain.question import Question
from core.graph.model import Graph, GroupKind
from core.schedule.certificate import Certificate
from core.schedule.report import Family


def certificate_reason(certificate: Certificate, graph: Graph) -> Reason:
    """A certificate of the graph as the reason that it is by itself."""
    family, subject, ops = certificate.family, certificate.subject, certificate.ops
    kinds: list[GroupKind] = []
    if family is Family.VARIABLE_LATENCY:
        kinds = [kind for kind in graph.groups if kind.variable_latency]
    elif family in _ON_GROUPS:
        kinds = [kind for kind in graph.groups if all(may_hold(kind, graph.ops[op]) for op in ops)]
    return Reason(
        family,
        subject,
        certificate.required,
        certificate.available,
        ops,
        certificate.sentence,
        units=(subject,) if family is Family.UNIT else (),
        groups=tuple(kind.kind for kind in kinds),
    )


_ON_GROUPS = (Family.ISSUE, Family.REGISTERS, Family.GROUPS)
"""Rules whose certificates count what groups have."""


def group_reason(question: Question) -> Reason:
    """Why the group that is asked for can hold no such op."""
    assert question.group is not None
    name, kind = question.group
    op = question.graph.ops[question.asked[0]]
    ops, groups = (op.id,), (name,)
    if kind.variable_latency == op.variable_latency:
        sentence = f"{op.id} needs {op.needs_warps} warps, a {kind.kind} group such as {name} has {kind.warps}"
        return Reason(Family.GROUPS, name, op.needs_warps, kind.warps, ops, sentence, groups=groups)
    if op.variable_latency:
        sentence = f"{op.id} has variable latency and must be on a group for such ops, which {name} is not"
    else:
        sentence = f"{name} is for ops of variable latency only, and {op.id} has none"
    return Reason(Family.VARIABLE_LATENCY, name, None, None, ops, sentence, groups=groups)

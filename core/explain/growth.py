"""A first set of named constraints that excludes an interval, grown from few: what a schedule of those breaks is added.

Few constraints are quick to ask about, and most intervals are excluded without many of them.
"""

from __future__ import annotations

from core.explain.clock import Clock
from core.explain.constraints import Topic
from core.explain.decisions import Decisions
from core.explain.prober import granted
from core.schedule.check import Judge
from core.schedule.model import Schedule
from core.schedule.report import Family, Violation
from core.solve.events import Verdict

TIERS = (
    (frozenset({Topic.SHARED_MEMORY, Topic.TENSOR_MEMORY, Topic.HAND_OFF_TIME}), 0.02),
    (frozenset({Topic.REGISTER_LIMIT, Topic.REGISTER_FILE}), 0.04),
    (frozenset({Topic.ISSUE}), 0.09),
)
"""What is added when a schedule breaks it, what is quickest to ask about first, and the deterministic work that a
question with it is worth (4 seconds for 1). All other constraints hold from the start."""


def grown(decisions: Decisions, clock: Clock) -> Verdict:
    """Whether all constraints can be kept; UNKNOWN: that was not found out in this way. `decisions` then knows of the
    set that excludes the interval."""
    tier_of = {topic: number for number, (topics, _) in enumerate(TIERS) for topic in topics}
    held = [c for c in decisions.constraints if c.topic not in tier_of]
    memory = (Topic.SHARED_MEMORY, Topic.TENSOR_MEMORY)
    if decisions.excludes_in_part([c for c in decisions.constraints if c.topic not in memory], clock):
        return Verdict.INFEASIBLE
    judge, tier = Judge(decisions.graph), 0
    while True:
        verdict, schedule = decisions.glance(held, TIERS[tier][1], clock)
        if verdict is Verdict.INFEASIBLE:
            if len(held) == len(decisions.constraints):
                # What is shown first says more if something was left out.
                decisions.glance([c for c in held if c.topic is not Topic.REGISTER_FILE], TIERS[tier][1], clock)
            return verdict
        left = [c for c in decisions.constraints if c not in held]
        if schedule is None:
            # Whether there is one is a harder question than with what comes later.
            broken = [c for c in left if tier_of[c.topic] > tier]
        else:
            report = judge.check(granted(judge, decisions.graph, schedule))
            if report.legal:
                return Verdict.FEASIBLE
            topics = {topic for violation in report.violations for topic in _broken(violation, schedule)}
            broken = [c for c in left if c.topic in topics]
        if not broken:
            return Verdict.UNKNOWN
        tier = min(tier_of[c.topic] for c in broken)
        held += [c for c in broken if tier_of[c.topic] == tier]


def _broken(violation: Violation, schedule: Schedule) -> frozenset[Topic]:
    """What may be added for it. Of the rule on registers: what is about a group, or else about all of them."""
    if violation.family is Family.REGISTERS:
        return frozenset({Topic.REGISTER_LIMIT if violation.subject in schedule.groups else Topic.REGISTER_FILE})
    return frozenset(topic for topic in Topic if topic.family is violation.family)

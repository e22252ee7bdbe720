"""Named constraints as sentences with numbers: what, where, how much is needed and how much there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.explain.answer import Reason
from core.explain.certified import certificate_reason
from core.explain.chains import Chain, chains
from core.explain.constraints import FOR_VARIABLE_LATENCY, Constraint, Topic, issuing_ops, may_hold
from core.explain.question import Question
from core.graph.model import DependenceKind, Graph, GroupKind, InOrderIssue, Op, Space
from core.schedule.bounds import certificates
from core.schedule.bounds_time import unit_loads
from core.schedule.certificate import Certificate
from core.schedule.check_groups import keeps_group_busy
from core.schedule.report import Family
from core.schedule.wording import counted, distinct, iterations, largest, listed, verb

SHOWN = 5
"""Ops that a sentence names."""


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells the constraints of one core. `graph`: the one asked about; `alone`: the same with this core only; `needs`:
    what would be enough of what a constraint counts, as far as it is known."""

    question: Question
    alone: Graph
    needs: Mapping[Constraint, int]

    @property
    def graph(self) -> Graph:
        """The graph asked about."""
        return self.question.graph

    def reasons(self, core: Sequence[Constraint]) -> tuple[Reason, ...]:
        """The reasons in the order of the constraints. Where arithmetic alone excludes the interval, the constraint
        that it rests on is told by its certificate."""
        certified = certificates(self.alone, self.question.ii)
        return tuple(self._reason(constraint, certified) for constraint in core)

    def _reason(self, constraint: Constraint, certified: Sequence[Certificate]) -> Reason:
        for certificate in certified:
            if certificate.family is constraint.topic.family and _rests_on(certificate, constraint):
                return replace(certificate_reason(certificate, self.graph), dependences=constraint.dependences)
        return _TELLERS[constraint.topic](self, constraint)

    def dependences(self, constraint: Constraint) -> Reason:
        """A chain of dependences, or all of them."""
        found = chains(constraint.dependences, list(self.graph.ops))
        if len(found) == 1:
            return self._chain(found[0], constraint)
        ops = distinct(op for chain in found for op in chain.ops)
        if len(constraint.dependences) == len(self.graph.dependences):
            sentence = f"all {len(constraint.dependences)} dependences hold"
        else:
            shown = [chain.text for chain in found[:SHOWN]]
            rest = len(constraint.dependences) - sum(len(chain.dependences) for chain in found[:SHOWN])
            sentence = f"these dependences hold: {', '.join(shown)}" + (f" and {rest} more" if rest else "")
        return Reason(Family.DEPENDENCE, "dependences", None, None, ops, sentence, constraint.dependences)

    def _chain(self, chain: Chain, constraint: Constraint) -> Reason:
        if chain.closed:
            available = chain.distance * self.question.ii
            trip = iterations(chain.distance)
            if chain.latency > available:
                sentence = (
                    f"the recurrence {chain.text} takes {counted(chain.latency, 'cycle')} in {trip} and has {available}"
                )
            else:
                sentence = (
                    f"what {chain.text} computes is carried from iteration to iteration "
                    f"({chain.latency} of {counted(available, 'cycle')})"
                )
            subject = "recurrence"
        else:
            available = None
            back = f", {iterations(chain.distance)} later" if chain.distance else ""
            first, last = chain.dependences[0].source, chain.dependences[-1].target
            sentence = (
                f"{last}{back}{',' if back else ''} waits {counted(chain.latency, 'cycle')} for {first}"
                if len(chain.dependences) == 1
                else f"{chain.text} takes {counted(chain.latency, 'cycle')}{back}"
            )
            subject = f"{first} -> {last}"
        return Reason(Family.DEPENDENCE, subject, chain.latency, available, chain.ops, sentence, constraint.dependences)

    def unit(self, constraint: Constraint) -> Reason:
        """How busy the unit is."""
        unit, ii = constraint.subject, self.question.ii
        load = next(load for load in unit_loads(self.graph) if load.subject == unit)
        available = load.places * ii
        has = f"{load.places} x {ii}" if load.places != 1 else f"{ii}"
        sentence = f"{unit} is busy for {load.work} of {has} cycles in each iteration ({largest(load.parts)})"
        ops = tuple(op for op, _ in load.parts)
        return Reason(Family.UNIT, unit, load.work, available, ops, sentence, units=(unit,))

    def issue(self, constraint: Constraint) -> Reason:
        """How long groups are busy issuing."""
        ops = sorted(issuing_ops(self.graph, constraint), key=lambda op: -op.issue_cycles)
        kinds = [kind for kind in self.graph.groups if kind.count]
        if constraint.subject:
            kinds = [k for k in kinds if k.variable_latency == (constraint.subject == FOR_VARIABLE_LATENCY)]
        work, available = sum(op.issue_cycles for op in ops), self.question.ii * sum(kind.count for kind in kinds)
        parts = largest([(op.id, op.issue_cycles) for op in ops])
        who = _kinds_text(kinds)
        weak = self.graph.rules.in_order_issue is InOrderIssue.WEAK
        rule = "issues nothing beside an op that waits for an asynchronous one" if weak else "issues one op at a time"
        sentence = (
            f"a group {rule}: the ops take {work} of {counted(available, 'cycle')} in each iteration on {who} ({parts})"
        )
        return Reason(Family.ISSUE, who, work, available, _names(ops), sentence, groups=_kinds(kinds))

    def register_limit(self, constraint: Constraint) -> Reason:
        """The limit per thread, and the largest values."""
        file, needed = self.graph.machine.registers, self.needs.get(constraint)
        ops = self._held(Space.REGISTERS)
        kept = f", {file.overhead} kept back included" if file.overhead else ""
        has = f"a thread has at most {file.max_per_thread} registers"
        most = f"at least {needed} registers a thread are needed at some moment{kept}, there are {file.max_per_thread}"
        sentence = f"{f'{has}{kept}' if needed is None else most}{self._values(ops, '')}"
        return Reason(Family.REGISTERS, "registers", needed, file.max_per_thread, _names(ops), sentence)

    def register_file(self, constraint: Constraint) -> Reason:
        """What all groups share."""
        words = self.graph.machine.registers.file_words
        kinds = [kind for kind in self.graph.groups if kind.count]
        sentence = f"all groups together ({_kinds_text(kinds)}) have {words} register words"
        ops = _names(self._held(Space.REGISTERS))
        return Reason(Family.REGISTERS, "register file", None, words, ops, sentence, groups=_kinds(kinds))

    def shared_memory(self, constraint: Constraint) -> Reason:
        """The capacity, and the largest tiles."""
        machine, ops, needed = self.graph.machine, self._held(Space.SHARED), self.needs.get(constraint)
        bytes_, fixed = machine.shared_memory_bytes, machine.fixed_shared_bytes
        kept = f", {fixed} of them taken for good" if fixed else ""
        has = f"shared memory has {bytes_} bytes{kept}"
        sentence = (
            has if needed is None else f"at least {needed} bytes of shared memory are needed, there are {bytes_}{kept}"
        )
        sentence += self._values(ops, " for each slot")
        return Reason(Family.SHARED_MEMORY, "shared memory", needed, bytes_, _names(ops), sentence)

    def tensor_memory(self, constraint: Constraint) -> Reason:
        """The columns, and the largest values."""
        columns, ops = self.graph.machine.tensor_memory_columns, self._held(Space.TENSOR)
        needed = self.needs.get(constraint)
        has = f"tensor memory has {columns} columns"
        sentence = (
            has if needed is None else f"at least {needed} columns of tensor memory are needed, there are {columns}"
        )
        sentence += self._values(ops, "")
        return Reason(Family.TENSOR_MEMORY, "tensor memory", needed, columns, _names(ops), sentence)

    def group_count(self, constraint: Constraint) -> Reason:
        """How many groups of the kind there are."""
        kind, needed = self.graph.group_kind(constraint.subject), self.needs.get(constraint)
        ops = [op for op in self.graph.ops.values() if may_hold(kind, op)]
        held = f" for {_some(ops)}" if ops else ""
        there = f"there {'is' if kind.count == 1 else 'are'}"
        sentence = f"{there} {_kinds_text([kind])}{held}"
        if needed is not None:
            enough = _kinds_text([replace(kind, count=needed)])
            sentence = (
                f"at least {enough} {'is' if needed == 1 else 'are'} needed{held}, {there} {kind.count or 'none'}"
            )
        return Reason(Family.GROUPS, kind.kind, needed, kind.count, _names(ops), sentence, groups=(kind.kind,))

    def variable_latency(self, constraint: Constraint) -> Reason:
        """Who has a group apart."""
        ops = [op for op in self.graph.ops.values() if op.variable_latency]
        kinds = listed([kind.kind for kind in self.graph.groups if kind.variable_latency] or ["no"])
        who = (
            f"{listed(_names(ops))} {verb(_names(ops), 'have')}" if len(ops) > 1 else f"{ops[0].id} has" if ops else ""
        )
        others = [name for name in self.question.asked if not self.graph.ops[name].variable_latency]
        apart = f"which {listed(others)} may not be on" if others else "and no other op is"
        sentence = (
            f"{who} variable latency: such ops are on {kinds} groups, {apart}"
            if ops
            else f"{kinds} groups are for ops of variable latency, and no op is one"
        )
        groups = tuple(kind.kind for kind in self.graph.groups if kind.variable_latency)
        return Reason(Family.VARIABLE_LATENCY, "variable latency", None, None, _names(ops), sentence, groups=groups)

    def warps(self, constraint: Constraint) -> Reason:
        """Who needs large groups."""
        most = max((kind.warps for kind in self.graph.groups if kind.count), default=0)
        ops = [op for op in self.graph.ops.values() if op.needs_warps > min(k.warps for k in self.graph.groups)]
        ops.sort(key=lambda op: -op.needs_warps)
        shown = largest([(op.id, op.needs_warps) for op in ops]).replace(" + ", ", ")
        sentence = f"ops need groups of enough warps ({shown}), the largest group has {most}"
        return Reason(Family.GROUPS, "warps", ops[0].needs_warps, most, _names(ops), sentence)

    def hand_off_time(self, constraint: Constraint) -> Reason:
        """What crossing costs."""
        ops = [op for op in self.graph.ops.values() if op.result.space is Space.REGISTERS and op.hand_off_cycles]
        read = {d.source for d in self.alone.dependences if d.kind is DependenceKind.FLOW}
        ops = [op for op in ops if op.id in read] or ops
        ops.sort(key=lambda op: -op.hand_off_cycles)
        shown = largest([(op.id, op.hand_off_cycles) for op in ops[:SHOWN]]).replace(" + ", ", ")
        more = f" and {len(ops) - SHOWN} more" if len(ops) > SHOWN else ""
        sentence = f"a value reaches another group later, by so many cycles: {shown}{more}"
        return Reason(Family.DEPENDENCE, "hand-off", ops[0].hand_off_cycles, None, _names(ops), sentence)

    def no_hand_off(self, constraint: Constraint) -> Reason:
        """Nothing crosses."""
        ops = self._held(Space.REGISTERS)
        sentence = "no register value may cross groups, so the readers of a value are on its group"
        return Reason(Family.ROLE, "hand-off", None, 0, _names(ops), sentence)

    def matrix_role(self, constraint: Constraint) -> Reason:
        """Who may not share a group."""
        matrix = [op for op in self.graph.ops.values() if op.matrix]
        busy = [op for op in self.graph.ops.values() if keeps_group_busy(op)]
        sentence = f"a group with {_some(matrix)} has no synchronous op ({_some(busy)})"
        return Reason(Family.ROLE, "matrix issue", None, None, _names([*matrix, *busy]), sentence)

    def pin(self, constraint: Constraint) -> Reason:
        """Where the op is held."""
        op = constraint.subject
        pin = self.graph.pins[op]
        place = f" on {pin.group}" if pin.group is not None else ""
        if op in self.question.staying and pin.start is None:
            sentence = f"{op} stays{place}"
        else:
            sentence = f"{op} is pinned{f' to cycle {pin.start}' if pin.start is not None else ''}{place}"
        groups = () if pin.group is None else (pin.group,)
        return Reason(Family.PIN, op, None, None, (op,), sentence, groups=groups)

    def _held(self, space: Space) -> list[Op]:
        """The ops whose values the core holds in this memory, the largest first."""
        ops = [op for op in self.alone.ops.values() if op.result.space is space and op.result.amount]
        return sorted(ops, key=lambda op: -op.result.amount)

    def _values(self, ops: Sequence[Op], unit: str) -> str:
        if not ops:
            return ""
        shown = ", ".join(f"{op.id} {op.result.amount}" for op in ops[:SHOWN])
        rest = f" and {len(ops) - SHOWN} more" if len(ops) > SHOWN else ""
        return f"; values take{unit}: {shown}{rest}"


def _rests_on(certificate: Certificate, constraint: Constraint) -> bool:
    match constraint.topic:
        case Topic.UNIT:
            return certificate.subject == constraint.subject
        case Topic.DEPENDENCES:
            return len(constraint.dependences) == len(certificate.ops)
        case Topic.ISSUE | Topic.REGISTER_LIMIT | Topic.SHARED_MEMORY | Topic.TENSOR_MEMORY:
            return True
        case Topic.WARPS | Topic.VARIABLE_LATENCY | Topic.MATRIX_ROLE | Topic.NO_HAND_OFF:
            return True
        case _:
            return False


def _names(ops: Sequence[Op]) -> tuple[str, ...]:
    return tuple(op.id for op in ops)


def _kinds(kinds: Sequence[GroupKind]) -> tuple[str, ...]:
    return tuple(kind.kind for kind in kinds)


def _some(ops: Sequence[Op]) -> str:
    rest = len(ops) - SHOWN
    return listed([*_names(ops[:SHOWN]), *([f"{rest} more"] if rest > 0 else [])])


def _count(kinds: Sequence[GroupKind]) -> int:
    return sum(kind.count for kind in kinds)


def _kinds_text(kinds: Sequence[GroupKind]) -> str:
    """`1 load and 2 compute groups`."""
    if not kinds:
        return "no group"
    named = listed([f"{kind.count} {kind.kind}" for kind in kinds])
    return f"{named} group{'' if _count(kinds) == 1 else 's'}"


_TELLERS: dict[Topic, Callable[[Teller, Constraint], Reason]] = {
    Topic.DEPENDENCES: Teller.dependences,
    Topic.UNIT: Teller.unit,
    Topic.ISSUE: Teller.issue,
    Topic.REGISTER_LIMIT: Teller.register_limit,
    Topic.REGISTER_FILE: Teller.register_file,
    Topic.SHARED_MEMORY: Teller.shared_memory,
    Topic.TENSOR_MEMORY: Teller.tensor_memory,
    Topic.GROUP_COUNT: Teller.group_count,
    Topic.VARIABLE_LATENCY: Teller.variable_latency,
    Topic.WARPS: Teller.warps,
    Topic.HAND_OFF_TIME: Teller.hand_off_time,
    Topic.NO_HAND_OFF: Teller.no_hand_off,
    Topic.MATRIX_ROLE: Teller.matrix_role,
    Topic.PIN: Teller.pin,
}

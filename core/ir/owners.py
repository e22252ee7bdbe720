"""Which tile ops an operation of the body belongs to: for placing it when the schedule is written back to the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.ir.body import Body
from core.ir.model import Operation, Value
from core.ir.operations import category_of, data_positions
from core.ir.roles import BodyRole
from core.ir.tiles import Category
from core.ir.types import TokenType
from core.ir.views import is_buffer_view, viewed


def owners(
    body: Body, roles: Mapping[Operation, BodyRole], ids: Mapping[Operation, str]
) -> dict[Operation, tuple[str, ...]]:
    """The tile ops of every operation. `ids`: the operations that stand for a tile op, in the order of the text.

    What is duplicated belongs to all that use its results, directly or not, and so does an elementwise op of the
    schedule that an address or a mask takes too; a wait or signal belongs to the ops that share a buffer or a token
    with it, else to its neighbour in the text.
    """
    rank = {id_: index for index, id_ in enumerate(dict.fromkeys(ids.values()))}
    found: dict[Operation, frozenset[str]] = {op: frozenset({id_}) for op, id_ in ids.items()}
    rest = [op for op in reversed(body.operations) if op not in found]
    touching = _touching(body, ids)
    found |= {op: _of_buffers(body, op, touching) if roles[op] is BodyRole.IMPLIED else frozenset() for op in rest}
    _spread(body, roles, rest, found)
    found |= {op: _neighbour(body, op, ids) for op in rest if roles[op] is BodyRole.IMPLIED and not found[op]}
    found |= {op: found[op] | _recomputing(body, roles, ids, found, op) for op in ids if _is_elementwise(op)}
    _spread(body, roles, rest, found)
    return {op: tuple(sorted(found[op], key=rank.__getitem__)) for op in body.operations}


def _spread(
    body: Body,
    roles: Mapping[Operation, BodyRole],
    rest: Sequence[Operation],
    found: dict[Operation, frozenset[str]],
) -> None:
    """Hands owners on from users to what they use, and along tokens, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for op in rest:
            reached = found[op] | _of_users(body, op, found)
            if roles[op] is BodyRole.IMPLIED:
                reached |= _of_tokens(body, op, found)
            changed = changed or reached != found[op]
            found[op] = reached


def _neighbour(body: Body, op: Operation, ids: Mapping[Operation, str]) -> frozenset[str]:
    """The tile op that a signal follows in the text, or that a wait or fence stands before."""
    at = body.position[op]
    before = [ids[other] for other in body.operations[:at] if other in ids]
    behind = [ids[other] for other in body.operations[at:] if other in ids]
    follows = any(word in op.name for word in ("arrive", "commit", "inval", "dealloc"))
    nearest = (before[-1:] or behind[:1]) if follows else (behind[:1] or before[-1:])
    return frozenset(nearest)


def _of_users(body: Body, op: Operation, found: Mapping[Operation, frozenset[str]]) -> frozenset[str]:
    reached = frozenset[str]()
    pending, seen = list(op.results), set[Value]()
    while pending:
        value = pending.pop()
        if value not in seen:
            seen.add(value)
            reached = reached.union(*(found[user] for user in body.users.get(value, ())))
            pending += [body.loop.arguments[index] for index in body.yielded.get(value, ())]
    return reached


def _recomputing(
    body: Body,
    roles: Mapping[Operation, BodyRole],
    ids: Mapping[Operation, str],
    found: Mapping[Operation, frozenset[str]],
    op: Operation,
) -> frozenset[str]:
    """The tile ops that take the op's result as part of an address or a mask: it is computed for them once more."""
    reached = frozenset[str]()
    pending, seen = list(op.results), set[Value]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        pending += [body.loop.arguments[index] for index in body.yielded.get(value, ())]
        for user in body.users.get(value, ()):
            if roles[user] is BodyRole.DUPLICATED:
                reached |= found[user]
            elif roles[user] is BodyRole.VIEW or _is_elementwise(user):
                pending += user.results
            elif user in ids:
                data = data_positions(user)
                if any(operand is value and at not in data for at, operand in enumerate(user.operands)):
                    reached |= {ids[user]}
    return reached


def _is_elementwise(op: Operation) -> bool:
    return category_of(op) is Category.ELEMENTWISE


def _of_tokens(body: Body, op: Operation, found: Mapping[Operation, frozenset[str]]) -> frozenset[str]:
    tokens = [value for value in op.operands if isinstance(body.type(value), TokenType) and body.has(value)]
    return frozenset[str]().union(*(found[token.producer] for token in tokens if token.producer is not None))


def _of_buffers(body: Body, op: Operation, touching: Mapping[Value, set[str]]) -> frozenset[str]:
    buffers = [_allocation(body, value) for value in op.operands if body.is_buffer(value)]
    return frozenset[str]().union(*(touching.get(buffer, ()) for buffer in buffers))


def _touching(body: Body, ids: Mapping[Operation, str]) -> dict[Value, set[str]]:
    """For each buffer as allocated the tile ops that have it among their operands."""
    touching: dict[Value, set[str]] = {}
    for op, id_ in ids.items():
        for value in op.operands:
            if body.is_buffer(value):
                touching.setdefault(_allocation(body, value), set()).add(id_)
    return touching


def _allocation(body: Body, buffer: Value) -> Value:
    """The buffer as allocated, whichever slot or iteration is meant."""
    seen: set[Value] = set()
    while buffer not in seen:
        seen.add(buffer)
        op = buffer.producer
        if buffer in body.carried:
            buffer = body.initial(buffer)
        elif op is not None and is_buffer_view(op):
            buffer = viewed(op, buffer)
    return buffer

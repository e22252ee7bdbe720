"""The rescale: a tile of tensor memory that is read, multiplied and put back where it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.ir.body import Body
from core.ir.memory import Event, Memory
from core.ir.model import Operation
from core.ir.operations import category_of
from core.ir.tiles import Category


@dataclass(frozen=True, slots=True)
class Rescale:
    """The ids of its three tile ops."""

    load: str
    arithmetic: str
    store: str


def rescales(body: Body, events: Sequence[Event], memory: Memory, ids: Mapping[Operation, str]) -> Iterator[Rescale]:
    """Every `tmem_load`, elementwise op, `tmem_store` of one buffer that nobody else takes a value from."""
    places = memory.places
    event_of = {
        event.operation: event for event in events if event.operation.name in ("ttng.tmem_load", "ttng.tmem_store")
    }
    for load, event in event_of.items():
        arithmetic = _only_user(body, load) if load.name == "ttng.tmem_load" else None
        if arithmetic is None or category_of(arithmetic) is not Category.ELEMENTWISE or arithmetic not in ids:
            continue
        store = _only_user(body, arithmetic)
        stored = event_of.get(store) if store is not None and store.name == "ttng.tmem_store" else None
        if store is not None and stored is not None and places[stored] == places[event]:
            yield Rescale(ids[load], ids[arithmetic], ids[store])


def _only_user(body: Body, op: Operation) -> Operation | None:
    result = op.results[0]
    users = body.users.get(result, [])
    return users[0] if len(users) == 1 and result not in body.yielded else None

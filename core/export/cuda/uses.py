"""Who writes and reads each variable of a role that holds a tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.export.cuda.text import KernelText
from core.export.roles.model import Issue, Move, Pin, Put, Register, Role, Statement, Take
from core.export.roles.walk import walk
from core.ir.model import Value
from core.ir.types import TensorType


@dataclass(slots=True)
class Uses:
    """`values`: by the name of a variable what it holds; `writers` and `readers`: the statements that do."""

    kernel: KernelText
    role: Role
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    writers: dict[str, list[Statement]] = field(default_factory=dict[str, list[Statement]])
    readers: dict[str, list[Statement]] = field(default_factory=dict[str, list[Statement]])

    def __post_init__(self) -> None:
        self.values |= {storage.name: storage.value for storage in self.role.storages}
        for statement in walk(self.role.statements):
            for name in names(_reads(statement)):
                self.readers.setdefault(name, []).append(statement)
            for name in names(_writes(statement)):
                self.writers.setdefault(name, []).append(statement)
            if isinstance(statement, Issue):
                for result, target in zip(statement.operation.results, statement.writes, strict=False):
                    if isinstance(target, Register):
                        self.values.setdefault(target.name, result)

    def shape(self, name: str) -> tuple[int, ...]:
        """Of the tile in a variable; () for a number."""
        type_ = self.kernel.type(self.values[name]) if name in self.values else None
        return type_.shape if isinstance(type_, TensorType) else ()


def names(places: Sequence[object]) -> list[str]:
    """Of the variables among these places."""
    return [place.name for place in places if isinstance(place, Register)]


def _reads(statement: Statement) -> Sequence[object]:
    match statement:
        case Issue(reads=reads):
            return reads
        case Move(source=source) | Put(source=source):
            return (source,)
        case Pin(names=pinned):
            return tuple(map(Register, pinned))
        case _:
            return ()


def _writes(statement: Statement) -> Sequence[object]:
    match statement:
        case Issue(writes=writes):
            return writes
        case Move(target=target) | Take(target=target):
            return (target,)
        case _:
            return ()

"""SSA names: who defines what where, and what is wrong with it.

Names live in regions. A region that is isolated from above (a function, a partition) sees none of its outside and
may use names again; any other sees all that encloses it. A use before the definition is an error, but for uses in
another block of the same region, whose order in the text says nothing of dominance.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from core.diagnostics import Diagnostic, Severity
from core.ir.lexer import Source
from core.ir.model import Span, Value

MAX_PROBLEMS = 20
"""Errors about names that are reported of one text."""


@dataclass(slots=True)
class _Pending:
    """A name that was used before it was defined: the value that stands for it, and where it was used."""

    value: Value
    uses: list[int] = field(default_factory=list[int])


@dataclass(slots=True)
class _Frame:
    """A region being read."""

    start: int
    isolated: bool
    visible: dict[str, Value]
    pending: dict[str, _Pending]
    defined: list[str] = field(default_factory=list[str])
    block_starts: list[int] = field(default_factory=list[int])


class Scopes:
    """The names visible at the place that is being read; `problems` collects errors as they are found."""

    __slots__ = ("_frames", "_source", "problems")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._frames = [_Frame(0, True, {}, {})]
        self.problems: list[Diagnostic] = []

    @property
    def depth(self) -> int:
        """Regions around the place that is being read."""
        return len(self._frames) - 1

    def enter(self, start: int, isolated: bool) -> None:
        """A region begins at character `start`."""
        outer = self._frames[-1]
        visible, pending = ({}, {}) if isolated else (outer.visible, outer.pending)
        self._frames.append(_Frame(start, isolated, visible, pending))

    def begin_block(self, start: int) -> None:
        """A block of the region begins at character `start`."""
        self._frames[-1].block_starts.append(start)

    def leave(self) -> None:
        """The region ends: its names are gone, and uses that it alone could have satisfied are judged."""
        frame = self._frames.pop()
        self._judge_early_uses(frame)
        if frame.isolated:
            self._report_undefined(frame)
            return
        for name in frame.defined:
            frame.visible.pop(name, None)

    def finish(self) -> None:
        """The text ends."""
        self._report_undefined(self._frames[0])

    def use(self, name: str, offset: int) -> Value:
        """The value of that name; a stand-in, to be judged later, if it is not defined yet."""
        frame = self._frames[-1]
        value = frame.visible.get(name)
        if value is not None:
            return value
        if name.endswith("#0") and (value := frame.visible.get(name[:-2])) is not None:
            return value
        pending = frame.pending.get(name)
        if pending is None:
            pending = frame.pending[name] = _Pending(Value(name, "", self._source.span(offset, offset + len(name))))
        pending.uses.append(offset)
        return pending.value

    def define(self, name: str, type_text: str, span: Span) -> Value:
        """A new value. If the name was used before, it is the stand-in of those uses."""
        frame = self._frames[-1]
        pending = frame.pending.get(name) if frame.pending else None
        if pending is None:
            value = Value(name, type_text, span)
        else:
            value = pending.value
            value.type, value.span = type_text, span
        self._bind(frame, name, value)
        return value

    def define_group(self, name: str, type_texts: list[str], span: Span) -> list[Value]:
        """The values `name#0`, `name#1`...; the bare name means the first."""
        values = [self.define(f"{name}#{index}", text, span) for index, text in enumerate(type_texts)]
        self._bind(self._frames[-1], name, values[0])
        return values

    def _bind(self, frame: _Frame, name: str, value: Value) -> None:
        earlier = frame.visible.get(name)
        if earlier is not None:
            self._problem(
                "redefinition", f"{name} is defined twice, first on line {earlier.span.line}", value.span.start
            )
            return
        frame.visible[name] = value
        frame.defined.append(name)

    def _judge_early_uses(self, frame: _Frame) -> None:
        if not frame.pending:
            return
        for name in frame.defined:
            pending = frame.pending.get(name)
            if pending is None:
                continue
            definition = frame.visible[name].span
            inside = [use for use in pending.uses if use >= frame.start]
            wrong = [use for use in inside if self._same_block(frame, use, definition.start)]
            if wrong:
                self._problem(
                    "use-before-definition",
                    f"{name} is used before its definition on line {definition.line}",
                    wrong[0],
                    "the order of the text must follow the order of evaluation",
                )
            pending.uses = pending.uses[: len(pending.uses) - len(inside)]
            if not pending.uses:
                del frame.pending[name]

    @staticmethod
    def _same_block(frame: _Frame, use: int, definition: int) -> bool:
        return bisect_right(frame.block_starts, use) == bisect_right(frame.block_starts, definition)

    def _report_undefined(self, frame: _Frame) -> None:
        for name, pending in frame.pending.items():
            self._problem("undefined-value", f"nothing defines {name}", pending.uses[0])

    def _problem(self, code: str, message: str, offset: int, hint: str | None = None) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            line, column = self._source.position(offset)
            file = self._source.file
            self.problems.append(Diagnostic(Severity.ERROR, code, message, file, line, column, hint))

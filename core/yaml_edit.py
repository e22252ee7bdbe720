# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""Changes in YAML text that leave everything else as it is, byte for byte: comments, order, spacing, quotes.

Values are plain data: mappings with string keys, lists, strings, numbers, booleans. Texts are those that
`core.yaml_source` reads: one document, a mapping, without aliases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml

from core.yaml_source import flow_text

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Change:
    """Replaces text[start:end]."""

    start: int
    end: int
    text: str


def edit_yaml(text: str, old: Data, new: Data) -> str:
    """The text with every difference between `old` and `new` carried out at its place.

    `old` is what the text means in the caller's normal form: a key that both lack is left alone even if the text
    has it, so that a default that someone wrote down stays. New keys go behind the last one of their mapping.
    Raises yaml.YAMLError if the text is no YAML mapping.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or not root.value:
        raise yaml.YAMLError("not a mapping")
    newline = "\r\n" if "\r\n" in text else "\n"
    pieces: list[str] = []
    position = 0
    for change in sorted(_Editor(text).mapping(root, old, new), key=lambda change: (change.start, change.end)):
        pieces += [text[position : change.start], change.text.replace("\n", newline)]
        position = change.end
    return "".join([*pieces, text[position:]])


def format_yaml(data: Data) -> str:
    """A fresh document: one key a line, a collection of collections one entry a line, the rest in braces."""
    return "".join(f"{flow_text(key)}:{_value(value, 0)}\n" for key, value in data.items())


class _Editor:
    """Finds the changes of one text. Spans are (start, end) of entries: key to value, or one item."""

    def __init__(self, text: str) -> None:
        self._text = text

    def mapping(self, node: yaml.MappingNode, old: Data, new: Data) -> Iterable[_Change]:
        names = [str(key.value) for key, _ in node.value]
        for name, (key, value) in zip(names, node.value, strict=True):
            if name in new and old.get(name) != new[name]:
                nested = self._nested(value, old.get(name), new[name])
                text = f" {flow_text(new[name])}" if node.flow_style else _value(new[name], node.start_mark.column)
                yield from nested or [_Change(key.end_mark.index, self._end(value), f":{text}")]
        spans = [(key.start_mark.index, self._end(value)) for key, value in node.value]
        gone = [name in old and name not in new for name in names]
        added = {name: value for name, value in new.items() if name not in names}
        if node.flow_style:
            yield from self._editflow_text(spans, gone, [f"{flow_text(k)}: {flow_text(v)}" for k, v in added.items()])
        else:
            indent = node.start_mark.column
            lines = [f"{' ' * indent}{flow_text(k)}:{_value(v, indent)}\n" for k, v in added.items()]
            yield from self._edit_lines(spans, gone, lines)

    def _sequence(self, node: yaml.SequenceNode, old: Sequence[Any], new: Sequence[Any]) -> Iterable[_Change]:
        for item, before, after in zip(node.value, old, new, strict=False):
            if before != after:
                nested = self._nested(item, before, after)
                yield from nested or [_Change(item.start_mark.index, self._end(item), flow_text(after))]
        spans = [(item.start_mark.index, self._end(item)) for item in node.value]
        gone = [index >= len(new) for index in range(len(spans))]
        added = [flow_text(item) for item in new[len(spans) :]]
        if node.flow_style:
            yield from self._editflow_text(spans, gone, added)
        else:
            spans = [(len(self._text[:start].rstrip()) - 1, end) for start, end in spans]  # from the dash on
            yield from self._edit_lines(spans, gone, [f"{' ' * node.start_mark.column}- {item}\n" for item in added])

    def _nested(self, node: yaml.Node, old: Any, new: Any) -> list[_Change] | None:
        """The changes inside a value, or None if it has to be replaced as a whole."""
        if isinstance(node, yaml.MappingNode) and isinstance(old, Mapping) and isinstance(new, Mapping):
            before, after = cast(Data, old), cast(Data, new)
            if any(key.value in after or key.value not in before for key, _ in node.value):
                return list(self.mapping(node, before, after))
        if isinstance(node, yaml.SequenceNode) and isinstance(old, list) and isinstance(new, list):
            if not node.value or not new:
                return None
            return list(self._sequence(node, cast(list[Any], old), cast(list[Any], new)))
        return None

    def _editflow_text(
        self, spans: Sequence[tuple[int, int]], gone: Sequence[bool], added: Sequence[str]
    ) -> Iterable[_Change]:
        last_kept = max(index for index, removed in enumerate(gone) if not removed)
        for index in range(last_kept):
            if gone[index]:
                yield _Change(spans[index][0], spans[index + 1][0], "")
        end = spans[-1][1]
        if last_kept + 1 < len(spans) or added:
            yield _Change(spans[last_kept][1], end, "".join(f", {entry}" for entry in added))

    def _edit_lines(
        self, spans: Sequence[tuple[int, int]], gone: Sequence[bool], lines: Sequence[str]
    ) -> Iterable[_Change]:
        first = 0
        if gone[0] and self._text[self._line_start(spans[0][0]) : spans[0][0]].strip():  # behind the dash of a list
            first = gone.index(False)
            yield _Change(spans[0][0], spans[first][0], "")
        for index in range(first, len(spans)):
            if gone[index]:
                start, end = spans[index]
                yield _Change(self._line_start(start), self._line_end(end), "")
        if lines:
            place = self._line_end(spans[-1][1])
            ended = self._text[place - 1] == "\n"
            yield _Change(place, place, ("" if ended else "\n") + "".join(lines))

    def _line_start(self, position: int) -> int:
        return self._text.rfind("\n", 0, position) + 1

    def _line_end(self, position: int) -> int:
        found = self._text.find("\n", position)
        return len(self._text) if found < 0 else found + 1

    def _end(self, node: yaml.Node) -> int:
        """Where the node's text ends: PyYAML's mark of a block collection lies behind the comments that follow."""
        while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            node = last[1] if isinstance(node, yaml.MappingNode) else last
        end = cast(int, node.end_mark.index)
        block_text = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
        return len(self._text[:end].rstrip()) if block_text else end


def _value(value: Any, indent: int) -> str:
    """What stands behind `key:` in a block mapping whose keys stand at `indent`."""
    inner = " " * (indent + 2)
    if isinstance(value, Mapping) and any(isinstance(item, Mapping | list) for item in cast(Data, value).values()):
        return "".join(f"\n{inner}{flow_text(key)}: {flow_text(item)}" for key, item in cast(Data, value).items())
    if isinstance(value, list) and any(isinstance(item, Mapping | list) for item in cast(list[Any], value)):
        return "".join(f"\n{inner}- {flow_text(item)}" for item in cast(list[Any], value))
    return f" {flow_text(value)}"

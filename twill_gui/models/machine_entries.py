"""A machine file as a tree of entries: what can be changed, where it stands, where each number comes from. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from core.yaml_source import Key, KeyPath, parse_yaml

_HIDDEN = frozenset({"schema", "source"})
_SECTION_OF_RULES = "costs"


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of the file. `number` is what can be changed; `text` is any other value. `source`: who found it."""

    path: KeyPath
    name: str
    line: int
    number: float | None = None
    text: str = ""
    source: str = ""
    children: tuple[Entry, ...] = ()


@lru_cache(maxsize=8)
def machine_entries(text: str, file: str) -> tuple[Entry, ...]:
    """The entries of the file's text, in its order. Raises InputError if it is no YAML.

    The last few are remembered: those of an edit are read on its pool thread before the view asks for them.
    """
    source = parse_yaml(text, file)
    lines = {path: line for path, (line, _) in source.values.items()}
    return tuple(_mapping(cast(dict[Key, Any], source.data), (), lines))


def all_entries(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    """The entries and all below them."""
    for entry in entries:
        yield entry
        yield from all_entries(entry.children)


def number_text(number: float) -> str:
    """A number as it is written in a file: whole ones without a point."""
    return f"{number:g}" if abs(number) < 1e6 else f"{number:.0f}" if number == int(number) else repr(number)


def _mapping(data: dict[Key, Any], path: KeyPath, lines: dict[KeyPath, int]) -> Iterator[Entry]:
    for key, value in data.items():
        if key not in _HIDDEN:
            yield _entry(value, (*path, key), str(key), lines)


def _rule_entry(rule: dict[Key, Any], path: KeyPath, lines: dict[KeyPath, int]) -> Entry:
    """A cost rule by the names of its ops, which are not said again below."""
    entry = _entry(rule, path, _rule(rule), lines)
    return replace(entry, children=tuple(child for child in entry.children if child.name != "op"))


def _entry(value: Any, path: KeyPath, name: str, lines: dict[KeyPath, int]) -> Entry:
    line = lines.get(path, 1)
    if isinstance(value, dict):
        data = cast(dict[Key, Any], value)
        return Entry(path, name, line, source=str(data.get("source", "")), children=tuple(_mapping(data, path, lines)))
    if isinstance(value, list):
        items = cast(list[Any], value)
        if all(isinstance(item, dict) for item in items):
            numbered = [((*path, number), item) for number, item in enumerate(items)]
            if path == (_SECTION_OF_RULES,):
                children = tuple(_rule_entry(item, at, lines) for at, item in numbered)
            else:
                children = tuple(_entry(item, at, f"{at[-1] + 1}", lines) for at, item in numbered)
            return Entry(path, name, line, children=children)
        return Entry(path, name, line, text=", ".join(map(str, items)))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Entry(path, name, line, number=value)
    return Entry(path, name, line, text=str(value).lower() if isinstance(value, bool) else str(value))


def _rule(rule: dict[Key, Any]) -> str:
    """A cost rule's ops, and when it holds."""
    ops, when = rule.get("op", "?"), cast(dict[Key, Any], rule.get("when", {}))
    names = ", ".join(map(str, cast(list[Any], ops))) if isinstance(ops, list) else str(ops)
    conditions = "; ".join(f"{key} {_plain(value)}" for key, value in when.items())
    return f"{names} ({conditions})" if conditions else names


def _plain(value: Any) -> str:
    return ", ".join(map(str, cast(list[Any], value))) if isinstance(value, list) else str(value)

"""Changes one number of a machine file's text and leaves everything else as it is, comments and order included."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from core.yaml_edit import edit_yaml
from core.yaml_source import Key, parse_yaml


def set_number(text: str, path: Sequence[Key], number: float, file: str = "") -> str:
    """The text with `number` at a key path such as `("costs", 3, "latency", "add")`, where a number is now.

    Raises InputError if the text is no YAML or has no number there; `file` is named in messages. Whether the number
    is in range is for `parse_machine` to say.
    """
    source = parse_yaml(text, file)
    changed = copy.deepcopy(source.data)
    holder: Any = changed
    for depth, key in enumerate(path):
        old: Any = _item(holder, key)
        if depth < len(path) - 1:
            holder = old
        elif isinstance(old, int | float) and not isinstance(old, bool):
            holder[key] = number
            return edit_yaml(text, source.data, changed)
    where = ".".join(str(key) for key in path)
    raise source.error("no-number", f"there is no number at '{where}'", path)


def _item(holder: Any, key: Key) -> Any:
    """What a mapping or a list holds at `key`, or None."""
    try:
        return holder[key]
    except (KeyError, IndexError, TypeError):
        return None

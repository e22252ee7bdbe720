"""Changes one number of a machine file's text and leaves everything else as it is, comments and order included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.yaml_source import Key, flow_text, parse_yaml

_LINE_ENDS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_SCALAR = re.compile(r"[-+.:\w]+")  # with the colons of YAML's numbers to the base of 60


def set_number(text: str, path: Sequence[Key], number: float, file: str = "") -> str:
    """The text with `number` at a key path such as `("costs", 3, "latency", "add")`, where a number is now.

    Raises InputError if the text is no YAML or has no number there; `file` is named in messages. Whether the number
    is in range is for `parse_machine` to say.
    """
    source = parse_yaml(text, file)
    old: Any = source.data
    for key in path:
        old = _item(old, key)
    place = source.values.get(tuple(path))
    if place is None or not isinstance(old, int | float) or isinstance(old, bool):
        where = ".".join(str(key) for key in path)
        raise source.error("no-number", f"there is no number at '{where}'", path)
    line, column = place
    starts = [0, *(end.end() for end in _LINE_ENDS.finditer(text))]
    begin = starts[line - 1] + column - 1
    written = _SCALAR.match(text, begin)
    if written is None:
        raise source.error("no-number", f"'{old}' is not written as a plain number", path)
    return text[:begin] + flow_text(number) + text[written.end() :]


def _item(holder: Any, key: Key) -> Any:
    """What a mapping or a list holds at `key`, or None."""
    try:
        return holder[key]
    except (KeyError, IndexError, TypeError):
        return None

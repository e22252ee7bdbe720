"""Names of a role's variables, made from the names of the text; each is unique in its role."""

from __future__ import annotations

import re
from collections import Counter

from core.ir.model import Value

_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


class Names:
    """Hands out names."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        self._of: dict[tuple[Value, int], str] = {}

    def of(self, value: Value, copy: int = 0, copies: int = 1) -> str:
        """The name of a copy of a value: always the same one."""
        key = (value, copy if copies > 1 else -1)
        if key not in self._of:
            base = base_name(value)
            self._of[key] = self._unique(f"{base}_c{copy}" if copies > 1 else base)
        return self._of[key]

    def fresh(self, value: Value) -> str:
        """A name that nothing has yet, for a value that is computed once more."""
        return self._unique(base_name(value))

    def _unique(self, base: str) -> str:
        self._taken[base] += 1
        count = self._taken[base]
        if count == 1:
            return base
        return self._unique(f"{base}_v{count}")


def base_name(value: Value) -> str:
    """`%o1#4` -> `o1_4`, `%0` -> `v0`."""
    name = _UNFIT.sub("_", value.name.lstrip("%"))
    return name if name[:1].isalpha() else f"v{name}"

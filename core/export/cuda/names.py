"""C++ identifiers for names of the text."""

from __future__ import annotations

import re

_OTHER = re.compile(r"\W")
_KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
    constexpr continue default delete do double else enum explicit export extern false float for friend goto if inline
    int long main namespace new not not_eq nullptr operator or or_eq private protected public register requires return
    short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual
    void volatile wchar_t while xor xor_eq"""
_USED = "g p s t n pid0 pid1 pid2 tile tw twd assert bits kernel setup run parameters main record Params Smem"
_TAKEN = frozenset(f"{_KEYWORDS} {_USED}".split())


def identifier(name: str) -> str:
    """A C++ identifier for `%k_9`, `%o#1`, `%0` or the name of a role or ring: no two underscores side by side."""
    plain = _OTHER.sub("_", name.removeprefix("%"))
    plain = re.sub(r"__+", "_", plain)
    if not plain or plain[0].isdigit():
        plain = f"v{plain}"
    return f"{plain}_" if plain in _TAKEN or re.fullmatch(r"u?int\d+_t", plain) else plain


class Names:
    """Gives out identifiers that are unique in one scope."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def fresh(self, wanted: str) -> str:
        """`wanted` as an identifier, with a number behind it if it is in use."""
        base = found = identifier(wanted)
        count = 1
        while found in self._used:
            count += 1
            found = f"{base}_{count}"
        self._used.add(found)
        return found

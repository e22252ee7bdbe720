"""How single ops print themselves: which types their results have, and where an attribute dictionary may go.

Most ops print `name operands {attributes} : types`, with the results' types last or after `->` or `to`. What
deviates from that is listed here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.ir.types import TOKEN_TEXT, boolean_like, pointee_like

_COMPARISONS = frozenset({"arith.cmpi", "arith.cmpf", "math.isnan", "math.isinf", "math.isfinite", "math.isnormal"})

# Their results are tokens, whose type is not printed.
_RETURN_TOKEN = frozenset(
    {
        "ttg.async_copy_global_to_local",
        "ttg.async_commit_group",
        "ttg.async_wait",
        "ttng.tmem_store",
        "ttng.tc_gen5_mma",
        "ttng.tc_gen5_mma_scaled",
        "ttng.tmem_copy",
    }
)

# The dictionary stands before the operands.
_DICTIONARY_FIRST = frozenset({"arith.constant", "scf.yield", "tt.return", "func.return"})

# The dictionary stands after so many operands.
_DICTIONARY_AFTER_OPERANDS = {"ttng.barrier_expect": 2}

# The printed form has no place for a dictionary, or one between brackets and operands.
_NO_DICTIONARY = frozenset({"ttg.barrier", "scf.condition", "cf.br", "cf.cond_br", "cf.switch"})


@dataclass(slots=True)
class PrintedTypes:
    """The types that an op prints: those before an arrow or `to`, and those after it (None without one)."""

    listed: list[str] = field(default_factory=list[str])
    produced: list[str] | None = None


def result_types(name: str, count: int, printed: PrintedTypes, arguments: str) -> list[str]:
    """The types of an op's `count` results; "" where neither the text nor the op's definition tells."""
    known = _known_types(name, printed, arguments)
    if len(known) == 1 and count > 1 and name == "ttng.tmem_load":
        known = [known[0], TOKEN_TEXT]
    elif len(known) == 1:
        known = known * count
    return [known[index] if index < len(known) else "" for index in range(count)]


def _known_types(name: str, printed: PrintedTypes, arguments: str) -> list[str]:
    listed = printed.listed
    if name in _RETURN_TOKEN:
        return [TOKEN_TEXT]
    if printed.produced is not None:
        return printed.produced
    if not listed:
        return ["i1"] if name == "arith.constant" and arguments in ("true", "false") else []
    if name in _COMPARISONS:
        return [boolean_like(listed[0])]
    if name == "tt.load":
        return [pointee_like(listed[0])]
    if name == "tt.addptr":
        return listed[:1]
    if name == "arith.select":
        return listed[-1:]
    if name == "tt.make_tensor_descriptor":
        return ["!tt.tensordesc" + listed[-1]]
    return listed


def has_place_for_dictionary(name: str) -> bool:
    """Whether the op's printed form takes an attribute dictionary where `insertion_offset` can say it."""
    return name not in _NO_DICTIONARY


def takes_dictionary_first(name: str) -> bool:
    """Whether the op's attribute dictionary stands right after its name."""
    return name in _DICTIONARY_FIRST


def dictionary_position(name: str) -> int | None:
    """After how many comma-separated operands the op's dictionary stands; None: after all of them."""
    return _DICTIONARY_AFTER_OPERANDS.get(name)

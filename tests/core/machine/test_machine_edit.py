"""Setting one number: the machine means the new number, and no other byte of the text changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from core.diagnostics import InputError
from core.machine.edit import set_number
from core.machine.load import parse_machine
from core.resources import data_folder
from core.yaml_source import Key, KeyPath, parse_yaml

TOY = (data_folder("machines") / "toy.yaml").read_text()
H200 = (data_folder("machines") / "h200.yaml").read_text()


def numbers(data: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, float]]:
    entries: list[tuple[Key, Any]] = []
    if isinstance(data, dict):
        entries = list(data.items())
    elif isinstance(data, list):
        entries = list(enumerate(data))
    for key, value in entries:
        yield from numbers(value, (*path, key))
    if isinstance(data, int | float) and not isinstance(data, bool):
        yield path, data


def set_in(data: Any, path: KeyPath, value: float) -> Any:
    if not path:
        return value
    changed = list(data) if isinstance(data, list) else dict(data)
    changed[path[0]] = set_in(data[path[0]], path[1:], value)
    return changed


def assert_only_that_number_changed(text: str, path: KeyPath, old: float, new: float) -> None:
    edited = set_number(text, path, new)
    assert parse_yaml(edited, "").data == set_in(parse_yaml(text, "").data, path, new)
    changed = [(a, b) for a, b in zip(text.splitlines(True), edited.splitlines(True), strict=True) if a != b]
    ((before, after),) = changed
    assert re.sub(rf"(?<![\w.]){re.escape(str(new))}(?![\w.])", str(old), after, count=1) == before or (
        before.replace(f" {old}", f" {new}", 1) == after
    )


def test_every_number_of_a_small_file() -> None:
    found = list(numbers(parse_yaml(TOY, "").data))
    assert len(found) > 20
    for path, old in found:
        assert_only_that_number_changed(TOY, path, old, 7777)


@pytest.mark.parametrize(
    "path",
    [
        ("clock_mhz", "value"),
        ("units", "tensor_core", "peak", "f8"),
        ("registers", "overhead"),
        ("hand_off", "per_kilobyte"),
        ("costs", 0, "issue", "per_instruction"),
        ("costs", 1, "rate", "bf16"),
        ("costs", 3, "latency", "per_kilobyte"),
    ],
)
def test_numbers_of_a_file_full_of_comments(path: KeyPath) -> None:
    old = dict(numbers(parse_yaml(H200, "").data))[path]
    assert_only_that_number_changed(H200, path, old, 7777)
    assert_only_that_number_changed(H200, path, old, 0.125)


def test_the_machine_means_the_new_number() -> None:
    old = parse_machine(H200, "h200.yaml")
    new = parse_machine(set_number(H200, ("hand_off", "base"), 12.5), "h200.yaml")
    assert new == replace(old, hand_off=replace(old.hand_off, base=Fraction(25, 2)))


@pytest.mark.parametrize(
    "path", [("costs", 99, "rate"), ("name",), ("hand_off", "bass"), ("costs",), (), ("name", 0, 1)]
)
def test_where_no_number_is_nothing_can_be_set(path: KeyPath) -> None:
    with pytest.raises(InputError) as caught:
        set_number(H200, path, 1, "h200.yaml")
    assert caught.value.diagnostics[0].code == "no-number"


def test_line_ends_stay() -> None:
    edited = set_number(TOY.replace("\n", "\r\n"), ("warps", "max"), 32)
    assert edited == TOY.replace("max: 64", "max: 32").replace("\n", "\r\n")


@pytest.mark.parametrize("written", ["1_000", "0x3e8", "+1000", "16:40", "1.0e+3", "1000  # as measured"])
def test_a_number_in_any_notation_is_replaced_whole(written: str) -> None:
    text = f"first: 1\nvalue: {written}\nlast: [1, {{value: {written.partition(' ')[0]}}}]\n"
    edited = set_number(text, ("value",), 5)
    assert parse_yaml(edited, "").data == {**parse_yaml(text, "").data, "value": 5}
    inner = set_number(text, ("last", 1, "value"), 2.5)
    assert parse_yaml(inner, "").data["last"] == [1, {"value": 2.5}]
    assert parse_yaml(inner, "").data["value"] == 1000


def test_lines_may_end_as_yaml_allows() -> None:
    text = "a: \"x\u2028y\"\r\nb: 1\rc: 'p\u2029q'\x85d: 2\n"
    edited = set_number(text, ("d",), 3)
    assert edited == text.replace("d: 2", "d: 3")

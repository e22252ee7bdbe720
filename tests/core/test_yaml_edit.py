"""Edits of YAML text: the result means the new data, and what did not change keeps every byte."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.yaml_edit import edit_yaml, format_yaml

TEXT = """\
# head
schema: demo/1      # the version
name: "two  tiles"  # quoted on purpose
input: {ttgir: input.ttgir, loop: 0}   # where it comes from

groups:
  # one warp is enough
  - {kind: load, warps: 1}   # loads
  - kind: compute            # tiles
    warps: 4

pins:
  # first
  dot.0: {group: a}
  # second
  dot.1: {group: b, start: 4}   # ping
# tail
solve: {seed: 1}
"""


def changed(**changes: Any) -> dict[str, Any]:
    data = {**yaml.safe_load(TEXT), **changes}
    return {key: value for key, value in data.items() if value is not None}


def edited(new: dict[str, Any]) -> str:
    return edit_yaml(TEXT, yaml.safe_load(TEXT), new)


@pytest.mark.parametrize(
    ("new", "line", "replacement"),
    [
        (changed(name="one, tile"), 'name: "two  tiles"', "name: 'one, tile'"),
        (changed(input={"ttgir": "input.ttgir", "loop": 2}), "loop: 0}", "loop: 2}"),
        (changed(input={"ttgir": "input.ttgir"}), "input.ttgir, loop: 0}", "input.ttgir}"),
        (changed(input={"loop": 0}), "{ttgir: input.ttgir, loop: 0}", "{loop: 0}"),
        (
            changed(input={"ttgir": "x.y", "loop": 0, "function": "f"}),
            "{ttgir: input.ttgir, loop: 0}",
            "{ttgir: x.y, loop: 0, function: f}",
        ),
        (changed(solve=None), "solve: {seed: 1}\n", ""),
        (changed(solve={"seed": 1, "limit_s": 2.5}), "solve: {seed: 1}", "solve: {seed: 1, limit_s: 2.5}"),
        (changed(active="main"), "solve: {seed: 1}\n", "solve: {seed: 1}\nactive: main\n"),
        (changed(pins={"dot.1": {"group": "b", "start": 4}}), "  dot.0: {group: a}\n", ""),
        (changed(pins={"dot.0": {"group": "a"}}), "  dot.1: {group: b, start: 4}   # ping\n", ""),
        (changed(groups=[{"kind": "load", "warps": 1}, {"kind": "compute", "warps": 8}]), "warps: 4", "warps: 8"),
    ],
)
def test_one_change_leaves_the_rest(new: dict[str, Any], line: str, replacement: str) -> None:
    text = edited(new)
    assert yaml.safe_load(text) == new
    assert text == TEXT.replace(line, replacement)


def test_items_come_and_go() -> None:
    groups = [{"kind": "load", "warps": 1}]
    text = edited(changed(groups=groups))
    assert yaml.safe_load(text)["groups"] == groups
    assert text == TEXT.replace("  - kind: compute            # tiles\n    warps: 4\n", "")
    again = edit_yaml(text, yaml.safe_load(text), changed())
    assert yaml.safe_load(again) == changed()
    assert "# one warp is enough" in again


def test_first_key_behind_a_dash_goes() -> None:
    text = "a:\n- x: 1\n  # about y\n  y: 2\n"
    assert edit_yaml(text, yaml.safe_load(text), {"a": [{"y": 2}]}) == "a:\n- y: 2\n"


def test_defaults_that_the_text_states_stay() -> None:
    text = "schema: demo/1\nseed: 1  # the default\n"
    assert edit_yaml(text, {"schema": "demo/1"}, {"schema": "demo/1"}) == text
    assert edit_yaml(text, {"schema": "demo/1"}, {"schema": "demo/1", "seed": 2}) == text.replace("1  #", "2  #")


def test_block_scalar_empty_value_and_missing_last_newline() -> None:
    text = "note: |\n  two\n  lines\nempty:  # nothing\nlast: 1"
    new = {"note": "one", "empty": {"a": 1}, "last": 1, "more": [1, 2]}
    result = edit_yaml(text, yaml.safe_load(text), new)
    assert result == "note: one\nempty: {a: 1}  # nothing\nlast: 1\nmore: [1, 2]\n"


def test_windows_line_ends_stay() -> None:
    text = TEXT.replace("\n", "\r\n")
    result = edit_yaml(text, yaml.safe_load(text), changed(active="main", name="x"))
    assert yaml.safe_load(result) == changed(active="main", name="x")
    assert result.count("\n") == result.count("\r\n")


def test_text_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(yaml.YAMLError):
        edit_yaml("[1, 2]", {}, {})


keys = st.sampled_from(["a", "b", "c", "warp_group_dot.0", "off", "1", "with space", "ü: #x"])
scalars = st.one_of(st.integers(-5, 10**6), st.booleans(), st.text(max_size=8), st.floats(0, 1e9), keys)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)
documents = st.dictionaries(keys, values, max_size=4).map(lambda data: {"schema": "demo/1", **data})
STYLES = [
    format_yaml,
    lambda data: yaml.safe_dump(data, default_flow_style=False, sort_keys=False),
    lambda data: yaml.safe_dump(data, default_flow_style=True, sort_keys=False),
    lambda data: yaml.safe_dump(data, default_flow_style=None, sort_keys=False, allow_unicode=True),
]


@settings(deadline=None, max_examples=150)
@given(documents, documents, st.sampled_from(STYLES))
def test_the_result_means_the_new_data(old: dict[str, Any], new: dict[str, Any], style: Any) -> None:
    text = style(old)
    if style is not format_yaml:
        assume(yaml.safe_load(text) == old)  # PyYAML itself writes some line separators (U+0085) as it cannot read them
    assert yaml.safe_load(text) == old
    assert yaml.safe_load(edit_yaml(text, old, new)) == new
    assert edit_yaml(text, old, old) == text


def test_line_separators_that_no_eye_sees_survive() -> None:
    for text in ("\x85", "\u2028", "a\u2029b"):
        old = {"schema": "demo/1", "a": [text]}
        assert yaml.safe_load(format_yaml(old)) == old

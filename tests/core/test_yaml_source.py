"""YAML with positions: each fault is told where it stands, with what would be right."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, Field

from core.diagnostics import InputError
from core.yaml_source import MAX_DEPTH, parse_yaml, read_text, require_schema, validate


class Unit(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    capacity: int = Field(ge=1)


class Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    units: dict[str, Unit]
    sizes: list[int] = []


GOOD = """\
name: toy
units:
  tensor_core: {capacity: 1}
sizes: [1, 2]
"""


def fault_of(text: str) -> tuple[str, int | None, int | None, str, str | None]:
    with pytest.raises(InputError) as caught:
        validate(Document, parse_yaml(text, "m.yaml"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.file == "m.yaml"
    return diagnostic.code, diagnostic.line, diagnostic.column, diagnostic.message, diagnostic.hint


def test_a_sound_document_is_read() -> None:
    assert validate(Document, parse_yaml(GOOD, "m.yaml")).units["tensor_core"].capacity == 1


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "word"),
    [
        (GOOD.replace("sizes", "sices"), "unknown-key", 4, 1, "sices"),
        (GOOD.replace("capacity: 1", "capacity: one"), "bad-value", 3, 27, "units.tensor_core.capacity"),
        (GOOD.replace("capacity: 1", "capacity: 0"), "bad-value", 3, 27, "greater than or equal to 1"),
        (GOOD.replace("[1, 2]", "[1, x]"), "bad-value", 4, 12, "sizes.1"),
        (GOOD.replace("name: toy\n", ""), "missing-key", 1, 1, "name"),
        (GOOD + "name: again\n", "duplicate-key", 5, 1, "name"),
        (GOOD.replace("[1, 2]", "[1, 2"), "yaml-syntax", 5, 1, "YAML"),
        ("a: &x [1]\nb: *x\n", "yaml-alias", 2, 4, "aliases"),
        ("", "empty-file", 1, None, "empty"),
        ("? [1, 2]\n: 3\n", "bad-key", 1, 3, "key"),
        (GOOD.replace("tensor_core:", "no:"), "bad-key", 3, 3, "the key 'no' is not read as text; put it in quotes"),
        (GOOD.replace("tensor_core:", "2024-01-01:"), "bad-key", 3, 3, "'2024-01-01'"),
        (GOOD.replace("tensor_core:", "5:"), "bad-key", 3, 3, "'5'"),
        (
            GOOD.replace("{capacity: 1}", "3"),
            "bad-value",
            3,
            16,
            "units.tensor_core: input should be a mapping of keys",
        ),
        (GOOD.replace("1, 2", "9" * 5000), "bad-value", 4, 9, f"'{'9' * 40}...' cannot be read"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "too-deep", 1, MAX_DEPTH + 1, "nested"),
    ],
)
def test_each_fault_has_its_place(text: str, code: str, line: int, column: int | None, word: str) -> None:
    found = fault_of(text)
    assert found[:3] == (code, line, column)
    assert word in found[3]


@pytest.mark.parametrize(
    ("written", "code", "word"),
    [
        ("schema: twill.graph/2", "newer-schema", "newer than this program reads (twill.graph/1)"),
        ("schema: twill.project/1", "bad-schema", "unknown schema 'twill.project/1'"),
        ("schema: 5", "bad-schema", "unknown schema '5'"),
        ("name: x", "bad-schema", "the key 'schema' is missing"),
        ("- x", "bad-schema", "the key 'schema' is missing"),
    ],
)
def test_a_document_of_another_kind_or_version(written: str, code: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        require_schema(parse_yaml(written, "g.yaml"), "twill.graph/1")
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.line) == (code, 1) and word in fault.message
    assert fault.column == (9 if written.startswith("schema") else 1)
    require_schema(parse_yaml("schema: twill.graph/1", "g.yaml"), "twill.graph/1")


def test_an_unknown_key_suggests_the_nearest_one() -> None:
    assert fault_of(GOOD.replace("sizes", "sices"))[4] == "did you mean 'sizes'?"


def test_nesting_without_end_is_a_diagnostic_not_a_crash() -> None:
    assert fault_of("[" * 200_000)[0] in {"too-deep", "yaml-syntax"}


def test_json_is_read_too() -> None:
    text = '{"name": "toy", "units": {"x": {"capacity": 2}}, "sizes": [3]}'
    assert validate(Document, parse_yaml(text, "m.json")).sizes == [3]


def test_files_that_are_no_text_are_refused(tmp_path) -> None:
    path = tmp_path / "m.yaml"
    for content, code in ((b"\xff\xfe\x00", "not-text"), (None, "cannot-read")):
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_text(path)
        assert caught.value.diagnostics[0].code == code


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: toy")
    assert read_text(path) == "name: toy"

"""The JSON schemas that are shipped are those of the models."""

from __future__ import annotations

import pytest

from core.json_schemas import DOCUMENTS, json_schema
from core.resources import data_folder


@pytest.mark.parametrize("name", DOCUMENTS)
def test_shipped_schema_is_the_models(name: str) -> None:
    shipped = (data_folder("resources") / "schemas" / name).read_text(encoding="utf-8")
    assert shipped == json_schema(DOCUMENTS[name]), "write it again: python -m core.json_schemas"


def test_no_schema_is_left_over() -> None:
    assert {path.name for path in (data_folder("resources") / "schemas").iterdir()} == set(DOCUMENTS)

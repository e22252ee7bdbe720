"""Real files against what Triton's own parser counts in them."""

from __future__ import annotations

from typing import Any

import pytest
from ttgir_corpus import SAMPLES, WHOLE_CORPUS, corpus_rows, differences, sample_rows

from core.ir.source import load_module


@pytest.mark.parametrize("row", sample_rows(), ids=lambda row: row["file"].removesuffix(".ttgir"))
def test_sample(row: dict[str, Any]) -> None:
    assert differences(load_module(SAMPLES / row["file"]), row) == []


def test_whole_corpus() -> None:
    if WHOLE_CORPUS is None:
        pytest.skip("the whole corpus is not here: it is looked for in a folder shared/ttgir beside the repository")
    rows = corpus_rows(WHOLE_CORPUS)
    wrong = {row["file"]: found for row in rows if (found := differences(load_module(WHOLE_CORPUS / row["file"]), row))}
    assert wrong == {}
    assert len(rows) == 421

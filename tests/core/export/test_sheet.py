"""The sheet for hand lowering says what the role program says: each statement, ring and reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.export.roles.model import ArriveFree, Issue, MmaWait, WaitFree, WaitFull
from core.export.roles.walk import walk
from core.export.sheet import sheet_document, sheet_markdown
from core.resources import data_folder
from tests.core.export.roles.programs import sample, sample_loop

FOLDERS = ["attention_forward_hopper", "attention_backward_hopper", "gemm_hopper"]


def listed(statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All statements of the document, nested ones behind the one that holds them."""
    found: list[dict[str, Any]] = []
    for statement in statements:
        found.append(statement)
        for part in statement.get("parts", {}).values():
            found += listed(part)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_document_has_every_statement_in_order(folder: str) -> None:
    program = sample(folder)
    document = sheet_document(program, [sample_loop(folder)])
    assert [role["name"] for role in document["roles"]] == [role.name for role in program.roles]
    for role, written in zip(program.roles, document["roles"], strict=True):
        statements = list(walk(role.statements))
        entries = listed(written["statements"])
        assert len(entries) == len(statements)
        for statement, entry in zip(statements, entries, strict=True):
            if isinstance(statement, Issue):
                assert statement.operation.name in entry["do"]
                assert entry["line"] == statement.operation.name_span.line
            if isinstance(statement, WaitFull | WaitFree | ArriveFree):
                assert statement.ring in entry["do"]
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_wait_says_why(folder: str) -> None:
    for role in sample(folder).roles:
        for statement in walk(role.statements):
            if isinstance(statement, WaitFull | WaitFree | MmaWait):
                assert statement.why
    text = sheet_markdown(sample(folder), [sample_loop(folder)])
    waits = [line for line in text.splitlines() if re.match(r"\s*wait (full|free|groups|stores) \S+", line)]
    assert waits and all(re.search(r"// \S", line) for line in waits)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_text_has_each_ring_with_its_bytes_and_each_role_with_its_threads(folder: str) -> None:
    program = sample(folder)
    text = sheet_markdown(program, [sample_loop(folder)])
    for ring in program.rings.values():
        row = next(line for line in text.splitlines() if line.startswith(f"| {ring.name} |"))
        assert f"| {ring.depth} | {ring.slot_bytes} |" in row
    for role in program.roles:
        last = role.first_thread + 32 * role.warps - 1
        assert re.search(rf"{role.name}: {role.warps} warps?, threads {role.first_thread} to {last}\b", text)


def test_the_command_writes_markdown_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "sheet.md"
    project = data_folder("projects") / "gemm_hopper"
    assert main(["export", str(project), "--format", "sheet", "-o", str(output), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["files"] == [output.as_posix(), output.with_suffix(".json").as_posix()]
    assert output.read_text(encoding="utf-8") == sheet_markdown(sample("gemm_hopper"), [sample_loop("gemm_hopper")])
    document = json.loads(output.with_suffix(".json").read_text(encoding="utf-8"))
    assert document["schema"] == "twill.sheet/1"


def test_a_name_that_ends_in_json_is_refused(tmp_path: Path) -> None:
    project = data_folder("projects") / "gemm_hopper"
    assert main(["export", str(project), "--format", "sheet", "-o", str(tmp_path / "sheet.json")]) == 2

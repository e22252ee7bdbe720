"""The rules that tools check: lint, format, types (strict in core), and the layers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "ruff", "check"),
        ("-m", "ruff", "format", "--check"),
        ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
    ],
    ids=["lint", "format", "layers"],
)
def test_the_code_keeps_the_rules(command: tuple[str, ...]) -> None:
    result = run(*command)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_are_right() -> None:
    """Pyright fetches itself at its first use."""
    if run("-m", "pyright", "--version").returncode != 0:
        pytest.skip("pyright could not fetch itself: no network")
    result = run("-m", "pyright", "--pythonpath", sys.executable)
    assert result.returncode == 0, result.stdout

"""What every command has in common: exit codes, one answer per input, where text and messages go."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from errno import EISDIR, ENOTDIR
from pathlib import Path
from typing import Any

from core.commands.crash import crash_note
from core.diagnostics import Diagnostic, InputError, Severity, error
from core.files import is_stream


class ExitCode(IntEnum):
    """The command line's exit codes; for several inputs the largest counts."""

    ANSWERED = 0
    NEGATIVE = 1
    USAGE = 2
    BAD_INPUT = 3
    NO_ANSWER = 4
    MISSING_TOOL = 5
    INTERNAL = 70
    INTERRUPTED = 130  # what shells expect of a program that Ctrl+C ended


class UsageError(Exception):
    """Options that do not go together, or not with an input; the message is one sentence for the user."""


class MissingToolError(Exception):
    """A program or library outside is needed and not there; the message says which, and what to install."""


class OutputError(Exception):
    """Standard output takes no more; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command says of one input: its JSON document (for a sweep one for each point), the same for people, and
    messages for standard error."""

    document: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    text: str
    code: ExitCode = ExitCode.ANSWERED
    diagnostics: tuple[Diagnostic, ...] = ()


def answer_each(inputs: Sequence[str], answer: Callable[[str], Answer], as_json: bool) -> ExitCode:
    """Prints the answer for each input, in order, and returns the worst exit code.

    With `as_json` each document has one line on standard output: for a bad input, or one that the options do not go
    with, {`input`, `diagnostics`}, for one that an internal error ended {`input`, `error`}. The inputs after it are
    still answered. Raises OutputError and BrokenPipeError.
    """
    worst = ExitCode.ANSWERED
    for name in inputs:
        result = _answer_one(name, answer)
        for diagnostic in result.diagnostics:
            print(diagnostic.format(), file=sys.stderr, flush=True)
        if as_json:
            documents = [result.document] if isinstance(result.document, Mapping) else result.document
            for document in documents:
                _say(json.dumps(document))
        elif result.text:
            heading = f"{name}\n" if len(inputs) > 1 else ""
            _say(f"{heading}{result.text}")
        worst = max(worst, result.code)
    return worst


def _say(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise OutputError(f"cannot write the output: {fault.strerror}") from fault


def _answer_one(name: str, answer: Callable[[str], Answer]) -> Answer:
    try:
        return answer(name)
    except InputError as fault:
        return _refusal(name, ExitCode.BAD_INPUT, fault.diagnostics)
    except UsageError as fault:
        return _refusal(name, ExitCode.USAGE, (Diagnostic(Severity.ERROR, "usage", str(fault), name),))
    except MissingToolError as fault:
        return _refusal(name, ExitCode.MISSING_TOOL, (Diagnostic(Severity.ERROR, "missing-tool", str(fault), name),))
    except ModuleNotFoundError:
        raise
    except Exception as fault:
        note = crash_note(fault)
        print(note, file=sys.stderr)
        return Answer({"input": name, "error": note}, "", ExitCode.INTERNAL)


def _refusal(name: str, code: ExitCode, diagnostics: tuple[Diagnostic, ...]) -> Answer:
    document = {"input": name, "diagnostics": [diagnostic.as_json() for diagnostic in diagnostics]}
    return Answer(document, "", code, diagnostics)


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turns a write that fails into an InputError on `path`."""
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise error("cannot-write", f"cannot write the file: {reason}", file=str(path)) from fault


def require_writable(path: Path) -> None:
    """Raises InputError on `path` if it cannot be written, before work is done that would be lost.

    Where it is to be, or the nearest folder there is, a nameless file is made and is gone again at once.
    """
    with writing(path):
        if is_stream(path):
            return
        folder = next(folder for folder in path.absolute().parents if folder.exists())
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not folder.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
        with tempfile.TemporaryFile(dir=folder):
            pass


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text under their heads, indented by two; columns of numbers to the right."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    right = [all(isinstance(row[column], int) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(f"  {line}" for line in lines)

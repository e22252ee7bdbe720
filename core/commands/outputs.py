"""Where schedules are written: what `-o` means for one input, for several, and for the loops of a kernel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from core.commands.answers import UsageError, require_writable
from core.files import is_file, is_folder
from core.project.load import PROJECT_FILE
from core.project.model import Project


def schedule_files(inputs: Sequence[str], output: str | None, *, numbered: bool) -> dict[str, Path]:
    """The schedule file for each input; `numbered`: others stand beside it, as `core.project.record.save_optima` says.

    Raises UsageError where two would be one.
    """
    if output is None:
        return {}
    path = Path(output)
    if len(inputs) == 1 and not is_folder(path) and not output.endswith(("/", os.sep)):
        return {inputs[0]: path}
    if is_file(path):
        raise UsageError("-o: several inputs need a folder")
    stems = {name: _stem(Path(name)) for name in inputs}
    heads = [stem.rpartition(".") for stem in stems.values()] if numbered else []
    beside = any(head in stems.values() and number.isdecimal() for head, _, number in heads)
    if beside or len(set(stems.values())) < len(stems):
        raise UsageError("-o: two inputs would have the same file name")
    return {name: path / f"{stem}.yaml" for name, stem in stems.items()}


def kernel_folder(name: str, inputs: Sequence[str], output: str | None) -> Path | None:
    """The folder for the schedules of a kernel's loops. Raises UsageError if it is a file."""
    if output is None:
        return None
    path = Path(output)
    if is_file(path):
        raise UsageError("-o: the loops of a kernel need a folder")
    return path if len(inputs) == 1 else path / _stem(Path(name))


def require_output(path: Path, project: Project, *, schedule: bool = True) -> None:
    """Raises UsageError if this is a file that the project is read from, InputError if it cannot be written.

    `schedule`: what is written is one, and may replace one of the project's.
    """
    read = [project.input.path, *(file for file in (project.file, project.machine) if isinstance(file, Path))]
    read += [] if schedule else [entry.file for entry in project.schedules.values()]
    if os.path.realpath(path) in map(os.path.realpath, read):
        raise UsageError(f"-o: '{path}' is an input, and would be replaced; give another file")
    require_writable(path)


def _stem(path: Path) -> str:
    """The file's name without its ending; for a project the name of its folder."""
    if is_folder(path):
        return path.resolve().name
    return path.resolve().parent.name if path.name == PROJECT_FILE else path.stem

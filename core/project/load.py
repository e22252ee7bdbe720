"""From what stands on the command line or is dropped on the window to a project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.diagnostics import error
from core.files import is_file, is_folder
from core.project.model import Input, InputKind, Project
from core.project.schema import machine_reference, read_project
from core.yaml_source import parse_yaml, read_text, written_schema

PROJECT_FILE = "project.yaml"


def load_project(path: Path, machine: str | None = None, loop: int | None = None) -> Project:
    """The project of a `project.yaml`, of the folder it is in, of a TTGIR file, or of a `twill.graph/1` file.

    `machine` (a name or a file) and `loop` replace what the project says. Raises InputError; the input itself is
    not read yet (`core.project.opened`).
    """
    if is_folder(path):
        if not is_file(path / PROJECT_FILE):
            hint = f"a folder with a {PROJECT_FILE}, such a file, a TTGIR file, or a twill.graph/1 file"
            raise error("no-project", f"the folder has no {PROJECT_FILE}", file=str(path), hint=hint)
        path = path / PROJECT_FILE
    project = _load_file(path)
    if machine is not None:
        project = replace(project, machine=machine_reference(machine, Path()))
    if loop is not None:
        project = replace(project, input=replace(project.input, loop=loop))
    return project


def _load_file(path: Path) -> Project:
    if path.suffix not in (".yaml", ".yml", ".json"):
        return Project(name=path.stem, input=Input(InputKind.TTGIR, path))
    source = parse_yaml(read_text(path), str(path))
    if (written_schema(source) or "").startswith("twill.graph/"):
        return Project(name=path.stem, input=Input(InputKind.GRAPH, path))
    return read_project(source, path)

"""Saving: the project file with its comments, schedules, and the record beside each schedule. All writes are atomic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.files import write_atomically
from core.project.document import project_document
from core.project.model import Project
from core.project.schema import read_project
from core.yaml_edit import edit_yaml, format_yaml
from core.yaml_source import parse_yaml, read_text


def save_project(project: Project, file: Path) -> Project:
    """Writes the project to `file` and returns it as it is there (`file` and `source` set).

    An existing project file keeps its comments, order and spacing; only what differs changes. Paths are written
    relative to the new place. Raises InputError if the existing file is no project, OSError if it cannot be written.
    """
    folder = file.parent
    document = project_document(project, folder)
    if file.exists():
        text = read_text(file)
        written = project_document(read_project(parse_yaml(text, str(file)), file), folder)
        new_text = edit_yaml(text, written, document)
    else:
        text, new_text = None, format_yaml(document)
    if new_text != text:
        write_atomically(file, new_text)
    return replace(project, file=file, source=parse_yaml(new_text, str(file)))

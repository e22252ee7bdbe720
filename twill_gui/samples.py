"""The sample projects that come with the program."""

from __future__ import annotations

from pathlib import Path

from core.diagnostics import InputError
from core.project.load import PROJECT_FILE, load_project
from core.resources import data_folder


def sample_projects() -> list[tuple[Path, str]]:
    """Folder and name of every readable sample, by folder name."""
    found: list[tuple[Path, str]] = []
    for folder in sorted(data_folder("projects").iterdir()):
        if (folder / PROJECT_FILE).is_file():
            try:
                found.append((folder, load_project(folder).name))
            except InputError:
                continue  # a damaged sample is not offered; opening it by hand says what is wrong
    return found

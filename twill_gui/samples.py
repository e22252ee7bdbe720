"""The sample projects that come with the program, as the welcome page shows them."""

from __future__ import annotations

from pathlib import Path

from core.diagnostics import InputError
from core.project.load import PROJECT_FILE, load_project
from core.resources import data_folder
from twill_gui.views.cards import CardContent

_NOTES = "README.md"
_DETAIL = 105  # characters of the notes on a card


def sample_projects() -> list[CardContent]:
    """A card for every readable sample, by folder name."""
    found: list[CardContent] = []
    for folder in sorted(data_folder("projects").iterdir()):
        if (folder / PROJECT_FILE).is_file():
            try:
                name = load_project(folder).name
            except InputError:
                continue  # a damaged sample is not offered; opening it by hand says what is wrong
            found.append(CardContent(folder, name, _notes(folder), thumbnails(folder.name)))
    return found


def thumbnails(sample: str) -> tuple[Path, Path]:
    """The pictures of a sample's chart for the light and the dark theme, made by `tests.bench.screenshots`."""
    folder = data_folder("resources") / "thumbnails"
    return folder / f"{sample}.png", folder / f"{sample}.dark.png"


def _notes(folder: Path) -> str:
    """What to look at: the beginning of the sample's notes."""
    file = folder / _NOTES
    text = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    line = next((line for line in text.splitlines() if line and not line.startswith("#")), "").replace("`", "")
    return line if len(line) <= _DETAIL else line[:_DETAIL].rpartition(" ")[0].rstrip(",;:") + "\N{HORIZONTAL ELLIPSIS}"

"""Where the package data is: machines, sample projects and resources, in a checkout and in a wheel alike."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def data_folder(name: str) -> Path:
    """The folder `machines`, `projects` or `resources`.

    In a wheel they lie inside the package, in a checkout or an editable install beside it.
    Raises FileNotFoundError if the installation is broken.
    """
    package = Path(str(files("core")))
    for candidate in (package / "data" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the installation lacks its folder '{name}'")

"""Internal errors: one line for the user, and a file with the traceback that can be sent."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from importlib.metadata import PackageNotFoundError, version


def crash_note(fault: BaseException) -> str:
    """Writes the crash report and returns what to tell the user."""
    note = f"internal error: {type(fault).__name__}: {fault}\nThis is a fault of the program, not of the input."
    try:
        handle, name = tempfile.mkstemp(prefix="twill-crash-", suffix=".txt", text=True)
        with os.fdopen(handle, "w", encoding="utf-8") as report:
            report.write(f"twill {program_version()}, Python {platform.python_version()}, {platform.platform()}\n")
            report.write(f"{' '.join(sys.argv)}\n\n")
            report.writelines(traceback.format_exception(fault))
    except OSError:
        return note
    return f"{note} Please send {name} with your report."


def program_version() -> str:
    """The installed version, or `unknown` when run from a bare checkout."""
    try:
        return version("twill-explorer")
    except PackageNotFoundError:
        return "unknown"

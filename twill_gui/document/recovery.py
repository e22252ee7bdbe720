"""Autosave beside the project, and finding what a crashed or killed window left.

Each window has a folder of its own under the recovery folder: a complete project as `save_state` writes it, and
`origin.json`, which says what it was made from. A lock tells the folders of living windows from those left behind.
Writing happens on a pool thread; the state is a frozen value, so nothing has to be copied.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from PySide6.QtCore import QLockFile, QObject, QThreadPool, QTimer, Signal

from core.diagnostics import InputError
from core.files import write_atomically
from twill_gui.document.document import Document
from twill_gui.document.files import open_state, save_state
from twill_gui.document.state import ProjectState

AUTOSAVE_MS = 3000
_PROJECT, _MACHINE, _ORIGIN, _LOCK = "project.yaml", "machine.yaml", "origin.json", "lock"


@dataclass(frozen=True, slots=True)
class Leftover:
    """Work that was never saved. `origin` is the file that was open: a project, or the input of an unsaved one;
    `machine` is what its project calls its machine."""

    folder: Path
    origin: Path
    name: str
    written: datetime
    machine: str | Path | None = None

    def state(self) -> ProjectState:
        """The work as it was. Raises InputError if it cannot be read any more."""
        state = open_state(self.folder / _PROJECT).state
        return replace(state, project=replace(state.project, machine=self.machine))

    def discard(self) -> None:
        """Removes it for good."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Autosave(QObject):
    """Writes the modified document every few seconds; removes the copy once it is saved, undone or discarded."""

    failed = Signal(str)

    def __init__(self, document: Document, root: Path, parent: QObject, interval_ms: int = AUTOSAVE_MS) -> None:
        super().__init__(parent)
        self._document = document
        self._folder = root / uuid4().hex
        self._lock: QLockFile | None = None
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)  # writes stay in order
        self._timer = QTimer(self, interval=interval_ms, singleShot=True)
        self._timer.timeout.connect(self.write)
        self._written_revision = -1
        document.undo_stack.indexChanged.connect(self._on_changed)
        document.located.connect(self._on_changed)

    def write(self) -> None:
        """Writes the present state on the pool thread, if it is modified and not written yet."""
        state = self._document.state
        if state is None or not self._document.modified or self._document.revision == self._written_revision:
            return
        self._written_revision = self._document.revision
        self._take_lock()
        self._pool.start(lambda: self._write(state))

    def wait(self) -> None:
        """Returns when everything asked for is on disk."""
        self._pool.waitForDone()

    def clear(self) -> None:
        """Removes the copy: there is nothing to recover."""
        self._timer.stop()
        self._pool.waitForDone()
        self._written_revision = -1
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None
            shutil.rmtree(self._folder, ignore_errors=True)

    def _on_changed(self) -> None:
        if not self._document.modified:
            self.clear()
        elif not self._timer.isActive():
            self._timer.start()

    def _take_lock(self) -> None:
        if self._lock is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = QLockFile(str(self._folder / _LOCK))
            self._lock.setStaleLockTime(0)  # held as long as this process lives
            self._lock.tryLock(0)

    def _write(self, state: ProjectState) -> None:
        try:
            origin = state.project.file or state.project.input.path
            machine = state.project.machine
            facts = {
                "origin": str(origin.absolute()),
                "name": state.project.name,
                "machine": machine and str(machine),
                "machine_is_file": isinstance(machine, Path),
            }
            # The copy lies elsewhere and shares no file with the project: schedules go beside it.
            entries = {name: entry for name, entry in state.project.schedules.items() if state.variants[name].schedule}
            place = machine if state.machine_text is None else self._folder / _MACHINE
            copy = replace(state, project=replace(state.project, machine=place, schedules=entries))
            save_state(copy, self._folder / _PROJECT)
            write_atomically(self._folder / _ORIGIN, json.dumps(facts))
        except (OSError, InputError) as fault:
            self.failed.emit(str(fault))


def find_leftovers(root: Path) -> list[Leftover]:
    """What windows that no longer live have left, the newest first."""
    found: list[Leftover] = []
    for folder in root.iterdir() if root.is_dir() else ():
        lock = QLockFile(str(folder / _LOCK))
        lock.setStaleLockTime(0)
        if not lock.tryLock(0):
            continue
        lock.unlock()
        try:
            facts = json.loads((folder / _ORIGIN).read_text(encoding="utf-8"))
            written = datetime.fromtimestamp((folder / _ORIGIN).stat().st_mtime)
            machine = Path(facts["machine"]) if facts["machine_is_file"] else facts["machine"]
            found.append(Leftover(folder, Path(facts["origin"]), str(facts["name"]), written, machine))
        except (OSError, ValueError, KeyError):
            shutil.rmtree(folder, ignore_errors=True)  # killed before its first copy was complete
    return sorted(found, key=lambda leftover: leftover.written, reverse=True)

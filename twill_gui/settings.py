"""What the window remembers between runs: recent files, layout, theme. Kept in the user's INI file by default."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths

from twill_gui.theme import Theme

MAX_RECENT = 10
APPLICATION = "twill-explorer"
_LAYOUT_VERSION = 4  # raised when docks or tool bars change, so that an old layout is not applied to them


class Settings:
    """Typed access to the settings file; a missing or damaged entry reads as its default."""

    def __init__(self, file: Path | None = None) -> None:
        self._store = QSettings(str(file or _settings_file()), QSettings.Format.IniFormat)

    @property
    def theme(self) -> Theme:
        """The chosen theme."""
        try:
            return Theme(self._store.value("theme", Theme.SYSTEM.value))
        except ValueError:
            return Theme.SYSTEM

    @theme.setter
    def theme(self, theme: Theme) -> None:
        self._store.setValue("theme", theme.value)

    @property
    def recent_files(self) -> tuple[Path, ...]:
        """The files opened last that still exist, the newest first."""
        names = self._store.value("recent_files", [])
        if isinstance(names, str):  # a list of one comes back as a string
            names = [names]
        paths = [Path(str(name)) for name in names] if isinstance(names, list) else []
        return tuple(path for path in paths if path.exists())

    def add_recent_file(self, path: Path) -> None:
        """Puts the file in front of the list."""
        paths = [path, *(other for other in self.recent_files if other != path)]
        self._store.setValue("recent_files", [str(recent) for recent in paths[:MAX_RECENT]])

    def clear_recent_files(self) -> None:
        """Forgets them all."""
        self._store.remove("recent_files")

    @property
    def layout(self) -> tuple[QByteArray, QByteArray] | None:
        """Geometry and state of the main window, or None for the first start or another version's layout."""
        if self._store.value("layout/version") != str(_LAYOUT_VERSION):
            return None
        geometry, state = self._store.value("layout/geometry"), self._store.value("layout/state")
        return (geometry, state) if isinstance(geometry, QByteArray) and isinstance(state, QByteArray) else None

    def set_layout(self, geometry: QByteArray, state: QByteArray) -> None:
        """Remembers where everything is."""
        self._store.setValue("layout/version", str(_LAYOUT_VERSION))
        self._store.setValue("layout/geometry", geometry)
        self._store.setValue("layout/state", state)


def _settings_file() -> Path:
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericConfigLocation)
    return Path(folder) / APPLICATION / "window.ini"


def recovery_folder() -> Path:
    """Where autosaved work lies until it is saved or discarded."""
    data = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    return Path(data) / APPLICATION / "recovery"

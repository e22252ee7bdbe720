"""Which files there are, and writes that never lose what was there: temporary file, fsync, replace."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether there is such a file. Where that cannot be known (no access, a name that is too long) there is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether there is such a folder, as in `is_file`."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_stream(path: Path) -> bool:
    """Whether what is there is a device or a pipe (/dev/null, /dev/stdout): it is written to, never replaced."""
    return not is_file(path) and not is_folder(path) and path.exists()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replaces the file's content as a whole, that of the file meant where `path` is a link; text is UTF-8 with LF.
    Creates missing folders. Raises OSError."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    if is_stream(path):
        path.write_bytes(data)
        return
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Writes are atomic: either the old content or the whole new one, never anything between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.files import write_atomically
from core.resources import data_folder


def test_content_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.yaml"
    write_atomically(path, "ä\n")
    assert path.read_bytes() == "ä\n".encode()
    write_atomically(path, b"\r\n")
    assert path.read_bytes() == b"\r\n"
    assert [p.name for p in path.parent.iterdir()] == ["a.yaml"]


def test_a_failing_write_leaves_the_old_content_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.yaml"]


def test_permissions_survive(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file, link, dangling = tmp_path / "there" / "a.yaml", tmp_path / "link.yaml", tmp_path / "dangling.yaml"
    file.write_text("old")
    link.symlink_to(file)
    dangling.symlink_to(tmp_path / "there" / "b.yaml")
    write_atomically(link, "new")
    write_atomically(dangling, "other")
    assert link.is_symlink() and dangling.is_symlink()
    assert (file.read_text(), dangling.resolve().read_text()) == ("new", "other")


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo() and [p.name for p in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("name", ["machines", "projects", "resources"])
def test_package_data_is_found(name: str) -> None:
    assert data_folder(name).is_dir()


def test_missing_package_data_is_said() -> None:
    with pytest.raises(FileNotFoundError, match="no-such"):
        data_folder("no-such")

"""The program as a process: pictures without a screen, exit codes, and what it does not import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from states import write_project


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "twill_gui.app", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(("options", "size"), [((), (1600, 1000)), (("--dark", "--scale", "2"), (3200, 2000))])
def test_a_picture_of_the_window(tmp_path: Path, options: tuple[str, ...], size: tuple[int, int]) -> None:
    picture = tmp_path / "out.png"
    done = run(str(write_project(tmp_path / "p").parent), "--screenshot", str(picture), *options)
    assert done.returncode == 0, done.stderr
    image = QImage(str(picture))
    assert (image.width(), image.height()) == size
    colors = {image.pixelColor(x, y).rgb() for x in range(0, size[0], 7) for y in range(0, size[1], 7)}
    assert len(colors) > 20  # neither blank nor one panel


def test_a_bad_input_is_told_with_its_place(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("schema: twill.project/1\nname: [\n")
    done = run(str(bad), "--screenshot", str(tmp_path / "out.png"))
    assert done.returncode == 3
    assert f"{bad}:3:1: error:" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_internal_error_is_told_and_fails(tmp_path: Path) -> None:
    """An error in a slot does not end the window; a picture of it fails, and the report names the error."""
    program = (
        "import sys, twill_gui.models.problems as m; from twill_gui.app import main\n"
        "def broken(self, diagnostics): raise RuntimeError('planted')\n"
        "m.ProblemsModel.set_diagnostics = broken\n"
        f"sys.exit(main([{str(write_project(tmp_path / 'p'))!r}, '--screenshot', {str(tmp_path / 'out.png')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 70
    assert "RuntimeError: planted" in done.stderr


def test_bad_usage() -> None:
    assert run("--no-such-option").returncode == 2


def test_the_window_opens_without_solvers_and_plots(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p")
    program = (
        "import sys; from twill_gui.app import main;"
        f"main([{str(project)!r}, '--screenshot', {str(tmp_path / 'out.png')!r}]);"
        "print(sorted({'ortools', 'z3', 'scipy', 'networkx', 'fast_sugiyama', 'pyqtgraph'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


def test_the_solver_process_does_not_import_qt() -> None:
    program = "import sys, twill_gui.app, twill_gui.jobs.supervisor; print('PySide6' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "False"

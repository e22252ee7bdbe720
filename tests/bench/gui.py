"""All measurements of the window, offscreen and on a screen of Xvfb, one after another, as one table.

Run: python -m tests.bench.gui [--only NAME ...] [--screens offscreen xvfb] [--out tests/bench/results/gui.md]

Takes about four minutes. The machine should have nothing else to do: the load average is written down. With --only or
--screens nothing is written unless --out says where.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tests.bench.figures import Figure, amount, parse

BENCHES = ("gantt_frames", "graph_layout", "long_text", "window_budgets")
SCREENS = ("offscreen", "xvfb")
RESULT = Path(__file__).parent / "results" / "gui.md"
SCREEN_SIZE = "1920x1600x24"
BUSY_LOAD = 2.0
BUSY = "Other programs kept the machine busy meanwhile: only the CPU times tell of the window, not the clock nor `met`."

Table = dict[str, dict[str, Figure]]
"""By what is measured and by screen."""


def main() -> int:
    """Runs the benches and writes the table; exit code 0 if all ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BENCHES, default=BENCHES)
    parser.add_argument("--screens", nargs="+", choices=SCREENS, default=SCREENS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    whole = tuple(options.only) == BENCHES and tuple(options.screens) == SCREENS
    load, found, failed = os.getloadavg()[0], Table(), 0
    for screen in options.screens:
        if screen == "xvfb" and shutil.which("xvfb-run") is None:
            print("xvfb-run is missing: nothing is measured on a screen")
            failed += 1
            continue
        for bench in options.only:
            print(f"\n== {bench}, {screen}, load average {os.getloadavg()[0]:.1f}", flush=True)
            failed += _run(bench, screen, found)
    out = options.out or (RESULT if whole and not failed else None)
    if out is not None:
        out.write_text(report(found, load, os.getloadavg()[0]), encoding="utf-8")
        print(f"\nwritten: {out}")
    return min(failed, 1)


def _run(bench: str, screen: str, found: Table) -> int:
    command = [sys.executable, "-m", f"tests.bench.{bench}"]
    if screen == "xvfb":
        command = ["xvfb-run", "-a", "-s", f"-screen 0 {SCREEN_SIZE}", *command]
    with subprocess.Popen(command, env=_environment(screen), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            figure = parse(line)
            if figure is None:
                print(line, end="", flush=True)
            else:
                found.setdefault(figure.what, {})[screen] = figure
    return process.returncode != 0


def _environment(screen: str) -> dict[str, str]:
    """Compiled files are kept, as an installed program has them, whatever is set outside."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "QT_QPA_PLATFORM": "offscreen" if screen == "offscreen" else "xcb"}


def report(found: Table, load_before: float, load_after: float) -> str:
    """The table, and what was measured where."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("PySide6-Essentials", "numpy", "ortools"))
    beyond = [what for what, by_screen in found.items() if _met(by_screen) is False]
    lines = [
        "# The window against its budgets",
        "",
        f"`python -m tests.bench.gui`, {date.today().isoformat()}, Python {platform.python_version()}, {versions},",
        f"{os.cpu_count()} cores of {_processor()}; load average {load_before:.1f} before and {load_after:.1f} after",
        "(its own is about 1.3). By the clock, medians unless said otherwise; in brackets the CPU time of the thread",
        "that measures, which other programs on the machine disturb less. What each number means is in the benches",
        "that `tests.bench.gui` runs.",
        "",
        *([BUSY, ""] if load_before > BUSY_LOAD else []),
        "| what | budget | offscreen | Xvfb | met |",
        "| --- | ---: | ---: | ---: | --- |",
        *(_row(what, by_screen) for what, by_screen in found.items()),
        "",
        f"Beyond the budget: {'; '.join(beyond)}." if beyond else "All budgets are met.",
        "",
    ]
    return "\n".join(lines)


def _row(what: str, by_screen: Mapping[str, Figure]) -> str:
    one = next(iter(by_screen.values()))
    budget = "" if one.budget is None else amount(one.budget, one.unit)
    cells = [by_screen[screen].text() if screen in by_screen else "" for screen in SCREENS]
    met = {None: "", True: "yes", False: "**no**"}[_met(by_screen)]
    return f"| {what} | {budget} | {' | '.join(cells)} | {met} |"


def _met(by_screen: Mapping[str, Figure]) -> bool | None:
    """Whether a budget is kept on all screens."""
    answers = [figure.met for figure in by_screen.values()]
    return None if None in answers else all(answers)


def _processor() -> str:
    """The processor's name as the system gives it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next((name for name in names if name != "unknown"), platform.machine())


if __name__ == "__main__":
    sys.exit(main())

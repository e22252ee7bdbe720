"""All measurements of the window, offscreen and on a screen of Xvfb, one after another.

Run: python -m tests.bench.gui [--only NAME ...] [--screens offscreen xvfb]
Budgets: frame 16 ms with 2,400 bars, drag 8 ms, start 2 s, hold-up of the event loop 50 ms, cancel told within 100 ms
and done within 1.5 s, autosave 20 ms. The machine should have nothing else to do: the load average is printed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

BENCHES = ("gantt_frames", "graph_layout", "long_text", "window_budgets")
SCREENS = ("offscreen", "xvfb")


def main() -> int:
    """Runs the benches; exit code 0 if all ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BENCHES, default=BENCHES)
    parser.add_argument("--screens", nargs="+", choices=SCREENS, default=SCREENS)
    options = parser.parse_args()
    failed = 0
    for screen in options.screens:
        if screen == "xvfb" and shutil.which("xvfb-run") is None:
            print("xvfb-run is missing: nothing is measured on a screen")
            continue
        for bench in options.only:
            print(f"\n== {bench}, {screen}, load average {os.getloadavg()[0]:.1f}", flush=True)
            failed += subprocess.run(_command(bench, screen), env=_environment(screen)).returncode != 0
    return min(failed, 1)


def _command(bench: str, screen: str) -> list[str]:
    command = [sys.executable, "-m", f"tests.bench.{bench}"]
    return command if screen == "offscreen" else ["xvfb-run", "-a", "-s", "-screen 0 1920x1200x24", *command]


def _environment(screen: str) -> dict[str, str]:
    return {**os.environ, "QT_QPA_PLATFORM": "offscreen" if screen == "offscreen" else "xcb"}


if __name__ == "__main__":
    sys.exit(main())

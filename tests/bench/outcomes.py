"""What must come out of loops whose answers are known, asked of both models and checked by code.

    python -m tests.bench.outcomes [--limit-s 1800] [--only WORD ...] [--out FILE]

Least II and L of the paper's model are taken from the table of both models (`models.jsonl`) where it has been measured
on this machine; what is not there, and its verdicts on one II, are asked here and kept beside the table
(`outcomes.jsonl`), under the same rules as those.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from tests.bench.outcome_questions import Asker, Line
from tests.bench.outcome_rows import ROWS, Row, front
from tests.bench.report import RESULTS, Kept, environment, table, write

HEAD = ("loop", "exact: status, II, L", "CPU s", "checked", "paper: verdict, II, L", "CPU s", "outcome")
NOTES = (
    "Seconds of the processor. Exact: in cycles of the loop; what is proved is said so, and every schedule has passed "
    "the judge. Paper: its own verdict on its normalised costs, with the cycles of the loop that one of its own is "
    "worth, and what the judge finds broken in its schedule, by rule; a verdict at an II is that of its system at the "
    "nearest normalised one and of no other depth of pipeline. An *infeasible* of it is no proof for the loop, since "
    "costs are rounded."
)


def main() -> None:
    """Asks all and writes the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=1800.0, help="CPU seconds for one question to one model")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="cases whose name has one of these")
    parser.add_argument("--out", type=Path, default=RESULTS / "outcomes.md")
    options = parser.parse_args()
    asker = Asker(options.limit_s, Kept(options.out.with_suffix(".jsonl"), resume=True))
    chosen = [row for row in ROWS if not options.only or any(word in row.case for word in options.only)]
    parts = [part for row in chosen for part in paragraphs(row, asker)]
    if not options.only:
        parts += ["## Attention backward: least II by registers and groups", *front(asker)]
    limit = f"Limit {options.limit_s:g} s of the processor for each question to each model; z3's tactics share it."
    write(options.out, "# What must come out", f"{environment()} {limit}", NOTES, *parts)


def paragraphs(row: Row, asker: Asker) -> Iterator[str]:
    """One case: what is expected, and what came out."""
    cells: list[list[str]] = []
    for line in row.lines(asker):
        cells.append(line_cells(line))
        print(row.case, *cells[-1], sep="\t", flush=True)
    yield f"## {row.case}"
    yield f"Expected: {row.expected}"
    yield table(HEAD, cells) if cells else row.left_out


def line_cells(line: Line) -> list[str]:
    """The line of the table."""
    held = [claim for claim, holds in line.claims.items() if holds]
    failed = [claim for claim, holds in line.claims.items() if not holds]
    outcome = f"**differs**: not {'; not '.join(failed)}" if failed else "as expected"
    if line.why:
        outcome += f", because {line.why}" if failed else f" ({line.why})"
    seconds = [f"{line.exact_s:.2f}", "-" if line.paper is None else f"{line.paper.cpu_s:.2f}"]
    said = "-" if line.paper is None else line.paper.text
    return [line.loop, line.exact, seconds[0], "; ".join(held) or "-", said, seconds[1], outcome]


if __name__ == "__main__":
    main()

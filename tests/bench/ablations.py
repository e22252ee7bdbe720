"""The paper's ablations on attention forward for Blackwell, both models: base satisfiable, variant not at the same II?

    python -m tests.bench.ablations [--limit-s 600] [--only NAME ...] [--resume] [--out FILE]

Two bases: the project's loop, from its TTGIR text with the costs of its machine file, and the loop with known answers.
`--resume` goes on with a run that was interrupted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import networkx

from core.graph.model import Block, Dependence, Graph, Op
from core.graph.read import load_graph
from core.schedule.bounds import bounds, certificates
from core.schedule.variations import with_group_counts
from core.solve.engine import Budget
from core.solve.events import Level, SolveOptions, Status, Verdict
from core.solve.paper.answer import ask_paper
from core.solve.paper.normalize import DEFAULT_SUM, normalize
from core.solve.solve import solve
from tests.bench.report import (
    KERNELS,
    RESULTS,
    UNFINISHED,
    WALL_FACTOR,
    Kept,
    broken,
    cpu_seconds,
    environment,
    out_of,
    project_graphs,
    table,
    write,
)

HEAD = (
    "base",
    "variant",
    "II",
    "exact at II",
    "by",
    "least II, exact",
    "CPU s",
    "its II",
    "paper at its II",
    "CPU s",
    "exact there, same costs",
    "as the paper says",
    "why not",
)
NOTES = (
    "II: the least of the base, which the variant is asked for (without sub-tiling half of it, as an iteration has "
    "half the work); by: the certificate or the solver that excludes it. The paper's model is asked for the first II "
    "of its search for the base, in cycles of the loop; exact there, same costs: the exact model at that II with the "
    "paper's normalised costs, so that where it says otherwise than with the loop's own, rounding is why. As the "
    "paper says: the base has a schedule at II and the variant none, by exact / by the paper's model; a time-out says "
    "nothing (?). Why not: what our costs leave room for, or what the judge finds broken in the schedule of the "
    "paper's model, with its normalised costs. No sub-tiling: one tile of 128 rows, on the same groups. No hand-off: "
    "no register value may cross groups. Coarser ops: scale, exponential, sum and cast of a tile are one op."
)
SOFTMAX = {
    "known answers": [tuple(f"{op}{tile}" for op in ("scale", "exp", "sum", "cast")) for tile in (0, 1)],
    "project": [("subf.0", "exp2.0", "reduce.1", "truncf.0"), ("subf.2", "exp2.2", "reduce.3", "truncf.1")],
}
"""Ops of one tile that the coarse graph runs as one."""


@dataclass(frozen=True)
class Variant:
    """A graph, and the share of the base's work that one of its iterations does."""

    name: str
    graph: Graph
    share: int = 1


@dataclass(frozen=True)
class Asker:
    """Both models within a limit of the processor's seconds a question, and the answers that are kept."""

    limit_s: float
    kept: Kept

    def exact(self, graph: Graph, ii: int | None = None) -> dict[str, Any]:
        """The least II, or whether there is a schedule at `ii`."""
        key = Kept.key(graph, f"exact {ii}")
        return self.kept.get(key) or self.kept.put(key, self._exact(graph, ii))

    def paper(self, graph: Graph, ii: int | None = None) -> dict[str, Any]:
        """The first II of the paper's search, or its verdict at `ii`, all in cycles of the graph."""
        key = Kept.key(graph, f"paper {ii}")
        return self.kept.get(key) or self.kept.put(key, self._paper(graph, ii))

    def exact_normalised(self, graph: Graph, ii: int) -> dict[str, Any]:
        """Whether there is a schedule at the normalised II nearest to `ii`, with the paper's normalised costs."""
        normalization = normalize(graph, DEFAULT_SUM, Budget(self.limit_s, lambda: False))
        if normalization is None:
            return {"status": Status.UNKNOWN.value}
        return self.exact(normalization.apply(graph), max(1, round(ii * normalization.scale)))

    def _options(self, ii: int | None) -> SolveOptions:
        return SolveOptions(objective=(Level.II,), limit_s=WALL_FACTOR * self.limit_s, ii=ii)

    def _exact(self, graph: Graph, ii: int | None) -> dict[str, Any]:
        began = cpu_seconds()
        result = solve(graph, self._options(ii), None, out_of(self.limit_s))
        asked = result.ii if ii is None else ii
        by = [entry.by for entry in result.trail if asked is None or ii is None or entry.ii >= asked]
        if ii is not None and certificates(graph, ii):
            by = [certificate.family.value for certificate in certificates(graph, ii)]
        found = {"status": result.status.value, "ii": result.ii, "by": by[0] if by else "-"}
        return {**found, "cpu_s": cpu_seconds() - began}

    def _paper(self, graph: Graph, ii: int | None) -> dict[str, Any]:
        began = cpu_seconds()
        budget = Budget(WALL_FACTOR * self.limit_s, out_of(self.limit_s))
        asked = ask_paper(graph, self._options(ii), budget)
        answer = None if asked is None else asked[0]
        verdict = Verdict.UNKNOWN if answer is None else answer.verdict
        found: dict[str, Any] = {"verdict": verdict.value, "ii": None, "judge": ""}
        if answer is not None and answer.schedule is not None:
            found |= {"ii": round(answer.schedule.ii * answer.unit), "judge": broken(answer.violations)}
        return {**found, "cpu_s": cpu_seconds() - began}


def main() -> None:
    """Asks all and writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=600.0, help="CPU seconds for one question to one model")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="bases whose name begins so")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    parser.add_argument("--out", type=Path, default=RESULTS / "ablations.md")
    options = parser.parse_args()
    asker = Asker(options.limit_s, Kept(UNFINISHED / "ablations.jsonl", options.resume))
    rows: list[list[str]] = []
    for name, base, variants in bases():
        if options.only and not name.startswith(tuple(options.only)):
            continue
        for line in rows_of(name, base, variants, asker):
            rows.append(line)
            print(*line, sep="\t", flush=True)
    limit = f"Limit {options.limit_s:g} s of the processor for each question to each model."
    write(
        options.out,
        "# Ablations of attention forward on Blackwell",
        f"{environment()} {limit}",
        table(HEAD, rows),
        NOTES,
    )


def bases() -> Iterator[tuple[str, Graph, list[Variant]]]:
    """The bases with their variants."""
    project = next(graph for name, graph in project_graphs() if name.startswith("attention_forward_blackwell"))
    yield "project", project, common("project", project)
    case = load_graph(KERNELS / "fa_fwd_blackwell_2x128.yaml")
    yield "known answers", case, common("known answers", case)


def common(name: str, graph: Graph) -> list[Variant]:
    """One group fewer, and the three others."""
    kind = max((kind for kind in graph.groups if not kind.variable_latency), key=lambda kind: kind.warps * kind.count)
    return [
        Variant(
            f"{kind.count - 1} of {kind.count} {kind.kind} groups",
            with_group_counts(graph, {kind.kind: kind.count - 1}),
        ),
        Variant("no sub-tiling", one_tile(graph), share=2),
        Variant("no hand-off", replace(graph, rules=replace(graph.rules, allow_hand_off=False))),
        Variant("coarser ops", coarser(graph, SOFTMAX[name])),
    ]


def one_tile(graph: Graph) -> Graph:
    """The graph with the first of its two tiles alone: what hangs together when the shared loads are taken away."""
    shared = {name for name, op in graph.ops.items() if op.variable_latency}
    tiles = networkx.Graph()
    tiles.add_nodes_from(name for name in graph.ops if name not in shared)
    pairs = ((d.source, d.target) for d in graph.dependences)
    tiles.add_edges_from(pair for pair in pairs if not shared.intersection(pair))
    parts = list(networkx.connected_components(tiles))
    if len(parts) != 2:
        raise SystemExit(f"{graph.name}: {len(parts)} tiles instead of two")
    first = next(name for name in graph.ops if name not in shared)
    kept = shared | next(part for part in parts if first in part)
    ops = {name: op for name, op in graph.ops.items() if name in kept}
    dependences = tuple(d for d in graph.dependences if d.source in kept and d.target in kept)
    return replace(graph, ops=ops, dependences=dependences)


def coarser(graph: Graph, chains: list[tuple[str, ...]]) -> Graph:
    """The graph with each chain of synchronous ops run as one, part after part; its value takes what the largest of
    its parts' takes, and comes with the last."""
    place: dict[str, tuple[str, int]] = {}
    ops = dict(graph.ops)
    for chain in chains:
        offset, blocks = 0, list[Block]()
        for name in chain:
            part = ops.pop(name)
            place[name] = chain[0], offset
            blocks += [replace(block, offset=offset + block.offset) for block in part.blocks]
            offset += part.issue_cycles
        parts = [graph.ops[name] for name in chain]
        ops[chain[0]] = merged(parts, tuple(blocks), offset)
    return replace(graph, ops=ops, dependences=tuple(between(graph, place)))


def merged(parts: list[Op], blocks: tuple[Block, ...], issue_cycles: int) -> Op:
    """One op for the parts."""
    last, largest = parts[-1], max(parts, key=lambda part: part.result.amount)
    return replace(
        parts[0],
        blocks=blocks,
        issue_cycles=issue_cycles,
        latency=issue_cycles - last.issue_cycles + last.latency,
        result=largest.result,
        hand_off_cycles=largest.hand_off_cycles,
        hand_off_bytes=largest.hand_off_bytes,
    )


def between(graph: Graph, place: dict[str, tuple[str, int]]) -> Iterator[Dependence]:
    """The dependences between ops of the coarse graph, counted from its ops' starts."""
    for edge in graph.dependences:
        source, begin = place.get(edge.source, (edge.source, 0))
        target, end = place.get(edge.target, (edge.target, 0))
        if source != target or edge.source == edge.target:
            latency = max(0, begin + edge.latency - end)
            yield replace(edge, source=source, target=target, latency=latency, release=edge.release + end)


def rows_of(name: str, base: Graph, variants: list[Variant], asker: Asker) -> Iterator[list[str]]:
    """The base's row and its variants'."""
    exact, paper = asker.exact(base), asker.paper(base)
    ii, own = exact["ii"], paper["ii"]
    row = [name, "base", str(ii or "-"), exact["status"], "-", str(ii or "-"), f"{exact['cpu_s']:.1f}", str(own or "-")]
    small = "-" if own is None else at_interval(asker.exact_normalised(base, own))
    yield [*row, paper["verdict"], f"{paper['cpu_s']:.1f}", small, "", ""]
    for variant in variants:
        if ii is not None:
            at, its = ii // variant.share, None if own is None else round(own / variant.share)
            yield [name, variant.name, str(at), *cells(variant.graph, at, its, asker)]


def cells(graph: Graph, ii: int, its: int | None, asker: Asker) -> list[str]:
    """The row of a variant behind its II; `its`: the II that the paper's model is asked for, if it has one."""
    exact, least = asker.exact(graph, ii), asker.exact(graph)
    paper = asker.paper(graph, its) if its is not None else {"verdict": "unknown", "ii": None, "judge": "", "cpu_s": 0}
    at_ii = at_interval(exact)
    feasible = at_ii == Verdict.FEASIBLE.value
    exact_least = "none" if least["status"] == Status.INFEASIBLE.value else str(least["ii"] or "?")
    why: list[str] = []
    if feasible:
        why.append(f"exact: the bound of its units and recurrences is {bounds(graph).min_ii}, and II {ii} is legal")
    if paper["ii"] is not None:
        why.append(f"paper: its schedule is {paper['judge']} to the judge")
    row = [at_ii, "-" if feasible else exact["by"], exact_least, f"{exact['cpu_s'] + least['cpu_s']:.1f}"]
    row += [str(its or "-"), paper["verdict"], f"{paper['cpu_s']:.1f}"]
    row.append("-" if its is None else at_interval(asker.exact_normalised(graph, its)))
    return [*row, f"{says(at_ii)} / {says(paper['verdict'])}", "; ".join(why)]


def at_interval(exact: dict[str, Any]) -> str:
    """The verdict on one II."""
    found = exact["status"] in (Status.OPTIMAL.value, Status.FEASIBLE.value)
    return Verdict.FEASIBLE.value if found else exact["status"]


def says(verdict: str) -> str:
    """Whether a variant's verdict is the paper's."""
    return {"infeasible": "yes", "feasible": "no"}.get(verdict, "?")


if __name__ == "__main__":
    main()

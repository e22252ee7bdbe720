"""The paper's ablations on attention forward for Blackwell, both models: base satisfiable, variant not at the same II?

    python tests/bench/ablations.py [--limit-s 300] [--only NAME ...] [--out FILE]

Two bases: the loop with known answers, and the project's, from its TTGIR text with the costs of its machine file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from report import KERNELS, RESULTS, broken, environment, project_graphs, table, write

from core.graph.model import Block, Dependence, Graph, Op
from core.graph.read import load_graph
from core.schedule.bounds import bounds
from core.schedule.variations import with_group_counts
from core.solve.engine import Budget
from core.solve.events import Level, PaperAnswer, SolveOptions, SolveResult, Status, Verdict
from core.solve.paper.answer import ask_paper
from core.solve.solve import solve

HEAD = (
    "base",
    "variant",
    "II",
    "exact at II",
    "least II, exact",
    "paper at its II",
    "first II, paper",
    "as the paper says",
    "why not",
)
NOTES = (
    "II: the least of the base, which the variant is asked for (without sub-tiling half of it, as an iteration has "
    "half the work). The paper's model is asked for its own first II of the base, in normalised cycles; first II: of "
    "the variant, times the cycles that each is worth. As the paper says: the base has a schedule at II and the "
    "variant none, by exact / by the paper's model. Why not: what our costs leave room for, or what the judge finds "
    "broken in the schedule of the paper's model."
)
SOFTMAX = ("scale", "exp", "sum", "cast")
"""Ops of one tile that the coarse graph runs as one."""


@dataclass(frozen=True)
class Variant:
    """A graph, and the share of the base's work that one of its iterations does."""

    name: str
    graph: Graph
    share: int = 1


@dataclass(frozen=True)
class Asked:
    """Both models' answers at one II, and their least II."""

    exact: SolveResult
    exact_least: SolveResult
    paper: PaperAnswer | None
    paper_least: PaperAnswer | None


def main() -> None:
    """Asks all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=300.0, help="seconds for one question to one model")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="bases whose name begins so")
    parser.add_argument("--out", type=Path, default=RESULTS / "ablations.md")
    options = parser.parse_args()
    rows: list[list[str]] = []
    for name, base, variants in bases():
        if options.only and not name.startswith(tuple(options.only)):
            continue
        for line in rows_of(name, base, variants, options.limit_s):
            rows.append(line)
            print(*line, sep="\t", flush=True)
    limit = f"Limit {options.limit_s:g} s for each question to each model."
    write(
        options.out,
        "# Ablations of attention forward on Blackwell",
        f"{environment()} {limit}",
        table(HEAD, rows),
        NOTES,
    )


def bases() -> Iterator[tuple[str, Graph, list[Variant]]]:
    """The bases with their variants."""
    case = load_graph(KERNELS / "fa_fwd_blackwell_2x128.yaml")
    yield (
        "known answers",
        case,
        [
            *common(case),
            Variant("no sub-tiling", load_graph(KERNELS / "fa_fwd_blackwell_1x128.yaml"), share=2),
            Variant("coarser ops", coarser(case, [tuple(f"{op}{tile}" for op in SOFTMAX) for tile in (0, 1)])),
        ],
    )
    roles = load_graph(KERNELS / "fa_fwd_blackwell_2x128__roles.yaml")
    yield "known answers, roles", roles, common(roles)
    for name, graph in project_graphs():
        if name.startswith("attention_forward_blackwell"):
            yield name, graph, common(graph)


def common(graph: Graph) -> list[Variant]:
    """One group fewer, and no value handed off."""
    kind = max((kind for kind in graph.groups if not kind.variable_latency), key=lambda kind: kind.warps * kind.count)
    fewer = with_group_counts(graph, {kind.kind: kind.count - 1})
    closed = replace(graph, rules=replace(graph.rules, allow_hand_off=False))
    return [Variant(f"{kind.count - 1} {kind.kind} groups", fewer), Variant("no hand-off", closed)]


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


def rows_of(name: str, base: Graph, variants: list[Variant], limit_s: float) -> Iterator[list[str]]:
    """The base's row and its variants'."""
    options = SolveOptions(objective=(Level.II,), limit_s=limit_s)
    exact, paper = solve(base, options), ask(base, options)
    first = "-" if paper is None or paper.schedule is None else f"{paper.schedule.ii * paper.unit:.0f}"
    verdict = "time-out" if paper is None else paper.verdict.value
    ii = exact.ii
    yield [name, "base", str(ii or "-"), exact.status.value, str(ii or "-"), verdict, first, "", ""]
    for variant in variants:
        if ii is None:
            continue
        at = ii // variant.share
        own = at if paper is None or paper.schedule is None else round(paper.schedule.ii * paper.unit / variant.share)
        asked = Asked(
            solve(variant.graph, replace(options, ii=at)),
            solve(variant.graph, options),
            ask(variant.graph, replace(options, ii=own)),
            ask(variant.graph, options),
        )
        yield [name, variant.name, str(at), *cells(variant.graph, at, asked)]


def ask(graph: Graph, options: SolveOptions) -> PaperAnswer | None:
    """The paper's model, within the options' limits."""
    asked = ask_paper(graph, options, Budget(options.limit_s, lambda: False))
    return asked and asked[0]


def cells(graph: Graph, ii: int, asked: Asked) -> list[str]:
    """The row of a variant behind its II."""
    at_ii = {Status.OPTIMAL: "feasible", Status.FEASIBLE: "feasible"}.get(asked.exact.status, asked.exact.status.value)
    least = asked.exact_least
    exact_least = "none" if least.status is Status.INFEASIBLE else str(least.ii or "?")
    paper = Verdict.UNKNOWN if asked.paper is None else asked.paper.verdict
    first = asked.paper_least
    paper_first = "?" if first is None or first.verdict is Verdict.UNKNOWN else "none"
    if first is not None and first.schedule is not None:
        paper_first = f"{first.schedule.ii * first.unit:.0f}"
    as_printed = f"{says(at_ii)} / {says(paper.value)}"
    why: list[str] = []
    if at_ii == "feasible":
        why.append(f"exact: the bound of its units and recurrences is {bounds(graph).min_ii}, and II {ii} is legal")
    if asked.paper is not None and asked.paper.schedule is not None:
        why.append(f"paper: its schedule is {broken(asked.paper.violations)} to the judge")
    return [at_ii, exact_least, paper.value, paper_first, as_printed, "; ".join(why)]


def says(verdict: str) -> str:
    """Whether a variant's verdict is the paper's."""
    return {"infeasible": "yes", "feasible": "no"}.get(verdict, "?")


if __name__ == "__main__":
    main()

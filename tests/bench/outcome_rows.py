"""The cases of the table of outcomes: what is expected of each, and the questions that show whether it is so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.metrics import length
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.schedule.variations import with_group_counts, with_register_limit
from core.solve.events import Level, SolveResult, Status, Verdict
from tests.bench.ablations import one_tile
from tests.bench.dependence_dump import load_dump
from tests.bench.outcome_questions import Asker, Line, PaperSays, answer_text, proved, value
from tests.bench.report import KERNELS, cpu_seconds, project_graphs, table
from tests.core.solve.solve_cases import expected, graph, holds

DUMPS = Path(__file__).parents[3] / "shared" / "third_party" / "ddg"
ROLES_OF_PROJECT: list[dict[str, Any]] = [
    {"together": [f"tc_gen5_mma.{n}" for n in range(4)]},
    *(
        {"together": [f"tmem_load.{t}", f"reduce.{2 * t}", f"subf.{2 * t}", f"exp2.{2 * t}", f"truncf.{t}"]}
        for t in range(2)
    ),
    {"together": ["mulf.6", "mulf.7", "tmem_store.0", "tmem_store.1"]},
    {"apart": ["exp2.0", "exp2.2", "mulf.6", "tc_gen5_mma.0"]},
]
"""One group for the matrix ops, one for each tile's softmax, one for both rescales: the roles of FA4."""
PING_PONG_OF_PROJECT: list[dict[str, Any]] = [
    {"order": ["warp_group_dot.0", "warp_group_dot.3", "warp_group_dot.1", "warp_group_dot.2"]},
    {"op": "exp2.0", "after": "warp_group_dot.0", "slots": [512, 1024]},
    {"op": "exp2.2", "after": "warp_group_dot.1", "slots": [512, 1024]},
    {"apart": ["warp_group_dot.0", "warp_group_dot.1"]},
]
"""QK0 PV1 QK1 PV0, of 512 cycles each; an exponential of 512 cycles begins when its tile's product is there, and ends
before the tensor core comes to its tile again."""


@dataclass(frozen=True)
class Row:
    """A case: its name, what is expected, its questions; `left_out`: what is written if there is none to ask."""

    case: str
    expected: str
    lines: Callable[[Asker], Iterator[Line]]
    left_out: str = ""


@cache
def projects() -> Mapping[str, Graph]:
    """The graphs of the projects."""
    return dict(project_graphs())


def known(name: str) -> Graph:
    """A loop with known answers."""
    return graph("kernels", name)


def words(fact: Mapping[str, Any]) -> str:
    """A fact about a schedule, in words."""
    if "together" in fact:
        return f"{', '.join(fact['together'])} on one group"
    if "apart" in fact:
        return f"{', '.join(fact['apart'])} on groups of their own"
    if "order" in fact:
        return f"order {' '.join(fact['order'])}"
    if "slots" in fact:
        return f"{fact['op']} in slots {fact['slots'][0]} to {fact['slots'][1]} after {fact['after']}"
    least = "II" if fact["cycles_at_least"] == "ii" else fact["cycles_at_least"]
    return f"{fact['op']} {least} or more cycles after {fact['after']}"


def facts(schedule: Schedule | None, wanted: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """Which of them hold."""
    return {words(fact): schedule is not None and holds(schedule, fact) for fact in wanted}


def least(asker: Asker, name: str, at: str, level: Level = Level.LENGTH, ask_paper: bool = True) -> Line:
    """A loop with known answers: its least II and least L or hand-offs, and the facts that its file states."""
    case, loop = expected("kernels")[name], known(name)
    further = () if level is Level.LENGTH else (Level.LENGTH,)
    result, spent = asker.exact(loop, level, *further)
    claims = {"proved": proved(result), f"II {case['least_ii']}": result.ii == case["least_ii"]}
    claims[f"L {case['least_length']}"] = bool(result.levels) and value(result, Level.LENGTH) == case["least_length"]
    text = answer_text(loop, result)
    if level is Level.HAND_OFFS:
        fewest = case.get("least_hand_offs", {"values": 0})["values"]
        claims[f"{fewest} hand-offs"] = bool(result.levels) and value(result, level) == fewest
        name = f"{name}, fewest hand-offs first"
    claims |= facts(result.schedule, [fact for fact in case.get("must", []) if fact["at"] in ("ii", at)])
    return Line(name, text, spent, claims, asker.paper(loop) if ask_paper else None)


def impossible(asker: Asker, name: str, loop: Graph, ii: int, why: str = "") -> Line:
    """No schedule at one II."""
    result, spent = asker.exact(loop, ii=ii)
    by = sorted({entry.by for entry in result.trail if entry.ii == ii})
    text = f"{result.status.value}{f' ({by[0]})' if by else ''}"
    claims = {f"infeasible at II {ii}": result.status is Status.INFEASIBLE}
    paper = asker.paper_at(loop, ii)
    return Line(f"{name}, at II {ii}", text, spent, claims, paper, why or otherwise(paper))


def larger(asker: Asker, name: str, loop: Graph, bound: int, known_ii: int | None = None) -> Line:
    """The bound is not reached: the least II is larger."""
    result, spent = asker.exact(loop)
    claims = {"least II proved": result.status is Status.OPTIMAL, f"larger than {bound}": (result.ii or 0) > bound}
    if known_ii is not None:
        claims[f"II {known_ii}"] = result.ii == known_ii
    paper = asker.paper_at(loop, bound)
    why = "; ".join(filter(None, [f"paper: asked at {bound}", otherwise(paper)]))
    return Line(name, answer_text(loop, result), spent, claims, paper, why)


def otherwise(paper: PaperSays) -> str:
    """Why the paper's model has a schedule where the exact one has none, if it has."""
    if not paper.text.startswith(Verdict.FEASIBLE.value):
        return ""
    if paper.text.endswith("judge: legal"):
        return "the paper's model has a schedule there, legal with its rounded costs"
    return "the paper's model has a schedule there, which the judge refuses"


def of_project(
    asker: Asker,
    name: str,
    loop: Graph,
    levels: Sequence[Level],
    wanted: Sequence[Mapping[str, Any]] = (),
    counts: Mapping[Level, int] | None = None,
    ask_paper: bool = True,
) -> Line:
    """A loop from its TTGIR: all levels proved, II at the bound of its units, values of levels, facts."""
    result, spent = asker.exact(loop, *levels)
    least_ii = bounds(loop).min_ii
    claims = {"proved": proved(result), f"II at the bound, {least_ii}": result.ii == least_ii}
    for level, count in (counts or {}).items():
        claims[f"{count} {level.value.replace('_', '-')}"] = bool(result.levels) and value(result, level) == count
    claims |= facts(result.schedule, wanted)
    return Line(name, answer_text(loop, result), spent, claims, asker.paper(loop) if ask_paper else None)


def figure_1(asker: Asker) -> Iterator[Line]:
    """The paper's figure 1, and how many live values each model counts."""
    loop = known("figure_1")
    result, spent = asker.exact(loop, Level.LENGTH)
    schedule = result.schedule
    claims = {"proved": proved(result), "II 2": result.ii == 2}
    if schedule is not None:
        starts = {op: place.start - schedule.ops["s"].start for op, place in schedule.ops.items()}
        claims |= {"L 4": length(loop, schedule) == 4, "S 0, O 3": (starts["s"], starts["o"]) == (0, 3)}
        claims["P 1 or 2"] = starts["p"] in (1, 2)
        claims["3 values live at most"] = max(check(loop, schedule).peaks.registers.values()) == 3
    yield Line("figure_1", answer_text(loop, result), spent, claims, asker.paper(loop))
    two = with_register_limit(loop, 2)
    why = "the paper's count of live values misses the accumulator that is carried in"
    yield impossible(asker, "figure_1 with 2 registers", two, 2, why)


def deeper(asker: Asker) -> Iterator[Line]:
    """II 1 needs a deeper pipeline."""
    yield least(asker, "deeper_at_ii_1", "length")


def carried_hand_off(asker: Asker) -> Iterator[Line]:
    """The judge on the illegal schedule, and the legal one."""
    case, loop = expected("kernels")["carried_hand_off"], known("carried_hand_off")
    began = cpu_seconds()
    found = check(loop, load_schedule(KERNELS / case["refused"]["schedule"], loop)).violations
    spent = cpu_seconds() - began
    said = [
        {"family": v.family.value, "ops": list(v.ops), "required": v.required, "available": v.available} for v in found
    ]
    claims = {"the carried edge needs 4 cycles and has 1": said == case["refused"]["violations"]}
    text = "; ".join(violation.message for violation in found)
    yield Line(
        "the schedule on two groups", f"refused: {text}", spent, claims, None, "a schedule, no question to solve"
    )
    line = least(asker, "carried_hand_off", "length")
    result, _ = asker.exact(loop)
    one = result.schedule is not None and len({place.group for place in result.schedule.ops.values()}) == 1
    yield replace(line, claims={**line.claims, "both ops on one group": one})


def hopper(asker: Asker) -> Iterator[Line]:
    """Two tiles of 64 rows."""
    name, loop = "attention_forward_hopper, main", projects()["attention_forward_hopper, main"]
    yield least(asker, "fa_fwd_hopper_2x64", "length")
    yield least(asker, "fa_fwd_hopper_2x64", "hand_offs", Level.HAND_OFFS, ask_paper=False)
    yield impossible(asker, "fa_fwd_hopper_2x64__1_group", known("fa_fwd_hopper_2x64__1_group"), 2048)
    line = of_project(asker, name, loop, [Level.LENGTH], PING_PONG_OF_PROJECT)
    yield line
    fewest = {Level.HAND_OFFS: 0}
    few = of_project(asker, name, loop, [Level.HAND_OFFS, Level.LENGTH], (), fewest, ask_paper=False)
    same = {"the same II and L": few.exact == line.exact}
    yield replace(few, loop=f"{name}, fewest hand-offs first", claims={**few.claims, **same})
    yield impossible(asker, f"{name}, 1 group", with_group_counts(loop, {"compute": 1}), bounds(loop).min_ii or 1)


def one_tile_of_64(asker: Asker) -> Iterator[Line]:
    """One tile, one group: the next product before the current one, under the softmax."""
    yield least(asker, "fa_fwd_hopper_1x64", "length")
    loop = with_group_counts(one_tile(projects()["attention_forward_hopper, main"]), {"compute": 1})
    result, spent = asker.exact(loop, Level.LENGTH)
    next_first = {"op": "warp_group_dot.2", "after": "warp_group_dot.0", "cycles_at_least": "ii"}
    claims = {"proved": proved(result), **facts(result.schedule, [next_first])}
    claims["QK in flight during the exponential"] = result.schedule is not None and overlap(
        loop, result.schedule, "warp_group_dot.0", "exp2.0"
    )
    name = "attention_forward_hopper, its first tile, 1 group"
    yield Line(name, answer_text(loop, result), spent, claims, asker.paper(loop))


def overlap(loop: Graph, schedule: Schedule, one: str, other: str) -> bool:
    """Whether in the steady state there is a slot at which both ops have their units."""

    def slots(op: str) -> set[int]:
        cycles = (schedule.ops[op].start + b.offset + c for b in loop.ops[op].blocks for c in range(b.duration))
        return {cycle % schedule.ii for cycle in cycles}

    return bool(slots(one) & slots(other))


def one_tile_of_128(asker: Asker) -> Iterator[Line]:
    """Not sub-tiled."""
    loop, case = known("fa_fwd_hopper_1x128"), expected("kernels")["fa_fwd_hopper_1x128"]
    yield larger(asker, "fa_fwd_hopper_1x128", loop, 2048, case["least_ii"])


def blackwell(asker: Asker) -> Iterator[Line]:
    """Two tiles of 128 rows."""
    yield least(asker, "fa_fwd_blackwell_2x128", "length")
    yield least(asker, "fa_fwd_blackwell_2x128__roles", "length")
    yield least(asker, "fa_fwd_blackwell_2x128__roles", "hand_offs", Level.HAND_OFFS, ask_paper=False)
    fewer = "fa_fwd_blackwell_2x128__roles_2_groups"
    yield impossible(asker, fewer, known(fewer), 2048)
    for other, bound in (("fa_fwd_blackwell_1x128", 1024), ("fa_fwd_blackwell_2x128__no_hand_off", 2048)):
        yield larger(asker, other, known(other), bound, expected("kernels")[other]["least_ii"])
    name, loop = "attention_forward_blackwell, main", projects()["attention_forward_blackwell, main"]
    bound = bounds(loop).min_ii or 1
    yield of_project(asker, name, loop, [Level.LENGTH])
    levels = [Level.HAND_OFFS, Level.LENGTH]
    few = of_project(asker, name, loop, levels, ROLES_OF_PROJECT, {Level.HAND_OFFS: 2}, ask_paper=False)
    yield replace(few, loop=f"{name}, fewest hand-offs first")
    yield impossible(asker, f"{name}, 2 compute groups", with_group_counts(loop, {"compute": 2}), bound)
    yield impossible(asker, f"{name}, its first tile", one_tile(loop), bound // 2)
    alone = replace(loop, rules=replace(loop.rules, allow_hand_off=False))
    yield impossible(asker, f"{name}, no hand-off", alone, bound)


def backward(asker: Asker) -> Iterator[Line]:
    """Five products."""
    yield least(asker, "fa_bwd_hopper", "length")
    few = "fa_bwd_hopper__200_registers"
    yield impossible(asker, few, known(few), 2560)
    yield least(asker, f"{few}_3_groups", "length")
    for name in ("attention_backward_hopper, main", "attention_backward_hopper, two_key_tiles"):
        yield solved(asker, name)
    yield solved(asker, "attention_backward_blackwell, main")


def solved(asker: Asker, name: str) -> Line:
    """Least II and L of a project, proved."""
    loop = projects()[name]
    result, spent = asker.exact(loop, Level.LENGTH)
    return Line(name, answer_text(loop, result), spent, {"proved": proved(result)}, asker.paper(loop))


REGISTERS = (240, 224, 208, 200, 184, 168, 152)
"""Per thread, of the front."""
FRONT_LOOPS = {
    "fa_bwd_hopper": (1, 2, 3),
    "attention_backward_hopper, two_key_tiles": (1, 2),
    "attention_backward_blackwell, main": (1, 2),
}
"""With the numbers of groups that compute."""
FRONT_NOTES = (
    "Registers: the most that a thread may have. Each number is proved least; *none*: no II up to four times the bound "
    "of units and recurrences, proved; *≤*: found, and not proved least; *?*: not decided."
)


def front(asker: Asker) -> Iterator[str]:
    """Least II against registers per thread and groups that compute."""
    rows: list[list[str]] = []
    for name, counts in FRONT_LOOPS.items():
        for count in counts:
            rows.append(front_row(asker, name, count))
            print(*rows[-1], sep="\t", flush=True)
    yield table(["loop", "compute groups", *(f"{most} registers" for most in REGISTERS)], rows)
    yield FRONT_NOTES


def front_row(asker: Asker, name: str, count: int) -> list[str]:
    """One loop with so many groups."""
    loop = with_group_counts(projects()[name] if name in projects() else known(name), {"compute": count})
    return [name, str(count), *(front_cell(asker, loop, most) for most in REGISTERS)]


def front_cell(asker: Asker, loop: Graph, registers: int) -> str:
    """The least II with so many registers."""
    result: SolveResult = asker.exact(with_register_limit(loop, registers))[0]
    match result.status:
        case Status.OPTIMAL:
            return str(result.ii)
        case Status.FEASIBLE:
            return f"≤ {result.ii} (≥ {result.proved_lower_bound})"
        case Status.INFEASIBLE:
            return "none"
        case Status.UNKNOWN:
            return "?"


def third_party(asker: Asker) -> Iterator[Line]:
    """What another project dumped."""
    for file in sorted(DUMPS.glob("*.json"), reverse=True):
        dumped = load_dump(file)
        loop = dumped.graph
        began = cpu_seconds()
        found = bounds(loop)
        spent = cpu_seconds() - began
        text = f"bounds: II {found.min_ii} (recurrence {found.rec_mii}, resources {found.res_mii})"
        claims = {
            f"{len(loop.ops)} ops, least II {dumped.min_ii}": found.min_ii == dumped.min_ii,
            f"recurrence {dumped.rec_mii}": found.rec_mii == dumped.rec_mii,
        }
        result, to_ii = asker.exact(loop)
        claims["attained"] = (result.status, result.ii) == (Status.OPTIMAL, dumped.min_ii)
        why = f"the dump says resources {dumped.res_mii}, one cycle more than its busiest unit's cycles add up to"
        yield Line(file.stem, text, spent + to_ii, claims, None, why + "; it has no registers, memories or groups")


ROWS = (
    Row(
        "Figure 1 of the paper", "II 2, L 4, S at 0, O at 3, P at 1 or 2; 3 values live (the paper counts 2)", figure_1
    ),
    Row("A deeper pipeline at the same II", "exact: II 1, L 3; the paper's search: II 3", deeper),
    Row("A carried hand-off", "the judge refuses; both ops on one group: II 2", carried_hand_off),
    Row(
        "Attention forward, Hopper, 2 tiles of 64 rows",
        "II at the tensor-core bound, proved; one compute group: infeasible there; least L: ping-pong order QK0 PV1 "
        "QK1 PV0, each exponential under the other tile's products; no hand-off at the fewest, with the same II and L",
        hopper,
    ),
    Row(
        "The same, one tile of 64 rows, one group",
        "next QK before the current PV, under the softmax (the pipeline of FA3)",
        one_tile_of_64,
    ),
    Row("The same, one tile of 128 rows", "infeasible at the bound; larger II", one_tile_of_128),
    Row(
        "Attention forward, Blackwell, 2 tiles of 128 rows",
        "II at the bound (2048; from its TTGIR 2064, the row exponentials count); matrix issue apart: load, matrix, 2 "
        "softmax and 1 correction group (FA4) at the fewest hand-offs, 2; one group fewer: infeasible at the bound; "
        "not sub-tiled, or no hand-off: larger II",
        blackwell,
    ),
    Row(
        "Attention backward, five products",
        "solved with proof; fewer registers need more groups; front listed below",
        backward,
    ),
    Row(
        "Dependence graphs that another project dumped for B200",
        "attention forward (31 ops): least II 1325, by recurrence; backward (37 ops): 1033",
        third_party,
        left_out="Left out: the dumps are not beside this checkout (`../shared/third_party`).",
    ),
)

"""Matrix ops under way where a loop begins and ends: what the assembler needs so that it keeps them asynchronous."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from core.export.roles.build import scheduled_program
from core.export.roles.model import (
    ArriveFree,
    Issue,
    MmaWait,
    Move,
    Pipeline,
    Put,
    Register,
    RoleProgram,
    Statement,
    Take,
)
from core.export.roles.places import ScheduledLoop
from core.export.roles.walk import walk
from core.graph.model import DependenceKind, Graph, Space
from core.ir.vocabulary import MATRIX_OPS
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.liveness import profiles
from core.schedule.read import load_schedule
from tests.core.export.roles.programs import CORPUS, pipeline, sample, sample_loop
from tests.core.export.roles.test_role_programs import assert_faultless

HOPPER = [
    ("attention_backward_hopper", "main"),
    ("attention_backward_hopper", "two_key_tiles"),
    ("attention_causal_hopper", "full"),
    ("attention_forward_hopper", "main"),
    ("attention_forward_hopper_overlapped", "main"),
    ("gemm_hopper", "main"),
    ("linear_attention_hopper", "main"),
    ("swiglu_hopper", "two_row_tiles"),
]


def is_matrix(statement: Statement) -> bool:
    return isinstance(statement, Issue) and statement.operation.name in MATRIX_OPS


def registers(places: Iterable[object]) -> set[str]:
    return {place.name for place in places if isinstance(place, Register)}


def read_elsewhere(statements: Sequence[Statement]) -> set[str]:
    """The registers that something else than a matrix op reads."""
    found: set[str] = set()
    for statement in walk(statements):
        if isinstance(statement, Issue) and not is_matrix(statement):
            found |= registers(statement.reads)
        elif isinstance(statement, Move | Put):
            found |= registers([statement.source])
    return found


def run(statements: Sequence[Statement], carried: Sequence[str]) -> list[str]:
    """The accumulators under way behind the statements, oldest first, if `carried` ones were before them. None of
    these that is read there may be completed by a wait that leaves others under way."""
    read = read_elsewhere(statements)
    queue = [(name, True) for name in carried]
    for statement in statements:
        if is_matrix(statement):
            assert isinstance(statement, Issue)
            (target,) = registers(statement.writes)
            queue.append((target, False))
        elif isinstance(statement, MmaWait):
            done = queue[: len(queue) - statement.pending]
            queue = queue[len(done) :]
            assert not queue or not any(before and name in read for name, before in done), statement
    return [name for name, _ in queue]


def pipelines(program: RoleProgram) -> list[Pipeline]:
    return [one for role in program.roles for one in walk(role.statements) if isinstance(one, Pipeline)]


def two_key_tiles() -> RoleProgram:
    """Attention backward with a schedule whose matrix ops are under way from one interval to the next."""
    opened = open_project(load_project(data_folder("projects") / HOPPER[1][0]).for_schedule(HOPPER[1][1]))
    assert opened.tiles is not None
    schedule = load_schedule(CORPUS.parent / "cuda" / "attention_backward_two_key_tiles.yaml", opened.graph)
    return scheduled_program([ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)])


@pytest.mark.parametrize(("folder", "name"), HOPPER)
def test_what_a_loop_carries_and_others_read_is_waited_for_with_all_that_is_under_way(folder: str, name: str) -> None:
    """ptxas 13.0 serialises the whole kernel (C7514, C7517) if a wait that leaves groups under way completes one from
    before the loop's head or end whose result is read then."""
    found = pipelines(sample(folder, name))
    assert found
    for one in found:
        open_groups = run(one.prologue, ())
        assert run(one.steady, open_groups) == open_groups
        for tail in one.tails:
            assert run(tail, open_groups) == []


def test_the_body_begins_where_nothing_has_to_be_waited_for_early() -> None:
    """The schedule leaves a matrix op under way from one interval to the next and issues another before its result is
    read; some cycles later nothing is under way."""
    found = pipelines(two_key_tiles())
    waits = [one.why for part in found for one in walk(part.steady) if isinstance(one, MmaWait)]
    assert waits and not any("loses count" in why for why in waits)


def test_no_body_begins_between_the_scores_and_their_exponentials() -> None:
    """Two roles do the same half an interval apart. What of it falls on the first cycle of the schedule's interval does
    not matter: a tile of scores that the next round exponentiates would be kept in registers beside that round's."""
    bodies = [
        [each.operation.name for each in walk(one.steady) if isinstance(each, Issue)]
        for one in pipelines(sample("attention_forward_hopper_overlapped"))
        if any(map(is_matrix, walk(one.steady)))
    ]
    assert len(bodies) == 2
    assert sorted(bodies[0]) == sorted(bodies[1])
    for body in bodies:
        assert body.index("ttng.warp_group_dot") < len(body) - 1 - body[::-1].index("math.exp2")


def test_what_is_handed_over_is_loaded_again_for_a_later_reader() -> None:
    """Two parts of a tile need lse at different times; the slot is given back behind the second reading."""
    role = two_key_tiles().role("compute.0")
    (one,) = (each for each in role.statements if isinstance(each, Pipeline))
    lse = [type(each) for each in one.steady if isinstance(each, Take | ArriveFree) and "lse" in str(each)]
    behind = lse.index(ArriveFree) + 1  # the body may begin anywhere
    assert [*lse[behind:], *lse[:behind]] == [Take, Take, ArriveFree]


def test_small_values_whose_copies_move_on_are_handed_over_too() -> None:
    """Maxima of rows in several copies, each loaded right before a reader that waits for matrix ops."""
    file = CORPUS / "fa_fwd_ptr_sm90_d128m64n64-bf16-causal_v39_pre.ttgir"
    opened = open_project(load_project(file, "h100"))
    assert opened.tiles is not None
    schedule = load_schedule(CORPUS.parent / "cuda" / "attention_pointers_two_groups.yaml", opened.graph)
    assert_faultless(scheduled_program([ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)]))


def test_a_body_that_begins_in_mid_interval_runs_without_fault() -> None:
    assert_faultless(two_key_tiles())


def operand_registers(graph: Graph, op: str) -> int:
    """Registers per thread that a matrix op reads until it is complete."""
    read = {
        one.source for one in graph.dependences if one.target == op and one.kind is DependenceKind.FLOW and one.release
    }
    return sum(graph.ops[name].result.amount for name in read if graph.ops[name].result.space is Space.REGISTERS)


@pytest.mark.parametrize("role", ["compute.0", "compute.1"])
def test_operands_are_let_go_where_their_registers_are_needed(role: str) -> None:
    """A wait comes late, but what a complete matrix op has read still fits beside what the schedule holds."""
    program = sample("attention_backward_hopper", "two_key_tiles")
    loop, loops = sample_loop("attention_backward_hopper", "two_key_tiles"), pipeline(program, role)
    graph, schedule = loop.graph, loop.schedule
    given = program.grants[program.role(role).first_thread // 128]
    levels = profiles(graph, schedule).registers[role]
    under_way: list[tuple[int, int]] = []
    statements = [(one, 0) for one in loops.prologue] + [(one, loops.stages) for one in loops.steady]
    for statement, first in statements:
        if isinstance(statement, MmaWait):
            under_way = under_way[len(under_way) - statement.pending :]
        if not isinstance(statement, Issue) or statement.op is None or statement.instance is None:
            continue
        now = schedule.ops[statement.op].start + schedule.ii * (first + statement.instance.offset)
        level = [step.level for step in levels if step.slot <= now % schedule.ii][-1]
        if registers(statement.writes):
            assert level + sum(held for done, held in under_way if done <= now) <= given
        if is_matrix(statement):
            under_way.append((now + graph.ops[statement.op].latency, operand_registers(graph, statement.op)))

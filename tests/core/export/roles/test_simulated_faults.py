"""Faults planted in role programs are found by the simulation; the programs without them have none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.diagnostics import InputError
from core.export.cuda.kernel import kernel_file
from core.export.roles.faults import Fault, FaultKind
from core.export.roles.model import (
    ArriveFree,
    ArriveFull,
    GroupSync,
    Issue,
    MmaWait,
    Move,
    Put,
    RoleProgram,
    Slot,
    Statement,
    StoreWait,
    Take,
    TurnPass,
    TurnWait,
    WaitFree,
    WaitFull,
)
from core.export.roles.simulate import simulate
from tests.core.export.roles.programs import edited, pipeline, sample, solved

ATTENTION, GEMM, BACKWARD = "attention_forward_hopper", "gemm_hopper", "attention_backward_hopper"
TRIPS, SEEDS = range(7), range(4)


def faults(program: RoleProgram) -> list[Fault]:
    """The first fault of each run, over trip counts and orders."""
    return [fault for trips in TRIPS for seed in SEEDS for fault in simulate(program, trips, seed).faults]


def without(kind: type[Statement], at: int) -> Callable[[tuple[Statement, ...]], list[Statement]]:
    """Leaves out the statement number `at` of a kind in every list."""

    def edit(statements: tuple[Statement, ...]) -> list[Statement]:
        numbers = [index for index, statement in enumerate(statements) if isinstance(statement, kind)]
        gone = numbers[at] if at < len(numbers) else -1
        return [statement for index, statement in enumerate(statements) if index != gone]

    return edit


def removals(folder: str, *kinds: type[Statement]) -> list[tuple[str, str, type[Statement], int]]:
    """All statements of these kinds in the steady states of a sample."""
    return [
        (folder, role.name, kind, at)
        for role in sample(folder).roles
        for kind in kinds
        for at in range(sum(isinstance(statement, kind) for statement in pipeline(sample(folder), role.name).steady))
    ]


ALL_REMOVALS = [
    removal
    for folder in (ATTENTION, GEMM, BACKWARD)
    for removal in removals(
        folder, WaitFull, WaitFree, ArriveFree, ArriveFull, TurnPass, TurnWait, Put, Take, StoreWait
    )
]


@pytest.mark.parametrize(
    ("folder", "role", "kind", "what"),
    [(BACKWARD, "load.0", ArriveFull, "deadlock"), (ATTENTION, "compute.0", WaitFull, "compute.0")],
)
def test_no_kernel_is_written_of_a_program_with_a_fault(
    folder: str, role: str, kind: type[Statement], what: str
) -> None:
    """Of a hand-off that is not announced, and of one that is not waited for."""
    with pytest.raises(InputError, match="fails a trial run") as refused:
        kernel_file(edited(sample(folder), role, without(kind, 0)))
    assert what in str(refused.value)


@pytest.mark.parametrize("folder", [ATTENTION, GEMM, BACKWARD])
def test_the_programs_themselves_have_no_fault(folder: str) -> None:
    assert faults(sample(folder)) == []


@pytest.mark.parametrize(("folder", "role", "kind", "at"), ALL_REMOVALS)
def test_a_removed_statement_is_found(folder: str, role: str, kind: type[Statement], at: int) -> None:
    assert faults(edited(sample(folder), role, without(kind, at)))


def waits(folder: str) -> list[tuple[str, str, int]]:
    """All waits for matrix ops in the steady states of a sample."""
    return [
        (folder, role.name, at)
        for role in sample(folder).roles
        for at in range(sum(isinstance(one, MmaWait) for one in pipeline(sample(folder), role.name).steady))
    ]


ALL_WAITS = [wait for folder in (ATTENTION, GEMM, BACKWARD) for wait in waits(folder)]


def found_for_matrix_ops(program: RoleProgram) -> bool:
    """Whether a run shows a race with a matrix op."""
    return any(fault.kind in (FaultKind.RACE, FaultKind.OVERWRITE) for fault in faults(program))


@pytest.mark.parametrize(("folder", "role", "at"), ALL_WAITS)
def test_a_removed_wait_is_found(folder: str, role: str, at: int) -> None:
    assert found_for_matrix_ops(edited(sample(folder), role, without(MmaWait, at)))


@pytest.mark.parametrize(("folder", "role", "at"), ALL_WAITS)
def test_a_wait_for_one_group_too_few_is_found(folder: str, role: str, at: int) -> None:
    """One more may stay open than may; where no more are open than that, the wait does nothing."""

    def edit(statements: tuple[Statement, ...]) -> list[Statement]:
        numbers = [index for index, statement in enumerate(statements) if isinstance(statement, MmaWait)]
        wrong = numbers[at] if at < len(numbers) else -1
        return [
            replace(one, pending=one.pending + 1) if index == wrong and isinstance(one, MmaWait) else one
            for index, one in enumerate(statements)
        ]

    assert found_for_matrix_ops(edited(sample(folder), role, edit))


@pytest.mark.parametrize(("folder", "role", "at"), ALL_WAITS)
def test_a_slot_given_back_before_the_wait_is_found(folder: str, role: str, at: int) -> None:
    steady = pipeline(sample(folder), role).steady
    wait = [index for index, statement in enumerate(steady) if isinstance(statement, MmaWait)][at]
    if not any(isinstance(one, ArriveFree) for one in steady[wait : wait + 4]):
        return  # this wait gives nothing back

    def early(statements: tuple[Statement, ...]) -> list[Statement]:
        numbers = [index for index, statement in enumerate(statements) if isinstance(statement, MmaWait)]
        if at >= len(numbers):
            return list(statements)
        begin = numbers[at]
        given = next((i for i, one in enumerate(statements) if i > begin and isinstance(one, ArriveFree)), begin)
        rest = [one for index, one in enumerate(statements) if index != given]
        return [*rest[:begin], statements[given], *rest[begin:]]

    assert found_for_matrix_ops(edited(sample(folder), role, early))


def test_an_order_of_loads_that_no_consumer_has_is_a_deadlock() -> None:
    """With one slot for each tile the loads have to come in the order in which they are waited for."""
    program = sample(ATTENTION)
    value = next(ring for ring in program.rings.values() if ring.value.name == "%v_42")
    shallow = replace(program, rings={**program.rings, value.name: replace(value, depth=1)})
    assert faults(shallow) == []

    def swapped(statements: tuple[Statement, ...]) -> list[Statement]:
        waits = [index for index, statement in enumerate(statements) if isinstance(statement, WaitFree)]
        if len(waits) != 2:
            return list(statements)
        address, key, rest = statements[: waits[0]], statements[waits[0] : waits[1]], statements[waits[1] :]
        return [*address, *rest, *key]

    found = faults(edited(shallow, "load.0", swapped))
    assert {fault.kind for fault in found} == {FaultKind.DEADLOCK}


def test_a_missing_turn_pass_is_a_deadlock() -> None:
    found = faults(edited(sample(ATTENTION), "compute.1", without(TurnPass, 0)))
    assert FaultKind.DEADLOCK in {fault.kind for fault in found}
    assert any("its turn" in fault.message for fault in found)


def test_the_newest_slot_instead_of_the_one_before_is_found() -> None:
    def newest(statements: tuple[Statement, ...]) -> list[Statement]:
        return [
            replace(one, reads=tuple(replace(s, behind=0) if isinstance(s, Slot) else s for s in one.reads))
            if isinstance(one, Issue)
            else one
            for one in statements
        ]

    found = faults(edited(sample(BACKWARD), "compute.0", newest))
    assert {fault.kind for fault in found} == {FaultKind.VALUE}


def test_a_missing_copy_of_a_carried_value_is_found() -> None:
    found = faults(edited(sample(ATTENTION), "compute.0", without(Move, 0)))
    assert {fault.kind for fault in found} == {FaultKind.VALUE}


@pytest.mark.parametrize("at", [0, 1])
def test_threads_of_a_role_that_do_not_meet_are_found(at: int) -> None:
    """Around a tile that a role stores for itself: before it is stored again, and before it is read."""
    program = solved("gemm_w8_sm90_m64n128k64-f16-asm_v39_pre")
    storing = [
        role.name for role in program.roles if any(isinstance(one, GroupSync) for one in _steady(program, role.name))
    ]
    assert storing
    assert faults(program) == []
    found = faults(edited(program, storing[0], without(GroupSync, at)))
    assert {fault.kind for fault in found} == {FaultKind.RACE}


def _steady(program: RoleProgram, role: str) -> tuple[Statement, ...]:
    return pipeline(program, role).steady

"""What compiled roles say of the register overhead that schedules plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.export.cuda.planned import planned_registers
from core.schedule.check import check
from core.toolchain.fit import Trial, overheads
from core.toolchain.role_needs import OverheadProposal, RoleNeed, overhead_proposal, role_needs
from tests.core.export.roles.programs import sample_loop

PLANNED = {"load.0": {"live": 0, "overhead": 0}, "compute.0": {"live": 168, "overhead": 26}}


def needs(registers: dict[str, int], description: dict[str, Any] | None = None) -> list[RoleNeed]:
    return list(role_needs(registers, {"planned_registers": PLANNED} if description is None else description))


def test_the_overhead_seen_is_what_the_values_do_not_take() -> None:
    load, compute = needs({"load.0": 12, "compute.0": 201})
    assert (load.seen_overhead, compute.seen_overhead) == (12, 33)
    assert compute.row == ("compute.0", 201, 168, 26, 33)
    assert overhead_proposal([load, compute]) == OverheadProposal(26, 33)


def test_what_is_as_planned_or_not_planned_proposes_nothing() -> None:
    assert overhead_proposal(needs({"load.0": 40, "compute.0": 194})) is None
    assert overhead_proposal(needs({"compute.0": 250}, {})) is None
    assert needs({"compute.0": 250}, {})[0].row == ("compute.0", 250, "", "", "")


@pytest.mark.parametrize("folder", ["attention_forward_hopper", "attention_backward_hopper", "gemm_hopper"])
def test_planned_registers_are_the_judge_s_peaks(folder: str, tmp_path: Path) -> None:
    loop = sample_loop(folder)
    peaks = check(loop.graph, loop.schedule).peaks.registers
    planned = planned_registers([loop])
    assert {group: one["live"] + one["overhead"] for group, one in planned.items()} == dict(peaks)


def short(**needs: tuple[int, int]) -> Trial:
    """A trial with 26 kept back, of roles with `registers` and `live` that are given 240, and of one that loads."""
    roles = [RoleNeed(name, registers, live, 26, 240) for name, (registers, live) in needs.items()]
    return Trial(26, (512,), ("spills",), (RoleNeed("load", 40, 4, 0, 24), *roles))


def test_as_much_is_kept_back_as_a_role_needs_beside_its_values() -> None:
    assert overheads(short(one=(250, 208), other=(255, 200))) == (55, 33)


def test_where_roles_fit_the_one_with_least_to_spare_holds_less() -> None:
    assert overheads(short(one=(230, 200), other=(240, 210))) == (31,)


def test_keeping_back_is_of_no_use_without_values() -> None:
    assert overheads(short()) == ()
    role = RoleNeed("compute", 150, 128, 0, 136)  # of a machine that keeps nothing back
    assert overheads(Trial(0, (512,), ("spills",), (role,))) == (22, 9)

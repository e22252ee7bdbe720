"""Order, group and ring depths of every issue, read back from role programs and CUDA texts of all sample projects, are
those of the schedule files. The files are read as plain YAML; nothing of the exporter says what is expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from readback import KERNELS, in_role, is_free, issue_differences, kernel, pipelines, ring_differences

from core.export.roles.model import Instance, Issue, Pipeline


@pytest.mark.parametrize("name", KERNELS)
def test_role_programs_are_as_their_schedule_files_say(name: str) -> None:
    program, loops = kernel(name)
    for expected in loops:
        assert pipelines(program, expected)
        assert issue_differences(program, expected) == []
    assert ring_differences(program, loops) == []


def swapped(pipeline: Pipeline) -> Pipeline:
    """The first two ops of the steady state, the other way round."""
    steady = list(pipeline.steady)
    first, second = [at for at, one in enumerate(steady) if isinstance(one, Issue) and one.op is not None][:2]
    steady[first], steady[second] = steady[second], steady[first]
    return replace(pipeline, steady=tuple(steady))


def without_one(pipeline: Pipeline) -> Pipeline:
    steady = list(pipeline.steady)
    del steady[next(at for at, one in enumerate(steady) if isinstance(one, Issue) and one.op is not None)]
    return replace(pipeline, steady=tuple(steady))


def an_iteration_later(pipeline: Pipeline) -> Pipeline:
    steady = list(pipeline.steady)
    at = next(at for at, one in enumerate(steady) if isinstance(one, Issue) and one.op is not None)
    one = steady[at]
    assert isinstance(one, Issue) and one.instance is not None
    steady[at] = replace(one, instance=Instance(one.instance.base, one.instance.offset + 1))
    return replace(pipeline, steady=tuple(steady))


@pytest.mark.parametrize("change", [swapped, without_one, an_iteration_later])
@pytest.mark.parametrize("role", ["load.0", "compute.0", "compute.1"])
def test_other_issues_are_noticed(change: Callable[[Pipeline], Pipeline], role: str) -> None:
    program, (expected,) = kernel("attention_forward_hopper")
    assert issue_differences(in_role(program, role, change), expected)


def test_another_group_is_noticed() -> None:
    program, (expected,) = kernel("attention_forward_hopper")
    names = {"compute.0": "compute.1", "compute.1": "compute.0"}
    roles = tuple(replace(role, name=names.get(role.name, role.name)) for role in program.roles)
    assert issue_differences(replace(program, roles=roles), expected)


@pytest.mark.parametrize("more", [-1, 1])
def test_another_depth_is_noticed(more: int) -> None:
    program, loops = kernel("attention_backward_hopper")
    for name, ring in program.rings.items():
        if ring.why.startswith("loaded outside"):
            continue
        changed = replace(program, rings={**program.rings, name: replace(ring, depth=ring.depth + more)})
        assert ring_differences(changed, loops) == [f"{name} has {ring.depth + more} slots, not {ring.depth}"]


@pytest.mark.parametrize("name", ["attention_forward_hopper", "gemm_hopper", "layer_norm_hopper"])
def test_an_order_that_another_file_has_is_noticed(name: str) -> None:
    """The oracle is the file: with two ops of one group at each other's start the program is not what it says."""
    program, loops = kernel(name)
    for expected in loops:
        for group in set(expected.groups.values()):
            ops = sorted((op for op, on in expected.groups.items() if on == group), key=lambda op: expected.starts[op])
            apart = [(a, b) for a, b in pairwise(ops) if expected.starts[a] < expected.starts[b]]
            issued = [(a, b) for a, b in apart if not (is_free(expected, a) or is_free(expected, b))]
            for first, second in issued:
                starts = {**expected.starts, first: expected.starts[second], second: expected.starts[first]}
                assert issue_differences(program, replace(expected, starts=starts)), (first, second)

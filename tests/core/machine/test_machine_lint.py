"""The lint: silent on ours, and each planted fault is found where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.machine.lint import lint
from core.machine.load import find_machine, machine_names, parse_machine
from core.resources import data_folder

H100 = (data_folder("machines") / "h100.yaml").read_text()


@pytest.mark.parametrize("name", machine_names())
def test_ours_raise_no_doubts(name: str) -> None:
    assert lint(find_machine(name, Path())) == []


FIRST_DOT = "  - op: ttng.warp_group_dot\n    when: {first_operand_in: registers}\n"


@pytest.mark.parametrize(
    ("old", "new", "at", "code", "said"),
    [
        # a tensor core that does more than its peak, for one of its types
        (
            "rate: {f16: 2048, bf16: 2048, f8: 4096",
            "rate: {f16: 2048, bf16: 2049, f8: 4096",
            FIRST_DOT,
            "below-peak",
            "bf16",
        ),
        # two elements an instruction where the unit takes one
        (
            "rate: 16\n    latency: {add: 2}",
            "rate: 16\n    factor: 0.5\n    latency: {add: 2}",
            "  - op: [math.exp2",
            "below-peak",
            "32",
        ),
        (
            "rate: 64\n    instruction: {rows: 256",
            "rate: 640\n    instruction: {rows: 256",
            "  - op: [tt.descriptor_load",
            "below-peak",
            "tma",
        ),
        # a cost that does not follow from the tile
        (
            "work: elements\n    rate: 64\n    latency: {add: 44}",
            "fixed: 9\n    latency: {add: 44}",
            "  - op: tt.reduce",
            "fixed-cost",
            "9 cycles",
        ),
        # numbers from nowhere
        (
            'source: "H200, 2026-11-29: proxy fence 13"',
            'source: ""',
            "  - op: [ttng.fence_*",
            "no-source",
            "ttng.fence",
        ),
        (', source: "compute capability 9.0 has none"', "", "tensor_memory:", "no-source", "tensor_memory"),
        (
            ', source: "H200, 2026-11-29: stmatrix, ldmatrix, ld.shared and st.shared"',
            "",
            "  shared: {",
            "no-source",
            "shared",
        ),
        # register files that do not add up
        ("file_words: 65536", "file_words: 65500", "registers:", "register-file", "multiple"),
        ("file_words: 65536", "file_words: 16384", "registers:", "register-file", "128 threads"),
        # what nothing uses
        ("units:\n", 'units:\n  dsmem: {source: "here"}\n', "  dsmem:", "unused-unit", "dsmem"),
        (
            "    when: {first_operand_in: registers}\n",
            "",
            "  - op: ttng.warp_group_dot\n    unit",
            "unreachable-rule",
            "line",
        ),
        ("base: 286, per_kilobyte: 8.33", "base: 1", "  - op: tt.load\n", "issue-beyond-latency", "2 cycles"),
    ],
)
def test_planted_fault_is_found(old: str, new: str, at: str, code: str, said: str) -> None:
    text = H100.replace(old, new, 1)
    assert text != H100
    (doubt,) = lint(parse_machine(text, "h100.yaml"))
    start = text.rindex(at) if code == "unreachable-rule" else text.index(at)
    assert (doubt.code, doubt.file, doubt.line) == (code, "h100.yaml", text[:start].count("\n") + 1)
    assert said in doubt.message


def test_an_override_of_one_type_does_not_hide_the_peak_of_any() -> None:
    text = H100.replace("peak: 16,", "peak: {any: 16, f16: 32},")
    text = text.replace("rate: 16\n    latency: {add: 2}", "rate: {any: 16, f16: 32, f32: 17}\n    latency: {add: 2}")
    (doubt,) = lint(parse_machine(text, "h100.yaml"))
    assert (doubt.code, "f32" in doubt.message) == ("below-peak", True)

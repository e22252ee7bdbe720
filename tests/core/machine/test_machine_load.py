"""Machine files: what ours say, and every fault of a bad one with its place and what would be right."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from core.diagnostics import Diagnostic, InputError
from core.graph.model import Pool, Space
from core.machine.load import find_machine, load_machine, machine_names, parse_machine
from core.machine.model import Work, element_class

TEXT = """\
schema: twill.machine/1
name: small
target: cuda:90
clock_mhz: {value: 1000, source: "here"}
units:
  tensor_core: {work: fma, peak: {f16: 64, any: 32}, source: "here"}
  alu: {capacity: 2, source: "here"}
registers: {file_words: 65536, max_per_thread: 240, granularity: 8, overhead: 26, pool: warpgroup, source: "here"}
shared_memory: {bytes: 4096, fixed_bytes: 1024, source: "here"}
tensor_memory: {columns: 16, source: "here"}
warps: {max: 64, named_barriers: 15, source: "here"}
hand_off: {base: 10, per_kilobyte: 0.1, source: "here"}
costs:
  - op: demo.dot
    when: {first_operand_in: registers, operand: [f16, f8]}
    unit: tensor_core
    work: fma
    rate: {f16: 64, any: 32}
    instruction: {rows: 64, depth_bytes: 32}
    issue: {base: 1, per_instruction: 2.5}
    latency: {add: 3}
    asynchronous: true
    holds_operands: true
    matrix: true
    source: "here"
  - op: [demo.add, demo.m*]
    blocks:
      - {unit: alu, work: elements, rate: 8, factor: 0.5}
      - {unit: tensor_core, fixed: 2, after: true}
    latency: {base: 7, per_kilobyte: 1}
    needs_warps: 1
    source: "here"
"""


def faults(text: str) -> list[Diagnostic]:
    with pytest.raises(InputError) as caught:
        parse_machine(text, "small.yaml")
    return list(caught.value.diagnostics)


def place(text: str, word: str) -> tuple[int, int]:
    """1-based line and column of the first occurrence."""
    before = text[: text.index(word)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def test_every_key_arrives() -> None:
    machine = parse_machine(TEXT, "small.yaml")
    assert (machine.name, machine.target, machine.clock_mhz, machine.file) == ("small", "cuda:90", 1000, "small.yaml")
    assert machine.units["tensor_core"].peak == {"f16": 64, "any": 32}
    assert machine.units["tensor_core"].work is Work.FMA
    assert machine.units["alu"].line == 7
    assert machine.hand_off.per_kilobyte == Fraction(1, 10)
    assert machine.lines["costs"] == 13
    limits = machine.limits(kept_shared_bytes=512)
    assert limits.units == {"tensor_core": 1, "alu": 2}
    assert (limits.shared_memory_bytes, limits.fixed_shared_bytes, limits.tensor_memory_columns) == (4096, 1536, 16)
    assert limits.registers.pool is Pool.WARPGROUP
    dot, add = machine.costs
    assert dot.when.first_operand_in == (Space.REGISTERS,)
    assert dot.when.operand == ("f16", "f8")
    assert [(b.unit, b.work, b.rate_of("f16"), b.rate_of("f8")) for b in dot.blocks] == [
        ("tensor_core", Work.FMA, 64, 32)
    ]
    assert dot.instruction is not None
    assert dot.issue is not None
    assert (dot.instruction.rows, dot.instruction.columns, dot.instruction.depth_bytes) == (64, None, 32)
    assert (dot.issue.base, dot.issue.per_instruction, dot.latency.add) == (1, Fraction(5, 2), 3)
    assert (dot.asynchronous, dot.blocking, dot.holds_operands, dot.matrix) == (True, False, True, True)
    assert (dot.needs_warps, dot.line) == (4, 14)
    assert add.ops == ("demo.add", "demo.m*")
    assert [(b.unit, b.factor, b.fixed, b.after) for b in add.blocks] == [
        ("alu", Fraction(1, 2), 0, False),
        ("tensor_core", 1, 2, True),
    ]
    assert add.issue is None
    assert (add.latency.base, add.latency.per_kilobyte, add.needs_warps, add.line) == (7, 1, 1, 26)


@pytest.mark.parametrize(
    ("old", "new", "at", "code", "said"),
    [
        # unknown keys, with what was meant
        ("granularity: 8", "granularty: 8", "granularty", "unknown-key", "did you mean 'granularity'"),
        (
            "holds_operands: true",
            "hold_operands: true",
            "hold_operands",
            "unknown-key",
            "did you mean 'holds_operands'",
        ),
        ("target: cuda:90", "targets: cuda:90", "targets", "unknown-key", "did you mean 'target'"),
        # types and ranges
        ("value: 1000", "value: fast", "fast", "bad-value", "clock_mhz.value"),
        ("max_per_thread: 240", "max_per_thread: 256", "256", "bad-value", "registers.max_per_thread"),
        ("file_words: 65536", "file_words: 65536.5", "65536.5", "bad-value", "registers.file_words"),
        ("capacity: 2", "capacity: 0", '0, source: "here"}\nreg', "bad-value", "units.alu.capacity"),
        ("overhead: 26", "overhead: -1", "-1", "bad-value", "registers.overhead"),
        ("rate: 8", "rate: 0", "0, factor", "bad-value", "costs.1.blocks.0.rate"),
        ("rate: 8", "rate: .inf", ".inf", "bad-value", "costs.1.blocks.0.rate"),
        ("rate: 8", "rate: true", "true, factor", "bad-value", "costs.1.blocks.0.rate"),
        ("matrix: true", "matrix: 1", "1\n    source", "bad-value", "costs.0.matrix"),
        ("needs_warps: 1", "needs_warps: 3", "3\n    source", "bad-value", "costs.1.needs_warps"),
        ("work: elements", "work: element", "element,", "bad-value", "costs.1.blocks.0.work"),
        ("rate: {f16: 64, any: 32}", "rate: {fp16: 64}", "64}\n    instr", "bad-value", "costs.0.rate"),
        ("operand: [f16, f8]", "operand: [half]", "half", "bad-value", "costs.0.when.operand.0"),
        ("first_operand_in: registers", "first_operand_in: smem", "smem", "bad-value", "costs.0.when"),
        ("pool: warpgroup", "pool: warp", "warp,", "bad-value", "registers.pool"),
        # what belongs together
        ("unit: alu, work", "unit: aluu, work", "aluu", "unknown-unit", "did you mean 'alu'"),
        ("    unit: tensor_core\n", "", "work: fma\n    rate", "missing-unit", "needs a 'unit'"),
        ("work: elements, rate: 8", "rate: 8", "rate: 8", "bad-value", "'rate' needs 'work'"),
        ("work: elements, rate: 8", "work: elements", "work: elements", "missing-key", "needs a 'rate'"),
        ("    blocks:\n", "    unit: alu\n    blocks:\n", "blocks:", "bad-value", "either 'unit' or 'blocks'"),
        ("latency: {base: 7", "latency: {add: 1, base: 7", "{add: 1", "bad-value", "either 'add' or 'base'"),
        ("latency: {base: 7,", "latency: {", "{ per_kilobyte: 1}", "bad-value", "needs a 'base'"),
        ("    issue: {base: 1, per_instruction: 2.5}\n", "", "op: demo.dot", "missing-key", "needs 'issue'"),
        ("    asynchronous: true\n", "", "holds_operands", "bad-value", "for asynchronous ops"),
        ("max_per_thread: 240", "max_per_thread: 239", "239", "bad-value", "no multiple of granularity 8"),
        ("overhead: 26", "overhead: 240", "240, pool", "bad-value", "leaves nothing"),
        ("fixed_bytes: 1024", "fixed_bytes: 8192", "8192", "bad-value", "more than bytes 4096"),
        ("work: fma, peak", "peak", "{peak", "bad-value", "'peak' and 'work' belong together"),
        # documents
        ("schema: twill.machine/1", "schema: twill.graph/1", "twill.graph/1", "bad-schema", "twill.graph/1"),
        ("name: small\n", "name: small\nname: large\n", "name: large", "duplicate-key", "'name' is given twice"),
        ("costs:\n", "costs: [\n", "- op", "yaml-syntax", "not valid YAML"),
    ],
)
def test_fault_is_told_at_its_place(old: str, new: str, at: str, code: str, said: str) -> None:
    assert TEXT.count(old) == 1 or old in ("rate: {f16: 64, any: 32}", "    unit: tensor_core\n")
    text = TEXT.replace(old, new, 1)
    (fault, *others) = faults(text)
    assert (fault.code, others) == (code, [])
    assert (fault.file, (fault.line, fault.column)) == ("small.yaml", place(text, at))
    assert said in f"{fault.message} {fault.hint}"


@pytest.mark.parametrize(
    "key", ["name", "clock_mhz", "units", "registers", "shared_memory", "warps", "hand_off", "costs"]
)
def test_a_missing_section_is_named(key: str) -> None:
    lines = TEXT.splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{key}:"))
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
    (fault,) = faults("".join(lines[:start] + lines[end:]))
    assert fault.code == "missing-key"
    assert f"'{key}'" in fault.message


def test_all_faults_are_told_at_once() -> None:
    text = TEXT.replace("granularity: 8", "granularty: 8").replace("value: 1000", "value: fast")
    assert {fault.code for fault in faults(text)} == {"unknown-key", "bad-value"}
    text = TEXT.replace("unit: alu", "unit: x").replace("overhead: 26", "overhead: 240")
    assert {fault.code for fault in faults(text)} == {"unknown-unit", "bad-value"}


@pytest.mark.parametrize("text", ["", "[]", "7", "twill", "{}", "costs: [1]\n", "\0"])
def test_what_is_no_machine_is_refused(text: str) -> None:
    assert all(fault.file == "small.yaml" for fault in faults(text))


def test_ours_are_found_by_name() -> None:
    assert machine_names() == ["b200", "h100", "h200", "toy"]
    for name in machine_names():
        machine = find_machine(name, Path("nowhere"))
        assert (machine.name, Path(machine.file).stem) == (name, name)


def test_h100_has_the_costs_measured_on_h200() -> None:
    h100, h200 = (find_machine(name, Path()) for name in ("h100", "h200"))
    assert [replace(rule, line=None) for rule in h100.costs] == [replace(rule, line=None) for rule in h200.costs]
    assert (h100.limits(), h100.hand_off) == (h200.limits(), h200.hand_off)


def test_a_path_is_relative_to_the_project(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(TEXT)
    assert find_machine("mine.yaml", tmp_path) == load_machine(tmp_path / "mine.yaml")
    assert find_machine("./mine.yaml", tmp_path).name == "small"
    with pytest.raises(InputError) as caught:
        find_machine("other.yaml", tmp_path)
    assert caught.value.diagnostics[0].code == "cannot-read"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        find_machine("b20", Path())
    hint = caught.value.diagnostics[0].hint or ""
    assert "did you mean 'b200'" in hint
    assert "b200, h100, h200, toy" in hint


@pytest.mark.parametrize(
    ("written", "element"),
    [
        ("f16", "f16"),
        ("bf16", "bf16"),
        ("f8E4M3FN", "f8"),
        ("f8E5M2", "f8"),
        ("f4E2M1FN", "f4"),
        ("i1", "i1"),
        ("!tt.ptr<f16>", "i64"),
        ("i128", "any"),
        ("index", "any"),
    ],
)
def test_element_classes(written: str, element: str) -> None:
    assert element_class(written) == element

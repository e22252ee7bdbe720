"""Project files: what they mean, how faults are told, and that a save changes nothing but what changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core import files
from core.diagnostics import InputError
from core.graph.model import GroupKind, InOrderIssue, Pin, Rules
from core.project.load import load_project
from core.project.model import Fuse, Input, InputKind, Override, Project, ScheduleEntry, Subtile, Transform
from core.project.save import save_project
from core.solve.events import Level, SolveOptions

TEXT = """\
schema: twill.project/1
name: attention forward   # shown in the title
input: {ttgir: kernels/input.ttgir, function: fa_fwd_2q, loop: 0}
machine: h100
groups:
  # the producer
  - {kind: load, warps: 1, count: 1, variable_latency: true}
  - {kind: compute, warps: 4, count: 2}
rules: {in_order_issue: strong, isolate_matrix_issue: false, allow_hand_off: true}
transform: {fuse: auto}
overrides: {exp2.0: {latency: 540, note: "measured beside wgmma"}}
pins:
  # the first matrix op
  warp_group_dot.0: {group: compute.0}
solve: {model: exact, objective: [ii, groups, hand_offs, length, registers, stages], limit_s: 60, seed: 1}
schedules:
  main: schedules/main.yaml
  halves: {file: schedules/halves.yaml, transform: {subtile: {axis: m, parts: 2, ops: all}}}
active: main
"""

COMPUTE = (GroupKind("load", 1, 1, True), GroupKind("compute", 4, 2))


def write(folder: Path, text: str = TEXT) -> Path:
    file = folder / "project.yaml"
    file.write_text(text)
    return file


def test_every_key_is_read(tmp_path: Path) -> None:
    project = load_project(write(tmp_path))
    assert project == load_project(tmp_path)
    assert project == Project(
        name="attention forward",
        input=replace(project.input, kind=InputKind.TTGIR, path=tmp_path / "kernels" / "input.ttgir", loop=0),
        machine="h100",
        groups=COMPUTE,
        rules=Rules(),
        transform=Transform(),
        overrides={"exp2.0": Override(540, None, "measured beside wgmma")},
        pins={"warp_group_dot.0": Pin(None, "compute.0")},
        solve=SolveOptions(limit_s=60),
        schedules={
            "main": ScheduleEntry(tmp_path / "schedules" / "main.yaml"),
            "halves": ScheduleEntry(
                tmp_path / "schedules" / "halves.yaml", transform=Transform(subtile=Subtile("m", 2))
            ),
        },
        active="main",
        file=tmp_path / "project.yaml",
    )
    assert project.input.function == "fa_fwd_2q"


def test_a_schedule_may_bring_its_own_transform_and_groups(tmp_path: Path) -> None:
    project = load_project(write(tmp_path))
    halves = project.for_schedule("halves")
    assert halves.transform.subtile == Subtile("m", 2)
    assert halves.groups == COMPUTE
    assert halves.active == "halves"
    assert project.for_schedule("main") == project
    with pytest.raises(KeyError):
        project.for_schedule("thirds")


def test_bare_off_means_off(tmp_path: Path) -> None:
    text = TEXT.replace("in_order_issue: strong", "in_order_issue: off").replace("fuse: auto", "fuse: off")
    project = load_project(write(tmp_path, text))
    assert project.rules is not None
    assert project.rules.in_order_issue is InOrderIssue.OFF
    assert project.transform.fuse is Fuse.OFF


def test_bare_inputs(tmp_path: Path) -> None:
    ttgir = tmp_path / "kernel.ttgir"
    project = load_project(ttgir, machine="h200", loop=3)
    assert (project.name, project.input.kind, project.input.loop) == ("kernel", InputKind.TTGIR, 3)
    assert project.machine == "h200"
    graph = tmp_path / "graph.yaml"
    graph.write_text("schema: twill.graph/1\n")
    assert load_project(graph, machine="mine/toy.yaml").machine == Path("mine/toy.yaml")
    assert load_project(graph).input.kind is InputKind.GRAPH


# What is written instead of what, the code, the words that the place points at (the last occurrence), and the hint.
FAULTS = [
    ("machine: h100", "machin: h100", "unknown-key", "machin:", "did you mean 'machine'?"),
    ("warps: 4, count", "warp: 4, count", "unknown-key", "warp: 4", "did you mean 'warps'?"),
    ("warps: 4", "warps: four", "bad-value", "four", None),
    ("warps: 4", "warps: 0", "bad-value", "0, count: 2", None),
    ("latency: 540", "latency: -1", "bad-value", "-1", None),
    ("limit_s: 60", "limit_s: 0", "bad-value", "0, seed", None),
    ("length, registers", "lenght, registers", "bad-value", "lenght", None),
    ("active: main", "active: other", "unknown-schedule", "other", "schedules: main, halves"),
    ("kind: compute", "kind: load", "duplicate-group", "load, warps: 4", "raise its 'count'"),
    ("twill.project/1", "twill.project/2", "newer-schema", "twill.project", "update the program"),
    ("twill.project/1", "twill.machine/1", "bad-schema", "twill.machine", "schema: twill.project/1"),
    ("schema: twill.project/1\n", "", "bad-schema", "name: ", "schema: twill.project/1"),
    ("name: attention forward   # shown in the title\n", "", "missing-key", "schema:", None),
    ("ttgir: kernels/input.ttgir", "graph: a.yaml, ttgir: b", "bad-value", "{graph", "ttgir: FILE"),
    ("ttgir: kernels/input.ttgir", "graph: a.yaml", "bad-value", "function", None),
    ("ttgir: kernels/input.ttgir", 'ttgir: "a\\0b"', "bad-value", '"a', None),
    ("axis: m", "axis: k", "bad-value", "k, parts", None),
    ("file: schedules/halves.yaml, ", "", "missing-key", "{transform", None),
    ("{group: compute.0}", "{}", "empty-pin", "{}", "a key 'start' or 'group'"),
    ("in_order_issue: strong", "in_order_issue: sometimes", "bad-value", "sometimes", None),
    ("loop: 0}", "loop: 0", "yaml-syntax", ": h100", None),
]


@pytest.mark.parametrize(("old", "new", "code", "words", "hint"), FAULTS)
def test_faults_name_their_place(tmp_path: Path, old: str, new: str, code: str, words: str, hint: str | None) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new, 1)
    file = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_project(file)
    (fault,) = caught.value.diagnostics
    before = text[: text.rindex(words)].split("\n")
    assert (fault.file, fault.code, fault.line, fault.column) == (str(file), code, len(before), len(before[-1]) + 1)
    assert hint is None or fault.hint == hint


def test_folder_without_a_project(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no project\.yaml"):
        load_project(tmp_path)


def test_saving_without_a_change_writes_nothing(tmp_path: Path) -> None:
    file = write(tmp_path)
    before = file.stat()
    assert save_project(load_project(file), file) == load_project(file)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_comments_survive(tmp_path: Path) -> None:
    file = write(tmp_path)
    original = load_project(file)
    changed = replace(
        original,
        machine="h200",
        pins={"warp_group_dot.0": Pin(0, "compute.1")},
        solve=replace(original.solve, seed=7, objective=(Level.II, Level.LENGTH)),
        overrides={},
        active="halves",
    )
    assert load_project(save_project(changed, file).file or file) == changed
    for comment in ("# shown in the title", "# the producer", "# the first matrix op"):
        assert comment in file.read_text()


def test_saving_an_edit_and_its_undo_gives_the_same_bytes(tmp_path: Path) -> None:
    file = write(tmp_path)
    original = load_project(file)
    save_project(replace(original, machine="h200", pins={**original.pins, "exp2.0": Pin(120, "compute.1")}), file)
    assert "  exp2.0: {start: 120, group: compute.1}\nsolve:" in file.read_text()
    save_project(original, file)
    assert file.read_text() == TEXT


def test_a_new_file_reads_back_and_paths_follow(tmp_path: Path) -> None:
    project = load_project(write(tmp_path))
    elsewhere = tmp_path / "copies" / "one" / "project.yaml"
    saved = save_project(project, elsewhere)
    assert load_project(elsewhere) == saved == replace(project, file=elsewhere)
    assert "../../kernels/input.ttgir" in elsewhere.read_text()
    assert "\\" not in elsewhere.read_text()


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path)
    project = load_project(file)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_project(replace(project, name="other"), file)
    assert file.read_text() == TEXT
    assert [path.name for path in tmp_path.iterdir()] == ["project.yaml"]


def test_saving_over_a_file_that_is_no_project_is_refused(tmp_path: Path) -> None:
    project = load_project(write(tmp_path))
    other = tmp_path / "machine.yaml"
    other.write_text("schema: twill.machine/1\n")
    with pytest.raises(InputError, match="unknown schema"):
        save_project(project, other)
    assert other.read_text() == "schema: twill.machine/1\n"


def test_a_kernel_has_one_schedule_for_each_loop(tmp_path: Path) -> None:
    def named(active: str | None, **loops: int | None) -> tuple[str, ...]:
        entries = {name: ScheduleEntry(tmp_path / f"{name}.yaml", loop=loop) for name, loop in loops.items()}
        project = Project("p", Input(InputKind.TTGIR, tmp_path / "p.ttgir"), schedules=entries, active=active)
        return project.kernel_schedules

    assert named("full", full=0, masked=1) == ("full", "masked")
    assert named("full", full=0, copy=0, masked=1) == ("full", "masked")
    assert named("copy", full=0, copy=0, masked=1) == ("copy", "masked")
    assert named("masked", full=0, copy=0, masked=1) == ("full", "masked")
    assert named("full", full=0, copy=0) == named("main", main=None, other=1) == ()

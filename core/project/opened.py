"""A project with its input read: module, loop, tile loop, machine, and the graph that is scheduled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.diagnostics import Diagnostic, InputError, Severity, error
from core.files import is_file
from core.graph.fuse import AUTOMATIC_FROM, Fusion, fuse
from core.graph.model import Graph, GroupKind, Pin
from core.graph.read import load_graph, suggest
from core.graph.reduce import CannotReduceError, reduce_branches
from core.ir.model import Loop, Module
from core.ir.source import load_module
from core.ir.subtile import subtile
from core.ir.tile_loop import tile_loop
from core.ir.tiles import TileLoop
from core.machine.build import BuiltGraph, CostSource, build_graph
from core.machine.load import find_machine, machine_names
from core.machine.model import Machine
from core.project.defaults import MACHINES, default_groups
from core.project.loop_choice import block_loops, choose_loop
from core.project.model import Branches, Fuse, InputKind, Project
from core.project.nested import inner_schedule, with_block
from core.schedule.model import Schedule
from core.schedule.variations import with_costs


@dataclass(frozen=True, slots=True)
class OpenProject:
    """What a project stands for.

    `module`, `loop` and `tiles` are None for a graph file; `machine` is None where a graph file's own numbers are used.
    `sources`: where each op's costs come from, empty for a graph file. `fusion`: how blocks of the graph stand for
    several tile ops (fused, or sides of a branch), None if none does. `diagnostics`: warnings and notes, also on pins
    and overrides that no longer match.
    """

    project: Project
    graph: Graph
    module: Module | None = None
    loop: Loop | None = None
    tiles: TileLoop | None = None
    machine: Machine | None = None
    sources: Mapping[str, CostSource] = field(default_factory=dict[str, CostSource])
    fusion: Fusion | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def open_project(
    project: Project,
    vary: Callable[[Machine], Machine] = lambda machine: machine,
    inner: Mapping[str, Schedule] | None = None,
    module: Module | None = None,
) -> OpenProject:
    """Reads the input and builds the graph of the project's own groups and transform (`Project.for_schedule`).

    `vary` gives another machine in the place of the project's; it is not called for a graph file, whose ops have their
    costs already. `inner`: schedules, by name, of loops inside, in the place of the project's files. `module`: the
    input, where it has been read before. Raises InputError if a file is bad or missing, or if there is nothing to
    schedule.
    """
    if project.input.kind is InputKind.GRAPH:
        return _open_graph(project)
    return _open_ttgir(project, vary, inner or {}, module or load_module(_existing(project)))


def _open_graph(project: Project) -> OpenProject:
    graph = load_graph(_existing(project))
    machine = _machine(project) if project.machine is not None else None
    if machine is not None:
        graph = _on_machine(project, graph, machine)
    graph = replace(graph, groups=project.groups or graph.groups, rules=project.rules or graph.rules)
    for op, override in project.overrides.items():
        if op in graph.ops:
            graph = with_costs(graph, op, override.latency, override.issue_cycles)
    graph = replace(graph, pins={**graph.pins, **_matching_pins(project, graph)})
    return OpenProject(project, graph, machine=machine, diagnostics=tuple(_lost(project, graph, graph)))


def _open_ttgir(
    project: Project, vary: Callable[[Machine], Machine], inner: Mapping[str, Schedule], module: Module
) -> OpenProject:
    loop, notes = choose_loop(project, module)
    machine = vary(_machine(project, module.target))
    blocks = block_loops(project, module, loop)
    tiles = _tiles(project, module, loop, tuple(blocks.values()))
    built = _build(project, tiles, machine)
    reduction = _reduced(tiles, built.graph) if tiles.branches else None
    graph = built.graph if reduction is None else reduction.graph
    lost = _lost(project, built.graph, graph)
    notes = (*module.diagnostics, *notes, *_target_notes(project, module, machine), *built.diagnostics, *lost)
    graph = replace(graph, pins=_matching_pins(project, graph))
    for name, block in blocks.items():
        opened = open_project(project.for_schedule(name), vary, module=module)
        graph = with_block(graph, tiles, block, opened, inner_schedule(project, name, opened, inner))
    fusion = reduction
    notes = (*notes, *_reduction_notes(project, reduction))
    if project.transform.fuse is Fuse.AUTO and len(graph.ops) >= AUTOMATIC_FROM:
        fusion = fuse(graph)
        graph = fusion.graph
        notes = (*notes, *_fusion_notes(project, fusion))
        if reduction is not None:
            fusion = Fusion(reduction.original, graph, {**reduction.blocks, **fusion.blocks})
    return OpenProject(project, graph, module, loop, tiles, machine, built.sources, fusion, notes)


def _tiles(project: Project, module: Module, loop: Loop, blocks: Sequence[Loop]) -> TileLoop:
    split = project.transform.subtile
    reduce_branches = project.transform.branches is Branches.REDUCE
    tiles = tile_loop(module, loop, reduce_branches=reduce_branches, blocks=blocks)
    return tiles if split is None else subtile(tiles, split.axis, split.parts, split.ops)


def _reduced(tiles: TileLoop, graph: Graph) -> Fusion:
    try:
        return reduce_branches(graph, tiles.branches)
    except CannotReduceError as fault:
        line = graph.ops[fault.op].line
        message = f"a branch cannot be reduced to one op: {fault}"
        raise error("cannot-reduce", message, file=tiles.module.file, line=line) from fault


def _build(project: Project, tiles: TileLoop, machine: Machine) -> BuiltGraph:
    def build(groups: Sequence[GroupKind]) -> BuiltGraph:
        return build_graph(tiles, machine, groups, project.rules, overrides=project.overrides, name=project.name)

    if project.groups is not None:
        return build(project.groups)
    groups = default_groups(machine.tensor_memory.columns)
    built = build(groups)
    needed = max((op.needs_warps for op in built.graph.ops.values() if op.variable_latency), default=1)
    wide = [replace(group, warps=max(group.warps, needed)) if group.variable_latency else group for group in groups]
    return build(wide)


def _fusion_notes(project: Project, fusion: Fusion) -> Iterator[Diagnostic]:
    if fusion.blocks:
        parts = sum(len(block) for block in fusion.blocks.values())
        message = f"{parts} small ops are fused into {len(fusion.blocks)} blocks; what is proved holds with them fused"
        hint = "to schedule each op by itself: transform: {fuse: 'off'}"
        yield project.diagnostic(Severity.NOTE, "fused", message, ("transform",), hint=hint)


def _reduction_notes(project: Project, reduction: Fusion | None) -> Iterator[Diagnostic]:
    if reduction is not None and reduction.blocks:
        branches = ", ".join(reduction.blocks)
        message = f"each branch is one op ({branches}); what is proved holds for schedules that keep it together"
        yield project.diagnostic(Severity.NOTE, "reduced", message, ("transform", "branches"))


def _target_notes(project: Project, module: Module, machine: Machine) -> Iterator[Diagnostic]:
    if machine.target and module.target and machine.target != module.target:
        message = f"the text is for {module.target}, the machine '{machine.name}' is {machine.target}"
        yield project.diagnostic(Severity.WARNING, "other-target", message, ("machine",))


def _on_machine(project: Project, graph: Graph, machine: Machine) -> Graph:
    """The graph with the machine's numbers; what the kernel keeps in shared memory stays as the file has it."""
    for op in graph.ops.values():
        for block in op.blocks:
            if block.unit not in machine.units:
                message = f"the machine '{machine.name}' has no unit '{block.unit}', which op '{op.id}' needs"
                hint = suggest(block.unit, machine.units)
                raise InputError(project.diagnostic(Severity.ERROR, "unknown-unit", message, ("machine",), hint=hint))
    kept = graph.machine.fixed_shared_bytes
    return replace(graph, machine=replace(machine.limits(), fixed_shared_bytes=kept))


def _existing(project: Project) -> Path:
    """The input's path. Raises InputError at the project's line if there is no such file."""
    path = project.input.path
    if project.source is not None and not is_file(path):
        key = project.input.kind.value
        message = f"there is no file '{path}'"
        raise InputError(project.diagnostic(Severity.ERROR, "missing-input", message, ("input", key)))
    return path


def _machine(project: Project, target: str = "") -> Machine:
    """The project's machine, or the one for the target. What does not exist is told at the project's line."""
    written = project.machine or MACHINES.get(target)
    if written is None:
        message = f"no machine is known for the target '{target}'" if target else "the text names no target"
        hint = f"choose one with --machine: {', '.join(machine_names())}, or a file"
        raise InputError(project.diagnostic(Severity.ERROR, "no-machine", message, ("input",), hint=hint))
    if isinstance(written, Path) and not is_file(written):
        message = f"there is no machine file '{written}'"
        raise InputError(project.diagnostic(Severity.ERROR, "unknown-machine", message, ("machine",)))
    if isinstance(written, str) and written not in machine_names():
        message = f"there is no machine '{written}'"
        hint = f"{', '.join(machine_names())}, or a file"
        raise InputError(project.diagnostic(Severity.ERROR, "unknown-machine", message, ("machine",), hint=hint))
    return find_machine(str(written), Path())


def _matching_pins(project: Project, graph: Graph) -> Mapping[str, Pin]:
    return {op: pin for op, pin in project.pins.items() if op in graph.ops}


def _lost(project: Project, built: Graph, graph: Graph) -> Iterator[Diagnostic]:
    """A warning for every override of an op that was not `built`, and pin of one that is not in the `graph`."""
    for section, ops, known in (("overrides", project.overrides, built), ("pins", project.pins, graph)):
        for op in ops:
            if op not in known.ops:
                message = f"{section}: the loop has no op '{op}'; ignored"
                hint = suggest(op, known.ops)
                yield project.diagnostic(Severity.WARNING, "unknown-op", message, (section, op), of_key=True, hint=hint)

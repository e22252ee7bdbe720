"""Annotated TTGIR: the text of the input, byte for byte, plus attributes that place every op of the loop.

On each operation of the body: `loop.stage`, `loop.cluster`, `twill.group`, `twill.start`, `twill.op` where it stands
for an op of the graph, `ttg.partition` where the target's compiler reads it. On the loop: `tt.scheduled_max_stage`,
`twill.ii`, and what else a schedule has. Attributes of these names are replaced. Reading them gives the schedule again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from core.diagnostics import Diagnostic, InputError, Severity, error
from core.export.annotation import Annotation, LoopAnnotation, annotated_operations, place_operations
from core.export.attribute_text import AttributeValue, read_value, write_value
from core.graph.fuse import Fusion
from core.ir.attributes import attribute_name
from core.ir.model import Loop, Module, Operation
from core.ir.tiles import TileLoop
from core.ir.types import split_top_level
from core.schedule.model import Origin, Placement, Schedule
from core.schedule.read import schedule_of
from core.schedule.schema import SCHEMA, ScheduleDocument

_OURS = frozenset({"loop.stage", "loop.cluster", "ttg.partition", "tt.scheduled_max_stage"})
_PREFIX = "twill."


def annotated_ttgir(tiles: TileLoop, schedule: Schedule, fusion: Fusion | None = None) -> str:
    """The loop's text with the schedule in it. `fusion`: how the schedule's ops stand for several tile ops."""
    loop_annotation, places = place_operations(tiles, schedule, fusion)
    return annotate(tiles.module, tiles.loop, loop_annotation, places)


def annotation_warnings(tiles: TileLoop) -> tuple[Diagnostic, ...]:
    """What the annotated text says only in part: operations that cannot carry attributes, or stand for sub-tiles."""
    found: list[Diagnostic] = []
    for operation in annotated_operations(tiles.loop):
        parts = [tile for tile in tiles.owner(operation) if tiles.ops[tile].operations[:1] == (operation,)]
        if not has_place(operation):
            message = f"{operation.name} has no place for attributes in Triton's syntax: left as it is"
            found.append(_warning(tiles, operation, message))
        elif len(parts) > 1:
            message = f"{operation.name} stands for {', '.join(parts)}: placed where the earliest of them is"
            found.append(_warning(tiles, operation, message))
    return tuple(found)


def annotate(
    module: Module, loop: Loop, loop_annotation: LoopAnnotation, places: Mapping[Operation, Annotation]
) -> str:
    """The module's text with attributes on the loop and on the given operations.

    Operations whose printed form has no place for attributes (`has_place`) stay as they are.
    """
    edits = [_edit(module.text, loop.operation, _loop_entries(loop_annotation))]
    edits += [_edit(module.text, op, _entries(place)) for op, place in places.items() if has_place(op)]
    pieces: list[str] = []
    position = 0
    for start, end, replacement in sorted(edits):
        pieces += [module.text[position:start], replacement]
        position = end
    return "".join([*pieces, module.text[position:]])


def has_place(operation: Operation) -> bool:
    """Whether the operation's printed form can carry attributes; `ttg.barrier` of Triton 3.9 cannot."""
    return operation.attribute_span is not None or operation.insertion_offset > 0


def read_annotations(module: Module, loop: Loop) -> Schedule:
    """The schedule in the loop's attributes. Raises InputError with the line if there is none or a wrong one."""
    groups = _loop_attribute(module, loop, "groups", required=True)
    others = _loop_attribute(module, loop, "others")
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "ii": _loop_attribute(module, loop, "ii", required=True),
        "groups": groups,
        "rings": _loop_attribute(module, loop, "rings") or {},
        "ops": {},
        "origin": _loop_attribute(module, loop, "origin"),
    }
    try:
        document["groups"] = {group.pop("name"): group for group in groups}
        document["ops"] = {**_placed_operations(module, loop), **(others or {})}
        return schedule_of(ScheduleDocument.model_validate(document))
    except (ValidationError, AttributeError, KeyError, TypeError) as fault:
        raise _wrong(module, loop.operation, "the attributes of the loop are no schedule", str(fault)) from fault


def _warning(tiles: TileLoop, operation: Operation, message: str) -> Diagnostic:
    place = operation.name_span
    return Diagnostic(Severity.WARNING, "not-expressible", message, tiles.module.file, place.line, place.column)


def _edit(text: str, operation: Operation, entries: list[str]) -> tuple[int, int, str]:
    """Start, end and new text of the operation's dictionary."""
    span = operation.attribute_span
    if span is None:
        at = operation.insertion_offset
        return at, at, " {" + ", ".join(entries) + "}"
    inside = text[span.start + 1 : span.end - 1]
    old = [entry for entry in split_top_level(inside) if entry]
    kept = [entry for entry in old if not _is_ours(attribute_name(entry))]
    before = [inside] if old == kept and old else kept
    return span.start, span.end, "{" + ", ".join([*before, *entries]) + "}"


def _is_ours(name: str) -> bool:
    return name in _OURS or name.startswith(_PREFIX)


def _entries(place: Annotation) -> list[str]:
    entries = [f"loop.cluster = {place.cluster} : i32", f"loop.stage = {place.stage} : i32"]
    if place.partitions:
        entries.append(f"ttg.partition = array<i32: {', '.join(str(index) for index in place.partitions)}>")
    values: dict[str, AttributeValue] = {
        "group": place.groups[0] if len(place.groups) == 1 else place.groups,
        "start": place.start,
    }
    if place.op is not None:
        values["op"] = place.op
    if place.delay:
        values["delay"] = place.delay
    return entries + _own_entries(values)


def _loop_entries(annotation: LoopAnnotation) -> list[str]:
    values: dict[str, AttributeValue] = {
        "ii": annotation.ii,
        "groups": [
            {"name": name, "kind": group.kind, "grant": group.grant} for name, group in annotation.groups.items()
        ],
    }
    if annotation.rings:
        values["rings"] = annotation.rings
    if annotation.others:
        values["others"] = {op: _placement_value(place) for op, place in annotation.others.items()}
    if annotation.origin is not None:
        values["origin"] = _origin_value(annotation.origin)
    return [f"tt.scheduled_max_stage = {annotation.last_stage} : i32", *_own_entries(values)]


def _own_entries(values: Mapping[str, AttributeValue]) -> list[str]:
    return [f"{_PREFIX}{name} = {write_value(value)}" for name, value in sorted(values.items())]


def _placement_value(place: Placement) -> dict[str, AttributeValue]:
    value: dict[str, AttributeValue] = {"start": place.start, "group": place.group}
    return {**value, "delay": place.delay} if place.delay else value


def _origin_value(origin: Origin) -> dict[str, AttributeValue]:
    return {"by": origin.by, "status": origin.status, "model": origin.model, "seed": origin.seed}


def _placed_operations(module: Module, loop: Loop) -> dict[str, Any]:
    placed: dict[str, Any] = {}
    for operation in annotated_operations(loop):
        op = _attribute(module, operation, "op")
        if op is None:
            continue
        place = {name: _attribute(module, operation, name) for name in ("start", "group", "delay")}
        placed[op] = {name: value for name, value in place.items() if value is not None}
    return placed


def _loop_attribute(module: Module, loop: Loop, name: str, required: bool = False) -> Any:
    value = _attribute(module, loop.operation, name)
    if value is None and required:
        hint = f"only a text that was exported with a schedule has {_PREFIX}{name} on its loop"
        raise _wrong(module, loop.operation, "the loop carries no schedule", hint)
    return value


def _attribute(module: Module, operation: Operation, name: str) -> Any:
    text = operation.attributes.get(_PREFIX + name)
    if text is None:
        return None
    try:
        return read_value(text)
    except ValueError as fault:
        raise _wrong(module, operation, f"{_PREFIX}{name} of {operation.name} cannot be read", str(fault)) from fault


def _wrong(module: Module, operation: Operation, message: str, hint: str) -> InputError:
    place = operation.name_span
    return error("bad-annotation", message, file=module.file, line=place.line, column=place.column, hint=hint)

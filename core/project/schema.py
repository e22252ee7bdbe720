"""The shape of `twill.project/1` files, key by key, and the project value of a document."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from core.graph.model import GroupKind, Pin, Rules
from core.graph.schema import GroupSection, PinSection, RulesSection
from core.ir.subtile import SplitAxis
from core.machine.load import SUFFIXES
from core.project.model import Branches, Fuse, Input, InputKind, Override, Project, ScheduleEntry, Subtile, Transform
from core.solve.events import DEFAULT_OBJECTIVE, Level, ModelName, SolveOptions
from core.yaml_source import Count, KeyPath, PositiveCount, YamlSource, require_schema, validate

SCHEMA = "twill.project/1"


def _without_null(path: str) -> str:
    if "\0" in path:
        raise PydanticCustomError("path", "the path has a character 0 in it, which no file's has")
    return path


Name = Annotated[str, Field(min_length=1)]
FilePath = Annotated[Name, AfterValidator(_without_null)]
ObjectiveName = Literal["ii", "groups", "hand_offs", "length", "registers", "stages", "robustness"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Input(_Model):
    ttgir: FilePath | None = None
    graph: FilePath | None = None
    function: Name | None = None
    loop: Count | None = None


class _Subtile(_Model):
    axis: SplitAxis
    parts: Annotated[int, Field(ge=2, le=16)]
    ops: Literal["all"] | list[Name] = "all"

    def value(self) -> Subtile:
        return Subtile(self.axis, self.parts, None if self.ops == "all" else tuple(self.ops))


class _Transform(_Model):
    fuse: Literal["auto", "off", False] = "auto"
    subtile: _Subtile | None = None
    branches: Literal["refuse", "reduce"] = "refuse"

    def value(self) -> Transform:
        subtile = self.subtile.value() if self.subtile else None
        return Transform(Fuse(self.fuse or "off"), subtile, Branches(self.branches))


class _Override(_Model):
    latency: Count | None = None
    issue_cycles: Count | None = None
    note: str = ""


class _Solve(_Model):
    model: Literal["exact", "paper"] = "exact"
    objective: Annotated[list[ObjectiveName], Field(min_length=1)] = [level.value for level in DEFAULT_OBJECTIVE]
    max_ii: PositiveCount | None = None
    limit_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 300.0
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1

    def value(self) -> SolveOptions:
        return SolveOptions(
            model=ModelName(self.model),
            objective=tuple(Level(name) for name in self.objective),
            max_ii=self.max_ii,
            limit_s=self.limit_s,
            seed=self.seed,
        )


class _Entry(_Model):
    file: FilePath
    groups: Annotated[list[GroupSection], Field(min_length=1)] | None = None
    transform: _Transform | None = None
    loop: Count | None = None
    trip_count: PositiveCount | None = None


def _entry_form(written: object) -> str:
    return "entry" if isinstance(written, dict) else "file"


_FileOrEntry = Annotated[
    Annotated[FilePath, Tag("file")] | Annotated[_Entry, Tag("entry")],
    Discriminator(_entry_form),  # so that a fault is told of the form that was meant, not of both
]


class ProjectDocument(_Model):
    """The whole file."""

    version: Literal["twill.project/1"] = Field(alias="schema")
    name: Name
    input: _Input
    machine: FilePath | None = None
    groups: Annotated[list[GroupSection], Field(min_length=1)] | None = None
    rules: RulesSection | None = None
    transform: _Transform = _Transform()
    overrides: dict[Name, _Override] = {}
    pins: dict[Name, PinSection] = {}
    solve: _Solve = _Solve()
    schedules: dict[Name, _FileOrEntry] = {}
    active: Name | None = None


def read_project(source: YamlSource, file: Path) -> Project:
    """The document as a project of the folder `file` is in. Raises InputError with the place of every fault."""
    require_schema(source, SCHEMA)
    model = validate(ProjectDocument, source)
    if (model.input.ttgir is None) == (model.input.graph is None):
        raise source.error("bad-value", "input: give either 'ttgir' or 'graph'", ("input",), hint="ttgir: FILE")
    if model.input.graph is not None:
        _check_graph_input(source, model)
    if model.active is not None and model.active not in model.schedules:
        known = ", ".join(model.schedules) or "none"
        message = f"active: there is no schedule '{model.active}'"
        raise source.error("unknown-schedule", message, ("active",), hint=f"schedules: {known}")
    _check_groups(source, model)
    for op, pin in model.pins.items():
        if pin.start is None and pin.group is None:
            message, hint = f"the pin of '{op}' fixes nothing", "a key 'start' or 'group'"
            raise source.error("empty-pin", message, ("pins", op), hint=hint)
    folder = file.parent
    return Project(
        name=model.name,
        input=_input(model.input, folder),
        machine=None if model.machine is None else machine_reference(model.machine, folder),
        groups=_groups(model.groups),
        rules=_rules(model.rules),
        transform=model.transform.value(),
        overrides={op: Override(o.latency, o.issue_cycles, o.note) for op, o in model.overrides.items()},
        pins={op: Pin(pin.start, pin.group) for op, pin in model.pins.items()},
        solve=model.solve.value(),
        schedules={name: _entry(entry, folder) for name, entry in model.schedules.items()},
        active=model.active,
        file=file,
        source=source,
    )


def _check_graph_input(source: YamlSource, model: ProjectDocument) -> None:
    """A graph file is one loop already."""
    for key in ("function", "loop"):
        if getattr(model.input, key) is not None:
            raise source.error("bad-value", f"input: '{key}' goes with 'ttgir'", ("input", key), of_key=True)
    for name, entry in model.schedules.items():
        for key in ("loop", "trip_count"):
            if not isinstance(entry, str) and getattr(entry, key) is not None:
                message = f"schedules: {name}: '{key}' goes with 'ttgir'"
                raise source.error("bad-value", message, ("schedules", name, key), of_key=True)
    if "transform" in model.model_fields_set:
        raise source.error("bad-value", "'transform' needs a TTGIR input", ("transform",), of_key=True)


def _check_groups(source: YamlSource, model: ProjectDocument) -> None:
    lists: dict[KeyPath, list[GroupSection] | None] = {("groups",): model.groups}
    for name, entry in model.schedules.items():
        lists["schedules", name, "groups"] = None if isinstance(entry, str) else entry.groups
    for path, groups in lists.items():
        seen: set[str] = set()
        for index, group in enumerate(groups or []):
            if group.kind in seen:
                message = f"the group kind '{group.kind}' is given twice"
                raise source.error("duplicate-group", message, (*path, index, "kind"), hint="raise its 'count'")
            seen.add(group.kind)


def _input(model: _Input, folder: Path) -> Input:
    kind = InputKind.GRAPH if model.graph is not None else InputKind.TTGIR
    return Input(kind, _absolute(model.graph or model.ttgir or "", folder), model.function, model.loop)


def machine_reference(written: str, folder: Path) -> str | Path:
    """A machine as it is written: a name stays one, a path is relative to the folder."""
    is_path = "/" in written or written.endswith(SUFFIXES)
    return _absolute(written, folder) if is_path else written


def _groups(models: list[GroupSection] | None) -> tuple[GroupKind, ...] | None:
    if models is None:
        return None
    return tuple(GroupKind(group.kind, group.warps, group.count, group.variable_latency) for group in models)


def _rules(model: RulesSection | None) -> Rules | None:
    return model and Rules(model.in_order_issue, model.isolate_matrix_issue, model.allow_hand_off)


def _entry(model: str | _Entry, folder: Path) -> ScheduleEntry:
    if isinstance(model, str):
        return ScheduleEntry(_absolute(model, folder))
    transform = model.transform.value() if model.transform else None
    return ScheduleEntry(_absolute(model.file, folder), _groups(model.groups), transform, model.loop, model.trip_count)


def _absolute(written: str, folder: Path) -> Path:
    return Path(os.path.normpath(folder / written))

"""The axes of a sweep by name, and their values as they are written: `registers=160,200,240`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.graph.read import suggest
from core.sweep import graph_settings, machine_settings, project_settings
from core.sweep.axis_forms import AXIS_FORMS
from core.sweep.setting import AxisError, Setting

_READERS: dict[str, Callable[[str, str], Setting]] = {
    "registers": graph_settings.registers,
    "groups": graph_settings.groups,
    "input": project_settings.input_file,
    "subtile": project_settings.subtile,
    "fuse": project_settings.fuse,
    "hand_off": graph_settings.hand_off,
    "rings": graph_settings.rings,
    "shared_memory": graph_settings.shared_memory,
    "tensor_memory": graph_settings.tensor_memory,
    "capacity": graph_settings.capacity,
    "speed": machine_settings.speed,
    "latency": project_settings.latency,
    "issue_cycles": project_settings.issue_cycles,
    "rules": graph_settings.rules,
    "machine": machine_settings.machine,
}
"""What makes a setting of an axis's argument (empty without one) and of a value as it is written."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A key as it is written, and the settings of its values in their order."""

    key: str
    settings: tuple[Setting, ...]


def parse_axis(text: str) -> Axis:
    """The axis of `KEY=V1,V2`. Raises AxisError with what would be right."""
    key, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise AxisError(f"'{text}' is not KEY=V1,V2")
    name, dot, argument = key.partition(".")
    form = next((form for form in AXIS_FORMS if form.name == name), None)
    if form is None:
        raise AxisError(f"there is no axis '{name}'; {suggest(name, _READERS)}")
    wanted = form.argument is not None
    if bool(argument) != bool(dot) or (bool(argument) != wanted and not form.optional):
        raise AxisError(f"the axis '{name}' is written {form.written}, not '{key}'")
    settings: list[Setting] = []
    for word in values.split(","):
        try:
            setting = _READERS[name](argument, word.strip())
        except AxisError as fault:
            raise AxisError(f"{key}: {fault}") from None
        if any(setting.value == other.value for other in settings):
            raise AxisError(f"{key}: the value {word.strip()} is given twice")
        settings.append(setting)
    return Axis(key, tuple(settings))


def parse_axes(texts: list[str]) -> tuple[Axis, ...]:
    """The axes of a sweep. Raises AxisError, also for one that is given twice."""
    axes = tuple(parse_axis(text) for text in texts)
    for index, axis in enumerate(axes):
        if any(axis.key == other.key for other in axes[:index]):
            raise AxisError(f"the axis '{axis.key}' is given twice")
    return axes

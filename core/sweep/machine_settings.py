"""Axes that change the machine: any number of its file, or the speed of a unit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from core.diagnostics import InputError
from core.files import is_file
from core.graph.model import Graph
from core.graph.read import parse_graph
from core.graph.write import graph_document
from core.machine.edit import set_number
from core.machine.load import machine_names, parse_machine
from core.machine.model import CostRule, Machine, UnitCost
from core.project.schema import machine_reference
from core.sweep.setting import AxisError, Setting, check_known, read_number
from core.yaml_source import Key, parse_yaml, read_text


def machine(dotted: str, text: str) -> Setting:
    """Without keys another machine, by name or file. With keys a number of the machine's file, or of `machine` in a
    graph file where that is the input."""
    return _number(dotted, text) if dotted else _other(text)


def _other(text: str) -> Setting:
    reference = machine_reference(text, Path())
    if isinstance(reference, str):
        check_known(text, machine_names(), "machine")
    elif not is_file(reference):
        raise AxisError(f"there is no machine file '{text}'")
    return Setting(text, project=lambda project: replace(project, machine=reference))


def _number(dotted: str, text: str) -> Setting:
    value = read_number(text)

    def edit(machine_text: str, file: str) -> str:
        path = _number_path(parse_yaml(machine_text, file).data, dotted)
        return set_number(machine_text, path, value, file)

    def edit_resolved(graph: Graph) -> Graph:
        document = graph_document(graph)
        path = _number_path(document["machine"], dotted)
        holder: Any = document["machine"]
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value
        return _graph_of(document)

    return Setting(value, machine_text=edit, resolved=edit_resolved)


def _number_path(data: Any, dotted: str) -> Sequence[Key]:
    """The keys of a number, as `registers.overhead` or `costs.3.latency.add` writes them."""
    path: list[Key] = []
    for word in dotted.split("."):
        if isinstance(data, Mapping):
            mapping = cast(Mapping[str, Any], data)
            check_known(word, [str(key) for key in mapping], _place("key", path))
            path.append(word)
            data = mapping[word]
        elif isinstance(data, list):
            items = cast(list[Any], data)
            check_known(word, [str(index) for index in range(len(items))], _place("entry", path))
            path.append(int(word))
            data = items[int(word)]
        else:
            raise AxisError(f"{_place('', path).strip()} has no keys")
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise AxisError(f"the machine has no number at '{dotted}'")
    return path


def _place(what: str, path: Sequence[Key]) -> str:
    where = ".".join(str(key) for key in path)
    return f"{what} in '{where}' of the machine" if where else f"{what} of the machine"


def _graph_of(document: Mapping[str, Any]) -> Graph:
    """The graph of a document that only a number out of range can spoil. Raises AxisError."""
    try:
        return parse_graph(json.dumps(document), "")
    except InputError as fault:
        raise AxisError("; ".join(diagnostic.message for diagnostic in fault.diagnostics)) from None


def varied_machine(machine: Machine, settings: Sequence[Setting]) -> Machine:
    """The machine with all settings that change it: first the numbers of its file, then the rest."""
    text_edits = [setting.machine_text for setting in settings if setting.machine_text is not None]
    if text_edits:
        text = read_text(Path(machine.file))
        for text_edit in text_edits:
            text = text_edit(text, machine.file)
        machine = parse_machine(text, machine.file)
    for setting in settings:
        if setting.machine is not None:
            machine = setting.machine(machine)
    return machine


def speed(unit: str, text: str) -> Setting:
    """A factor on all rates of a unit."""
    value = read_number(text)
    if not value:
        raise AxisError("a unit needs a speed above 0")
    factor = Fraction(text)

    def edit(machine: Machine) -> Machine:
        check_known(unit, machine.units, "unit")
        return replace(machine, costs=tuple(_faster(rule, unit, factor) for rule in machine.costs))

    return Setting(value, machine=edit)


def _faster(rule: CostRule, unit: str, factor: Fraction) -> CostRule:
    def block(cost: UnitCost) -> UnitCost:
        if cost.unit != unit or cost.rate is None:
            return cost
        return replace(cost, rate={element: rate * factor for element, rate in cost.rate.items()})

    return replace(rule, blocks=tuple(block(cost) for cost in rule.blocks))

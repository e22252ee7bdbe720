"""The Project dock: what is scheduled, on what machine, with which groups, and the schedules kept for it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.graph.model import Graph, InOrderIssue
from core.schedule.model import Schedule
from core.schedule.wording import counted
from twill_gui.document.document import Document
from twill_gui.document.state import ProjectState, Variant
from twill_gui.models.sections import Detail, Section
from twill_gui.theme import Colors
from twill_gui.views.details import DetailTree


class ProjectView(QWidget):
    """A tree of facts; activating a schedule asks to show it."""

    schedule_requested = Signal(object)  # str

    def __init__(self, document: Document, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.tree = DetailTree("Project", colors)
        self.tree.activated_target.connect(self.schedule_requested)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tree)
        document.changed.connect(self._show)
        document.located.connect(self._show)

    def _show(self) -> None:
        state = self._document.state
        self.tree.set_sections(_sections(state) if state else ())


def _sections(state: ProjectState) -> list[Section]:
    graph = state.variant.graph
    return [
        Section(state.project.name, _input(state)),
        Section("Schedules", [_schedule(state, name, variant) for name, variant in state.variants.items()]),
        Section("Warp groups", _groups(graph)),
        Section("Machine", _machine(state, graph)),
        Section("Rules", _rules(graph)),
    ]


def _input(state: ProjectState) -> list[Detail]:
    source = state.project.input
    details = [
        Detail(
            "project", state.project.file.name if state.project.file else "not saved", str(state.project.file or "")
        ),
        Detail(source.kind.value.replace("ttgir", "TTGIR"), source.path.name, str(source.path)),
    ]
    if source.function:
        details.append(Detail("function", source.function))
    if source.loop is not None:
        details.append(Detail("loop", str(source.loop)))
    graph = state.variant.graph
    details.append(Detail("operations", str(len(graph.ops))))
    details.append(Detail("dependences", str(len(graph.dependences))))
    return details


def _schedule(state: ProjectState, name: str, variant: Variant) -> Detail:
    shown = name == state.active
    mark = "\N{BLACK RIGHT-POINTING SMALL TRIANGLE} " if shown else ""
    if variant.schedule is None:
        return Detail(mark + name, "not solved yet", target=name, strong=shown)
    return Detail(mark + name, f"II {variant.schedule.ii}{_maker(variant.schedule)}", target=name, strong=shown)


def _maker(schedule: Schedule) -> str:
    origin = schedule.origin
    if origin is None:
        return ""
    return {"solver": f", {origin.status}", "user": ", edited"}.get(origin.by, f", by {origin.by}")


def _groups(graph: Graph) -> list[Detail]:
    return [
        Detail(
            kind.kind,
            f"{kind.count} \N{MULTIPLICATION SIGN} {counted(kind.warps, 'warp')}"
            + (", var. latency" if kind.variable_latency else ""),
            "for operations of variable latency only" if kind.variable_latency else "",
        )
        for kind in graph.groups
    ]


def _machine(state: ProjectState, graph: Graph) -> list[Detail]:
    limits = graph.machine
    registers = limits.registers
    name = state.project.machine
    details = [Detail("name", str(name))] if name is not None else []
    details += [
        Detail(unit, f"capacity {capacity}", f"functional unit {unit}") for unit, capacity in limits.units.items()
    ]
    details.append(Detail("registers", f"{registers.max_per_thread} per thread"))
    details.append(Detail("register file", f"{registers.file_words} words"))
    details.append(Detail("shared memory", f"{limits.shared_memory_bytes} bytes"))
    if limits.tensor_memory_columns:
        details.append(Detail("tensor memory", f"{limits.tensor_memory_columns} columns"))
    return details


def _rules(graph: Graph) -> list[Detail]:
    rules = graph.rules
    issue = {InOrderIssue.STRONG: "one op at a time", InOrderIssue.WEAK: "around waits only", InOrderIssue.OFF: "free"}
    return [
        Detail("issue in order", issue[rules.in_order_issue]),
        Detail("hand-offs", "allowed" if rules.allow_hand_off else "not allowed"),
        Detail("matrix issue", "on groups of its own" if rules.isolate_matrix_issue else "on any group"),
    ]

"""What an explanation says would help, as an edit of the project: groups, rules, costs of an op, pins, the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.explain.answer import Relaxation
from core.graph.model import InOrderIssue
from core.project.model import Override
from core.schedule.model import Placement
from core.schedule.windows import windows
from core.yaml_source import Key
from twill_gui.document import editing, settings
from twill_gui.document.document import Document
from twill_gui.document.files import reopened
from twill_gui.document.state import ProjectState, with_pin


def applicable(state: ProjectState, relaxation: Relaxation) -> bool:
    """Whether the project can say it. An op that stays on its group has no pin to give up, a fused block no cost of
    its own, and a graph file no machine."""
    match relaxation.what:
        case _ if relaxation.new is None:
            return False
        case "pins":
            return any(op in state.project.pins for op in relaxation.highlight.ops)
        case "group":
            return _other_place(state, relaxation) is not None
        case "latency":
            fusion = state.variant.opened.fusion
            return fusion is None or relaxation.subject not in fusion.blocks
        case "register limit" | "shared memory" | "tensor memory":
            return settings.machine_text(state) is not None
        case what:
            return what in ("groups", *_RULES)


def apply(document: Document, relaxation: Relaxation) -> None:
    """One undo step with the change; none if it is not `applicable`. Raises InputError if the project's files cannot
    be read again."""
    state = document.state
    if state is None or not applicable(state, relaxation):
        return
    what, new = relaxation.what, relaxation.new
    if what in _RULES:
        settings.set_rules(document, replace(state.variant.graph.rules, **_RULES[what]))
    elif what == "groups":
        kinds = state.variant.graph.groups
        wider = (replace(kind, count=int(new or 0)) if kind.kind == relaxation.subject else kind for kind in kinds)
        settings.set_groups(document, tuple(wider))
    elif what in _MACHINE:
        settings.set_machine_number(document, _MACHINE[what], int(new or 0))
    elif what == "group":
        place = _other_place(state, relaxation)
        if place is not None and relaxation.subject is not None:
            editing.move(document, relaxation.subject, place.start, place.group)
    elif what == "latency":
        after = _with_latency(state, relaxation.subject or "", int(new or 0))
        document.edit(f"Latency of {relaxation.subject}: {new}", lambda _: after)
    else:
        document.edit(f"Unpin {relaxation.subject}", lambda state: _unpinned(state, relaxation))


def _other_place(state: ProjectState, relaxation: Relaxation) -> Placement | None:
    """Where the op would go on a group of the kind: one that its dependences allow if there is any, at the start there
    that is nearest to where it is."""
    schedule, op = state.variant.schedule, relaxation.subject
    if schedule is None or op is None or op not in schedule.ops:
        return None
    found = windows(state.variant.graph, schedule, op).values()
    fitting = [w for w in found if schedule.groups[w.group].kind == relaxation.new and not w.refusals]
    best = max(fitting, key=lambda window: window.possible, default=None)
    if best is None:
        return None
    start = max(schedule.ops[op].start, best.earliest)
    return Placement(start if best.latest is None else max(min(start, best.latest), 0), best.group)


def _with_latency(state: ProjectState, op: str, cycles: int) -> ProjectState:
    project = state.project
    override = replace(project.overrides.get(op, Override()), latency=cycles)
    project = replace(project, overrides={**project.overrides, op: override})
    return reopened(state, project, state.machine_text)


def _unpinned(state: ProjectState, relaxation: Relaxation) -> ProjectState:
    for op in relaxation.highlight.ops:
        state = with_pin(state, op, None)
    return state


_RULES: Mapping[str, Mapping[str, object]] = {
    "issue rule": {"in_order_issue": InOrderIssue.OFF},
    "hand-offs": {"allow_hand_off": True},
    "matrix issue": {"isolate_matrix_issue": False},
}
"""By what is relaxed, the fields of `Rules` that say it."""

_MACHINE: Mapping[str, tuple[Key, ...]] = {
    "register limit": ("registers", "max_per_thread"),
    "shared memory": ("shared_memory", "bytes"),
    "tensor memory": ("tensor_memory", "columns"),
}
"""By what is relaxed, where the machine's file has the number."""

"""How axes are written and what they mean. Loads nothing, so that `twill sweep --help` can tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AxisForm:
    """A named axis. `argument`: what follows the name after a dot; None: nothing may."""

    name: str
    summary: str
    argument: str | None = None
    optional: bool = False

    @property
    def written(self) -> str:
        """How its key is written."""
        if self.argument is None:
            return self.name
        return f"{self.name}[.{self.argument}]" if self.optional else f"{self.name}.{self.argument}"


AXIS_FORMS = (
    AxisForm("registers", "registers per thread at most"),
    AxisForm("groups", "warp groups of a kind at most", "KIND"),
    AxisForm("input", "input file: the same kernel with other tiles"),
    AxisForm("subtile", "parts of each tile op, 1 for whole (transform.subtile.parts)"),
    AxisForm("fuse", "chains of small ops as blocks: auto or off"),
    AxisForm("hand_off", "cycles of every hand-off"),
    AxisForm("rings", "ring slots at most, of one value in shared memory or of each", "OP", optional=True),
    AxisForm("shared_memory", "bytes of shared memory"),
    AxisForm("tensor_memory", "columns of tensor memory"),
    AxisForm("capacity", "how much of a unit can be in use at once", "UNIT"),
    AxisForm("speed", "factor on all rates of a unit", "UNIT"),
    AxisForm("latency", "latency of an op in cycles", "OP"),
    AxisForm("issue_cycles", "issue cycles of an op", "OP"),
    AxisForm("rules", "a rule of the project: true or false; strong, weak or off", "RULE"),
    AxisForm("machine", "machine by name or file; with keys a number of its file", "KEYS", optional=True),
)


def axes_help() -> str:
    """The axes as lines of text."""
    width = max(len(form.written) for form in AXIS_FORMS)
    lines = [f"  {form.written.ljust(width)}  {form.summary}" for form in AXIS_FORMS]
    return "\n".join(["axes:", *lines])

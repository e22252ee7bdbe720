"""The machine file as a form."""

from twill_gui.views.machine.view import MachineView

__all__ = ["MachineView"]

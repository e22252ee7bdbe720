"""The interval against any other number."""

from twill_gui.views.sweep.view import SweepView

__all__ = ["SweepView"]

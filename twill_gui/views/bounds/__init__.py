"""The proved bound and the best II over the time of a solve."""

from twill_gui.views.bounds.plot import BoundPlot

__all__ = ["BoundPlot"]

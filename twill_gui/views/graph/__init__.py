"""The dependence graph in layers."""

from twill_gui.views.graph.view import GraphView

__all__ = ["GraphView"]

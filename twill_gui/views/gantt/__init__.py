"""The Gantt chart."""

from twill_gui.views.gantt.layout import GanttMode, group_lanes
from twill_gui.views.gantt.view import GanttView

__all__ = ["GanttMode", "GanttView", "group_lanes"]

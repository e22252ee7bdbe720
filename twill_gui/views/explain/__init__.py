"""Why something is impossible, and what would make it possible."""

from twill_gui.views.explain.nouns import Nouns
from twill_gui.views.explain.page import Facts, Stage
from twill_gui.views.explain.view import ExplainView

__all__ = ["ExplainView", "Facts", "Nouns", "Stage"]

"""Read-only program text with line numbers, whose lines are linked with ops."""

from twill_gui.views.code.colors import SYNTAX_DARK, SYNTAX_LIGHT, Kind, SyntaxColors
from twill_gui.views.code.view import CodeView, Piece

__all__ = ["SYNTAX_DARK", "SYNTAX_LIGHT", "CodeView", "Kind", "Piece", "SyntaxColors"]

"""The text that the loop comes from."""

from twill_gui.views.ir_text.view import IrTextView

__all__ = ["IrTextView"]

"""Groups, rules, transform and loop as a form."""

from twill_gui.views.settings.view import SettingsView

__all__ = ["SettingsView"]

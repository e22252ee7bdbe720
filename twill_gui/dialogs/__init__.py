"""Dialogs, all of them small."""

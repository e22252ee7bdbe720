"""The open project as one frozen value, changed only by undoable commands."""

"""What a kernel must not do, said where it is noticed; the op is added by who knows it."""

from __future__ import annotations


class KernelError(Exception):
    """A wrong access, a broken rule of an op, or an op's form that is not interpreted.

    `code` is that of the diagnostic that it becomes.
    """

    def __init__(self, message: str, code: str = "bad-execution") -> None:
        super().__init__(message)
        self.code = code


def not_interpreted(what: str) -> KernelError:
    """The error of an op, or a form of one, that the interpreter does not know."""
    return KernelError(f"the interpreter does not know {what}", "unsupported-op")

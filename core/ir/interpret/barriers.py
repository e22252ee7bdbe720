"""mbarriers: they count arrivals and bytes, and complete one phase after another."""

from __future__ import annotations

from dataclasses import dataclass

from core.ir.interpret.errors import KernelError


@dataclass(slots=True)
class Barrier:
    """A phase completes when `arrivals` have come and no bytes are outstanding; then the next one begins."""

    arrivals: int
    missing: int = 0
    bytes: int = 0
    phase: int = 0  # of those that are complete, how many

    def __post_init__(self) -> None:
        self.missing = self.arrivals

    def arrive(self, count: int = 1, expected_bytes: int = 0) -> None:
        """So many threads arrive and expect so many bytes."""
        self.missing -= count
        self.bytes += expected_bytes
        self._complete()

    def receive(self, count: int) -> None:
        """A copy has brought so many bytes."""
        self.bytes -= count
        self._complete()

    def has_passed(self, parity: int) -> bool:
        """Whether the last phase of that parity is complete: what a wait asks."""
        return self.phase % 2 != parity % 2

    def _complete(self) -> None:
        if self.missing < 0:
            raise KernelError("more arrive at the barrier than it waits for")
        if self.missing == 0 and self.bytes == 0:
            self.phase += 1
            self.missing = self.arrivals

"""How long an explanation may take, and what it looks for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """Seconds for all, and how many cores are looked for. No part takes more than its share of the seconds.
    `sensitivity`: what the least II depends on is asked too, for as many seconds again."""

    total_s: float = 30.0
    cores: int = 3
    sensitivity: bool = False
    seed: int = 1

    @property
    def cores_s(self) -> float:
        """For finding cores."""
        return self.total_s / 3

    @property
    def refine_s(self) -> float:
        """For finding the dependences that matter to one core."""
        return self.total_s / 6

    @property
    def change_s(self) -> float:
        """For the size of one change."""
        return self.total_s / 6

    @property
    def call_s(self) -> float:
        """For one question to a solver."""
        return self.total_s / 10

"""Groups of matrix ops that are under way on a role, and the ring slots that it holds: what a wait completes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from core.export.roles.model import ArriveFree, MmaWait, Pin, Statement


@dataclass(frozen=True, slots=True)
class Open:
    """A group that was issued: of which step and iteration, the storages it writes and reads, the tiles it reads.
    `deadline`: the cycle at which a slot that it reads is to be filled again, None if none is. `done`: the cycle at
    which the schedule has it complete; `held`: registers per thread of its operands."""

    op: str
    phase: int
    writes: frozenset[str]
    reads: frozenset[str]
    tiles: tuple[tuple[str, int], ...] = ()
    deadline: int | None = None
    done: int = 0
    held: int = 0

    def shifted(self, by: int, ii: int) -> Open:
        """The same group, iterations counted from elsewhere."""
        tiles = tuple((ring, phase + by) for ring, phase in self.tiles)
        deadline = None if self.deadline is None else self.deadline + by * ii
        later = {"phase": self.phase + by, "done": self.done + by * ii}
        return replace(self, **later, tiles=tiles, deadline=deadline)


@dataclass(slots=True)
class Groups:
    """The groups under way, oldest first, and the slots held: for each ring the iterations of the tiles that were
    waited for and not given back, with the readings that are still to come.

    `carried`: how many of the oldest groups were under way already where the loop's head or its end was last passed.
    """

    queue: list[Open] = field(default_factory=list[Open])
    held: dict[str, dict[int, int]] = field(default_factory=dict[str, dict[int, int]])
    newest: dict[str, int] = field(default_factory=dict[str, int])
    carried: int = 0

    def carry(self) -> None:
        """Here is a loop's head or its end."""
        self.carried = len(self.queue)

    def copy(self) -> Groups:
        """An independent copy."""
        held = {ring: dict(tiles) for ring, tiles in self.held.items()}
        return Groups(list(self.queue), held, dict(self.newest), self.carried)

    def shifted(self, by: int, ii: int) -> Groups:
        """The same state, iterations counted from elsewhere."""
        return Groups(
            [group.shifted(by, ii) for group in self.queue],
            {ring: {phase + by: left for phase, left in tiles.items()} for ring, tiles in self.held.items()},
            {ring: phase + by for ring, phase in self.newest.items()},
            self.carried,
        )

    def youngest(self, conflicts: Iterable[bool]) -> int:
        """The position of the youngest group for which there is a conflict; -1: none."""
        return max((at for at, conflict in enumerate(conflicts) if conflict), default=-1)

    def complete(self, position: int, why: str) -> Iterator[Statement]:
        """Waits until the group at `position` and all older ones are complete, and gives back what they read."""
        done, self.queue = self.queue[: position + 1], self.queue[position + 1 :]
        if not done:
            return
        self.carried = max(0, self.carried - len(done))
        yield MmaWait(len(self.queue), why)
        still = {name for group in self.queue for name in group.writes}  # a sum goes on in the same registers
        pinned = {name for group in done for name in group.writes | group.reads} - still
        if pinned:
            yield Pin(tuple(sorted(pinned)))
        for group in done:
            for ring, phase in group.tiles:
                yield from self.read(ring, phase, f"{group.op} has read it")

    def read(self, ring: str, phase: int, why: str) -> Iterator[Statement]:
        """One reading of a tile is over."""
        tiles = self.held[ring]
        tiles[phase] -= 1
        if tiles[phase] == 0:
            del tiles[phase]
            yield ArriveFree(ring, why)

    def same(self, other: Groups) -> bool:
        """Whether the same groups are under way."""
        return self.queue == other.queue

    def common(self, other: Groups) -> int:
        """How many of the youngest groups are the same."""
        count = 0
        for own, theirs in zip(reversed(self.queue), reversed(other.queue), strict=False):
            if own != theirs:
                break
            count += 1
        return count


def conflicts(group: Open, reads: Collection[str], writes: Collection[str]) -> bool:
    """Whether an op with these storages has to wait for the group."""
    return bool(group.writes & (set(reads) | set(writes))) or bool(group.reads & set(writes))

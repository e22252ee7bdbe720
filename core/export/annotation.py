"""Where each operation of a loop's body is in a schedule: what annotated TTGIR says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from core.graph.fuse import Fusion
from core.ir.model import Loop, Operation
from core.ir.tiles import TileLoop
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup

_PARTITIONED_SINCE = 100  # compute capability from which Triton reads `ttg.partition`


@dataclass(frozen=True, slots=True)
class Annotation:
    """Place of one operation of the text.

    `start`: cycle of iteration 0. `stage`: iterations by which it lags behind the earliest one. `cluster`: its rank in
    the steady state. `groups`: the warp groups that run it, several where it is duplicated or sub-tiled. `op`: the
    graph's op that it stands for, None if it only belongs to some. `partitions`: indices of `groups` among those of
    the schedule, for targets whose compiler reads them.
    """

    stage: int
    cluster: int
    start: int
    groups: tuple[str, ...]
    op: str | None = None
    delay: int = 0
    partitions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopAnnotation:
    """What the loop itself carries.

    `others`: places of the graph's ops that no operation of the text stands for: further sub-tiles, tiles from before
    the loop, blocks that begin with another op than the one they are named after.
    """

    ii: int
    last_stage: int
    groups: Mapping[str, ScheduledGroup]
    rings: Mapping[str, int] = field(default_factory=dict[str, int])
    others: Mapping[str, Placement] = field(default_factory=dict[str, Placement])
    origin: Origin | None = None


def place_operations(
    tiles: TileLoop, schedule: Schedule, fusion: Fusion | None = None
) -> tuple[LoopAnnotation, dict[Operation, Annotation]]:
    """The places of the loop and of every operation of its body but the terminator.

    `fusion`: how ops of the schedule stand for several tile ops, if they do. An operation that several tile ops share
    is where the earliest of them is, but not before what it takes from the same iteration; one that no tile op needs
    belongs to every group.
    """
    places = _tile_places(schedule, fusion)
    starts = _starts(tiles, {tile: place.start for tile, place in places.items()})
    stands_for = _stands_for(tiles, schedule, places)
    index = {name: position for position, name in enumerate(schedule.groups)}
    first_stage = min(starts.values(), default=0) // schedule.ii
    clusters = _clusters(starts.values(), schedule.ii)
    partitioned = _reads_partitions(tiles.module.target)
    annotations: dict[Operation, Annotation] = {}
    for operation, start in starts.items():
        op = stands_for.get(operation)
        needing = {places[tile].group for tile in tiles.owner(operation)} or set(index)
        groups = sorted(needing, key=index.__getitem__)
        annotations[operation] = Annotation(
            stage=start // schedule.ii - first_stage,
            cluster=clusters[start],
            start=start,
            groups=tuple(groups),
            op=op,
            delay=schedule.ops[op].delay if op is not None else 0,
            partitions=tuple(index[group] for group in groups) if partitioned else (),
        )
    annotated = set(stands_for.values())
    loop = LoopAnnotation(
        ii=schedule.ii,
        last_stage=max((annotation.stage for annotation in annotations.values()), default=0),
        groups=schedule.groups,
        rings=schedule.rings,
        others={op: place for op, place in schedule.ops.items() if op not in annotated},
        origin=schedule.origin,
    )
    return loop, annotations


def annotated_operations(loop: Loop) -> list[Operation]:
    """The operations of the body that carry annotations: all but the terminator."""
    return loop.body.operations[:-1]


def _tile_places(schedule: Schedule, fusion: Fusion | None) -> dict[str, Placement]:
    """The places of all tile ops, those inside fused blocks too."""
    if fusion is None:
        return dict(schedule.ops)
    places = {op: place for op, place in schedule.ops.items() if op not in fusion.blocks}
    for block, parts in fusion.blocks.items():
        place = schedule.ops[block]
        places |= {part.op.id: replace(place, start=place.start + part.offset) for part in parts}
    return places


def _starts(tiles: TileLoop, tile_starts: Mapping[str, int]) -> dict[Operation, int]:
    earliest = min(tile_starts.values(), default=0)
    starts: dict[Operation, int] = {}
    for operation in annotated_operations(tiles.loop):
        own = [tile_starts[tile] for tile in tiles.owner(operation)]
        taken = [starts[value.producer] for value in operation.operands if value.producer in starts]
        starts[operation] = max(min(own, default=earliest), *taken, earliest)
    return starts


def _clusters(starts: Iterable[int], ii: int) -> dict[int, int]:
    """The rank of each start in the steady state: by slot; in one slot the later stage first, since it belongs to the
    earlier iteration, whose values the other may carry on."""
    ordered = sorted(set(starts), key=lambda start: (start % ii, -start))
    return {start: rank for rank, start in enumerate(ordered)}


def _stands_for(tiles: TileLoop, schedule: Schedule, places: Mapping[str, Placement]) -> dict[Operation, str]:
    """The op of the graph whose place an operation's attributes can hold: named after it, alone, and not shifted."""
    body = set(annotated_operations(tiles.loop))
    found: dict[Operation, str] = {}
    for op, place in schedule.ops.items():
        tile = tiles.ops.get(op)  # None: a branch, or what it keeps
        operation = tile.operations[0] if tile is not None and tile.operations else None
        if operation in body and tiles.owner(operation) == (op,) and places[op].start == place.start:
            found[operation] = op
    return found


def _reads_partitions(target: str) -> bool:
    _, _, capability = target.partition(":")
    return capability.isdigit() and int(capability) >= _PARTITIONED_SINCE

"""The judge's rule about registers: live values against grants, grants against the register file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.graph.model import Pool
from core.schedule.circle import peak
from core.schedule.index import GraphIndex
from core.schedule.liveness import Liveness, alive_at, register_steps
from core.schedule.model import Schedule, ScheduledGroup
from core.schedule.report import Family, Violation
from core.schedule.wording import counted, distinct, largest

WARP_GROUP = 4
THREADS_PER_WARP = 32
VARIABLE_LATENCY_LEAST_GRANT = 24
ADDRESSABLE_PER_THREAD = 255


def check_registers(index: GraphIndex, schedule: Schedule, live: Liveness) -> tuple[list[Violation], dict[str, int]]:
    """Rule 4; with the peak registers of each used group."""
    violations: list[Violation] = []
    peaks: dict[str, int] = {}
    for group, ranges in live.registers.items():
        overhead = index.overhead(schedule.groups[group].kind)
        top = peak(register_steps(ranges, overhead, schedule.ii))
        peaks[group] = top.level
        grant = schedule.groups[group].grant
        if top.level > grant:
            alive = [(held.value, held.amount * copies) for held, copies in alive_at(ranges, top.slot, schedule.ii)]
            parts = sorted([*alive, ("kept back", overhead)], key=lambda part: -part[1]) if overhead else alive
            message = (
                f"group {group} needs {counted(top.level, 'register')} a thread at slot {top.slot} ({largest(parts)}), "
                f"{grant} are granted"
            )
            ops = distinct(name for name, amount in alive if amount)
            violations.append(Violation(Family.REGISTERS, ops, top.slot, top.level, grant, message, group))
    for group in live.registers:
        violations += _grant_faults(index, schedule, group)
    violations += register_file_faults(index, {group: schedule.groups[group] for group in live.registers})
    return violations, peaks


def _grant_faults(index: GraphIndex, schedule: Schedule, group: str) -> Iterator[Violation]:
    file, granted = index.graph.machine.registers, schedule.groups[group]
    grant = granted.grant
    has = f"group {group} is granted {counted(grant, 'register')} a thread"

    def fault(required: int, available: int, message: str) -> Violation:
        return Violation(Family.REGISTERS, (), None, required, available, message, group)

    if grant % file.granularity:
        least = -(-grant // file.granularity) * file.granularity
        yield fault(least, grant, f"{has}, which is no multiple of {file.granularity}")
    if grant > file.max_per_thread:
        yield fault(grant, file.max_per_thread, f"{has}, at most {file.max_per_thread} are possible")
    if index.kinds[granted.kind].variable_latency and grant < VARIABLE_LATENCY_LEAST_GRANT:
        least = VARIABLE_LATENCY_LEAST_GRANT
        message = (
            f"group {group} is of variable latency and granted {counted(grant, 'register')} a thread, at least {least}"
        )
        yield fault(least, grant, f"{message} are needed")


def register_file_faults(index: GraphIndex, groups: Mapping[str, ScheduledGroup]) -> Iterator[Violation]:
    """What of the register file these groups ask beyond what a launch of them gets."""
    file = index.graph.machine.registers
    warps = {name: index.kinds[group.kind].warps for name, group in groups.items()}
    grants = {name: group.grant for name, group in groups.items()}
    if file.pool is Pool.FLAT:
        words = {group: THREADS_PER_WARP * warps[group] * grant for group, grant in grants.items()}
        available = file.file_words
        what = "the register file has"
    else:
        units = warp_groups(grants, warps)
        words = {name: THREADS_PER_WARP * WARP_GROUP * grant for name, grant in units}
        available = launch_words(len(units), file.file_words, file.granularity)
        what = f"a launch of {len(units)} warp groups gets"
    required = sum(words.values())
    if required > available:
        parts = sorted(words.items(), key=lambda part: -part[1])
        message = f"the groups are granted {required} register words ({largest(parts)}), {what} {available}"
        yield Violation(Family.REGISTERS, (), None, required, available, message, "register file")


def warp_groups(grants: Mapping[str, int], warps: Mapping[str, int]) -> list[tuple[str, int]]:
    """The warp groups of four warps that make up these groups, as (label, registers per thread).

    A group of 4 or 8 warps is one or two of them. Smaller groups are packed in the order of their names, each into
    the warp group begun last if it still has room, and all of a warp group get the largest grant among them.
    """
    units: list[tuple[str, int]] = []
    for group, grant in grants.items():
        count = -(-warps[group] // WARP_GROUP) if warps[group] >= WARP_GROUP else 0
        units += [(group if number == 0 else f"{group} ({number + 1})", grant) for number in range(count)]
    packed: list[tuple[str, int]] = []
    room = 0
    for group in sorted(name for name in grants if warps[name] < WARP_GROUP):
        if warps[group] > room:
            packed.append((group, grants[group]))
            room = WARP_GROUP
        else:
            names, grant = packed[-1]
            packed[-1] = (f"{names} and {group}", max(grant, grants[group]))
        room -= warps[group]
    return units + packed


def launch_words(warp_group_count: int, file_words: int, granularity: int) -> int:
    """Register words that a launch of so many warp groups gets: all threads start with one number, the largest
    multiple of the granularity that fits the file and that an instruction can address."""
    threads = THREADS_PER_WARP * WARP_GROUP * warp_group_count
    per_thread = min(ADDRESSABLE_PER_THREAD, file_words // threads) // granularity * granularity
    return threads * per_thread

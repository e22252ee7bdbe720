"""The judge of a kernel of several loops: each loop's schedule by itself, and what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.common import CommonRing, common_rings, kernel_faults
from core.schedule.model import Schedule
from core.schedule.report import Peaks, Report, Violation


@dataclass(frozen=True, slots=True)
class KernelReport:
    """The verdict on the schedules of a kernel's loops: `reports` by loop, `faults` what they break only together, and
    the `rings` that serve several loops."""

    reports: Mapping[str, Report]
    faults: tuple[Violation, ...]
    rings: tuple[CommonRing, ...]

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All of them, those that no loop has by itself first."""
        return (*self.faults, *chain.from_iterable(report.violations for report in self.reports.values()))

    @property
    def legal(self) -> bool:
        """All rules hold, for each loop and for all together."""
        return not self.violations

    @property
    def peaks(self) -> Peaks:
        """The most that is in use in any loop; they run one after another."""
        peaks = [report.peaks for report in self.reports.values()]
        return Peaks(
            _most(one.registers for one in peaks),
            max((one.shared_memory for one in peaks), default=0),
            max((one.tensor_memory for one in peaks), default=0),
            _most(one.units for one in peaks),
        )

    def as_json(self) -> dict[str, Any]:
        """The JSON fields of `twill check` for the kernel, and under `loops` those for each loop. A violation that one
        loop has by itself says in `loop` which."""
        found = [{**fault.as_json(), "loop": None} for fault in self.faults]
        for loop, report in self.reports.items():
            found += [{**violation.as_json(), "loop": loop} for violation in report.violations]
        return {
            "legal": self.legal,
            "violations": found,
            "peaks": self.peaks.as_json(),
            "rings": [ring.as_json() for ring in self.rings],
            "loops": {loop: report.as_json() for loop, report in self.reports.items()},
        }


def check_kernel(graphs: Mapping[str, Graph], schedules: Mapping[str, Schedule]) -> KernelReport:
    """Judges the schedules, by loop, for graphs of the same machine and group kinds; at least one loop."""
    reports = {loop: check(graphs[loop], schedule) for loop, schedule in schedules.items()}
    return KernelReport(reports, kernel_faults(graphs, schedules), common_rings(graphs, schedules))


def _most(uses: Iterable[Mapping[str, int]]) -> dict[str, int]:
    most: dict[str, int] = {}
    for use in uses:
        for name, amount in use.items():
            most[name] = max(amount, most.get(name, 0))
    return most

"""The shape of a `twill.schedule/1` document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.yaml_source import Count, PositiveCount

SCHEMA = "twill.schedule/1"


class Section(BaseModel):
    """A mapping of the document: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")


class GroupSection(Section):
    """One value of `groups`."""

    kind: str
    grant: Count


class PlacementSection(Section):
    """One value of `ops`."""

    start: Count
    group: str
    delay: Count = 0


class OriginSection(Section):
    """`origin`: who made the schedule."""

    by: str
    status: str = ""
    model: str = "exact"
    seed: Count = 1


class ScheduleDocument(Section):
    """The whole file."""

    version: Literal["twill.schedule/1"] = Field(alias="schema")
    ii: PositiveCount
    groups: dict[str, GroupSection]
    rings: dict[str, Count] = {}
    ops: dict[str, PlacementSection]
    origin: OriginSection | None = None

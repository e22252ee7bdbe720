"""Options of the whole test run."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, however slow the machine is; --long looks for new ones.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("new", deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests marked 'long' (sweeps, fuzzing)")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("new" if config.getoption("--long") else "same")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="long: runs with --long")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)

"""`twill doctor`: which tools are on this machine, what can be done with them, and what to install for the rest."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Mapping
from typing import Any

from core.commands.answers import Answer, ExitCode, answer_each, table
from core.commands.crash import program_version
from core.diagnostics import Diagnostic, Severity
from core.toolchain.tools import PURPOSES, Purpose, Tool, find_tools


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers once: 0, or 5 if something that `--need` names cannot be done here."""
    return answer_each(["this machine"], lambda _: _examine(arguments.need), arguments.json)


def _examine(needed: list[str]) -> Answer:
    tools = find_tools()
    missing = {purpose.name: _missing(purpose, tools) for purpose in PURPOSES}
    lacking = {name: missing[name] for name in needed if missing[name]}
    diagnostics = tuple(
        Diagnostic(
            Severity.ERROR,
            "missing-tool",
            f"{purpose} needs {tool.name}, which is not here",
            "this machine",
            hint=tool.install,
        )
        for purpose, absent in lacking.items()
        for tool in absent
    )
    code = ExitCode.MISSING_TOOL if lacking else ExitCode.ANSWERED
    return Answer(_document(tools, missing), _text(tools, missing), code, diagnostics)


def _missing(purpose: Purpose, tools: Mapping[str, Tool]) -> list[Tool]:
    return [tools[name] for name in purpose.tools if not tools[name].found]


def _document(tools: Mapping[str, Tool], missing: Mapping[str, list[Tool]]) -> dict[str, Any]:
    return {
        "twill": program_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "tools": [
            {
                "name": tool.name,
                "found": tool.found,
                "version": tool.version,
                "place": tool.place,
                "install": None if tool.found else tool.install,
            }
            for tool in tools.values()
        ],
        "purposes": [
            {
                "name": purpose.name,
                "what": purpose.what,
                "possible": not missing[purpose.name],
                "missing": [tool.name for tool in missing[purpose.name]],
            }
            for purpose in PURPOSES
        ],
    }


def _text(tools: Mapping[str, Tool], missing: Mapping[str, list[Tool]]) -> str:
    rows = [(tool.name, tool.version or "missing", tool.place or "") for tool in tools.values()]
    can = [
        (purpose.name, "yes" if not missing[purpose.name] else "no", purpose.what, _named(missing[purpose.name]))
        for purpose in PURPOSES
    ]
    parts = [
        f"twill {program_version()}, Python {platform.python_version()} ({sys.executable}), {platform.platform()}",
        table(("tool", "version", "place"), rows),
        table(("purpose", "possible", "what it does", "missing"), can),
    ]
    absent = {tool.name: tool.install for several in missing.values() for tool in several}
    parts += [f"{name}: {install}" for name, install in absent.items()]
    return "\n".join(parts)


def _named(tools: list[Tool]) -> str:
    return ", ".join(tool.name for tool in tools)

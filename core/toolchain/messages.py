"""What nvcc and the programs it runs print, as diagnostics with files and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.diagnostics import Diagnostic, Severity

# kernel.cu(12): error: identifier "x" is undefined    kernel.cu(3): warning #177-D: variable "v" was declared ...
_FRONT = re.compile(
    r"(?P<file>[^\s(][^(]*)\((?P<line>\d+)\): (?:catastrophic )?(?P<severity>error|warning)"
    r"(?: #(?P<code>[\w-]+))?: (?P<text>.*)"
)
# twill/host.cuh:9:10: fatal error: wgmma.inc: No such file or directory
_HOST = re.compile(
    r"(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?(?P<severity>error|warning): (?P<text>.*)"
)
# ptxas /tmp/x.ptx, line 27; error   : Unknown modifier
_ASSEMBLER_LINE = re.compile(r"ptxas (?P<file>\S+), line (?P<line>\d+); (?P<severity>error|warning)\s*: (?P<text>.*)")
# ptxas error   : Entry function 'f' uses too much ...    ptxas info    : (C7513) Potential Performance Loss: ...
_ASSEMBLER = re.compile(r"ptxas (?P<severity>error|warning|fatal|info)\s*: (?:\((?P<code>C\d+)\) )?(?P<text>.*)")
# nvcc fatal   : Unsupported gpu architecture    nvlink error   : ...    cc1plus: fatal error: x.cu: No such file
_TOOL = re.compile(
    r"(?P<tool>nvcc|nvlink|cc1plus|fatbinary|c\+\+|g\+\+)\s*:?\s*(?P<severity>fatal error|fatal|error|warning)\s*: "
    r"(?P<text>.*)"
)

_SERIALISES = re.compile(r"C75\d\d")
"""What the assembler says where it repairs the use of matrix instructions, silently and slowly."""


def read_messages(output: str, file: str) -> list[Diagnostic]:
    """All errors and warnings, and each repair of matrix instructions as an error. `file`: where those that name no
    file are told."""
    return list(dict.fromkeys(_found(output, file)))


def _found(output: str, file: str) -> Iterator[Diagnostic]:
    for line in output.splitlines():
        placed = _FRONT.fullmatch(line) or _HOST.fullmatch(line)
        if placed is not None:
            parts = placed.groupdict()
            column = parts.get("column")
            code = f"nvcc-{parts['code']}" if parts.get("code") else "nvcc"
            severity = _severity(parts["severity"])
            yield Diagnostic(
                severity, code, parts["text"], parts["file"], int(parts["line"]), int(column) if column else None
            )
            continue
        in_assembly = _ASSEMBLER_LINE.fullmatch(line)
        if in_assembly is not None:
            message = f"line {in_assembly['line']} of the assembly: {in_assembly['text']}"
            yield Diagnostic(_severity(in_assembly["severity"]), "ptxas", message, file)
            continue
        assembler = _ASSEMBLER.fullmatch(line)
        if assembler is not None:
            yield from _of_assembler(assembler, file)
            continue
        tool = _TOOL.fullmatch(line)
        if tool is not None:
            yield Diagnostic(_severity(tool["severity"]), tool["tool"], tool["text"], file)


def _of_assembler(match: re.Match[str], file: str) -> Iterator[Diagnostic]:
    code = match["code"] or ""
    if _SERIALISES.fullmatch(code):
        hint = "the kernel would be right but slow: it is refused"
        yield Diagnostic(Severity.ERROR, f"ptxas-{code}", match["text"], file, hint=hint)
    elif match["severity"] != "info":
        yield Diagnostic(_severity(match["severity"]), f"ptxas-{code}" if code else "ptxas", match["text"], file)


def _severity(word: str) -> Severity:
    return Severity.WARNING if word == "warning" else Severity.ERROR

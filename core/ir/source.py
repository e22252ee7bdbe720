"""A TTGIR file: bytes to text, with the faults of files that are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.diagnostics import Diagnostic, InputError, Severity, error
from core.ir.model import Module
from core.ir.parser import parse_module

MAX_BYTES = 16 << 20
"""Files beyond this are refused, so that reading stays within a gigabyte; dumps of kernels have some 100 KB."""

_BYTE_ORDER_MARK = "\ufeff"


def load_module(path: Path) -> Module:
    """Reads a TTGIR file. Raises InputError if it cannot be read, is no text, or no sound TTGIR."""
    file = str(path)
    text = _decode(_read(path, file), file)
    if not text.startswith(_BYTE_ORDER_MARK):
        return parse_module(text, file)
    module = parse_module(text.removeprefix(_BYTE_ORDER_MARK), file)
    message = "the text begins with a byte order mark, which Triton does not read: left out"
    mark = Diagnostic(Severity.WARNING, "byte-order-mark", message, file, 1, 1)
    return replace(module, diagnostics=(mark, *module.diagnostics))


def _read(path: Path, file: str) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            message = f"the file has {size} bytes, more than the {MAX_BYTES} that are read"
            raise error("file-too-large", message, file=file)
        return path.read_bytes()
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise error("cannot-read", f"the file cannot be read: {reason}", file=file) from fault


def _decode(data: bytes, file: str) -> str:
    if not data:
        raise error("empty-file", "the file is empty: TTGIR text is wanted", file=file)
    offset = data.find(b"\0")
    if offset < 0:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as fault:
            offset = fault.start
    line = data.count(b"\n", 0, offset) + 1
    message = "the file is no text: TTGIR in UTF-8 is wanted"
    raise InputError(Diagnostic(Severity.ERROR, "not-text", message, file, line))

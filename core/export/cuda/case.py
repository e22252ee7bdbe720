"""`twill.case/1`: with what a kernel is called, for the exported test program.

Arrays are made of a seed, so that a file is small; what the kernel must compute of them is the interpreter's answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from core.export.cuda.batch import Case, Filled, checked_batch, timed_batch
from core.files import write_atomically
from core.ir.interpret import parameters
from core.ir.interpret.formats import Array, is_float, rounded
from core.ir.model import Module
from core.ir.types import PointerType, TensorDescType
from core.yaml_source import Count, PositiveCount, YamlSource, parse_yaml, read_text, validate

BATCH_FILE = "cases.bin"
"""The batch file of an exported folder: the test program reads it if it is given no other."""


class Section(BaseModel):
    """A mapping of the document: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")


class ArraySection(Section):
    """An array: normally distributed numbers of the standard deviation `normal`, integers in `between`, or zeros. One
    that the kernel only writes holds NaN in the test program, whatever is said here."""

    shape: Annotated[list[PositiveCount], Field(min_length=1, max_length=5)]
    normal: float | None = None
    between: tuple[int, int] | None = None
    seed: Count = 1


class CaseDocument(Section):
    """The whole file. `checked: false`: the call is only timed, and may be larger than an interpreter can do. `flops`:
    of the call's matrix ops, `peak`: what one SM can do of them in a cycle; for the figures of a timed run."""

    version: Literal["twill.case/1"] = Field(alias="schema")
    name: Annotated[str, Field(pattern=r"^[\w.\-]+$")] = "case"
    grid: Annotated[list[PositiveCount], Field(min_length=1, max_length=3)]
    arrays: dict[str, ArraySection] = {}
    numbers: dict[str, int | float] = {}
    checked: bool = True
    flops: float = 0.0
    peak: float = 0.0


def load_batch(path: Path, module: Module, function: str) -> bytes:
    """The batch file for a case file. Raises InputError with file, line and column, and what the interpreter raises."""
    source = parse_yaml(read_text(path), str(path))
    document = validate(CaseDocument, source)
    elements = _checked_names(document, source, module, function)
    grid = tuple(document.grid)
    if not document.checked:
        filled = {
            name: Filled(tuple(array.shape), array.normal or 0.0, array.seed) for name, array in document.arrays.items()
        }
        arguments = {**document.numbers, **filled}
        return timed_batch(module, function, document.name, grid, arguments, flops=document.flops, peak=document.peak)
    arrays = {name: _array(array, elements[name]) for name, array in document.arrays.items()}
    case = Case(document.name, {**document.numbers, **arrays}, grid, document.flops, document.peak)
    return checked_batch(module, function, [case])


def write_case(path: Path, module: Module, function: str, folder: Path) -> Path:
    """Writes the batch file for a case file into an exported folder. Raises what `load_batch` does, and OSError."""
    file = folder / BATCH_FILE
    write_atomically(file, load_batch(path, module, function))
    return file


def _checked_names(document: CaseDocument, source: YamlSource, module: Module, function: str) -> dict[str, str]:
    """The elements of the parameters that are arrays. Raises InputError if the arguments do not fit the kernel."""
    known = {parameter.name: parameter.type for parameter in parameters(module, function)}
    elements: dict[str, str] = {}
    for name, type_ in known.items():
        match type_:
            case PointerType(pointee=element) | TensorDescType(element=element):
                elements[name] = element
            case _:
                pass
    hint = f"arrays of {function}: {', '.join(elements) or 'none'}; numbers: "
    hint += ", ".join(name for name in known if name not in elements) or "none"
    given = {"arrays": list(document.arrays), "numbers": list(document.numbers)}
    for key, names in given.items():
        for name in names:
            if name not in known or (name in elements) != (key == "arrays"):
                what = f"'{name}' is none of the kernel's {key}"
                raise source.error("unknown-argument", what, (key, name), of_key=True, hint=hint)
    for name in known:
        key = "arrays" if name in elements else "numbers"
        if name not in given[key]:
            what = f"{key}: no value is given for '{name}'"
            raise source.error("missing-argument", what, (key,), of_key=True, hint=hint)
    return elements


def _array(section: ArraySection, element: str) -> Array:
    random = np.random.default_rng(section.seed)
    shape = tuple(section.shape)
    if section.between is not None:
        low, high = section.between
        return random.integers(low, high, shape, endpoint=True).astype(np.float64 if is_float(element) else np.int64)
    if section.normal is None or not is_float(element):
        return np.zeros(shape, np.float64 if is_float(element) else np.int64)
    return rounded(random.standard_normal(shape) * section.normal, element)

"""A role program as one file: parameters, shared memory, roles, the kernel, its mock, and the host's part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.diagnostics import InputError, error
from core.export.cuda.accesses import vectors_of
from core.export.cuda.context import Vectors
from core.export.cuda.deferred import DeferredSum, deferred_sums
from core.export.cuda.elements import ElementError, cpp_type, scalar_element
from core.export.cuda.holes import Hole
from core.export.cuda.host import argument_rows, map_rows
from core.export.cuda.marks import mark_numbers
from core.export.cuda.names import identifier
from core.export.cuda.options import DEFAULTS, Options
from core.export.cuda.rings import RingText, ring_text
from core.export.cuda.shared_memory import SharedMemory
from core.export.cuda.statements import RoleWriter
from core.export.cuda.text import KernelText, without_origins
from core.export.cuda.wgmma import wrappers
from core.export.roles.block import THREADS
from core.export.roles.model import Role, RoleProgram
from core.export.roles.trial import refuse_faults
from core.ir.model import Operation, Value
from core.ir.types import TensorDescType
from core.resources import data_folder

MOST_SHARED_BYTES = 232448
"""Shared memory that one block of sm_90 can have (CUDA C++ Programming Guide, compute capabilities)."""

_REGISTER_FILE = 65536
_MOST_REGISTERS = 255  # that an instruction can name


@dataclass(frozen=True, slots=True)
class KernelFile:
    """The text of an export. `shared_bytes`: dynamic shared memory of a block. `origins`: by lines of `source` the
    lines of the IR whose operations they lower."""

    source: str
    origins: Mapping[int, int]
    wgmma: str
    holes: tuple[Hole, ...]
    shared_bytes: int
    description: dict[str, Any]


def kernel_file(program: RoleProgram, options: Options = DEFAULTS) -> KernelFile:
    """Writes a role program. Raises InputError for what has no text as a whole, so that no hole can stand for it."""
    function = program.function
    users: dict[Value, list[Operation]] = {}
    for op in function.walk():
        for value in op.operands:
            users.setdefault(value, []).append(op)
    kernel = KernelText(program.module, users=users, assembly_allowed=options.inline_assembly)
    blocks = program.module.attributes.get("ttg.num-ctas", "1").split()[0]
    if blocks != "1":
        message = f"kernels for clusters of {blocks} thread blocks are not exported to CUDA"
        raise error("not-exported", message, file=program.module.file, line=function.name_span.line)
    refuse_faults(program)
    try:
        _name_arguments(kernel, program)
        rings = {name: ring_text(kernel, ring) for name, ring in program.rings.items()}
        vectors = vectors_of(program.module, function)
        sums = list(deferred_sums(program, users)) if options.sums_in_parts else []
        written = _Written(kernel, program, rings, vectors, options, sums)
        for economy in ECONOMIES:
            if written.memory.bytes > MOST_SHARED_BYTES:
                written = _Written(kernel.again(), program, rings, vectors, options, sums, economy)
    except ElementError as problem:
        raise _not_exported(program, f"there is no text for {problem}") from None
    kernel, memory = written.kernel, written.memory
    shared = memory.bytes
    if shared > MOST_SHARED_BYTES:
        message = f"the kernel needs {shared} bytes of shared memory, a block can have {MOST_SHARED_BYTES}"
        raise error("too-much-shared-memory", message, file=program.module.file, line=function.name_span.line)
    name = identifier(function.attributes.get("sym_name", "kernel").strip('"'))
    values = {
        "name": name,
        "threads": program.threads,
        "layouts": kernel.layout_lines(),
        "arguments": argument_rows(kernel, function),
        "maps": map_rows(kernel),
        "rings": memory.rings,
        "memory": memory,
        "functions": [*kernel.functions, *kernel.hole_functions],
        "bodies": written.bodies,
        "marked": [{"loop": loop, "op": op} for loop, op in mark_numbers(program)],
        "roles": [{**_role_row(program, role), "registers": _registers(program, role)} for role in program.roles],
        "branches": _branches(program),
        "shared_bytes": shared,
        "persistent": options.persistent,
        "in_a_row": options.in_a_row,
    }
    source, origins = without_origins(_template("kernel.cu.jinja").render(values))
    description = {
        "name": name,
        "threads": program.threads,
        "shared_bytes": shared,
        "persistent": options.persistent,
        "order": options.order.value,
        "sums_in_parts": sorted(
            {total.loop.operation.name_span.line for writer in written.writers for total in writer.sums}
        ),
        "arguments": values["arguments"],
        "maps": values["maps"],
        "roles": values["roles"],
        "rings": [
            {"name": ring.name, "depth": ring.ring.depth, "slot_bytes": ring.bytes, "kind": ring.ring.kind.value}
            for ring in rings.values()
        ],
        "holes": [hole.as_json() for hole in kernel.holes],
        "origins": origins,
    }
    return KernelFile(source, origins, wrappers(kernel.matrix_shapes), tuple(kernel.holes), shared, description)


@dataclass(frozen=True, slots=True)
class Economy:
    """How shared memory is saved. `reuse_rings`: scratch memory behind the loops lies where the rings were;
    `operands_in_registers`: all operands A of matrix ops that the text has there."""

    reuse_rings: bool = False
    operands_in_registers: bool = False


ECONOMIES = (
    Economy(reuse_rings=True),
    Economy(operands_in_registers=True),
    Economy(reuse_rings=True, operands_in_registers=True),
)
"""What is tried, one after another, while a kernel needs more than a block can have."""


class _Written:
    """All roles, written."""

    def __init__(
        self,
        kernel: KernelText,
        program: RoleProgram,
        rings: dict[str, RingText],
        vectors: Vectors,
        options: Options,
        sums: Sequence[DeferredSum],
        economy: Economy = Economy(),
    ) -> None:
        self.kernel = kernel
        reuse_rings = economy.reuse_rings and not options.persistent
        in_shared = not economy.operands_in_registers
        self.writers = [
            RoleWriter(
                kernel,
                program,
                role,
                rings,
                vectors,
                options,
                sums,
                reuse_rings=reuse_rings,
                operands_in_shared=in_shared,
            )
            for role in program.roles
        ]
        self.bodies = {identifier(writer.role.name): writer.write() for writer in self.writers}
        texts = {identifier(writer.role.name): writer.text for writer in self.writers}
        scratch = {name: text.scratch for name, text in texts.items() if text.scratch}
        late = {name: text.late_scratch for name, text in texts.items() if text.late_scratch}
        operands = {name: size for text in texts.values() for name, size in text.operands.items()}
        self.memory = SharedMemory(rings.values(), scratch, late, operands)


def _not_exported(program: RoleProgram, why: str) -> InputError:
    place, name = program.function.name_span, program.function.attributes.get("sym_name", "the function")
    message = f"{name} cannot be exported: {why}"
    return error("not-exported", message, file=program.module.file, line=place.line, column=place.column)


def _template(name: str):
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(data_folder("resources") / "cuda" / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def _name_arguments(kernel: KernelText, program: RoleProgram) -> None:
    """Names of the parameters: all but descriptors, which are tensor maps."""
    for value in program.function.regions[0].blocks[0].arguments:
        if not isinstance(kernel.type(value), TensorDescType):
            cpp_type(scalar_element(value.type))
            kernel.arguments[value] = kernel.names.fresh(value.name)


def _role_row(program: RoleProgram, role: Role) -> dict[str, Any]:
    return {
        "name": role.name,
        "function": f"role_{identifier(role.name)}",
        "kind": role.kind,
        "warps": role.warps,
        "first_thread": role.first_thread,
        "grant": role.grant,
    }


def _registers(program: RoleProgram, role: Role) -> int:
    """Registers per thread that the role may use: at least its grant."""
    if program.grants:
        return program.grants[role.first_thread // THREADS]
    return min(_MOST_REGISTERS, _launched(program))


def _launched(program: RoleProgram) -> int:
    """Registers per thread that the block is launched with."""
    return _REGISTER_FILE // program.threads // 8 * 8


def _branches(program: RoleProgram) -> list[dict[str, Any]]:
    """One branch of the kernel for each four warps with a grant of their own, roles within them."""
    roles = sorted(program.roles, key=lambda role: role.first_thread)
    if len(roles) == 1 and not program.grants:
        return []
    launched = _launched(program)
    found: list[dict[str, Any]] = []
    for index, grant in enumerate(program.grants):
        first = THREADS * index
        last = first + THREADS
        inside = [role for role in roles if role.first_thread < last and role.first_thread + 32 * role.warps > first]
        if found and inside and found[-1]["roles"][-1] == _role_row(program, inside[0]):
            found[-1]["last_thread"] = last  # a role of eight warps
            continue
        found.append(
            {
                "first_thread": first,
                "last_thread": last,
                "grant": grant,
                "direction": "up" if grant > launched else "down",
                "roles": [_role_row(program, role) for role in inside],
            }
        )
    return found

"""Messages and reports of nvcc 13.0, as it printed them, become diagnostics and numbers."""

from __future__ import annotations

from core.diagnostics import Severity
from core.toolchain.messages import read_messages
from core.toolchain.resources import Resources, read_resources, resource_faults

FRONT = """\
bad.cu(1): error: identifier "undefined_thing" is undefined
  __attribute__((global)) void f(float* p) { p[0] = undefined_thing; int unused; }
                                                    ^

bad.cu(7): warning #177-D: variable "unused" was declared but never referenced
  __attribute__((global)) void f(float* p) { p[0] = undefined_thing; int unused; }
                                                                         ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

1 error detected in the compilation of "bad.cu".
"""
HOST = """\
In file included from twill.cuh:26,
                 from kernel.cu:2:
twill/device_wgmma.cuh:9:10: fatal error: wgmma.inc: No such file or directory
    9 | #include "wgmma.inc"
      |          ^~~~~~~~~~~
compilation terminated.
"""
TOO_MUCH = """\
ptxas error   : Entry function '_Z1gPf' uses too much shared data (0x61a80 bytes, 0x38c00 max)
"""
ASSEMBLY = """\
ptxas b2.ptx, line 27; error   : Unknown modifier '.instr'
ptxas b2.ptx, line 27; error   : Not a name of any known instruction: 'bad'
ptxas fatal   : Ptx assembly aborted due to errors
"""
SERIALISED = """\
ptxas info    : (C7513) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma \
instructions defining input registers of a wgmma between start and end of the pipeline stage in the function '_Z1kPf'
ptxas info    : (C7517) warpgroup.wait is injected in around line 231 by compiler to allow use of registers defined by \
GMMA in function '_Z1kPf'
ptxas info    : 0 bytes gmem
"""
REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1gPf' for 'sm_90a'
ptxas info    : Function properties for _Z1gPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers, 4000 bytes smem
ptxas info    : Compile time = 14.266 ms
ptxas info    : Compiling entry function 'alone_role' for 'sm_90a'
ptxas info    : Function properties for alone_role
    256 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 168 registers, used 5 barriers, 256 bytes cumulative stack size
ptxas info    : Compile time = 0.991 ms
"""


def test_errors_and_warnings_of_the_front_end_have_their_lines() -> None:
    found = read_messages(FRONT, "kernel.cu")
    assert [(one.severity, one.file, one.line, one.code) for one in found] == [
        (Severity.ERROR, "bad.cu", 1, "nvcc"),
        (Severity.WARNING, "bad.cu", 7, "nvcc-177-D"),
    ]
    assert found[0].message == 'identifier "undefined_thing" is undefined'


def test_errors_of_the_host_compiler_have_line_and_column() -> None:
    (found,) = read_messages(HOST, "kernel.cu")
    assert (found.severity, found.file, found.line, found.column) == (Severity.ERROR, "twill/device_wgmma.cuh", 9, 10)


def test_errors_of_the_assembler_name_the_source() -> None:
    (much,) = read_messages(TOO_MUCH, "kernel.cu")
    assert (much.severity, much.file, much.code) == (Severity.ERROR, "kernel.cu", "ptxas")
    assert "too much shared data" in much.message
    unknown = read_messages(ASSEMBLY, "kernel.cu")
    assert all(one.severity is Severity.ERROR for one in unknown)
    assert "line 27 of the assembly" in unknown[0].message
    assert len(unknown) == 3


def test_a_repair_of_matrix_instructions_is_an_error_though_nvcc_says_info() -> None:
    found = read_messages(SERIALISED, "kernel.cu")
    assert [(one.severity, one.code) for one in found] == [
        (Severity.ERROR, "ptxas-C7513"),
        (Severity.ERROR, "ptxas-C7517"),
    ]


def test_a_program_that_says_nothing_of_note_gives_no_diagnostic() -> None:
    assert read_messages(REPORT, "kernel.cu") == []


def test_the_report_gives_the_resources_of_each_function() -> None:
    assert read_resources(REPORT) == [
        Resources("g", "sm_90a", 10, 0, 0, 0, 0, 4000),
        Resources("alone_role", "sm_90a", 168, 256, 12, 16, 5, 0),
    ]


def test_spills_and_a_stack_are_faults() -> None:
    plain, spilling = read_resources(REPORT)
    assert list(resource_faults([plain], "kernel.cu")) == []
    (spills,) = resource_faults([spilling], "kernel.cu")
    assert spills.severity is Severity.ERROR and spills.code == "spills"
    stacked = Resources("k", "sm_90a", 90, 256, 0, 0, 0, 0)
    (stack,) = resource_faults([stacked], "kernel.cu")
    assert stack.severity is Severity.ERROR and "256 bytes" in stack.message

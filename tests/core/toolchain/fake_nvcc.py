"""A stand-in for nvcc that answers at once and always the same: what roles need follows from what the export plans."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

_PROGRAM = '''#!{python}
"""Speaks as nvcc and ptxas do."""
import json, os, re, sys

if "--version" in sys.argv:
    print("Cuda compilation tools, release 13.0, V13.0.0")
    sys.exit()
source = sys.argv[-1]
folder = next(word[2:] for word in sys.argv if word.startswith("-I"))
with open(os.path.join(folder, "export.json"), encoding="utf-8") as file:
    said = json.load(file)
with open({log!r}, "a", encoding="utf-8") as file:
    file.write(os.path.basename(source) + "\\n")


def entry(name, registers, spilled):
    print(f"ptxas info    : Compiling entry function '{{name}}' for 'sm_90a'")
    print(f"ptxas info    : Function properties for {{name}}")
    print(f"    {{spilled}} bytes stack frame, {{spilled}} bytes spill stores, {{spilled}} bytes spill loads")
    print(f"ptxas info    : Used {{registers}} registers, used 1 barriers")


live = {{name: plan["live"] for name, plan in said["planned_registers"].items() if plan["overhead"]}}
need = {{role["name"]: live.get(role["name"], 0) + {beside} for role in said["roles"]}}
if os.path.basename(source) == "roles.cu":
    for role in said["roles"]:
        entry("alone_" + role["function"], min(255, need[role["name"]]), 0)
    sys.exit()
short = any(need[role["name"]] > role["registers"] for role in said["roles"] if role["name"] in live)
many = any(held > {most_live} for held in live.values())
if {code!r} and (short or many):
    print("ptxas info    : ({code}) Potential Performance Loss: wgmma.mma_async instructions are serialized")
entry("_Z6kernel6Params", 168, 0 if {code!r} or not (short or many) else 64)
'''


def fake_nvcc(home: Path, *, beside: int = 20, most_live: int = 1000, code: str = "") -> Path:
    """Writes it as the nvcc of a CUDA_HOME; returns the file to which it adds a line for every compilation.

    The kernel is short of registers if a role needs more than it is given, or holds more values than it may. `beside`:
    registers that each role needs beside its values; `most_live`: values that a role may hold all the same;
    `code`: what it says of a kernel that is short of them, instead of spilling.
    """
    program, log = home / "bin" / "nvcc", home / "compiled.txt"
    program.parent.mkdir(parents=True)
    text = _PROGRAM.format(python=sys.executable, beside=beside, most_live=most_live, code=code, log=str(log))
    program.write_text(text, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    log.write_text("", encoding="utf-8")
    return log

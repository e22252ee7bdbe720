"""Builds and runs every program of a batch of `cuda_batch`, on the machine with the GPU; a line of JSON for each.

  python3 run.py [--mock] [--sanitize PROGRAM ...]

Standard library only: that machine has nothing else.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NVCC = ["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-lineinfo", "-Xptxas", "-v"]
MOCK = ["g++", "-std=c++17", "-O1", "-DTWILL_MOCK", "-x", "c++", "-pthread"]
INCLUDE = ["-I.", "-I../runtime"]
SANITIZERS = {"memcheck": [], "synccheck": [], "racecheck": ["--racecheck-report", "all"]}


def run(command, folder, seconds):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, f"more than {seconds} s"


def fault(said):
    return "error: " + next((line for line in said.splitlines() if "error" in line), "")


def build(row, mock):
    folder = HERE / row["folder"]
    code, said = run([*NVCC, *INCLUDE, "kernel.cu", "-o", "gpu"], folder, 300)
    if code:
        row["nvcc"] = fault(said)
        return
    used = re.search(r"Used (\d+) registers", said)
    frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", said)
    row["nvcc"] = f"ok, {used.group(1) if used else '?'} registers"
    if frame and (frame.group(1), frame.group(2)) != ("0", "0"):
        row["nvcc"] += f", {frame.group(1)} B of stack, {frame.group(2)} B spilled"
    row["nvcc"] += "".join(f", {code}" for code in sorted(set(re.findall(r"C75\d\d", said))))
    if row["holes"] or row["cases"] or not mock:
        return
    code, said = run([*MOCK, *INCLUDE, "kernel.cu", "-o", "mock"], folder, 200)
    if code:
        row["mock"] = fault(said)
    else:
        row["mock"] = answer(run(["./mock", "--seeds", "2", "--batch", f"../cases/{row['file']}"], folder, 200)[1])


def answer(said):
    try:
        found = json.loads(said)
    except ValueError:
        return "failed: " + said[:200]
    if "failure" in found:
        return "WRONG: " + found["failure"][:200]
    errors = [f"{name} {'NaN' if error is None else f'{error:.1e}'}" for name, error in found["relative_error"].items()]
    return ("ok " if found["ok"] else "WRONG ") + ", ".join(errors)


def try_on_gpu(row, sanitized):
    command = ["./gpu", "--batch", f"../cases/{row['file']}"]
    row["gpu"] = answer(run(command, HERE / row["folder"], 30)[1])
    if row["folder"] in sanitized:
        logs = HERE / "sanitizer"  # whole, with the tool's version: a report is worth little without its lines
        logs.mkdir(exist_ok=True)
        _, row["sanitizer"] = run(["compute-sanitizer", "--version"], HERE, 60)
        for tool, options in SANITIZERS.items():
            _, said = run(["compute-sanitizer", "--tool", tool, *options, *command], HERE / row["folder"], 60)
            (logs / f"{row['folder']}.{tool}.txt").write_text(row["sanitizer"] + said, encoding="utf-8")
            row[tool] = said[-1500:]


def main():
    rows = json.loads((HERE / "programs.json").read_text())
    sanitized = sys.argv[sys.argv.index("--sanitize") + 1 :] if "--sanitize" in sys.argv else []
    for row in rows:
        if "refused" in row:
            print(json.dumps(row), flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        building = {pool.submit(build, row, "--mock" in sys.argv): row for row in rows if "refused" not in row}
        for done in concurrent.futures.as_completed(building):
            row = building[done]
            if row["nvcc"].startswith("ok") and not row["holes"] and not row["cases"]:
                try_on_gpu(row, sanitized)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

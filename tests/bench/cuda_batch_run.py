"""Builds and runs every program of a batch of `cuda_batch`, on the machine with the GPU.

  python3 run.py [--out FOLDER] [--only WORD ...] [--tools TOOL ...] [--seconds S] [--jobs N] [--mock]

Into FOLDER go results.jsonl (first what the machine is, then a line for each program, then one for each run of a
tool), builds.log.xz and sanitizer.log.xz, all written as they come. `--only`: programs whose name has one of the words.
`--tools`: of compute-sanitizer. After S seconds nothing more begins. `--mock`: the host compiler and the CPU mock in
place of nvcc, GPU and tools. What racecheck reports it is asked again of a build in which each thread arrives at an
mbarrier, not one for the 32 of its warp behind __syncwarp: an order that it may not follow.

Standard library only: that machine has nothing else.
"""

import argparse
import concurrent.futures
import contextlib
import itertools
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NVCC = ["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-lineinfo", "-Xptxas", "-v"]
MOCK = ["g++", "-std=c++17", "-O1", "-DTWILL_MOCK", "-x", "c++", "-pthread"]
INCLUDE = ["-I.", "-I../runtime"]
SANITIZER = "compute-sanitizer"
COMMON = ["--print-limit", "1000"]
FIRST_PORT, PORTS = 49152, 10  # by which a tool and its program speak, for each that runs
TOOLS = {"memcheck": ["--padding", "1024"], "synccheck": [], "racecheck": ["--racecheck-report", "all"]}
BUILD_S, RUN_S, TOOL_S = 200, 30, 90
GPU_JOBS = 4  # programs that share the GPU at a time
TOOL_JOBS = 6


def run(command, folder, seconds):
    """Exit code (None: it ran too long) and all that was printed. A program that hangs is left behind, with its
    children, if it cannot be ended."""
    with tempfile.TemporaryFile() as said:
        done = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = done.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(done.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                done.wait(5)
        said.seek(0)
        return code, said.read().decode(errors="replace")


def each(row):
    """The same program, to be built so that each thread arrives."""
    return {"program": row["program"], "cases": row["cases"], "each": True}


class Results:
    """What is written while the batch runs, by one thread at a time."""

    def __init__(self, out):
        self.out, self.began, self.lock, self.last = out, time.monotonic(), threading.Lock(), {}
        out.mkdir(parents=True, exist_ok=True)
        for name in ("results.jsonl", "builds.log.xz", "sanitizer.log.xz"):
            (out / name).unlink(missing_ok=True)

    def seconds(self):
        return time.monotonic() - self.began

    def row(self, row, said):
        with self.lock:
            with (self.out / "results.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{self.seconds():6.1f} s  {said}", flush=True)

    def log(self, name, head, said):
        """Each text is a stream of its own, so that the file is whole at any time; xz reads them as one."""
        with self.lock, lzma.open(self.out / f"{name}.log.xz", "ab", preset=3) as file:
            file.write(f"==== {head}\n{said}\n".encode())


class Batch:
    def __init__(self, place, results, deadline, mock):
        self.place, self.results, self.deadline, self.mock = place, results, deadline, mock
        self.gpu = threading.Semaphore(GPU_JOBS)
        self.ports = itertools.count(FIRST_PORT, PORTS)

    def left(self, seconds):
        return min(seconds, self.deadline - self.results.seconds())

    def make(self, row):
        self.build(row)
        with self.gpu:
            self.try_out(row)

    def build(self, row):
        """`row["nvcc"]`: what the compiler says."""
        if self.left(1) <= 0:
            row["nvcc"] = "not built: no time left"
            return
        command = [*(MOCK if self.mock else NVCC), *INCLUDE, "kernel.cu", "-o", program(row)]
        if row.get("each"):
            command.append("-DTWILL_EACH_THREAD_ARRIVES")
        began = time.monotonic()
        code, said = run(command, self.place / row["program"], self.left(BUILD_S))
        row["build_s"] = round(time.monotonic() - began, 1)
        self.results.log("builds", f"{row['program']} code {code}", said)
        if code != 0:
            row["nvcc"] = "error: " + next((line for line in said.splitlines() if "error" in line), f"code {code}")
            return
        row["nvcc"] = "ok"
        used = re.search(r"Used (\d+) registers", said)
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
        row["registers"] = int(used.group(1)) if used else 0
        row["stack"], *spills = map(int, frame.groups()) if frame else (0, 0, 0)
        row["spilled"] = sum(spills)
        row["messages"] = sorted(set(re.findall(r"C75\d\d", said)))

    def try_out(self, row):
        """`row["runs"]`: the driver's answer for each call, or what it said instead."""
        row["runs"] = {}
        if row["nvcc"] == "ok" and not row["holes"]:
            for name in row["cases"]:
                kind = name.rsplit(".", 1)[1]
                seconds = self.left(RUN_S)
                if seconds <= 0:
                    row["runs"][kind] = {"failure": "not run: no time left"}
                    continue
                code, said = run(["./program", *self.options(name)], self.place / row["program"], seconds)
                row["runs"][kind] = answer(code, said, seconds)
        said = "; ".join(f"{kind} {verdict(found)}" for kind, found in row["runs"].items())
        self.results.row(row, f"{row['program']}: {row['nvcc']}; {said or row['not_run'] or 'not run: holes'}")

    def options(self, name):
        return ["--batch", f"../cases/{name}", *(["--seeds", "2"] if self.mock else [])]

    def look(self, look):
        known, row, tool, names = look
        other, reported = each(row), False
        for name in names:
            reported = reported or self.sanitize(known, row, tool, name)
            if reported:
                self.sanitize(known, other, tool, name)

    def sanitize(self, sanitizer, row, tool, name):
        """Whether it reports races."""
        kind = name.rsplit(".", 1)[1]
        found = {"program": row["program"], "tool": tool, "call": kind, "version": sanitizer["version"]}
        if row.get("each"):
            found["each"] = True
            if "nvcc" not in row:
                self.build(row)
        seconds = self.left(TOOL_S)
        if seconds <= 5:
            found["said"] = "not run: no time left"
        else:
            port = ["--port", str(next(self.ports))]
            options = ["--tool", tool, *COMMON, *port, *TOOLS[tool]]
            command = [sanitizer["path"], *options, f"./{program(row)}", *self.options(name)]
            began = time.monotonic()
            code, said = run(command, self.place / row["program"], seconds)
            found["seconds"] = round(time.monotonic() - began, 1)
            summary = [line for line in said.splitlines() if "SUMMARY" in line]
            found["said"] = summary[-1].split("SUMMARY:")[-1].strip() if summary else f"no summary, code {code}"
            if code is None:
                found["said"] = f"more than {seconds:.0f} s"
            head = (
                f"{row['program']} {program(row)} {tool} {sanitizer['version']} {name} code {code} {found['seconds']} s"
            )
            self.results.log("sanitizer", head, said)
        self.results.row(found, f"{row['program']} {program(row)} {tool} {kind}: {found['said']}")
        return "hazards" in found["said"] and not found["said"].startswith("0 ")


def program(row):
    """The name of its executable."""
    return "program_each" if row.get("each") else "program"


def answer(code, said, seconds):
    if code is None:
        return {"failure": f"more than {seconds:.0f} s"}
    try:
        return json.loads(said)
    except ValueError:
        return {"failure": f"code {code}: {said.strip()[-300:]}"}


def verdict(found):
    if "failure" in found:
        return "FAILED " + found["failure"][:100]
    return "ok" if found["ok"] else f"WRONG {found['relative_error']} {found['ulps']}"


def about(mock):
    """What the machine and its tools are."""
    asked = {
        "nvcc": ["nvcc", "--version"],
        "gpu": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
    }
    said = {
        name: run(command, HERE, 60)[1].strip() if shutil.which(command[0]) else "" for name, command in asked.items()
    }
    return {"about": said, "mock": mock, "date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count()}


def sanitizer():
    """Path and version; None if there is none."""
    path = shutil.which(SANITIZER)
    version = re.search(r"Version ([\d.]+)", run([path, "--version"], HERE, 60)[1]) if path else None
    return {"path": path, "version": version.group(1)} if version else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=HERE / "out")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--tools", nargs="*", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="builds at a time")
    parser.add_argument("--mock", action="store_true")
    options = parser.parse_args()
    results = Results(options.out.resolve())
    with tempfile.TemporaryDirectory(prefix="twill-batch-") as scratch:
        with tarfile.open(HERE / "batch.tar.xz") as archive:
            archive.extractall(scratch, filter="data")
        go(Path(scratch), results, options)


def go(place, results, options):
    rows = json.loads((place / "programs.json").read_text())
    rows = [row for row in rows if not options.only or any(word in row["program"] for word in options.only)]
    known = None if options.mock else sanitizer()
    batch = Batch(place, results, options.seconds, options.mock)
    found = about(options.mock) | {"sanitizer": known and known["version"]}
    results.row(found, f"{len(rows)} programs, {found}")
    for row in rows:
        if "refused" in row:
            results.row(row, f"{row['program']}: refused")
    rows = [row for row in rows if "refused" not in row]
    rows.sort(key=lambda row: row["sanitize"] or 9)  # what the tools look at is there first
    with (
        concurrent.futures.ThreadPoolExecutor(options.jobs) as makers,
        concurrent.futures.ThreadPoolExecutor(TOOL_JOBS) as lookers,
    ):
        made = {makers.submit(batch.make, row): row for row in rows}
        concurrent.futures.wait([job for job, row in made.items() if row["sanitize"]])
        jobs = [lookers.submit(batch.look, look) for look in looks(rows, options.tools, known)]
        for job in concurrent.futures.as_completed([*made, *jobs]):
            job.result()
    wrong = [row["program"] for row in rows if any(verdict(one) != "ok" for one in row.get("runs", {}).values())]
    ran = [row for row in rows if row.get("runs")]
    print(f"{results.seconds():.0f} s: {len(rows)} built or tried, {len(ran)} ran, {len(wrong)} not right: {wrong}")


def looks(rows, tools, known):
    """What compute-sanitizer does, first things first: the families, then the projects; races also in long loops, since
    short ones may hide them."""
    built = [row for row in rows if known and row["sanitize"] and row["nvcc"] == "ok"]
    for rank in (1, 2):
        some = [row for row in built if row["sanitize"] == rank]
        for tool in tools:
            yield from ((known, row, tool, row["cases"][: None if tool == "racecheck" else 1]) for row in some)


if __name__ == "__main__":
    main()

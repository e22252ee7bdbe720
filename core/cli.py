"""The command line: options, dispatch, exit codes. What the commands answer is in `core.commands`."""

from __future__ import annotations

import argparse
import importlib
import io
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from core.commands.answers import ExitCode, OutputError, UsageError
from core.commands.crash import crash_note, program_version
from core.sweep.axis_forms import axes_help
from core.toolchain.tools import PURPOSES

_EXTRAS = {"dask": "cluster", "distributed": "cluster"}
"""The extra that a package belongs to."""

_MOST = 10**9
"""The largest number of an option; files have the same limit."""
_LARGEST_SEED = 2**31 - 1

_INPUT_HELP = "project.yaml or its folder, a TTGIR file, or a twill.graph/1 file"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code. Never raises for what a user can do."""
    _prepare_streams()
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as end:  # argparse has printed help, the version, or what is wrong with the options
        return int(end.code or 0)
    try:
        code = _command(arguments.command)(arguments)
        sys.stdout.flush()
        return code
    except UsageError as fault:
        print(f"twill {arguments.command}: {fault}", file=sys.stderr)
        return ExitCode.USAGE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # the reader has gone
        return ExitCode.ANSWERED
    except OutputError as fault:
        print(f"twill {arguments.command}: {fault}", file=sys.stderr)
        _discard_output()
        return ExitCode.USAGE
    except ModuleNotFoundError as fault:
        package = (fault.name or "core").partition(".")[0]
        if package == "core":
            print(crash_note(fault), file=sys.stderr)
            return ExitCode.INTERNAL
        wanted = f"'twill-explorer[{_EXTRAS[package]}]'" if package in _EXTRAS else package
        print(f"the Python package '{package}' is missing; install it with: pip install {wanted}", file=sys.stderr)
        return ExitCode.MISSING_TOOL
    except Exception as fault:
        print(crash_note(fault), file=sys.stderr)
        return ExitCode.INTERNAL


def _prepare_streams() -> None:
    """What a stream cannot say is escaped; what is said to a closed one is lost, and never ends up in the other."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open to the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Says no more, not even what is still in the buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """The command's `run`; imported only now, so that `twill --help` does not pay for solvers."""
    return cast(Callable[[argparse.Namespace], int], importlib.import_module(f"core.commands.{name}").run)


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=110)


class _ListFormatter(_Formatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of an epilog."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="twill",
        description="Schedules the loops of tensor-core kernels: software pipelining and warp specialization, proved.",
        epilog="Exit codes: 0 answered, 1 the answer is no, 2 bad usage, 3 bad input, 4 no answer within the limit, "
        "5 a tool is missing, 70 internal error.",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"twill {program_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary, add_options in _COMMANDS:
        command = commands.add_parser(
            name, help=summary, description=summary, formatter_class=_Formatter, allow_abbrev=False
        )
        command.add_argument("--json", action="store_true", help="one JSON document per input on standard output")
        add_options(command)
    return parser


def _add_input(parser: argparse.ArgumentParser, *, several: bool) -> None:
    parser.add_argument("inputs", nargs="+" if several else 1, metavar="PROJECT", help=_INPUT_HELP)
    parser.add_argument("--machine", metavar="NAME_OR_FILE", help="machine to schedule for, instead of the project's")
    parser.add_argument("--loop", type=_count, metavar="N", help="index of the loop, as 'twill inspect' lists them")


def _add_solving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", choices=("exact", "paper"), help="formulation: this program's own, or that of the paper"
    )
    parser.add_argument("--ii", type=_positive, metavar="N", help="ask for this initiation interval alone")
    parser.add_argument("--max-ii", type=_positive, metavar="N", help="largest II to try (4 times the lower bound)")
    parser.add_argument("--objective", type=_words, metavar="LEVELS", help="levels in order, for instance ii,length")
    parser.add_argument("--limit-s", type=_seconds, metavar="S", help="seconds at most (the project's, or 300)")
    parser.add_argument("--seed", type=_seed, metavar="N", help="random seed of the solver")


def _inspect_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="TTGIR file")


def _graph_options(parser: argparse.ArgumentParser) -> None:
    _add_input(parser, several=False)
    parser.add_argument("--schedule", metavar="NAME", help="the graph of this schedule of the project")


def _solve_options(parser: argparse.ArgumentParser) -> None:
    _add_input(parser, several=True)
    parser.add_argument("--schedule", metavar="NAME", help="with the settings of this schedule of the project")
    _add_solving(parser)
    parser.add_argument(
        "--groups", type=_group, nargs="+", action="extend", default=[], metavar="KIND=N", help="groups of a kind"
    )
    parser.add_argument("--registers", type=_positive, metavar="N", help="registers per thread at most")
    parser.add_argument(
        "--without", nargs="+", action="extend", default=[], metavar="FAMILY", help="rules to leave out"
    )
    parser.add_argument(
        "--best", type=_positive, metavar="N", help="list N optima that differ in groups or in the order on a unit"
    )
    parser.add_argument(
        "--fit",
        choices=("nvcc",),
        help="a schedule whose kernel nvcc builds without spills: registers are kept back until it does",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="schedule file, or a folder for several inputs and the loops of a kernel; further optima of --best (one "
        "loop) stand beside it as NAME.2.yaml, NAME.3.yaml and so on",
    )


def _sweep_options(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class, parser.epilog = _ListFormatter, axes_help()
    _add_input(parser, several=False)
    parser.add_argument(
        "--over", nargs="+", action="extend", required=True, metavar="KEY=V1,V2", help="an axis and its values"
    )
    parser.add_argument("--schedule", metavar="NAME", help="with the settings of this schedule of the project")
    _add_solving(parser)
    parser.add_argument("--workers", type=_positive, metavar="N", help="processes here (one for each core)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="solve on the Dask cluster of this scheduler")
    parser.add_argument("--resume", metavar="FILE", help="results file: what it answers is not solved again")
    parser.add_argument("-o", "--output", metavar="FILE", help="table (.csv) or plot (.svg) of the results")


def _check_options(parser: argparse.ArgumentParser) -> None:
    _add_input(parser, several=False)
    parser.add_argument(
        "--schedule", metavar="S", help="schedule file or name (default: those of all loops, or the active one)"
    )


def _repair_options(parser: argparse.ArgumentParser) -> None:
    _add_input(parser, several=False)
    parser.add_argument("--schedule", metavar="S", help="schedule file or name (default: the project's active one)")
    parser.add_argument(
        "--move",
        type=_move,
        nargs="+",
        action="extend",
        default=[],
        metavar="OP=START@GROUP",
        help="where an op has been put (without @GROUP on its own group)",
    )
    parser.add_argument(
        "--rotate", action="store_true", help="where there is no room before, everything may start intervals later"
    )
    parser.add_argument("--limit-s", type=_seconds, metavar="S", help="seconds at most (10)")
    parser.add_argument("--seed", type=_seed, metavar="N", help="random seed of the solver")
    parser.add_argument("-o", "--output", metavar="PATH", help="schedule file to write")


def _explain_options(parser: argparse.ArgumentParser) -> None:
    _add_input(parser, several=False)
    parser.add_argument("--schedule", metavar="NAME", help="about this schedule of the project (the active one)")
    parser.add_argument("--ii", type=_positive, metavar="N", help="why not this interval? (one less than the schedule)")
    parser.add_argument(
        "--groups", type=_group, nargs="+", action="extend", default=[], metavar="KIND=N", help="why not so many?"
    )
    parser.add_argument("--registers", type=_positive, metavar="R", help="why not so few registers per thread?")
    parser.add_argument("--op", metavar="ID", help="why can this op not be there:")
    parser.add_argument("--group", metavar="NAME", help="on this group of the schedule, or of this kind")
    parser.add_argument("--start", type=_count, metavar="N", help="at this cycle")
    parser.add_argument("--with", dest="other", metavar="ID", help="on one group with this op")
    parser.add_argument("--sensitivity", action="store_true", help="say too which costs the least II depends on")
    parser.add_argument("--limit-s", type=_seconds, metavar="S", help="seconds at most (30)")


def _export_options(parser: argparse.ArgumentParser) -> None:
    _add_input(parser, several=False)
    parser.add_argument("--schedule", metavar="S", help="schedule file or name (default: the project's active one)")
    parser.add_argument(
        "--format", required=True, choices=("ttgir", "triton", "cuda", "sheet", "trace", "json", "svg", "png", "pdf")
    )
    parser.add_argument("--unrolled", action="store_true", help="pictures: prologue to epilogue, not one interval")
    parser.add_argument(
        "--case", metavar="FILE", help="cuda: a call of the kernel, for the test program (twill.case/1)"
    )
    parser.add_argument("--persistent", action="store_true", help="cuda: blocks that run one program after another")
    parser.add_argument("--longest-first", action="store_true", help="cuda: programs of large x run first")
    parser.add_argument(
        "--allow-inline-asm",
        action="store_true",
        help="cuda: pass the text's inline assembly on (it can do anything)",
    )
    parser.add_argument("--measured", metavar="FILE", help="trace: beside the plan what twill run --trace has seen")
    parser.add_argument("-o", "--output", required=True, metavar="PATH", help="file, or (cuda, triton) folder to write")


def _compile_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="PATH", help="folder of twill export --format cuda, or a .cu file")
    parser.add_argument("--arch", default="sm_90a", metavar="SM", help="architecture (default: sm_90a)")
    parser.add_argument("--roles", action="store_true", help="also the registers of each role compiled by itself")
    parser.add_argument("-o", "--output", metavar="FILE", help="keep the machine code (cubin)")


def _run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="FOLDER", help="folder of twill export --format cuda")
    parser.add_argument("--arch", default="sm_90a", metavar="SM", help="architecture (default: sm_90a)")
    parser.add_argument("--batch", metavar="FILE", help="cases with inputs and expected outputs")
    parser.add_argument("--time", type=_positive, metavar="RUNS", help="time so many runs of each case")
    parser.add_argument(
        "--trace", metavar="FILE", help="write when each op began and ended, for twill export --format trace --measured"
    )
    parser.add_argument("--limit", type=_seconds, default=600.0, metavar="S", help="seconds at most (default: 600)")


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--need",
        nargs="+",
        action="extend",
        default=[],
        choices=[purpose.name for purpose in PURPOSES],
        metavar="PURPOSE",
        help=f"exit code 5 if it is not possible here: {', '.join(purpose.name for purpose in PURPOSES)}",
    )


_COMMANDS: tuple[tuple[str, str, Callable[[argparse.ArgumentParser], None]], ...] = (
    ("inspect", "list functions, operations and loops of TTGIR files", _inspect_options),
    ("graph", "print the loop's graph (twill.graph/1) with its lower bounds", _graph_options),
    ("solve", "find the least initiation interval with a proof, and a schedule for it", _solve_options),
    ("sweep", "least II at every combination of values: registers, groups, sub-tiles, costs", _sweep_options),
    ("check", "judge a schedule: every broken rule, and the peaks of every resource", _check_options),
    ("repair", "put ops elsewhere and make the schedule legal again, changing little else", _repair_options),
    ("explain", "say why something has no schedule, and what would have to change", _explain_options),
    ("export", "write a schedule for other tools", _export_options),
    ("compile", "compile an exported kernel with nvcc: messages, registers, spills", _compile_options),
    ("run", "build an exported kernel's test program and run it on this machine's GPU", _run_options),
    ("doctor", "say which tools are on this machine, what for, and what to install", _doctor_options),
)


def _count(text: str) -> int:
    return _whole_number(text, 0, _MOST)


def _positive(text: str) -> int:
    return _whole_number(text, 1, _MOST)


def _seed(text: str) -> int:
    return _whole_number(text, 0, _LARGEST_SEED)


def _whole_number(text: str, least: int, most: int) -> int:
    if len(text) > len(str(most)) or not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return seconds


def _group(text: str) -> tuple[str, int]:
    kind, equals, number = text.partition("=")
    if not equals or not kind or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not KIND=N (give the inputs before this option)")
    return kind, _count(number)


def _move(text: str) -> tuple[str, int, str | None]:
    op, equals, place = text.rpartition("=")
    start, at, group = place.partition("@")
    if not equals or not op or (at and not group):
        raise argparse.ArgumentTypeError(f"'{text}' is not OP=START@GROUP (give the input before this option)")
    return op, _count(start), group or None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())

"""The export dialog, held against the command line that does the same without the window."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
from leaks import children
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from pytestqt.qtbot import QtBot
from states import write_project

from core.cli import main
from core.export.ttgir import read_annotations
from core.ir.source import load_module
from core.schedule.read import load_schedule
from core.toolchain import triton
from twill_gui.command_lines import export_command
from twill_gui.dialogs.export import ExportDialog
from twill_gui.document import editing, settings
from twill_gui.export_formats import ExportFormat
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
ROOT = Path(__file__).parents[2]
LEFT, CONTROL, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
TTGIR, TRITON, CUDA, SHEET, SHEET_JSON, TRACE, JSON, SVG, PDF, PNG = range(len(ExportFormat))


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    """On a copy of the Hopper attention sample."""
    shutil.copytree(ROOT / "projects" / "attention_forward_hopper", tmp_path / "attention")
    return open_window(tmp_path / "attention")


def open_dialog(bot: QtBot, window: MainWindow) -> ExportDialog:
    """Presses the key of the dialog."""
    window.activateWindow()
    bot.waitUntil(window.isActiveWindow)
    bot.keyClick(window, Qt.Key.Key_E, CONTROL | SHIFT)
    [dialog] = [one for one in window.findChildren(ExportDialog) if one.isVisible()]
    dialog.activateWindow()
    bot.waitUntil(dialog.isActiveWindow)
    return dialog


def take(bot: QtBot, dialog: ExportDialog, number: int) -> None:
    """Clicks a format of the list."""
    item = dialog.formats.item(number)
    assert item is not None
    bot.mouseClick(dialog.formats.viewport(), LEFT, pos=dialog.formats.visualItemRect(item).center())


def write_to(bot: QtBot, dialog: ExportDialog, file: Path) -> None:
    """Types the file's name and presses Enter."""
    dialog.field.setFocus()
    dialog.field.selectAll()
    bot.keyClicks(dialog.field, str(file))
    bot.keyClick(dialog.field, Qt.Key.Key_Return)


def test_annotated_text_is_shown_and_reads_back(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    dialog = open_dialog(bot, window)
    preview = dialog.text.toPlainText()
    assert "twill.start" in preview and dialog.pages.currentWidget() is dialog.text
    write_to(bot, dialog, tmp_path / "out.ttgir")
    assert not dialog.isVisible()
    assert (tmp_path / "out.ttgir").read_text() == preview
    module = load_module(tmp_path / "out.ttgir")
    [loop] = [loop for loop in module.loops if "twill.ii" in loop.operation.attributes]
    assert window.document.schedule is not None
    assert read_annotations(module, loop).ops == window.document.schedule.ops
    assert "out.ttgir" in window.messages.messages[0].text


def test_a_graph_has_no_text_to_annotate_but_a_trace(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    dialog = open_dialog(bot, window)
    assert "no TTGIR text" in dialog.note.text()
    assert not dialog.write_button.isEnabled()
    take(bot, dialog, TRACE)
    assert dialog.write_button.isEnabled() and not dialog.unrolled_box.isVisible()
    write_to(bot, dialog, tmp_path / "out.json")
    slices = [event for event in json.loads((tmp_path / "out.json").read_text())["traceEvents"] if event["ph"] == "X"]
    assert {"a [0]", "b [0]"} <= {event["name"] for event in slices}


def test_the_sheet_is_that_of_the_command_line(
    bot: QtBot, window: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dialog = open_dialog(bot, window)
    take(bot, dialog, SHEET)
    write_to(bot, dialog, tmp_path / "window.md")
    state = window.document.state
    assert state is not None
    assert main(shlex.split(export_command(state, "sheet", tmp_path / "line.md"))[1:]) == 0
    assert (tmp_path / "window.md").read_text() == (tmp_path / "line.md").read_text()
    editing.nudge_ops(window.document, ["exp2.0"], 300)
    dialog = open_dialog(bot, window)
    take(bot, dialog, SHEET)
    assert "not legal" in dialog.note.text() and not dialog.write_button.isEnabled()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_the_sheet_as_data_is_what_the_command_line_writes_beside_it(
    bot: QtBot, window: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dialog = open_dialog(bot, window)
    take(bot, dialog, SHEET_JSON)
    dialog.field.setText(str(tmp_path / "line.sheet.json"))
    bot.mouseClick(dialog.command_button, LEFT)
    assert main(shlex.split(QGuiApplication.clipboard().text())[1:]) == 0
    written = (tmp_path / "line.sheet.json").read_text()
    assert json.loads(written)["schema"] == "twill.sheet/1" and dialog.text.toPlainText() == written
    write_to(bot, dialog, tmp_path / "window.json")
    assert (tmp_path / "window.json").read_text() == written


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("chosen", [(), ("--persistent",), ("--longest-first",), ("--persistent", "--longest-first")])
def test_a_cuda_kernel_is_that_of_the_command_line(
    bot: QtBot, window: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...]
) -> None:
    dialog = open_dialog(bot, window)
    assert not dialog.kernel_options.isVisible()
    take(bot, dialog, CUDA)
    options = dialog.kernel_options
    assert options.isVisible() and options.holes_label.text().startswith("\N{CHECK MARK} No holes")
    for word, box in (("--persistent", options.persistent_box), ("--longest-first", options.longest_box)):
        if word in chosen:
            box.setFocus()
            bot.keyClick(box, Qt.Key.Key_Space)
    if not chosen:
        bot.keyClicks(options.case_field, str(ROOT / "tests" / "data" / "cuda" / "attention_two_heads.yaml"))
    preview = dialog.text.toPlainText()
    dialog.field.setText(str(tmp_path / "line"))
    bot.mouseClick(dialog.command_button, LEFT)
    words = shlex.split(QGuiApplication.clipboard().text())[1:]
    assert {word for word in words if word.startswith("--")} >= set(chosen)
    assert main(words) == 0
    write_to(bot, dialog, tmp_path / "window")
    bot.waitUntil(lambda: not window.findChildren(ExportDialog) or not dialog.isVisible(), timeout=60_000)
    written = files_of(tmp_path / "window")
    assert written == files_of(tmp_path / "line")
    assert written["kernel.cu"].decode() == preview
    assert ("cases.bin" in written) == (not chosen)
    assert str(tmp_path / "window") in window.messages.messages[0].text


def test_inline_assembly_is_passed_on_where_it_is_allowed(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window = open_window(assembly_project(tmp_path / "asm"))
    dialog = open_dialog(bot, window)
    take(bot, dialog, CUDA)
    options = dialog.kernel_options
    assert options.holes_label.text().startswith("1 &hole:") and "cvt.rn.f32.s32 %0" not in code(dialog)
    options.assembly_box.setFocus()
    bot.keyClick(options.assembly_box, Qt.Key.Key_Space)
    assert options.assembly_box.isChecked()
    assert options.holes_label.text().startswith("\N{CHECK MARK} No holes") and "cvt.rn.f32.s32 %0" in code(dialog)
    preview = dialog.text.toPlainText()
    dialog.field.setText(str(tmp_path / "line"))
    bot.mouseClick(dialog.command_button, LEFT)
    words = shlex.split(QGuiApplication.clipboard().text())[1:]
    assert "--allow-inline-asm" in words and main(words) == 0
    write_to(bot, dialog, tmp_path / "window")
    bot.waitUntil(lambda: not window.findChildren(ExportDialog) or not dialog.isVisible(), timeout=60_000)
    assert files_of(tmp_path / "window") == files_of(tmp_path / "line")
    assert files_of(tmp_path / "window")["kernel.cu"].decode() == preview


def assembly_project(folder: Path) -> Path:
    """A matrix product whose text has inline assembly, with a schedule."""
    (folder / "schedules").mkdir(parents=True)
    name = "gemm_w8_sm90_m64n128k64-f16-asm_v39_pre.ttgir"
    shutil.copy(ROOT / "tests" / "data" / "ttgir" / name, folder / "input.ttgir")
    (folder / "project.yaml").write_text(
        "schema: twill.project/1\nname: assembly\ninput: {ttgir: input.ttgir}\nmachine: h100\n"
        "schedules: {main: schedules/main.yaml}\nactive: main\n"
    )
    schedule = str(folder / "schedules" / "main.yaml")
    text = [str(folder / "input.ttgir"), "--machine", "h100"]
    assert main(["solve", *text, "--objective", "ii", "--limit-s", "60", "-o", schedule]) == 0
    return folder


def code(dialog: ExportDialog) -> str:
    """The preview without its comments, which quote the IR."""
    return "\n".join(line for line in dialog.text.toPlainText().splitlines() if not line.startswith("//"))


def test_a_case_that_does_not_fit_is_told_in_the_dialog(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    dialog = open_dialog(bot, window)
    take(bot, dialog, CUDA)
    case = tmp_path / "case.yaml"
    case.write_text("schema: twill.case/1\ngrid: [1]\nnumbers: {nothing: 1}\n")
    bot.keyClicks(dialog.kernel_options.case_field, str(case))
    write_to(bot, dialog, tmp_path / "out")
    bot.waitUntil(dialog.write_button.isEnabled, timeout=60_000)
    assert dialog.isVisible() and "case.yaml" in dialog.note.text()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


@pytest.fixture
def passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a program in the place of Triton's passes, as if the release were installed; returns a file for it to write.

    Its arguments are those of the real one: annotated text, where to write the final one, and the capability.
    """
    folder = tmp_path / "resources" / "triton"
    folder.mkdir(parents=True)

    def put(program: str) -> Path:
        begun = tmp_path / "begun"
        head = f"import os, sys, time\nfrom pathlib import Path\nPath({str(begun)!r}).write_text(str(os.getpid()))\n"
        (folder / "remaining_passes.py").write_text(head + program)
        return begun

    monkeypatch.setattr(triton, "data_folder", lambda _: tmp_path / "resources")
    monkeypatch.setattr(triton, "triton_version", lambda: f"{triton.WANTED}.0")
    return put


ECHO = "Path(sys.argv[2]).write_text('// final\\n' + Path(sys.argv[1]).read_text())"


def test_the_text_for_triton_is_that_of_the_command_line(
    bot: QtBot, window: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str], passes: Callable[[str], Path]
) -> None:
    passes(ECHO)
    dialog = open_dialog(bot, window)
    annotated = dialog.text.toPlainText()
    take(bot, dialog, TRITON)
    assert "running" in dialog.note.text() and not dialog.write_button.isEnabled()
    bot.waitUntil(dialog.write_button.isEnabled, timeout=20_000)
    assert dialog.text.toPlainText() == "// final\n" + annotated
    dialog.field.setText(str(tmp_path / "line"))
    bot.mouseClick(dialog.command_button, LEFT)
    assert main(shlex.split(QGuiApplication.clipboard().text())[1:]) == 0
    bot.mouseClick(dialog.copy_button, LEFT)
    assert QGuiApplication.clipboard().text() == dialog.text.toPlainText()
    write_to(bot, dialog, tmp_path / "window")
    assert not dialog.isVisible()
    assert files_of(tmp_path / "window") == files_of(tmp_path / "line")
    assert list(files_of(tmp_path / "window")) == ["fa_fwd_2q.ttgir"]
    said = window.messages.messages[0].text
    assert str(tmp_path / "window" / "fa_fwd_2q.ttgir") in said and "TRITON_KERNEL_OVERRIDE=1" in said


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton 3.9 is not installed (extra 'triton')")
def test_triton_itself_finishes_the_text(bot: QtBot, window: MainWindow) -> None:
    dialog = open_dialog(bot, window)
    take(bot, dialog, TRITON)
    bot.waitUntil(dialog.write_button.isEnabled, timeout=60_000)
    text = dialog.text.toPlainText()
    assert "ttng.warp_group_dot" in text and "ttng.wait_barrier" in text and "loop.stage" not in text
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_what_triton_says_is_told_in_the_dialog(bot: QtBot, window: MainWindow, passes: Callable[[str], Path]) -> None:
    passes("sys.exit('input.ttgir:3:1: error: no such thing')")
    dialog = open_dialog(bot, window)
    take(bot, dialog, TRITON)
    bot.waitUntil(lambda: "no such thing" in dialog.note.text(), timeout=20_000)
    assert not dialog.write_button.isEnabled() and dialog.text.toPlainText() == ""
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


@pytest.mark.parametrize("leave", ["another format", "close"])
def test_the_passes_end_when_nobody_waits_for_them(
    bot: QtBot, window: MainWindow, passes: Callable[[str], Path], leave: str
) -> None:
    begun = passes("time.sleep(600)")
    dialog = open_dialog(bot, window)
    take(bot, dialog, TRITON)
    bot.waitUntil(begun.exists, timeout=20_000)
    if leave == "close":
        bot.keyClick(dialog.field, Qt.Key.Key_Escape)
    else:
        take(bot, dialog, JSON)
        assert dialog.write_button.isEnabled() and dialog.text.toPlainText().startswith("{")
    bot.waitUntil(lambda: children() == [], timeout=5_000)
    if leave != "close":
        assert dialog.write_button.isEnabled() and dialog.text.toPlainText().startswith("{")
        bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_without_triton_its_command_can_still_be_copied(
    bot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton, "triton_version", lambda: None)
    dialog = open_dialog(bot, window)
    take(bot, dialog, TRITON)
    assert "twill-explorer[triton]" in dialog.note.text() and not dialog.write_button.isEnabled()
    dialog.field.setText(str(tmp_path / "out"))
    bot.mouseClick(dialog.command_button, LEFT)
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[1] == "export" and words[-4:] == ["--format", "triton", "-o", str(tmp_path / "out")]
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_a_graph_has_nothing_for_triton(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    dialog = open_dialog(bot, open_window(write_project(tmp_path / "p")))
    take(bot, dialog, TRITON)
    assert "dependence graph" in dialog.note.text()
    assert not dialog.write_button.isEnabled() and not dialog.command_button.isEnabled()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_the_holes_of_a_kernel_are_listed(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    folder = tmp_path / "gemm"
    shutil.copytree(ROOT / "projects" / "gemm_hopper", folder)
    text = (folder / "input.ttgir").read_text()
    store = "    tt.descriptor_store %c_desc[%row_2, %col_3]"
    assert text.count(store) == 1 and text.endswith("  }\n}\n")
    call = f"    %far = tt.call @far(%col_3) : (i32) -> i32\n{store.replace('%col_3', '%far')}"
    function = "  tt.func private @far(%x: i32) -> i32 attributes {noinline = true} {\n    tt.return %x : i32\n  }\n}\n"
    (folder / "input.ttgir").write_text(text.replace(store, call).removesuffix("}\n") + function)
    dialog = open_dialog(bot, open_window(folder))
    take(bot, dialog, CUDA)
    options = dialog.kernel_options
    assert options.holes_label.text().startswith("1 &hole:") and options.holes.count() == 1
    hole = options.holes.item(0)
    assert hole is not None and "tt.call" in hole.text()
    bot.mouseClick(options.holes.viewport(), LEFT, pos=options.holes.visualItemRect(hole).center())
    marked = dialog.text.textCursor().selectedText()
    assert marked.startswith("TW_CALL void ")
    dialog.text.moveCursor(QTextCursor.MoveOperation.Start)
    options.holes.setFocus()
    bot.keyClick(options.holes, Qt.Key.Key_Return)
    assert dialog.text.textCursor().selectedText() == marked
    take(bot, dialog, SHEET)
    assert not options.isVisible() and dialog.isVisible()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_a_kernel_of_several_loops_is_exported_whole(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "causal"
    shutil.copytree(ROOT / "projects" / "attention_causal_hopper", folder)
    window = open_window(folder)
    dialog = open_dialog(bot, window)
    for number, suffix in ((SHEET, ".md"), (CUDA, "/kernel.cu")):
        take(bot, dialog, number)
        dialog.field.setText(str(tmp_path / f"line{suffix if number == SHEET else ''}"))
        bot.mouseClick(dialog.command_button, LEFT)
        assert main(shlex.split(QGuiApplication.clipboard().text())[1:]) == 0
        assert dialog.text.toPlainText() == Path(f"{tmp_path}/line{suffix}").read_text()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)
    kernel = dialog.text.toPlainText()
    settings.keep_copy(window.document)  # of a loop there is one schedule at a time: that shown
    dialog = open_dialog(bot, window)
    take(bot, dialog, CUDA)
    assert dialog.text.toPlainText() == kernel
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)
    editing.show_schedule(window.document, "masked")
    assert window.document.schedule is not None
    last = max(window.document.schedule.ops.items(), key=lambda item: item[1].start)
    editing.move(window.document, last[0], 0, last[1].group)
    assert window.document.report is not None and not window.document.report.legal
    editing.show_schedule(window.document, "full")
    dialog = open_dialog(bot, window)
    take(bot, dialog, CUDA)
    assert "'masked' is not legal" in dialog.note.text() and not dialog.kernel_options.holes_label.isVisible()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_pictures_are_shown_and_written(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    dialog = open_dialog(bot, window)
    take(bot, dialog, SVG)
    assert dialog.pages.currentWidget() is dialog.image
    folded = dialog.picture
    assert not folded.isNull()
    bot.mouseClick(dialog.unrolled_box, LEFT, pos=QPoint(8, dialog.unrolled_box.height() // 2))
    assert dialog.picture != folded
    bot.mouseClick(dialog.command_button, LEFT)
    assert shlex.split(QGuiApplication.clipboard().text())[-1] == "--unrolled"
    write_to(bot, dialog, tmp_path / "out.svg")
    texts = {(element.text or "").strip() for element in ElementTree.parse(tmp_path / "out.svg").iter()}
    assert {"compute.0", "tensor_core", "prologue", "steady state"} <= texts


def test_a_file_that_cannot_be_written_is_told_in_the_dialog(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    dialog = open_dialog(bot, window)
    take(bot, dialog, JSON)
    (tmp_path / "file").write_text("")
    write_to(bot, dialog, tmp_path / "file" / "out.json")
    assert dialog.isVisible() and "Cannot write" in dialog.note.text()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_copy_and_copy_as_command_line(
    bot: QtBot, window: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dialog = open_dialog(bot, window)
    bot.mouseClick(dialog.copy_button, LEFT)
    assert "twill.ii" in QGuiApplication.clipboard().text()
    take(bot, dialog, JSON)
    dialog.field.setText(str(tmp_path / "by command.json"))
    bot.mouseClick(dialog.command_button, LEFT)
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[0] == "twill" and main(words[1:]) == 0
    assert json.loads((tmp_path / "by command.json").read_text())["schedule"]["ii"] == 2048
    take(bot, dialog, PNG)
    bot.mouseClick(dialog.copy_button, LEFT)
    assert not QGuiApplication.clipboard().image().isNull()
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)


def test_a_dropped_machine_or_schedule_belongs_to_the_open_project(window: MainWindow, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    shutil.copyfile(ROOT / "machines" / "h200.yaml", own)
    assert window.tool_docks.take(own)
    assert window.document.state is not None and window.document.state.project.machine == own
    other = ROOT / "projects" / "attention_forward_hopper" / "schedules" / "main.yaml"
    assert window.tool_docks.take(other)
    assert window.document.graph is not None
    assert window.tool_docks.compare.other == load_schedule(other, window.document.graph)
    assert not window.tool_docks.take(ROOT / "projects" / "gemm_hopper" / "project.yaml")
    window.document.undo_stack.setClean()
    window.files.close()
    assert not window.tool_docks.take(own)

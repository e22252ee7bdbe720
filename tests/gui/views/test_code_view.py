"""Program text: line numbers, colours, marks, and texts that are too long to be taken in at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider
from pytestqt.qtbot import QtBot

from core.resources import data_folder
from twill_gui.palette import contrast
from twill_gui.views.code import SYNTAX_DARK, SYNTAX_LIGHT, CodeView, Kind, Piece, SyntaxColors
from twill_gui.views.code import view as code_view
from twill_gui.views.ir_text.tokens import pieces

COLORS = pytest.mark.parametrize("colors", [SYNTAX_LIGHT, SYNTAX_DARK], ids=["light", "dark"])
LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier


def only_words(line: str) -> Iterator[Piece]:
    """The first word of a line is an operation, as far as these tests go."""
    if line:
        yield Piece(0, len(line.split()[0]), Kind.OPERATION)


@pytest.fixture
def code(bot: QtBot) -> CodeView:
    view = CodeView("Text", only_words)
    bot.addWidget(view)
    view.resize(500, 300)
    with bot.waitExposed(view):
        view.show()
    view.set_text("\n".join(f"line{number} of the text" for number in range(1, 201)))
    return view


def middle_of(code: CodeView, line: int) -> QPoint:
    """A point of a line in view, in the viewport."""
    block = code.document().findBlockByNumber(line - 1)
    box = code.blockBoundingGeometry(block).translated(code.contentOffset())
    return QPoint(60, round(box.center().y()))


def ground_at(code: CodeView, line: int) -> str:
    """The colour right of a line's text."""
    image: QImage = code.viewport().grab().toImage()
    return image.pixelColor(code.viewport().width() - 5, middle_of(code, line).y()).name()


def colours_of(code: CodeView, line: int) -> set[str]:
    return {
        formatted.format.foreground().color().name()
        for formatted in code.document().findBlockByNumber(line - 1).layout().formats()
    }


@COLORS
def test_every_colour_is_readable_on_every_ground(colors: SyntaxColors) -> None:
    assert colors.kinds.keys() == set(Kind)
    for ground in (colors.base, colors.strong, colors.weak):
        for text in (colors.text, *colors.kinds.values()):
            assert contrast(text, ground) >= 4.5
    for number in (colors.number, colors.text):
        assert contrast(number, colors.gutter) >= 4.5
    for mark in (colors.linked, colors.strong_mark):
        assert contrast(mark, colors.gutter) >= 3


@COLORS
def test_lines_in_view_are_coloured_and_no_others(code: CodeView, colors: SyntaxColors) -> None:
    code.set_colors(colors)
    operation = {colors.kinds[Kind.OPERATION]}
    assert colours_of(code, 1) == operation
    assert colours_of(code, 150) == set()
    code.reveal(150)
    assert code.in_view(150)
    assert colours_of(code, 150) == operation


def test_marked_lines_have_their_grounds(code: CodeView) -> None:
    code.set_marked(frozenset({2}), frozenset({4}))
    assert [ground_at(code, line) for line in (1, 2, 3, 4)] == [
        QColor(Qt.GlobalColor.white).name(),
        SYNTAX_LIGHT.strong,
        QColor(Qt.GlobalColor.white).name(),
        SYNTAX_LIGHT.weak,
    ]
    code.set_text("other")
    assert ground_at(code, 1) != SYNTAX_LIGHT.strong


def test_what_is_in_view_does_not_move(code: CodeView) -> None:
    code.reveal(5)
    assert code.verticalScrollBar().value() == 0
    code.reveal(120)
    there = code.verticalScrollBar().value()
    code.reveal(121)
    assert code.verticalScrollBar().value() == there


def test_the_line_stays_in_view_until_the_user_scrolls(code: CodeView) -> None:
    code.reveal(15)
    code.resize(500, 80)
    assert code.in_view(15)
    code.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderToMaximum)
    code.resize(500, 60)
    assert not code.in_view(15)


def test_a_click_asks_for_the_line_and_a_drag_selects_text(code: CodeView) -> None:
    asked: list[tuple[int, bool]] = []
    code.line_requested.connect(lambda line, ctrl: asked.append((line, ctrl)))
    QTest.mouseClick(code.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, middle_of(code, 3))
    QTest.mouseClick(code.viewport(), LEFT, CONTROL, middle_of(code, 5))
    assert asked == [(3, False), (5, True)]
    start = middle_of(code, 7)
    QTest.mousePress(code.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, start)
    for step in (20, 60, 100):
        QTest.mouseMove(code.viewport(), start + QPoint(step, 0))
    QTest.mouseRelease(code.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, start + QPoint(100, 0))
    assert len(asked) == 2
    assert code.textCursor().selectedText() != ""


def test_a_click_on_a_number_asks_for_its_line(code: CodeView) -> None:
    asked: list[tuple[int, bool]] = []
    code.line_requested.connect(lambda line, ctrl: asked.append((line, ctrl)))
    gutter = next(child for child in code.children() if type(child).__name__ == "Gutter")
    QTest.mouseClick(gutter, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(10, middle_of(code, 4).y()))
    assert asked == [(4, False)]


def test_the_keys_go_through_the_lines_and_enter_asks(code: CodeView) -> None:
    asked: list[tuple[int, bool]] = []
    code.line_requested.connect(lambda line, ctrl: asked.append((line, ctrl)))
    code.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(code, key)
    QTest.keyClick(code, Qt.Key.Key_Return, CONTROL)
    assert asked == [(3, False), (3, True)]


def test_the_text_cannot_be_changed(code: CodeView) -> None:
    before = code.toPlainText()
    code.setFocus()
    QTest.keyClicks(code, "abc")
    QTest.keyClick(code, Qt.Key.Key_Delete)
    assert code.toPlainText() == before


def test_a_long_text_is_taken_in_piece_by_piece(bot: QtBot, code: CodeView) -> None:
    text = "".join(f"line{number} and some more words\n" for number in range(60_000))
    assert len(text) > 15 * code_view.TAKEN_AT_ONCE
    code.set_text(text)
    assert code.loading
    assert 0 < len(code.toPlainText()) < 1.1 * code_view.TAKEN_AT_ONCE
    code.reveal(59_000)  # not there yet
    with bot.waitSignal(code.loaded):
        pass
    assert not code.loading
    assert code.toPlainText() == text
    assert code.in_view(59_000)


def test_another_text_ends_the_loading_of_the_first(bot: QtBot, code: CodeView) -> None:
    code.set_text("old line\n" * 100_000)
    assert code.loading
    code.set_text("new line\n" * 50_000)
    with bot.waitSignal(code.loaded):
        pass
    assert code.toPlainText() == "new line\n" * 50_000
    code.set_text("old line\n" * 100_000)
    code.set_text("short")
    bot.wait(20)
    assert code.toPlainText() == "short" and not code.loading


def kinds(line: str) -> dict[str, Kind]:
    return {line[piece.start : piece.start + piece.length]: piece.kind for piece in pieces(line)}


def test_the_pieces_of_ttgir() -> None:
    found = kinds('  %s1:2 = "tt.reduce"(%acc#1, @sym) <{axis = 1 : i32, kind = "a.b"}> ({  // note %x')
    assert found == {
        "%s1": Kind.VALUE,
        "2": Kind.NUMBER,
        '"tt.reduce"': Kind.OPERATION,
        "%acc#1": Kind.VALUE,
        "@sym": Kind.SYMBOL,
        "axis": Kind.ATTRIBUTE,
        "1": Kind.NUMBER,
        "i32": Kind.TYPE,
        "kind": Kind.ATTRIBUTE,
        '"a.b"': Kind.STRING,
        "// note %x": Kind.COMMENT,
    }
    found = kinds(
        "%d = ttng.warp_group_dot %a, %b : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x?xbf16, #mma>"
    )
    assert found["ttng.warp_group_dot"] is Kind.OPERATION
    assert found["!ttg.memdesc"] is found["tensor"] is found["f16"] is found["bf16"] is Kind.TYPE
    assert found["64x128x"] is found["64x?x"] is Kind.NUMBER
    assert found["#shared"] is found["#mma"] is Kind.ATTRIBUTE
    found = kinds("%r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %y) -> (f32) : i32 {")
    assert found["scf.for"] is Kind.OPERATION
    assert found["to"] is found["step"] is found["iter_args"] is Kind.KEYWORD
    found = kinds("%c = arith.constant dense<0xFF800000> : tensor<4xf32>  %d = arith.constant -1.5e-03 : f32")
    assert found["0xFF800000"] is found["-1.5e-03"] is Kind.NUMBER
    assert found["dense"] is Kind.KEYWORD


def test_pieces_follow_one_another_and_names_are_never_cut() -> None:
    for path in sorted(data_folder("projects").glob("*/input.ttgir")):
        for line in path.read_text().splitlines():
            end = 0
            for piece in pieces(line):
                assert piece.start >= end and piece.length > 0
                end = piece.start + piece.length
                text = line[piece.start : end]
                if text[0] in "%#@!":
                    assert end == len(line) or not (line[end].isalnum() or line[end] == "_"), (line, text)
            assert end <= len(line)

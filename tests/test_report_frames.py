"""Source frames: carets under the right cells, whatever the line holds and whatever became of the file."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.report.frames import Frames
from npulint.report.terminal import Paint, cells


def draw(text: str, span: Span, path: str = "a.py", width: int = 0) -> str:
    lines = text.split("\n") if text else []
    return "\n".join(Frames(lambda _: lines, Paint(False), width, 1).around(path, span, "red"))


def expect(text: str) -> str:
    return dedent(text).strip("\n").replace("~", "")


@pytest.mark.parametrize(
    ("text", "span", "shown"),
    [
        pytest.param(
            "a\nb = f(x)\nc",
            Span(2, 5, 2, 9),
            """
               |
             1 | a
             2 | b = f(x)
               |     ^^^^
             3 | c
               |~
            """,
            id="with context",
        ),
        pytest.param(
            "\nb = f(x)\n   ",
            Span(2, 1, 2, 2),
            """
               |
             2 | b = f(x)
               | ^
               |~
            """,
            id="blank context is left out",
        ),
        pytest.param(
            "名 = f(模型)",
            Span(1, 5, 1, 10),
            """
               |
             1 | 名 = f(模型)
               |      ^^^^^^^
               |~
            """,
            id="wide characters take two cells",
        ),
        pytest.param(
            "\tif x:\ty",
            Span(1, 8, 1, 9),
            """
               |
             1 |     if x:    y
               |              ^
               |~
            """,
            id="tabs",
        ),
        pytest.param(
            "x = '\x1b[2J'; y\u202e",
            Span(1, 13, 1, 14),
            """
               |
             1 | x = '\\x1b[2J'; y\\u202e
               |                ^
               |~
            """,
            id="hostile characters are shown as escapes",
        ),
        pytest.param(
            "f(\n  a,\n)",
            Span(1, 1, 3, 2),
            """
               |
             1 | / f(
             2 | |   a,
             3 | | )
               | |_^
               |~
            """,
            id="three lines",
        ),
        pytest.param(
            "f(\n  a,\n  b,\n  c,\n  d)\ng",
            Span(1, 1, 5, 5),
            """
               |
             1 | / f(
             2 | |   a,
               | | ...
             5 | |   d)
               | |____^
             6 |   g
               |~
            """,
            id="many lines",
        ),
    ],
)
def test_frames(text: str, span: Span, shown: str) -> None:
    assert draw(text, span) == expect(shown)


@pytest.mark.parametrize(
    "span",
    [
        pytest.param(Span(9, 1, 9, 2), id="a line that is gone"),
        pytest.param(Span(0, 1, 0, 2), id="no line"),
    ],
)
def test_no_frame_for_lines_that_are_not_there(span: Span) -> None:
    assert draw("a\nb", span) == ""
    assert draw("", span) == ""


@pytest.mark.parametrize(
    "span",
    [
        pytest.param(Span(1, 90, 1, 99), id="columns behind the end"),
        pytest.param(Span(1, 3, 1, 1), id="an end before the start"),
        pytest.param(Span(2, 1, 99, 1), id="an end behind the file"),
        pytest.param(Span(2, 1, 1, 1), id="an end line before the start"),
        pytest.param(Span(1, -5, 1, 0), id="negative columns"),
    ],
)
def test_spans_that_do_not_fit_still_give_a_frame(span: Span) -> None:
    assert "^" in draw("ab\ncd", span)


@given(st.integers(1, 500), st.integers(1, 60), st.sampled_from([40, 80, 0]))
def test_long_lines_are_cut_around_the_caret(column: int, length: int, width: int) -> None:
    line = "".join(chr(0x4E00 + i) if i % 7 == 0 else "x" for i in range(600))
    rows = draw(line, Span(1, column, 1, column + length), width=width).split("\n")
    code, carets = rows[1].partition(" | ")[2], rows[2].partition(" | ")[2]
    assert cells(code) <= (width or 120)
    assert cells(carets) <= cells(code)
    start = carets.index("^")
    visible = ""
    for char in code:
        if cells(visible) >= start:
            assert char == line[column - 1]
            break
        visible += char


def test_a_line_of_a_megabyte_is_drawn_quickly() -> None:
    shown = draw("y" * 500_000 + "X" + "z" * 500_000, Span(1, 500_001, 1, 500_002)).split("\n")
    assert len(shown[1]) <= 130
    assert shown[1][shown[2].index("^")] == "X"


def test_a_notebook_shows_the_code_of_the_cell() -> None:
    line = "    " + json.dumps('w = tf.nn.dropout(x, "a")\n') + ","
    shown = draw(line, Span(1, 5, 1, 10), "n.ipynb").split("\n")
    assert shown[1] == '1 | w = tf.nn.dropout(x, "a")'
    assert shown[2] == "  |     ^^^^^"


@pytest.mark.parametrize("line", ['"unfinished', "{", '"a" "b"', "[" * 10_000, "1,"])
def test_a_notebook_line_that_is_no_text_is_shown_as_it_is(line: str) -> None:
    assert draw(line, Span(1, 1, 1, 2), "n.ipynb").split("\n")[1].startswith(f"1 | {line[:50]}")


def test_the_line_of_a_related_place() -> None:
    frames = Frames(lambda _: ["a", "b"], Paint(False), 0, 1)
    assert frames.line("a.py", 2) == ["2 | b"]
    assert frames.line("a.py", 3) == []

"""Harmless text, cell widths, wrapping and the decision about colour."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.report.terminal import (
    Paint,
    cells,
    cut,
    escape_control_chars,
    linked,
    wants_color,
    wants_links,
    width_of,
    wrap,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("train.py", "train.py", id="plain text stays"),
        pytest.param("模型/训练.py", "模型/训练.py", id="Chinese stays"),
        pytest.param("a\x1b[31mb", "a\\x1b[31mb", id="ESC"),
        pytest.param("a\x1b]52;c;x\x07", "a\\x1b]52;c;x\\x07", id="clipboard"),
        pytest.param("a\nb\r\tc", "a\\nb\\r\\tc", id="newline, return, tab"),
        pytest.param("a\x9bb\x7f", "a\\x9bb\\x7f", id="C1 and DEL"),
        pytest.param("a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f", id="bidi"),
        pytest.param("a\u200bb\ufeff\xad", "a\\u200bb\\ufeff\\xad", id="no glyph"),
        pytest.param("a\u2028b\x85", "a\\u2028b\\x85", id="other line ends"),
        pytest.param("a\udcffb", "a\\xffb", id="a byte that is no UTF-8"),
        pytest.param("a\ud800b", "a\\ud800b", id="a lone surrogate"),
        pytest.param("a\U000e0041b", "a\\ue0041b", id="tag characters"),
    ],
)
def test_harmless(text: str, shown: str) -> None:
    assert escape_control_chars(text) == shown


@given(st.text())
def test_harmless_text_obeys_nobody_and_can_be_encoded(text: str) -> None:
    shown = escape_control_chars(text)
    shown.encode("utf-8")
    assert shown.isprintable() or not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\n\r\x1b")
    assert escape_control_chars(shown) == shown


@pytest.mark.parametrize(
    ("text", "width"),
    [
        pytest.param("abc", 3, id="ASCII"),
        pytest.param("模型", 4, id="wide"),
        pytest.param("a模b", 4, id="mixed"),
        pytest.param("e\u0301", 1, id="combining"),
        pytest.param("，", 2, id="full-width comma"),
        pytest.param("", 0, id="nothing"),
    ],
)
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


@given(st.text("ab模，e\u0301", max_size=20), st.integers(0, 25))
def test_cut_takes_the_longest_beginning_that_fits(text: str, width: int) -> None:
    part = cut(text, width)
    assert text.startswith(part)
    assert cells(part) <= width
    assert part == text or cells(text[: len(part) + 1]) > width


@given(st.lists(st.sampled_from(["a", "bcd", "模型", "训练，", "`tf.nn.dropout`"]), max_size=20), st.integers(15, 40))
def test_wrapping_loses_nothing_and_keeps_to_the_width(words: list[str], width: int) -> None:
    text = " ".join(words)
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cells(line) <= width for line in lines)


def test_no_line_begins_with_a_closing_mark() -> None:
    texts = ("默认 baseline.json，如存在", "数值（value）、名称")
    lines = [line for text in texts for width in range(16, 26) for line in wrap(text, width)]
    assert not [line for line in lines if line[0] in "，、）"]


def test_nothing_is_wrapped_where_nobody_counts() -> None:
    assert wrap("a " * 100, 0) == ["a " * 100]


@pytest.mark.parametrize(
    ("choice", "terminal", "environ", "colored"),
    [
        pytest.param("auto", True, {}, True, id="a terminal"),
        pytest.param("auto", False, {}, False, id="a pipe"),
        pytest.param("auto", True, {"TERM": "dumb"}, False, id="a dumb terminal"),
        pytest.param("auto", True, {"NO_COLOR": "1"}, False, id="NO_COLOR"),
        pytest.param("auto", True, {"NO_COLOR": ""}, True, id="an empty NO_COLOR says nothing"),
        pytest.param("auto", False, {"FORCE_COLOR": "1"}, True, id="FORCE_COLOR"),
        pytest.param("auto", False, {"FORCE_COLOR": "0"}, False, id="FORCE_COLOR=0"),
        pytest.param("auto", False, {"CLICOLOR_FORCE": "1"}, True, id="CLICOLOR_FORCE"),
        pytest.param("auto", True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="NO_COLOR is the stronger"),
        pytest.param("always", False, {"NO_COLOR": "1"}, True, id="asked for"),
        pytest.param("never", True, {"FORCE_COLOR": "1"}, False, id="not wanted"),
    ],
)
def test_color(choice: str, terminal: bool, environ: dict[str, str], colored: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    assert wants_color(choice, stream, environ) is colored


def test_a_closed_stream_has_no_color() -> None:
    stream = io.StringIO()
    stream.close()
    assert wants_color("auto", stream, {}) is False


@pytest.mark.parametrize(
    ("terminal", "columns", "width"),
    [
        pytest.param(False, "100", 0, id="a pipe has no width"),
        pytest.param(True, "100", 100, id="as the environment says"),
        pytest.param(True, "500", 120, id="not too wide to read"),
        pytest.param(True, "3", 40, id="not too narrow"),
        pytest.param(True, "wide", 80, id="80 where it cannot be told"),
    ],
)
def test_width(terminal: bool, columns: str, width: int) -> None:
    assert width_of(Terminal() if terminal else io.StringIO(), {"COLUMNS": columns}) == width


def test_paint_colours_only_when_on_and_only_text() -> None:
    assert Paint(True)("red", "x") == "\x1b[1;31mx\x1b[0m"
    assert Paint(True)("red", "") == ""
    assert Paint(False)("red", "x") == "x"


def test_a_link_of_the_terminal() -> None:
    assert linked("NPU1101", "https://a.b/c/") == "\x1b]8;;https://a.b/c/\x1b\\NPU1101\x1b]8;;\x1b\\"


@pytest.mark.parametrize("url", ["", "https://a.b/\x1b\\", "https://a.b/ c", "https://a.b/\x07", "https://a.b/文"])
def test_a_strange_address_is_no_link(url: str) -> None:
    assert linked("NPU1101", url) == "NPU1101"


def test_links_are_for_people_at_a_terminal() -> None:
    assert wants_links(True, Terminal(), {})
    assert not wants_links(False, Terminal(), {})
    assert not wants_links(True, io.StringIO(), {})
    assert not wants_links(True, Terminal(), {"CI": "true"})

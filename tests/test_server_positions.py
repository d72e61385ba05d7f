"""Places: npulint's lines and code points against the editor's units, in every encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, PositionEncodingKind, Range

from npulint.facts.model import Span
from npulint.hosts.server.positions import TextPositions, agreed, line_end, points, replaced, split, units

ENCODINGS = ("utf-8", "utf-16", "utf-32")
LINE = st.text(alphabet="ab \t\"'\x0c\x85\u2028é中文字😀🎉𝒳\u200d", max_size=12)
TEXT = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n", "\r"])), max_size=6).map(
    lambda parts: "".join(line + end for line, end in parts)
)
ENCODING = st.sampled_from(ENCODINGS)


def at(line: int, character: int) -> Position:
    return Position(line, character)


@given(LINE, ENCODING, st.integers(0, 14))
def test_a_column_comes_back_as_it_went(line: str, encoding: str, wanted: int) -> None:
    column = min(wanted, len(line)) + 1
    places = TextPositions([line], encoding)
    position = places.position(1, column)
    assert position == at(0, len(line[: column - 1].encode("utf-16-le")) // 2) or encoding != "utf-16"
    assert places.place(position) == (1, column)


@given(LINE, ENCODING, st.integers(0, 60))
def test_units_that_cut_a_character_in_two_stand_before_it(line: str, encoding: str, wanted: int) -> None:
    taken = points(line, wanted, encoding)
    assert units(line[:taken], encoding) <= max(wanted, 0)
    assert taken == len(line) or units(line[: taken + 1], encoding) > wanted


@given(TEXT, LINE, ENCODING, st.data())
def test_an_edit_changes_just_its_range(text: str, new: str, encoding: str, data: st.DataObject) -> None:
    lines = split(text)
    places = TextPositions(lines, encoding)
    spots = [
        (number, data.draw(st.integers(1, len(lines[number - 1]) + 1)))
        for number in sorted(data.draw(st.lists(st.integers(1, len(lines)), min_size=2, max_size=2)))
    ]
    first, second = sorted(spots)
    changed = replaced(text, Range(places.position(*first), places.position(*second)), new, encoding)
    assert changed == text[: offset(text, first)] + new + text[offset(text, second) :]


def offset(text: str, place: tuple[int, int]) -> int:
    """Counted the slow way: character by character."""
    line, column, index = 1, 1, 0
    while (line, column) != place:
        if text[index] == "\n" or (text[index] == "\r" and text[index + 1 : index + 2] != "\n"):
            line, column = line + 1, 1
        elif text[index] == "\r":
            pass  # half of a line end
        else:
            column += 1
        index += 1
    return index


@given(TEXT, ENCODING, st.integers(0, 9), st.integers(0, 40), st.integers(0, 9), st.integers(0, 40))
def test_any_range_of_any_editor_is_a_place_in_the_text(
    text: str, encoding: str, line: int, character: int, end: int, last: int
) -> None:
    lines = split(text)
    span = TextPositions(lines, encoding).span(Range(at(line, character), at(end, last)))
    for number, column in ((span.line, span.column), (span.end_line, span.end_column)):
        assert 1 <= number <= len(lines)
        assert 1 <= column <= len(lines[number - 1]) + 1
    replaced(text, Range(at(line, character), at(end, last)), "x", encoding)


@pytest.mark.parametrize(
    ("encoding", "wanted"),
    [("utf-8", (14, 21)), ("utf-16", (10, 13)), ("utf-32", (9, 11))],
)
def test_chinese_and_emoji_before_and_inside(encoding: str, wanted: tuple[int, int]) -> None:
    line = "名 = '😀'; 文😀()"
    column = line.index("文") + 1
    found = TextPositions([line], encoding).range(Span(1, column, 1, column + 2))
    assert (found.start.character, found.end.character) == wanted


def test_a_tab_is_one_column() -> None:
    assert TextPositions(["\t\tx()"]).range(Span(1, 3, 1, 6)) == Range(at(0, 2), at(0, 5))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_count_as_one(end: str) -> None:
    text = f"a{end}b{end}c"
    assert (split(text), line_end(text)) == (["a", "b", "c"], end)
    assert replaced(text, Range(at(1, 1), at(2, 0)), "", "utf-16") == f"a{end}bc"


def test_a_form_feed_ends_no_line() -> None:
    assert replaced("a\x0cb\nc", Range(at(1, 0), at(1, 1)), "d", "utf-16") == "a\x0cb\nd"


def test_a_last_line_without_an_end() -> None:
    assert replaced("a\nb", Range(at(1, 1), at(1, 1)), "c", "utf-16") == "a\nbc"
    assert replaced("a\n", Range(at(1, 0), at(1, 0)), "b", "utf-16") == "a\nb"
    assert TextPositions(["a", "b"]).range(Span(2, 2, 3, 1)) == Range(at(1, 1), at(1, 1))


def test_what_lies_outside_moves_to_the_border() -> None:
    places = TextPositions(["ab", "c"])
    assert places.range(Span(7, 3, 9, 1)) == Range(at(1, 1), at(1, 1))
    assert places.range(Span(0, 0, 0, 0)) == Range(at(0, 0), at(0, 0))
    assert places.range(Span(1, 2, 1, 1)) == Range(at(0, 1), at(0, 1))
    assert TextPositions([]).range(Span()) == Range(at(0, 0), at(0, 0))


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (None, "utf-16"),
        ([], "utf-16"),
        (["utf-7"], "utf-16"),
        ([PositionEncodingKind.Utf8, PositionEncodingKind.Utf16], "utf-8"),
        (["utf-32", "utf-8"], "utf-32"),
    ],
)
def test_the_encoding_is_the_editors_choice(wanted: list[str] | None, chosen: str) -> None:
    assert agreed(wanted) == chosen

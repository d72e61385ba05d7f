"""A file as bytes and as text: nothing changes but what is edited."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.fix.model import FixRefused
from npulint.fix.source import SourceDocument, edited_text
from npulint.judge.findings import Edit


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit("a.py", Span(line, column, end_line, end_column), text)


def edited(data: bytes, *edits: Edit, kind: str = "python") -> bytes:
    return SourceDocument("a.py", kind, data).edited(edits)


REPLACED = edit(2, 5, 2, 6, "y")
LINE = edit(2, 1, 2, 1, "new\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"a\nx = 1\nb\n", b"a\nnew\nx = y\nb\n", id="unix"),
        pytest.param(b"a\r\nx = 1\r\nb\r\n", b"a\r\nnew\r\nx = y\r\nb\r\n", id="windows"),
        pytest.param(b"a\rx = 1\rb", b"a\rnew\rx = y\rb", id="old Macintosh, no end"),
        pytest.param(b"a\r\nx = 1\nb\n", b"a\r\nnew\r\nx = y\nb\n", id="mixed: as the line before"),
        pytest.param(b"a\nx = 1\r\nb\r\n", b"a\nnew\nx = y\r\nb\r\n", id="mixed the other way"),
        pytest.param(b"\xef\xbb\xbfa\r\nx = 1", b"\xef\xbb\xbfa\r\nnew\r\nx = y", id="byte order mark"),
        pytest.param("甲\n乙 = 1\n".encode("gb18030"), "甲\nnew\n乙 = y\n".encode("gb18030"), id="Chinese, undeclared"),
        pytest.param(
            "# coding: gbk 甲\n乙 = 1\n".encode("gbk"), "# coding: gbk 甲\nnew\n乙 = y\n".encode("gbk"), id="gbk"
        ),
        pytest.param(
            "# coding: latin-1 é\nx = 1 # é\x85\n".encode("latin-1"),
            "# coding: latin-1 é\nnew\nx = y # é\x85\n".encode("latin-1"),
            id="latin-1",
        ),
        pytest.param(
            "\f# \u2028 \x1c\nx = 1\x0c\n".encode(), "\f# \u2028 \x1c\nnew\nx = y\x0c\n".encode(), id="no line ends"
        ),
    ],
)
def test_bytes_beside_the_edit_stay(before: bytes, after: bytes) -> None:
    assert edited(before, REPLACED, LINE) == after


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE])
def test_wide_texts(mark: bytes) -> None:
    wide = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF32_LE: "utf-32-le"}[mark]
    before, after = ("a\r\n𝛼 = 1\r\n".encode(wide), "a\r\nnew\r\n𝛼 = y\r\n".encode(wide))
    assert edited(mark + before, REPLACED, LINE, kind="mixlist") == mark + after


@pytest.mark.parametrize(
    ("before", "one", "after"),
    [
        pytest.param(b"a\r\nb\r\nc", edit(1, 2, 2, 2, "x\ny\nz"), b"ax\r\ny\r\nz\r\nc", id="lines for lines"),
        pytest.param(b"a\nb\r\nc\r\n", edit(1, 2, 3, 1, "x\ny\n"), b"ax\ny\r\nc\r\n", id="each as the one it replaces"),
        pytest.param(b"a\r\nb", edit(2, 2, 2, 2, "\nc\nd"), b"a\r\nb\r\nc\r\nd", id="behind a last line"),
        pytest.param(b"a\r\nb\r\nc\n", edit(1, 1, 1, 1, "x\n"), b"x\r\na\r\nb\r\nc\n", id="at the top: as most lines"),
        pytest.param(b"", edit(1, 1, 1, 1, "x\n"), b"x\n", id="an empty file"),
        pytest.param(b"a\r\nb\r\n", edit(1, 2, 2, 1, "\n"), b"a\nb\r\n", id="a line end of Unix"),
        pytest.param(b"a\r\nb\r\n", edit(1, 1, 2, 1, "\n"), b"\r\nb\r\n", id="a line that is made empty"),
        pytest.param(b"a\r\nb\r\n", edit(1, 2, 3, 1, ""), b"a", id="line ends that go"),
    ],
)
def test_line_ends(before: bytes, one: Edit, after: bytes) -> None:
    assert edited(before, one) == after


def test_two_insertions_at_one_place_keep_their_order() -> None:
    assert edited(b"a\nb\n", edit(2, 1, 2, 1, "x\n"), edit(2, 1, 2, 1, "y\n"), edit(2, 1, 2, 2, "c")) == b"a\nx\ny\nc\n"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param("# coding: gbk\nx = '甲'\n".encode("gbk"), "𝛼", id="not in GBK"),
        pytest.param(b"# coding: ascii\nx = 1\n", "é", id="not in ASCII"),
        pytest.param(b"x = 1\ny = 2\n", "\ud800", id="a lone surrogate"),
        pytest.param(b"x = 1\ny = 2\n", "a\rb", id="a line end of its own"),
        pytest.param(b"x = 1\ny = 2\n", "\0", id="NUL"),
        pytest.param(b"#\nx = '\xe9'  # \x81\x30\x81\x30\n", "# coding: utf-8\n", id="another encoding after it"),
    ],
)
def test_new_text_that_cannot_be_written(data: bytes, text: str) -> None:
    with pytest.raises(FixRefused, match="encoding"):
        edited(data, edit(2, 1, 2, 1, text))


def test_bytes_that_are_no_text() -> None:
    for data in (b"x\0", b"\xff\xff\xff", b"# coding: nonsense\n", "x".encode("utf-16")):
        with pytest.raises(FixRefused, match="encoding"):
            SourceDocument("a.py", "python", data)


@pytest.mark.parametrize("place", [(0, 1, 1, 1), (3, 1, 3, 1), (1, 4, 1, 4), (1, 2, 1, 1), (2, 1, 1, 1), (1, 0, 1, 1)])
def test_places_that_are_not_there(place: tuple[int, int, int, int]) -> None:
    with pytest.raises(FixRefused, match="place"):
        edited(b"ab\nc", edit(*place, "x"))


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_offsets_are_the_same_however_they_are_counted(encoding: str) -> None:
    """Byte by byte, too, as where a character has two spellings."""
    document = SourceDocument("a.py", "python", "# 甲\r\n乙 = 'é'\n# 𝛼\uf900".encode(encoding))
    places = range(len("# 甲\r\n乙 = 'é'\n# 𝛼\uf900") + 1)
    assert document._counted(frozenset(places)) == document._offsets(places)


@pytest.mark.parametrize(
    ("data", "edits"),
    [
        pytest.param(b"a\rb\nc", [edit(2, 1, 2, 2, "")], id="between them nothing is left"),
        pytest.param(b"a\rb\r", [edit(1, 2, 2, 2, "\n"), edit(2, 2, 3, 1, "\n")], id="one is made that of Unix"),
    ],
)
def test_two_line_ends_that_would_become_one(data: bytes, edits: list[Edit]) -> None:
    with pytest.raises(FixRefused, match="encoding"):
        edited(data, *edits)


def test_edits_that_overlap() -> None:
    with pytest.raises(FixRefused, match="place"):
        edited(b"abc\n", edit(1, 1, 1, 3, "x"), edit(1, 2, 1, 4, "y"))


_ENCODINGS = {
    "utf-8": (b"", "", "utf-8"),
    "utf-8-sig": (codecs.BOM_UTF8, "", "utf-8"),
    "gbk": (b"", "# coding: gbk\n", "gbk"),
    "gb18030": (b"", "# \u4e2d\u6587\uf900\n", "gb18030"),
    "latin-1": (b"", "# coding: latin-1\n", "latin-1"),
    "utf-16": (codecs.BOM_UTF16_BE, "", "utf-16-be"),
}
_CHARACTERS = st.sampled_from("ab =#'\t\x0c\x0b\x1c\x85\u2028é中文𝛼€")


_ENDS = st.sampled_from((("\n", "\r\n"), ("\r", "\r\n")))


@st.composite
def _cases(draw: st.DrawFn) -> tuple[str, list[str], list[str], list[tuple[int, int, str]]]:
    """An encoding, the lines of a text, their ends, and stretches to be replaced."""
    name = draw(st.sampled_from(sorted(_ENCODINGS)))
    encoding = _ENCODINGS[name][2]
    writable = _CHARACTERS.filter(lambda char: _fits(char, encoding))
    lines = draw(st.lists(st.text(writable, max_size=8), min_size=1, max_size=8))
    ends = draw(st.lists(st.sampled_from(draw(_ENDS)), min_size=len(lines), max_size=len(lines)))
    length = sum(len(line) + 1 for line in lines) - 1
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=6)))
    texts = draw(st.lists(st.text(st.one_of(writable, st.just("\n")), max_size=6), min_size=3, max_size=3))
    return (
        name,
        lines,
        ends,
        [(start, end, text) for start, end, text in zip(cuts[::2], cuts[1::2], texts, strict=False)],
    )


def _fits(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


@given(_cases())
@example(("utf-8", ["a", "", "b"], ["\r", "\r\n", "\r"], [(2, 2, "x\n")]))
@example(("gb18030", ["", "ab", ""], ["\r", "\r", "\r"], [(0, 3, "\n"), (3, 4, "\n")]))
def test_every_byte_outside_the_edits_is_the_same(
    case: tuple[str, list[str], list[str], list[tuple[int, int, str]]],
) -> None:
    """Edits are refused only where a carriage return that ends a line would be followed by a line feed."""
    name, lines, ends, wanted = case
    mark, head, encoding = _ENCODINGS[name]
    pieces = [piece for line, end in zip(lines, ends, strict=True) for piece in (line, end)][:-1]
    before = mark + (head + "".join(pieces)).encode(encoding)
    kind = "mixlist" if encoding.startswith("utf-16") else "python"
    document = SourceDocument("a.py", kind, before)
    plain = head + "\n".join(lines)
    assert document.text.text == plain
    edits = [_edit(plain, len(head) + start, len(head) + end, text) for start, end, text in wanted]
    after = _unless_refused(document, edits)
    if after is None:
        assert "\r" in ends
        SourceDocument("a.py", kind, mark + plain.encode(encoding)).edited(edits)  # not where all lines end as in Unix
        return
    again = SourceDocument("a.py", kind, after)
    assert again.text.text == edited_text(plain, edits)
    _compare(before, after, mark, encoding, head, pieces, wanted)


def _unless_refused(document: SourceDocument, edits: list[Edit]) -> bytes | None:
    """The bytes after the edits, or None where the new bytes would not be read as the new text."""
    try:
        return document.edited(edits)
    except FixRefused as refused:
        if refused.reason != "encoding":
            raise
        return None


def _edit(text: str, start: int, end: int, new: str) -> Edit:
    def place(offset: int) -> tuple[int, int]:
        before = text[:offset]
        return before.count("\n") + 1, offset - before.rfind("\n")

    return Edit("a.py", Span(*place(start), *place(end)), new)


def _compare(
    before: bytes,
    after: bytes,
    mark: bytes,
    encoding: str,
    head: str,
    pieces: list[str],
    wanted: list[tuple[int, int, str]],
) -> None:
    """The kept stretches, in their own bytes, follow each other in the new file."""
    units = [*head[:-1], head[-1:]] if head else []
    units += [unit for number, piece in enumerate(pieces) for unit in (piece if number % 2 == 0 else [piece])]
    base = len(head)
    at = done = 0
    raw = after[len(mark) :]
    for number, (start, end, _) in enumerate([*wanted, (len(units) - base, len(units) - base, "")]):
        kept = "".join(units[done : base + start]).encode(encoding)
        found = raw.find(kept, at)
        assert found >= 0
        assert found == 0 or number
        at, done = found + len(kept), base + end
    assert raw.endswith("".join(units[done:]).encode(encoding))
    assert after.startswith(mark)
    if not wanted:
        assert after == before

"""Bytes to text: what Python reads, what only Chinese tools read, and what nobody should."""

from __future__ import annotations

import codecs
import os
import threading
from pathlib import Path

import pytest

from npulint.facts.model import Problem
from npulint.read.source import DecodedSource, comments, decode, read_bytes

CHINESE = "# 训练脚本\nx = 1\n"


def decoded(data: bytes, python: bool = True) -> DecodedSource:
    source = decode(data, "x.py", python)
    assert isinstance(source, DecodedSource), source
    return source


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8"),
        (b"", "", "utf-8"),
        (CHINESE.encode(), CHINESE, "utf-8"),
        (codecs.BOM_UTF8 + CHINESE.encode(), CHINESE, "utf-8"),
        (b"# -*- coding: gbk -*-\n" + CHINESE.encode("gbk"), "# -*- coding: gbk -*-\n" + CHINESE, "gbk"),
        (b"#!/bin/x\n# vim: set fileencoding=gb2312 :\n" + "训".encode("gb2312"), None, "gb2312"),
        (b"\n# coding=latin-1\n'\xe9'\n", "\n# coding=latin-1\n'é'\n", "iso8859-1"),
        (b"# coding: UTF8\n" + "训".encode(), "# coding: UTF8\n训", "utf-8"),
        (b"# coding: utf-8-unix\nx\n", "# coding: utf-8-unix\nx\n", "utf-8"),
        (b"x = 1\n\n# coding: latin-1\n'\xc3\xa9'", "x = 1\n\n# coding: latin-1\n'é'", "utf-8"),
        (b"x = 1  # coding: latin-1\n# coding: latin-1\n'\xc3\xa9'", None, "utf-8"),
    ],
    ids=[
        "ascii",
        "empty",
        "utf-8",
        "byte order mark",
        "cookie in line 1",
        "cookie in line 2",
        "cookie after a blank line",
        "cookie spelt UTF8",
        "cookie with a line-end suffix",
        "cookie in line 3 does not count",
        "cookie behind code does not count",
    ],
)
def test_text_is_decoded_as_python_does(data: bytes, text: str | None, encoding: str) -> None:
    source = decoded(data)
    assert source.encoding == encoding
    assert source.problems == ()
    assert text is None or source.text == text


def test_a_byte_order_mark_is_remembered_and_no_part_of_the_text() -> None:
    source = decoded(codecs.BOM_UTF8 + b"x = 1\n")
    assert (source.bom, source.text) == (True, "x = 1\n")


def test_gbk_without_a_cookie_is_read_and_reported() -> None:
    source = decoded(b"import tf\n" + CHINESE.encode("gbk"))
    assert source.text == "import tf\n" + CHINESE
    (problem,) = source.problems
    assert (problem.reason, problem.fatal, problem.span.line) == ("encoding", False, 2)


def test_gbk_behind_a_utf8_cookie_is_read_and_reported() -> None:
    source = decoded(b"# coding: utf-8\n" + CHINESE.encode("gbk"))
    assert "训练" in source.text
    assert [problem.fatal for problem in source.problems] == [False]


def test_utf8_behind_a_gbk_cookie_is_read_and_reported() -> None:
    data = b"# coding: gb2312\n" + "深度学习框架迁移工具".encode() + b"\xe4\xb8\xad"
    source = decoded(data)
    assert "深度学习" in source.text
    assert [problem.reason for problem in source.problems] == ["encoding"]


@pytest.mark.parametrize(
    ("data", "line", "detail"),
    [
        ("x = 1\n".encode("utf-16"), 1, "UTF-16"),
        ("x = 1\n".encode("utf-16-be"), 1, "UTF-16 without"),
        ("x = 1\n".encode("utf-16-le"), 1, "UTF-16 without"),
        ("x = 1\n".encode("utf-32"), 1, "UTF-32"),
        (b"x = 1\r\ny = '\0'\n", 2, "NUL"),
        (b"# coding: klingon\n", 1, "unknown encoding klingon"),
        (b"# coding: rot13\n", 1, "not for sources"),
        (b"# coding: punycode\n", 1, "not for sources"),
        (b"# coding: zip\n", 1, "not for sources"),
        (b"# coding: utf-16\n", 1, "not for sources"),
        (b"# coding: ascii\nx = '\xe9'\n", 2, "not ascii"),
        (b"x = 1\ny = '\xff\xff'\n", 2, "neither"),
    ],
)
def test_what_is_no_source_text_gives_a_clear_problem(data: bytes, line: int, detail: str) -> None:
    problem = decode(data, "x.py")
    assert isinstance(problem, Problem)
    assert (problem.reason, problem.fatal, problem.span.line) == ("encoding", True, line)
    assert detail in problem.detail


def test_other_files_than_python_may_be_utf16_and_have_no_cookie() -> None:
    assert decoded("torch==1.8\n".encode("utf-16"), python=False).text == "torch==1.8\n"
    assert decoded(b"# coding: latin-1\n\xc3\xa9", python=False).text.endswith("é")


@pytest.mark.parametrize(
    ("data", "newline"),
    [(b"a\nb\n", "\n"), (b"a\r\nb\r\n", "\r\n"), (b"a\rb\r", "\r"), (b"a\r\nb\n", ""), (b"a\r\nb\r", "")],
    ids=["unix", "windows", "old mac", "mixed", "mixed returns"],
)
def test_line_ends_become_feeds_and_are_remembered(data: bytes, newline: str) -> None:
    source = decoded(data)
    assert (source.text, source.newline) == ("a\nb\n", newline)


def test_lines_are_those_of_python_and_not_of_unicode() -> None:
    text = "a = '\x0c\x1c\u2028\x85'\nb\n"
    assert decoded(text.encode()).text.count("\n") == 2


def test_a_missing_a_special_and_a_large_file_are_problems(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 11)
    os.mkfifo(tmp_path / "fifo")
    found = {}
    for name in ("missing", "large", "fifo", ".", "bad\0name"):
        problem = read_bytes(str(tmp_path / name), name, 10)
        assert isinstance(problem, Problem)
        found[name] = problem.reason
    assert found == {
        "missing": "unreadable",
        "large": "too-large",
        "fifo": "not-a-file",
        ".": "unreadable",
        "bad\0name": "unreadable",
    }


def test_a_fifo_with_a_patient_writer_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    holder = os.open(tmp_path / "x.py", os.O_RDWR)
    try:
        done: list[object] = []
        thread = threading.Thread(target=lambda: done.append(read_bytes(str(tmp_path / "x.py"), "x.py", 10)))
        thread.daemon = True
        thread.start()
        thread.join(5)
        assert isinstance(done[0], Problem)
    finally:
        os.close(holder)


# -- suppression comments


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1\n", []),
        ("x = 1  # plain\n", []),
        ("x = 1  # npulint: ignore[a] why\n", [(1, False, "npulint: ignore[a] why")]),
        ("x\n   # npulint: ignore-file\n", [(2, True, "npulint: ignore-file")]),
        ("x  # type: ignore # NOQA: NPU1101\n", [(1, False, "type: ignore # NOQA: NPU1101")]),
        ("x = '# noqa'\n", []),
        ('"""\n# npulint: ignore[a]\n"""\n', []),
        ('x = "#" # noqa: NPU1101\n', [(1, False, "noqa: NPU1101")]),
        ("x = 1  # noqa: E501, F401\n", []),
        ("f(a,  # noqa\n  b)  # npulint: ignore[b]\n", [(1, False, "noqa"), (2, False, "npulint: ignore[b]")]),
        ("noqa = 1\n", []),
    ],
)
def test_suppression_comments_are_found_and_strings_are_not(text: str, found: list[tuple[int, bool, str]]) -> None:
    assert [(comment.line, comment.alone, comment.text) for comment in comments(text)] == found


def test_text_that_is_no_python_is_searched_line_by_line() -> None:
    text = "x = 1  # noqa: A\nprint 'a'\n)  # noqa: B\n  y = '''\n# npulint: ignore[c]\n"
    assert [comment.line for comment in comments(text)] == [1, 3, 5]


def test_shell_comments_begin_at_a_blank() -> None:
    text = "echo a#noqa\nexport A=1 # npulint: ignore[b]\n# noqa\n"
    found = [(comment.line, comment.alone) for comment in comments(text, python=False)]
    assert found == [(2, False), (3, True)]

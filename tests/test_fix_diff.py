"""Patches: git makes of the old bytes exactly the new ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.fix.diff import unified
from npulint.judge.fix_results import FileChange
from tests.tools import needed

LONG = b"".join(b"line %d\n" % number for number in range(40))
CASES = [
    pytest.param(b"a\nb\nc\n", b"a\nB\nc\n", id="unix"),
    pytest.param(b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nnew\r\nc\r\n", id="windows"),
    pytest.param(b"a\r\nb\nc\r\n", b"a\nb\nC\r\n", id="a line end alone"),
    pytest.param(b"a\rb\rc", b"a\rB\rc", id="old Macintosh"),
    pytest.param(b"a\nb", b"a\nB", id="no final line end"),
    pytest.param(b"a\nb", b"a\nb\n", id="a final line end comes"),
    pytest.param(b"a\nb\n", b"a\nb", id="a final line end goes"),
    pytest.param(b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfA\nb\n", id="byte order mark"),
    pytest.param("甲\n乙\n".encode("gbk"), "甲\n丙\n".encode("gbk"), id="GBK"),
    pytest.param("a\f\u2028b\x85\nc\n".encode(), "a\f\u2028b\x85\nC\n".encode(), id="what ends no line"),
    pytest.param(b"", b"a\n", id="an empty file"),
    pytest.param(b"a\n", b"", id="nothing is left"),
    pytest.param(LONG, LONG.replace(b"line 3\n", b"").replace(b"line 30\n", b"x\ny\n"), id="two places"),
    pytest.param(LONG, b"first\n" + LONG + b"last", id="both ends"),
    pytest.param(b"a\n" * 9, b"a\n" * 8, id="all lines alike"),
    pytest.param(b"--- a\n+++ b\n", b"--- a\n+++ c\n", id="lines like those of a patch"),
]


def patched(folder: Path, patch: bytes, *tool: str) -> None:
    result = subprocess.run(tool, cwd=folder, input=patch, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode("utf-8", "replace") + patch.decode("utf-8", "replace")


def git_apply(folder: Path, patch: bytes) -> None:
    patched(folder, patch, needed("git"), "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-")


@pytest.mark.parametrize(("before", "after"), CASES)
def test_git_takes_the_patch(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_bytes(before)
    git_apply(tmp_path, unified([FileChange("sub/a.py", before, after)]))
    assert (tmp_path / "sub" / "a.py").read_bytes() == after


@pytest.mark.parametrize(("before", "after"), CASES)
def test_patch_takes_it(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "a.py").write_bytes(before)
    patched(tmp_path, unified([FileChange("a.py", before, after)]), needed("patch"), "-p1", "--binary", "--posix")
    place = tmp_path / "a.py"
    assert (place.read_bytes() if place.exists() else b"") == after


@pytest.mark.parametrize("after", [b"{}\n", b"{}", b"{\r\n}\r\n"])
def test_new_files(tmp_path: Path, after: bytes) -> None:
    patch = unified([FileChange("lists/ops_info.json", b"", after, new=True)])
    git_apply(tmp_path, patch)
    assert (tmp_path / "lists" / "ops_info.json").read_bytes() == after
    assert patch.startswith(b"--- /dev/null\n+++ b/lists/ops_info.json\n@@ -0,0 +1")


@pytest.mark.parametrize("name", ["a b.py", 'a"b.py', "a\\b.py", "a\tb.py", "甲.py", "a\x1bb.py", '甲\n".py'])
def test_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"a\n")
    git_apply(tmp_path, unified([FileChange(name, b"a\n", b"b\n")]))
    assert (tmp_path / name).read_bytes() == b"b\n"


def test_several_files_and_what_does_not_change() -> None:
    changes = [
        FileChange("a.py", b"a\n", b"b\n"),
        FileChange("b.py", b"a\n", b"a\n"),
        FileChange("c.py", b"a\n", b"c\n"),
    ]
    assert unified(changes) == (
        b"--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-a\n+b\n--- a/c.py\n+++ b/c.py\n@@ -1,1 +1,1 @@\n-a\n+c\n"
    )


def test_three_lines_around_a_change_are_shown() -> None:
    patch = unified([FileChange("/tmp/a.py", LONG, LONG.replace(b"line 20\n", b"x\n"))])
    assert patch.split(b"\n")[:4] == [b"--- a/tmp/a.py", b"+++ b/tmp/a.py", b"@@ -18,7 +18,7 @@", b" line 17"]
    assert patch.count(b"\n") == 3 + 3 + 2 + 3


def test_a_long_file_is_compared_quickly() -> None:
    before = b"".join(b"w%d\n" % (number % 7) for number in range(200_000))
    after = before[:300_000] + b"x\n" + before[300_000:]
    assert unified([FileChange("a.py", before, after)]).count(b"\n") == 10
    patch = unified([FileChange("a.py", before, b"x\n" + after)])
    assert _applied(before, patch) == b"x\n" + after


_LINES = st.lists(st.sampled_from([b"a", b"b", b"c\r", b"", b"\xff"]), max_size=12)


@given(_LINES, _LINES, st.booleans(), st.booleans())
@settings(max_examples=300)
def test_a_patch_says_what_was_and_what_is(one: list[bytes], other: list[bytes], end: bool, other_end: bool) -> None:
    """Read back without a tool: hunk by hunk."""
    before, after = (b"\n".join(some) + (b"\n" if ended else b"") for some, ended in ((one, end), (other, other_end)))
    assert _applied(before, unified([FileChange("a", before, after)])) == after


def _applied(data: bytes, patch: bytes) -> bytes:
    old, made, at = data.split(b"\n"), list[bytes](), 0
    old = [line + b"\n" for line in old[:-1]] + ([old[-1]] if old[-1] else [])
    lines = patch.split(b"\n")[2:-1]
    for number, line in enumerate(lines):
        body = line[1:] + (b"" if lines[number + 1 : number + 2] == [b"\\ No newline at end of file"] else b"\n")
        if line.startswith(b"@@"):
            start, count = map(int, line.split(b" ")[1][1:].split(b","))
            begin = start - 1 if count else start
            made += old[at:begin]
            at = begin
        elif line[:1] in (b" ", b"-"):
            assert old[at] == body
            at += 1
        if line[:1] in (b" ", b"+"):
            made.append(body)
    return b"".join([*made, *old[at:]])

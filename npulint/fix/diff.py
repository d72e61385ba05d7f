"""File changes as a patch for ``git apply`` and ``patch -p1``, in bytes because every file has its own encoding."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from npulint.discover.paths import shown
from npulint.judge.fix_results import FileChange

_CONTEXT = 3  # lines before and behind a change
_LONG = 2000  # lines; in longer stretches what repeats itself often is not matched, which would take minutes
_NO_END = b"\\ No newline at end of file\n"
_ESCAPES = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}


def unified(changes: Iterable[FileChange]) -> bytes:
    """The unified diff of all changes."""
    return b"".join(map(_of_file, changes))


def _of_file(change: FileChange) -> bytes:
    old, new = _lines(change.before), _lines(change.after)
    hunks = b"".join(_hunks(old, new))
    if not hunks:
        return b""
    name = _name(change)
    before = b"/dev/null" if change.new else _quoted(b"a/" + name)
    return b"--- " + before + b"\n+++ " + _quoted(b"b/" + name) + b"\n" + hunks


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterable[bytes]:
    """The hunks of a diff with context lines. Common lines at both ends are not passed to difflib."""
    begin = _common_prefix(old, new)
    close = min(_common_prefix(old[::-1], new[::-1]), len(old) - begin, len(new) - begin)
    start, end = max(0, begin - _CONTEXT), max(0, close - _CONTEXT)
    first, second = old[start : len(old) - end], new[start : len(new) - end]
    compared = SequenceMatcher(None, first, second, autojunk=len(second) > _LONG)
    for group in compared.get_grouped_opcodes(_CONTEXT):
        _, i, _, j, _ = group[0]
        _, _, last_i, _, last_j = group[-1]
        yield b"@@ -%s +%s @@\n" % (_range(start + i, last_i - i), _range(start + j, last_j - j))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_line(b" ", line) for line in first[i1:i2])
            else:
                yield from (_line(b"-", line) for line in first[i1:i2])
                yield from (_line(b"+", line) for line in second[j1:j2])


def _common_prefix(lines: Sequence[bytes], other: Sequence[bytes]) -> int:
    """The number of common leading lines."""
    pairs = enumerate(zip(lines, other, strict=False))
    return next((at for at, (first, second) in pairs if first != second), min(len(lines), len(other)))


def _range(start: int, count: int) -> bytes:
    """The line range of a hunk; an empty one is placed after the preceding line."""
    return b"%d,%d" % (start + 1 if count else start, count)


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n" + _NO_END


def _lines(data: bytes) -> list[bytes]:
    """The lines as patches count them: only a line feed ends one."""
    *lines, last = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _name(change: FileChange) -> bytes:
    """The path in bytes of the file system encoding."""
    place = change.location.replace(os.sep, "/")
    return os.fsencode(place if place and shown(change.location) == change.path else change.path).lstrip(b"/")


def _quoted(name: bytes) -> bytes:
    """A name as git writes it: quoted if it contains special characters, followed by a tab if it contains blanks."""
    if any(byte < 32 or byte in b'"\\\x7f' for byte in name):
        return b'"' + b"".join(map(_escaped, name)) + b'"'
    return name + b"\t" if b" " in name else name


def _escaped(byte: int) -> bytes:
    return _ESCAPES.get(byte) or (bytes((byte,)) if 32 <= byte < 127 else b"\\%03o" % byte)

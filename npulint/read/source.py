"""Decodes sources: PEP 263 as in Python, and GB18030 for Chinese sources without a cookie."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.discover.safe_open import NotRegularError, TooLargeError, read_regular
from npulint.facts.model import Comment, Problem, Span

_COOKIE = lazy_compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = lazy_compile(rb"^[ \t\f]*(?:#|\r|\n|$)")
_FIRST_LINES = lazy_compile(rb"[^\r\n]*(?:\r\n?|\n)?")
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MARKS = tuple([mark for mark, _ in _WIDE_MARKS])
# Standard codecs that are no source encodings; some take quadratic time.
_NO_SOURCE = frozenset(("punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7", "charmap"))
_CHINESE = frozenset(("gb2312", "gbk", "hz"))
_NOQA = lazy_compile(r"noqa[ \t]*:[^\n]*npu\d", re.IGNORECASE)  # any other noqa belongs to other tools
_WORD = lazy_compile(r"npulint:|noqa", re.IGNORECASE)
_SHELL_COMMENT = lazy_compile(r"(?:^|(?<=\s))#(.*)")


class DecodedSource(msgspec.Struct, frozen=True):
    """A decoded file. `text` has ``\\n`` line ends only; `encoding`, `bom` and `newline` (``\\n``, ``\\r\\n``, ``\\r``,
    or empty if mixed) describe the bytes. `problems` are not fatal."""

    text: str
    encoding: str = "utf-8"
    bom: bool = False
    newline: str = "\n"
    problems: tuple[Problem, ...] = ()


def read_bytes(location: str, path: str, limit: int) -> bytes | Problem:
    """The bytes of a regular file of at most `limit` bytes; else a problem for `path`."""
    try:
        return read_regular(location, limit)
    except TooLargeError:
        return Problem(path, "too-large", f"> {limit}")
    except NotRegularError:
        return Problem(path, "not-a-file")
    except (OSError, ValueError) as error:
        return Problem(path, "unreadable", getattr(error, "strerror", None) or "")


def decode(data: bytes, path: str, python: bool = True) -> DecodedSource | Problem:
    """The text of `data`. Other kinds than Python may also be UTF-16 with a byte order mark.

    Returns a fatal `Problem` (reason ``encoding``) for UTF-16 Python, NUL bytes, an unknown or wrong cookie, and bytes
    that are neither UTF-8 nor GB18030. GB18030 without a cookie gives text and a non-fatal `Problem`, because Python
    itself rejects it."""
    if data.startswith(_MARKS):
        wide = next(name for mark, name in _WIDE_MARKS if data.startswith(mark))
        return _wide(data, wide, path, python)
    nul = data.find(b"\0")
    if nul >= 0:
        wide = _looks_wide(data[:2000])
        return _problem(path, data, nul, f"{wide} without a byte order mark" if wide else "NUL byte")
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[3:] if bom else data
    cookie = None if bom or not python else _cookie(body)
    if cookie is not None:
        return _declared(body, cookie, path)
    return _undeclared(body, bom, path)


def _wide(data: bytes, encoding: str, path: str, python: bool) -> DecodedSource | Problem:
    if python:
        return _problem(path, data, 0, encoding.upper())
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        return _problem(path, data, 0, f"{encoding.upper()}: {error.reason}")
    return _problem(path, data, 0, "NUL byte") if "\0" in text else _source(text, encoding, True)


def _looks_wide(head: bytes) -> str:
    """The UTF-16 variant if nearly every second byte is NUL, as in English text; else empty."""
    half = max(1, len(head) // 2)
    if max(head[0::2].count(0), head[1::2].count(0)) > half * 0.6:
        return "UTF-32" if head.count(0) > len(head) * 0.7 else "UTF-16"
    return ""


def _cookie(body: bytes) -> str | None:
    """The encoding declared in one of the first two lines."""
    if b"coding" not in body[: body.find(b"\n", body.find(b"\n") + 1)]:
        return None
    lines = _FIRST_LINES.match(body)
    first = lines.group() if lines else b""
    match = _COOKIE.match(first[:1000])
    if match is None and _BLANK.match(first):
        second = _FIRST_LINES.match(body, len(first))
        match = _COOKIE.match(second.group()[:1000]) if second else None
    return match.group(1).decode("ascii", "replace") if match else None


def _declared(body: bytes, cookie: str, path: str) -> DecodedSource | Problem:
    name = cookie.replace("_", "-").lower()
    if name == "utf-8" or name.startswith("utf-8-"):
        return _undeclared(body, False, path)
    try:
        codec = codecs.lookup(cookie)
    except (LookupError, ValueError):
        return _problem(path, body, 0, f"unknown encoding {cookie}")
    if codec.name in _NO_SOURCE or not getattr(codec, "_is_text_encoding", True) or codec.name.startswith("utf-16"):
        return _problem(path, body, 0, f"encoding {cookie} is not for sources")
    if codec.name == "utf-8":
        return _undeclared(body, False, path)
    try:
        return _source(body.decode(codec.name), codec.name, False)
    except UnicodeDecodeError as error:
        problem = _problem(path, body, error.start, f"not {cookie}", fatal=False)
    fallback = _try(body, "utf-8") or (_try(body, "gb18030") if codec.name in _CHINESE else None)
    if fallback is None:
        return msgspec.structs.replace(problem, fatal=True)
    return msgspec.structs.replace(fallback, problems=(problem,))


def _undeclared(body: bytes, bom: bool, path: str) -> DecodedSource | Problem:
    try:
        return _source(body.decode("utf-8"), "utf-8", bom)
    except UnicodeDecodeError as error:
        problem = _problem(path, body, error.start, "neither UTF-8 nor GB18030")
    fallback = _try(body, "gb18030")
    if fallback is None:
        return problem
    hint = msgspec.structs.replace(problem, detail="GB18030, not UTF-8", fatal=False)
    return msgspec.structs.replace(fallback, problems=(hint,))


def _try(body: bytes, encoding: str) -> DecodedSource | None:
    try:
        return _source(body.decode(encoding), encoding, False)
    except UnicodeDecodeError:
        return None


def _source(text: str, encoding: str, bom: bool) -> DecodedSource:
    if "\r" not in text:
        return DecodedSource(text, encoding, bom)
    pairs, returns, feeds = text.count("\r\n"), text.count("\r"), text.count("\n")
    newline = ""
    if pairs == returns == feeds:
        newline = "\r\n"
    elif not feeds:
        newline = "\r"
    return DecodedSource(text.replace("\r\n", "\n").replace("\r", "\n"), encoding, bom, newline)


def _problem(path: str, data: bytes, offset: int, detail: str, fatal: bool = True) -> Problem:
    before = data[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line = before.count(b"\n") + 1
    return Problem(path, "encoding", detail, Span.at(line), fatal)


def comments(text: str, python: bool = True) -> list[Comment]:
    """The comments that may suppress a finding (those with ``npulint:`` or ``noqa``), in line order.

    A text without these words costs one search. Words inside strings do not count; if the text is not valid Python,
    each line is judged separately."""
    lowered = text.encode("utf-8", "replace").lower()  # bytes: lower() of wide text is slow
    if b"npulint:" not in lowered and (b"noqa" not in lowered or _NOQA.search(text) is None):
        return []
    if not python:
        return list(_by_line(text))
    return _by_token(text)


def _by_token(text: str) -> list[Comment]:
    import io
    import tokenize

    relevant = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and _WORD.search(token.string):
                alone = not token.line[: token.start[1]].strip()
                relevant.append(Comment(token.start[0], alone, token.string.lstrip("#").strip()))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        last = relevant[-1].line if relevant else 0
        relevant += [comment for comment in _by_line(text) if comment.line > last]
    return relevant


def _by_line(text: str) -> Iterator[Comment]:
    for number, line in enumerate(text.split("\n"), 1):
        if _WORD.search(line) is None:
            continue
        match = _SHELL_COMMENT.search(line)
        if match is not None and _WORD.search(match.group(1)):
            yield Comment(number, not line[: match.start()].strip(), match.group(1).lstrip("#").strip())

"""JSON of artifacts: whole documents, concatenated documents, and members of a huge object one at a time."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from npulint.core.lazy_regex import lazy_compile

LIMIT = 64 << 20
"""Maximum bytes of a document that is read whole; real ones have some kilobytes."""

_CHUNK = 1 << 20
_BLANK = lazy_compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


class NotJsonError(ValueError):
    """The file contains no JSON of the expected kind."""


def parsed(data: bytes) -> tuple[str, dict[str, object]]:
    """The text and the object of a JSON file. Raises `ValueError`."""
    text = data.decode("utf-8-sig", "replace")
    try:
        document = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError("no JSON object")
    return text, document


def text_of(stream: BinaryIO) -> str:
    """The whole text of a file. Raises `NotJsonError` if it is too large."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise NotJsonError("larger than such files are")
    return data.decode("utf-8-sig", "replace")


def documents(text: str) -> Iterator[tuple[int, int, Any]]:
    """(start, end, value) of concatenated JSON values, up to the first invalid one.

    Raises `NotJsonError` if there is no valid one."""
    at = count = 0
    while (match := _BLANK.match(text, at)) and match.end() < len(text):
        try:
            value, end = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError) as error:
            if count:
                return
            raise NotJsonError("nested too deeply" if isinstance(error, RecursionError) else str(error)) from None
        yield match.end(), end, value
        at, count = end, count + 1
    if not count:
        raise NotJsonError("nothing in it")


class Members:
    """Iterates over the members of the object under `key` in a JSON file, which may have gigabytes.

    `head` is the text before it, `truncated` says that the file ends within it."""

    def __init__(self, stream: BinaryIO, key: str) -> None:
        self._stream = stream
        self._opening = lazy_compile(rf'"{key}"\s*:\s*\{{')
        self._text = ""
        self._at = 0
        self._line = 1
        self._codec = codecs.getincrementaldecoder("utf-8")("replace")
        self._ended = False
        self.head = ""
        self.truncated = False

    def __iter__(self) -> Iterator[tuple[int, str, Any]]:
        """(line, name, value) of each member. Raises `NotJsonError` if the file has no such object."""
        while (match := self._opening.search(self._text)) is None:
            if len(self._text) > _CHUNK or not self._more():
                raise NotJsonError("no such object")
        self.head = self._text[: match.start()]
        self._pass(match.end())
        while True:
            self._pass(_blank(self._text, self._at))
            if self._at == len(self._text):
                if self._more():
                    continue
                self.truncated = True
                return
            if self._text[self._at] == "}":
                return
            member = self._member()
            if member is None:
                self.truncated = True
                return
            yield member

    def _member(self) -> tuple[int, str, Any] | None:
        """The next member; None if it is invalid or incomplete."""
        while True:
            try:
                name, at = _DECODER.raw_decode(self._text, self._at)
                at = _blank(self._text, at)
                if not isinstance(name, str) or self._text[at : at + 1] not in (":", ""):
                    return None
                value, end = _DECODER.raw_decode(self._text, _blank(self._text, at + 1))
                if end < len(self._text):  # else a number may continue
                    break
                if self._ended:
                    return None
            except ValueError:
                if self._ended:
                    return None
            except RecursionError:
                return None
            if len(self._text) - self._at > LIMIT:
                return None
            self._more()
        line = self._line
        self._pass(end)
        return line, name, value

    def _pass(self, at: int) -> None:
        self._line += self._text.count("\n", self._at, at)
        self._at = at

    def _more(self) -> bool:
        """Read more, doubling the amount while a member is incomplete."""
        data = self._stream.read(max(_CHUNK, len(self._text) - self._at))
        self._ended = not data
        self._text = self._text[self._at :] + self._codec.decode(data, final=not data)
        self._at = 0
        return bool(data)


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at

"""Files in protobuf's text format."""

from __future__ import annotations

from npulint.discover.safe_open import TooLargeError, read_regular
from npulint.graphs.read.errors import GraphError

LIMIT = 512 * 1024 * 1024
"""Maximum bytes of a file; its text is in memory while it is read."""


def text_of(location: str) -> bytes:
    """The content of a file. Raises `GraphError` if it is too large, and `OSError`."""
    try:
        return read_regular(location, LIMIT)
    except TooLargeError as error:
        raise GraphError("graph-too-large", f"more than {LIMIT >> 20} MB") from error

"""Text lines of files on disk, for source excerpts and fingerprints; none for files that cannot be read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from npulint.discover.graphs import HEAD, form_of_text
from npulint.discover.kinds import kinds_of
from npulint.discover.paths import Boundary
from npulint.discover.safe_open import read_regular
from npulint.read.source import DecodedSource, decode

LineProvider = Callable[[str], Sequence[str]]

_LIMIT = 20_000_000  # bytes
_MAX_FILES = 32  # files
_MAX_BYTES = 40_000_000  # bytes of all cached files but the last
_BINARY = (  # models and archives; .ts is TorchScript
    *(".pb", ".meta", ".pt2", ".pt", ".pth", ".ts", ".torchscript", ".ptl", ".jit", ".onnx", ".gz"),
    *(".keras", ".h5", ".hdf5", ".tflite", ".safetensors", ".ckpt", ".om", ".mindir", ".engine", ".plan", ".trt"),
)


class FileLines:
    """Reads the lines of files on demand and caches the last few. `content` replaces files by path, such as standard
    input. Binary files and graphs have no lines, and neither has a file outside of the `boundary`, if there is one: a
    finding may be about a link that leads there."""

    def __init__(self, content: Mapping[str, bytes] | None = None, boundary: Boundary | None = None) -> None:
        self._content = content or {}
        self._boundary = boundary
        self._kept: OrderedDict[str, Sequence[str]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def __call__(self, path: str) -> Sequence[str]:
        """The lines of the file at `path` without line ends; empty when it cannot be read."""
        lines = self._kept.get(path)
        if lines is None:
            data = self._bytes(path)
            self._sizes[path] = len(data)
            while self._kept and (len(self._kept) >= _MAX_FILES or sum(self._sizes.values()) > _MAX_BYTES):
                del self._sizes[self._kept.popitem(last=False)[0]]
            lines = self._kept[path] = split(data) if kinds_of(path) else _lines_of_run(data)
        return lines

    def _bytes(self, path: str) -> bytes:
        if path in self._content:
            return self._content[path]
        if path.endswith(_BINARY) or (self._boundary is not None and not self._boundary.holds(path)):
            return b""
        try:
            data = read_regular(path, _LIMIT)
        except (OSError, ValueError):
            return b""
        return b"" if path.endswith(".json") and form_of_text(path, data[:HEAD]) else data


def split(data: bytes, python: bool = True) -> list[str]:
    """The lines of a source as Python counts them; undecodable bytes become backslash escapes."""
    source = decode(data, "", python)
    if isinstance(source, DecodedSource):
        text = source.text
    else:
        text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n") if text else []


def _lines_of_run(data: bytes) -> list[str]:
    """The lines of a run artifact as its readers count them: a progress bar with carriage returns is one line."""
    return split(data.replace(b"\r\n", b"\n").replace(b"\r", b" "), python=False)


def cell_line(line: str) -> str:
    """The code in a line of a notebook file: the decoded JSON string; columns of findings count in it."""
    import json

    stripped = line.strip().removesuffix(",")
    try:
        value = json.loads(stripped) if stripped.startswith('"') else None
    except (ValueError, RecursionError):
        value = None
    return value.rstrip("\r\n") if isinstance(value, str) else line

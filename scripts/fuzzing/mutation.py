"""Ways to damage a file that was in order."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import strategies as st

from scripts.fuzzing.example import Example, Files, seeds_with

NASTY = (
    *("", " ", "\0", "\ufeff", "\x1b[31m", "\x1b]8;;http://x\x07", "\r", "\x0c", "\x85", "\u2028", "\u202e", "\u200b"),
    *(
        "\udcff",
        "\ufffe",
        "模型",
        "😀",
        "é",
        "e\u0301",
        "𝒳",
        "]]>",
        "<script>",
        "${X}",
        "$(x)",
        "`x`",
        "%s",
        "{0}",
        "{{",
    ),
    *("'", '"', '"""', "\\", "#", "# npulint: ignore[", "# npulint: ignore[native-dropout] x", "# noqa: NPU1101"),
    *("(", ")", "[", "]", "{", "}", "<", ">", "|", "&", ";", ":", "::", ",", "*", "**", "@", "=", "==", "~", "-", "--"),
    *("0", "-1", "1e999", "-1e308", "nan", "inf", "NaN", "0x" + "f" * 400, "9" * 30, "9" * 5000, "1_0", "1e-400"),
    *("../../etc/passwd", "/dev/zero", "/proc/self/environ", "C:\\x", "a" * 3000, "a." * 500, ".", "..", "/", "~"),
    *("None", "True", "null", "yes", "&a", "*a", "!!python/object:os.system", "<<", "---", "...", "\t"),
)
MOST = 300_000  # bytes of a mutated file; larger ones only make slow what is not wrong
COUNTS = (2, 3, 10, 100, 1000, 5000)
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "gb18030", "latin-1", "cp1252", "shift_jis", "utf-7")

nasty = st.one_of(st.sampled_from(NASTY), st.text(max_size=6))
"""A text that nobody expects."""


def encoded(text: str) -> bytes:
    """The bytes of a text, lone surrogates as the bytes they stand for."""
    return text.encode("utf-8", "surrogatepass" if any("\ud800" <= c < "\udc80" for c in text) else "surrogateescape")


def _cut(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    return data[: draw(st.integers(0, len(data)))]


def _without(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    start = draw(st.integers(0, max(0, len(lines) - 1)))
    return b"".join(lines[:start] + lines[start + draw(st.integers(1, 5)) :])


def _repeat(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    """Some lines many times."""
    lines = data.splitlines(keepends=True) or [b""]
    start = draw(st.integers(0, len(lines) - 1))
    end = start + draw(st.integers(1, 4))
    piece = b"".join(lines[start:end])
    count = min(draw(st.sampled_from(COUNTS)), MOST // max(1, len(piece)))
    return b"".join(lines[:start]) + piece * count + b"".join(lines[end:])


def _repeat_token(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    """Some tokens many times."""
    found = list(_TOKEN.finditer(data))
    if not found:
        return data
    at = draw(st.integers(0, len(found) - 1))
    start, end = found[at].start(), found[min(len(found) - 1, at + draw(st.integers(0, 3)))].end()
    count = min(draw(st.sampled_from(COUNTS)), MOST // max(1, end - start))
    return data[:start] + data[start:end] * count + data[end:]


def _splice(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    lines, more = data.splitlines(keepends=True), other.splitlines(keepends=True)
    at = draw(st.integers(0, len(lines)))
    start = draw(st.integers(0, len(more)))
    return b"".join(lines[:at] + more[start : start + draw(st.integers(1, 20))] + lines[at:])


def _swap(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    """A token becomes something else."""
    found = list(_TOKEN.finditer(data))
    if not found:
        return data
    place = found[draw(st.integers(0, len(found) - 1))]
    return data[: place.start()] + encoded(draw(nasty)) + data[place.end() :]


def _number(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    place = found[draw(st.integers(0, len(found) - 1))]
    number = draw(
        st.sampled_from(["0", "-1", "1e999", "9" * 25, "9" * 5000, "nan", "1e308", "0.1e-320", "1" * 400, ""])
    )
    return data[: place.start()] + number.encode() + data[place.end() :]


def _insert(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    at = draw(st.integers(0, len(data)))
    piece = draw(st.one_of(nasty.map(encoded), st.binary(min_size=1, max_size=4)))
    return data[:at] + piece + data[at:]


def _flip(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    if not data:
        return data
    at = draw(st.integers(0, len(data) - 1))
    return data[:at] + bytes((data[at] ^ draw(st.integers(1, 255)),)) + data[at + 1 :]


def _recode(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(draw(st.sampled_from(_ENCODINGS)), "replace")


def _ends(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    """Other line ends, or none at all: one long line."""
    return data.replace(b"\n", draw(st.sampled_from([b"\r\n", b"\r", b"", b" ", b"; ", b"\n\n", b"\\\n", b"\x0c\n"])))


def _indent(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    start = draw(st.integers(0, len(lines)))
    before = draw(st.sampled_from([b" ", b"    ", b"\t", b" " * 300]))
    return b"".join(lines[:start]) + b"".join(before + line for line in lines[start:])


_WAYS: tuple[Callable[[st.DrawFn, bytes, bytes], bytes], ...] = (
    *(_swap, _swap, _swap, _cut, _without, _without, _repeat, _repeat_token, _splice, _splice, _number, _insert),
    *(_flip, _recode, _ends, _indent),
)


@st.composite
def mutated(draw: st.DrawFn, data: bytes, other: bytes) -> bytes:
    """The bytes of a file after a few damages; lines of `other` may get into it."""
    for way in draw(st.lists(st.sampled_from(_WAYS), min_size=1, max_size=4)):
        data = way(draw, data, other)[:MOST]
    return data


@st.composite
def mutants(draw: st.DrawFn, *endings: str) -> dict[str, bytes]:
    """A project of `seeds` in which one file, of those with these endings, is damaged."""
    files, name = draw(st.sampled_from(seeds_with(*endings)))
    others, other = draw(st.sampled_from(seeds_with(*endings)))
    return {**files, name: draw(mutated(files[name], others[other]))}


def beside(files: Files, **more: str) -> dict[str, bytes]:
    """The files and a script that is a program, so that something is judged with them."""
    program = b"import torch\nimport torch_npu\nmodel = torch.nn.Linear(1, 1).npu()\nloss = model(x)\nloss.backward()\n"
    return {"train.py": program, **files, **{name: text.encode() for name, text in more.items()}}


def of(files: Files, *words: str) -> Example:
    """An example with these arguments, or the usual ones."""
    return Example(dict(files), words) if words else Example(dict(files))

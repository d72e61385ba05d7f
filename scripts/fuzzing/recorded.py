"""Examples that are files of the repository: some of each kind, and each that has failed once.

A seed of Hypothesis gives other examples in another release of it; these are the same everywhere and always. The tests
try them each time. `python -m scripts.fuzzing.recorded KIND N` replaces the examples of a kind by N generated ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import msgspec

from scripts.fuzzing.example import ROOT, Example

FOLDER = ROOT / "tests" / "fuzzed"
_MOST = 8 << 10  # bytes of a generated example: larger ones are for the random run
_SEED = 7


def recorded(kind: str) -> list[Example]:
    """The examples of a kind, in the order of its file; none without a file."""
    path = FOLDER / f"{kind}.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    return [msgspec.convert(json.loads(line), Example) for line in lines]


def record(kind: str, example: Example) -> None:
    """Append an example to the file of its kind, unless it is there."""
    if example not in recorded(kind):
        _write(kind, [*recorded(kind), example])


def _write(kind: str, examples: Sequence[Example]) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{kind}.jsonl").write_text("".join(f"{_line(example)}\n" for example in examples), "ascii")


def _line(example: Example) -> str:
    """An example as JSON, bytes as base64. Names of files may have halves of surrogate pairs, which msgspec refuses."""
    return json.dumps(msgspec.to_builtins(example))


def main(kind: str, count: int) -> None:
    """Record so many new examples of a kind in place of the old ones, different ones and small enough to keep."""
    from scripts.fuzzing.kinds import KINDS
    from scripts.fuzzing.run import generated

    examples: list[Example] = []
    for example in generated(KINDS[kind], 20 * count, _SEED):
        if len(_line(example)) <= _MOST and example not in examples:
            examples.append(example)
    _write(kind, examples[-count:])  # Hypothesis begins with the simplest ones


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

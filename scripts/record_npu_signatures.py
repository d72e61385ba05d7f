"""Records the parameters of torch_npu's operators into data-src/torch_npu_signatures.csv.

python scripts/record_npu_signatures.py OP_PLUGIN     (git directory of Ascend/op-plugin)

Overloads of one name are one row: a parameter is needed if every overload needs it.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "data-src" / "torch_npu_signatures.csv"
SOURCE = "op_plugin/config/op_plugin_functions.yaml"
_FUNCTION = re.compile(r"^\s*-? ?func: (npu_\w+)(\.\w+)?\((.*)\) ->", re.MULTILINE)
_INTERNAL = re.compile(r"_(?:grad|backward|workspace|max_workspace)(?:_|$)")

Signature = dict[str, tuple[bool, bool]]
"""Parameter with whether it is needed, and whether it can be given by position."""


def parsed(parameters: str) -> Signature:
    """The parameters of one overload, in their order."""
    found: Signature = {}
    positional = True
    for part in split(parameters):
        if part == "*":
            positional = False
            continue
        declared, _, default = part.partition("=")
        found[declared.split()[-1]] = (not default, positional)
    return found


def split(parameters: str) -> Iterator[str]:
    """The parameters of a declaration; commas in brackets belong to a default."""
    depth, part = 0, ""
    for letter in parameters:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            yield part.strip()
            part = ""
        else:
            part += letter
    if part.strip():
        yield part.strip()


def joined(one: Signature, other: Signature) -> Signature:
    """Two overloads as one: what either takes."""
    both = {}
    for name in dict.fromkeys((*one, *other)):
        here, there = one.get(name), other.get(name)
        needed = bool(here and there and here[0] and there[0])
        both[name] = (needed, any(found is not None and found[1] for found in (here, there)))
    return both


def signatures(text: str) -> dict[str, Signature]:
    """The operators of a list of functions; those with outputs to write to, and those of gradients, are internal."""
    found: dict[str, Signature] = {}
    for name, overload, parameters in _FUNCTION.findall(text):
        if _INTERNAL.search(name) or "out" in overload:
            continue
        one = parsed(parameters)
        found[name] = joined(found[name], one) if name in found else one
    return found


def written(signature: Signature) -> str:
    """A signature as it stands in the table: ``x!`` is needed, what follows ``*`` is given by keyword."""
    words = [name + "!" * needed for name, (needed, positional) in signature.items() if positional]
    named = [name + "!" * needed for name, (needed, positional) in signature.items() if not positional]
    return " ".join((*words, "*", *named) if named else words)


def main(repository: str) -> None:
    """Writes the table."""
    command = ("git", "--git-dir", repository, "show", f"HEAD:{SOURCE}")
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("name", "parameters"))
        table.writerows((name, written(one)) for name, one in sorted(signatures(text).items()))


if __name__ == "__main__":
    main(sys.argv[1])

"""Records which ONNX operators ATC can parse, for data-src/onnx_ops.csv.

    python scripts/record_onnx_ops.py OPS-MATH OPS-NN OPS-CV ...

Each argument is a git checkout (or bare repository) of open operators of CANN, whose ONNX plug-ins register parsers.
The definitions of the standard come from the package `onnx`. Rows whose evidence is ``document`` are by hand and stay.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "data-src" / "onnx_ops.csv"
COLUMNS = ("domain", "name", "since", "until", "parsers", "engine", "evidence")
BUILT_IN = ("Constant",)  # the parser itself converts it, at every opset
_REGISTRATION = re.compile(r"REGISTER_CUSTOM_OP\(\s*\"(\w+)\"\)(.*?);", re.DOTALL)
_ORIGIN = re.compile(r"\"([\w.]+)::(\d+)::(\w+)\"")
_MACRO = re.compile(r"^REGISTER_CUSTOM_ONNX_OP\(([\w.]+)::(\d+)::(\w+)\s*,", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")

Key = tuple[str, str]


def sources(folder: str) -> Iterator[str]:
    """The texts of the plug-ins in a repository."""
    listed = subprocess.run(["git", "-C", folder, "grep", "-l", "::[0-9]*::", "HEAD"], capture_output=True, text=True)
    for name in listed.stdout.split():
        if name.endswith((".cc", ".cpp")) and "/experimental/" not in name and "test" not in name.lower():
            shown = subprocess.run(["git", "-C", folder, "show", name], capture_output=True, text=True, check=True)
            yield _COMMENT.sub("", shown.stdout)


def registered(folders: list[str]) -> tuple[dict[Key, set[int]], set[Key]]:
    """The opsets with a parser by domain and name, and which of them the AI CPU computes."""
    opsets: dict[Key, set[int]] = defaultdict(set)
    on_cpu: set[Key] = set()
    for text in (text for folder in folders for text in sources(folder)):
        for domain, opset, name in _MACRO.findall(text):
            opsets[domain, name].add(int(opset))
        for _, body in _REGISTRATION.findall(text):
            for domain, opset, name in _ORIGIN.findall(body) if "ONNX" in body else ():
                opsets[domain, name].add(int(opset))
                on_cpu |= {(domain, name)} if "AI_CPU" in body else set()
    return opsets, on_cpu


def standard() -> dict[Key, tuple[int, int]]:
    """The first opset that defines each operator of the default domain, and that which deprecates it (0: none)."""
    from onnx import defs

    found: dict[Key, tuple[int, int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            first, last = found.get(("ai.onnx", schema.name), (schema.since_version, 0))
            ended = schema.since_version if schema.deprecated else last
            found["ai.onnx", schema.name] = (min(first, schema.since_version), ended)
    return found


def ranges(numbers: set[int]) -> str:
    """Numbers as ranges: ``8-10 12``."""
    found: list[list[int]] = []
    for one in sorted(numbers):
        if found and one == found[-1][1] + 1:
            found[-1][1] = one
        else:
            found.append([one, one])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def main() -> None:
    opsets, on_cpu = registered(sys.argv[1:])
    known = standard()
    kept: dict[Key, dict[str, str]] = {}
    if TABLE.exists():
        with TABLE.open(encoding="utf-8", newline="") as stream:
            old = [row for row in csv.DictReader(stream) if row["evidence"] == "document"]
        kept = {(row["domain"], row["name"]): row for row in old}
    rows = []
    for key in sorted({*opsets, *known, *kept}):
        since, until = known.get(key, (0, 0))
        row = dict(zip(COLUMNS, (*key, str(since or ""), str(until or ""), ranges(opsets[key]), "", ""), strict=True))
        if opsets[key]:
            row |= {"engine": "aicpu" if key in on_cpu else "", "evidence": "plugin"}
        elif key[1] in BUILT_IN:
            row |= {"parsers": "1-", "evidence": "parser"}
        elif key in kept:
            row |= {name: kept[key][name] for name in ("parsers", "engine", "evidence")}
        rows.append(row)
    with TABLE.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

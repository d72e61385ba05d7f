"""Records the modules of the TensorFlow adapter and their public names by release, into data-src/npu_symbols.csv.

python scripts/record_npu_names.py ASCEND HICANN     (git directories of Ascend/tensorflow and hicann/tensorflow)

Releases of the line r1.* are branches of the first, the line of 2026 is the head of the second. Only the syntax of the
sources is read.
"""

from __future__ import annotations

import ast
import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data-src"
TARGET = DATA / "npu_symbols.csv"
ROOTS = {"tf_adapter/python/": "npu_bridge", "tf_adapter_2.x/python/": "npu_device"}
NEXT = "2026"

Names = dict[tuple[str, str], str]
"""Module and name, with whether the module defines it (yes), imports it from the adapter (passes) or from elsewhere
(no)."""
_ORDER = ("no", "passes", "yes")


def git(folder: str, *words: str) -> str:
    """The output of a git command."""
    return subprocess.run(("git", "-C", folder, *words), check=True, capture_output=True, text=True).stdout


def releases() -> list[str]:
    """The recorded releases of the adapter, oldest first."""
    with (DATA / "releases.csv").open(encoding="utf-8") as rows:
        return [row["release"] for row in csv.DictReader(rows) if row["product"] == "tensorflow_adapter"]


def names_at(folder: str, ref: str) -> Names:
    """The names of all modules at a commit; a module without public names stands there under an empty name."""
    found: Names = {}
    for path in git(folder, "ls-tree", "-r", "--name-only", ref).splitlines():
        root = next((root for root, package in ROOTS.items() if path.startswith(f"{root}{package}/")), "")
        if not root or not path.endswith(".py"):
            continue
        module = path.removeprefix(root).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found[module, ""] = "yes"
        for name, own in bound(ast.parse(git(folder, "show", f"{ref}:{path}")).body):
            if not name.startswith("_"):
                found[module, name] = max(own, found.get((module, name), "no"), key=_ORDER.index)
    return found


def bound(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The names that statements bind, each with how, as in `Names`."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, "yes"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            package = node.module if isinstance(node, ast.ImportFrom) else ""
            own = (package or "").startswith(tuple(ROOTS.values())) or bool(getattr(node, "level", 0))
            yield from ((one.asname or one.name.partition(".")[0], "passes" if own else "no") for one in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((one.id, "yes") for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
        else:
            for part in ("body", "orelse", "finalbody"):
                yield from bound(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from bound(handler.body)


def main(ascend: str, hicann: str) -> None:
    """Writes the table."""
    known = releases()
    by_release = [names_at(*((hicann, "HEAD") if one == NEXT else (ascend, one))) for one in known]
    with TARGET.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("module", "name", "own", "since", "until"))
        for module, name in sorted({key for names in by_release for key in names}):
            having = [number for number, names in enumerate(by_release) if (module, name) in names]
            own = max((by_release[number][module, name] for number in having), key=_ORDER.index)
            until = "" if having[-1] == len(known) - 1 else known[having[-1]]
            writer.writerow((module, name, own, known[having[0]], until))


if __name__ == "__main__":
    main(*sys.argv[1:3])

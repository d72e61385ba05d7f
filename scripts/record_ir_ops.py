"""Records operator type names registered in the public graph-engine and operator repositories.

    python scripts/record_ir_ops.py NAME=GIT_DIR ... > data-src/ir_ops.csv

NAME is what the source column says, GIT_DIR the git directory of a clone of mindspore-ai/graphengine,
hicann/ops-nn, hicann/ops-math or hicann/ops-cv. Only names are taken.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys

REGISTRATION = r"^\s*REG_OP\(\s*\w+\s*\)"
TESTS = re.compile(r"(^|/)(tests?|ut|st|examples?|experimental)(/|_)")


def registered(git_dir: str) -> set[str]:
    """Operator types that a header outside the tests registers at the tip of the default branch."""
    command = ["git", f"--git-dir={git_dir}", "grep", "-oE", REGISTRATION, "HEAD", "--", "*.h", "*.hpp"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = (re.match(r"HEAD:(.*?):\s*REG_OP\(\s*(\w+)", line) for line in lines)
    return {m[2] for m in found if m and not TESTS.search(m[1])}


def main(arguments: list[str]) -> None:
    sources: dict[str, list[str]] = {}
    for argument in arguments:
        name, _, git_dir = argument.partition("=")
        for op in registered(git_dir):
            sources.setdefault(op, []).append(name)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("name", "source"))
    writer.writerows((op, " ".join(names)) for op, names in sorted(sources.items()))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Write the real output of the sample projects into READMEs and guides: ``python scripts/fill_readme.py [--check]``.

A place for output is a code block between ``<!-- output: npulint ARGUMENTS -->`` and ``<!-- /output -->``. With
``<!-- output, 1 finding: … -->`` it shows that many findings and the closing lines, and nothing in between.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PLACE = re.compile(
    r"(<!-- output(?:, (\d+) findings?)?: npulint ([^>]*?) -->\n```(?:text|diff)\n).*?(```\n<!-- /output -->)",
    re.DOTALL,
)
_FINDING = re.compile(r"\w+\[[\w-]+\]: ")
_SHOWN = 2  # findings of a report with source frames; "…" stands for the others


def output(arguments: str, shown: int | None = None) -> str:
    """What npulint prints with these arguments. A report with source frames is cut to its first findings and all that
    is not a finding, or with `shown` to that many findings, the verdict and what to do first."""
    command = [sys.executable, "-m", "npulint", *arguments.split(), "--color", "never", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    text = done.stdout.decode("utf-8")
    if arguments.startswith("compare"):
        return _checklist(text)
    blocks = text.rstrip("\n").split("\n\n")
    findings = [at for at, block in enumerate(blocks) if _FINDING.match(block)]
    if shown is not None:
        return "\n\n".join([*(blocks[at] for at in findings[:shown]), "…", *blocks[-2:]]) + "\n"
    if len(findings) <= _SHOWN:
        return text
    head, tail = blocks[: findings[_SHOWN]], blocks[findings[-1] + 1 :]
    return "\n\n".join([*head, "…", *tail]) + "\n"


def _checklist(text: str) -> str:
    """The checklist of a comparison, without the findings that follow."""
    blocks = text.rstrip("\n").split("\n\n")
    first = next((at for at, block in enumerate(blocks) if _FINDING.match(block)), len(blocks))
    return "\n\n".join([*blocks[:first], "…"]) + "\n"


def filled(path: Path) -> str:
    """The text of a page with the outputs filled in."""
    return _PLACE.sub(
        lambda m: m[1] + output(m[3], int(m[2]) if m[2] else None) + m[4], path.read_text(encoding="utf-8")
    )


def main() -> int:
    """Write the pages; with ``--check`` write nothing, and return 1 if one is out of date."""
    stale = False
    guides = sorted((ROOT / "docs").glob("*/*.md"))
    for path in (ROOT / "README.md", ROOT / "README.zh.md", *guides):
        text = filled(path)
        stale = stale or text != path.read_text(encoding="utf-8")
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Put the real output of the sample projects into READMEs and guides: ``python scripts/fill_readme.py [--check]``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PLACE = re.compile(r"(<!-- output: npulint ([^>]*?) -->\n```(?:text|diff)\n).*?(```\n<!-- /output -->)", re.DOTALL)
_FINDING = re.compile(r"\w+\[[\w-]+\]: ")
_HEADS = (("Training run\n", "Programs\n"), ("训练运行\n", "程序\n"))  # what stands behind the findings
_SHOWN = 2  # findings of a report with frames; the rest is left out


def output(arguments: str) -> str:
    """What npulint says with these arguments; a report with frames is cut to its first findings and its summary."""
    command = [sys.executable, "-m", "npulint", *arguments.split(), "--color", "never", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    text = done.stdout.decode("utf-8")
    if arguments.startswith("compare"):
        return _checklist(text)
    heads = _HEADS["--lang zh" in arguments]
    head = next((head for head in heads if f"\n{head}" in text), heads[-1])
    findings, cut, closing = text.partition(f"\n{head}")
    blocks = findings.rstrip("\n").split("\n\n")
    return "\n\n".join([*blocks[:_SHOWN], "…", head + closing]) if cut else text


def _checklist(text: str) -> str:
    """The checklist of a comparison, without the findings that follow."""
    blocks = text.rstrip("\n").split("\n\n")
    first = next((at for at, block in enumerate(blocks) if _FINDING.match(block)), len(blocks))
    return "\n\n".join([*blocks[:first], "…"]) + "\n"


def filled(path: Path) -> str:
    """The README with the outputs in their places."""
    return _PLACE.sub(lambda m: m[1] + output(m[2]) + m[3], path.read_text(encoding="utf-8"))


def main() -> int:
    """Write the texts, or with ``--check`` only tell whether they are up to date."""
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

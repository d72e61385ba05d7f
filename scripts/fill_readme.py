"""Put the real output of the sample project into both READMEs: ``python scripts/fill_readme.py [--check]``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PLACE = re.compile(r"(<!-- output: [^>]*-->\n```text\n).*?(```\n<!-- /output -->)", re.DOTALL)
_SHOWN = 2  # findings; the rest is left out


def output(lang: str) -> str:
    """The report on the sample project, shortened to its first findings and its summary."""
    command = [sys.executable, "-m", "npulint", "check", "examples/denoiser", "--lang", lang, "--color", "never"]
    done = subprocess.run([*command, "--no-cache"], cwd=ROOT, capture_output=True, check=False)
    text = done.stdout.decode("utf-8")
    findings, _, closing = text.partition({"en": "\nPrograms\n", "zh": "\n程序\n"}[lang])
    head = {"en": "Programs\n", "zh": "程序\n"}[lang]
    blocks = findings.rstrip("\n").split("\n\n")
    return "\n\n".join([*blocks[:_SHOWN], "…", head + closing])


def filled(path: Path, lang: str) -> str:
    """The README with the output in its place."""
    return _PLACE.sub(lambda m: m[1] + output(lang) + m[2], path.read_text(encoding="utf-8"))


def main() -> int:
    """Write the READMEs, or with ``--check`` only tell whether they are up to date."""
    stale = False
    for name, lang in (("README.md", "en"), ("README.zh.md", "zh")):
        path = ROOT / name
        text = filled(path, lang)
        stale = stale or text != path.read_text(encoding="utf-8")
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    raise SystemExit(main())

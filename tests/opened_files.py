"""Runs ``python -m tests.opened_files REPORT WORDS...``: a command of npulint, and writes what it opened or listed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

_EVENTS = ("open", "os.listdir", "os.scandir")


def main(report: str, words: list[str]) -> int:
    """Run a command with an audit hook that sees every file that Python opens; C code of npulint's libraries only gets
    open files and names that Python opened before."""
    seen: list[str] = []

    def note(event: str, args: tuple[Any, ...]) -> None:
        if event in _EVENTS and isinstance(args[0], str | bytes | os.PathLike):
            seen.append(os.path.realpath(os.fsdecode(args[0])))

    from npulint.hosts.cli.main import main as run

    sys.addaudithook(note)
    code = run(words)
    places = "\n".join(sorted(set(seen)))
    Path(report).write_text(places, encoding="utf-8", errors="surrogateescape")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""Real projects in a temporary folder, checked through the real command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec

from npulint.hosts.cli.host import system
from npulint.hosts.cli.main import main

ROOT = Path(__file__).parent.parent
SECONDS = 30  # after which a run in a process of its own counts as hanging


class Answer(msgspec.Struct, frozen=True):
    """What a command printed and returned."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON report on standard output."""
        document: dict[str, Any] = json.loads(self.out)
        return document

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of the JSON report."""
        found: list[dict[str, Any]] = self.document["findings"]
        return found

    @property
    def names(self) -> list[str]:
        """The names of the checks that spoke, in the order of the report."""
        return [found["name"] for found in self.findings]

    def places(self, name: str) -> list[str]:
        """Where a check spoke, as ``path:line``."""
        return [f"{found['path']}:{found['line']}" for found in self.findings if found["name"] == name]


class Project:
    """A folder with sources, and the commands that are run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, files: Mapping[str, str | bytes]) -> Project:
        """Write files by their path; texts are unindented first."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else self.text(content))
        return self

    @staticmethod
    def text(content: str) -> bytes:
        """A source text as it is written."""
        return dedent(content).encode()

    def run(self, *words: str, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> Answer:
        """Run a command in this process, on the real pipeline, with streams of its own."""
        out, err = io.StringIO(), io.StringIO()
        host = msgspec.structs.replace(
            system(),
            environ={"LC_ALL": "C", **(environ or {})},
            stdin=io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
            stdout=out,
            stderr=err,
        )
        return Answer(main(list(words), host), out.getvalue(), err.getvalue())

    def spawn(self, *words: str, environ: Mapping[str, str] | None = None) -> Answer:
        """Run a command in a process of its own, which may crash or hang without harm to the tests."""
        done = subprocess.run(
            [sys.executable, "-m", "npulint", *words],
            cwd=self.folder,
            env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT), **(environ or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def check(self, *words: str) -> Answer:
        """`npulint check` with a JSON report and without what earlier runs remember."""
        return self.run("check", "--format=json", "--no-cache", *words)

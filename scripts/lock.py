"""Writes constraints.txt: the releases that ./check and ./run-example install, for all supported Pythons.

    python -m scripts.lock            # the newest releases that fit together
    python -m scripts.lock --check    # exit code 1 if pyproject.toml asks for something that is not locked

Needs uv (`pip install uv`), which resolves for every platform and Python at once, and a package index."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "constraints.txt"
_HEAD = "# Written by `python -m scripts.lock`: what development installs, so that a clone is the same on any day.\n"
_OLDEST = "3.10"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file, or say what it lacks."""
    parser = argparse.ArgumentParser(prog="scripts.lock", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say what pyproject.toml asks for and is not locked")
    if parser.parse_args(argv).check:
        lacking = unlocked((ROOT / "pyproject.toml").read_text("utf-8"), LOCK.read_text("utf-8"))
        print("".join(f"{requirement} is not locked\n" for requirement in lacking), end="")
        return 1 if lacking else 0
    LOCK.write_text(_HEAD + _resolved(), "utf-8")
    return 0


def _resolved() -> str:
    """The pinned requirements of all extras, one per line, with markers where platforms or Pythons differ."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--all-extras", "--universal"]
    command += ["--python-version", _OLDEST, "--no-annotate", "--no-header", "--quiet"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def unlocked(project: str, lock: str) -> list[str]:
    """The requirements in the text of a pyproject.toml that no line of the lock's text satisfies."""
    pins: dict[str, set[str]] = {}
    for line in lock.splitlines():
        name, equals, version = line.partition(";")[0].partition("==")
        if equals and not line.startswith("#"):
            pins.setdefault(_normalized(name), set()).add(version.strip())
    tables = tomllib.loads(project)["project"]
    asked = {*tables.get("dependencies", ()), *chain.from_iterable(tables["optional-dependencies"].values())}
    return sorted(text for text in asked if not _satisfied(Requirement(text), pins))


def _satisfied(requirement: Requirement, pins: dict[str, set[str]]) -> bool:
    versions = pins.get(_normalized(requirement.name), set())
    specifiers: SpecifierSet = requirement.specifier
    return any(specifiers.contains(version, prereleases=True) for version in versions)


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).strip().lower()


if __name__ == "__main__":
    sys.exit(main())

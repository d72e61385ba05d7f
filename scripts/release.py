"""Prepare a release: ``python scripts/release.py v0.2.0 [--date 2026-01-31]``, then commit and tag.

The version comes from the tag. The script writes it wherever it stands (the package, the files that ``npulint init``
writes, the READMEs and guides) and gives the changes that are listed as unreleased in CHANGELOG.md a heading. With
``--check`` nothing is written; it ends with 1 if the tree is not what the tag says. The release workflow runs that.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_TAG = re.compile(r"v(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)")
_UNRELEASED = "## [Unreleased]\n"
_VERSION = re.compile(r'(?m)^__version__ = "(.+)"$')
_EXTENSION_VERSION = re.compile(r'(?m)^(  |      )"version": "[^"]+"')
PACKAGE = "npulint/__init__.py"
CHANGES = "CHANGELOG.md"
EXTENSION = {"editors/vscode/package.json": 1, "editors/vscode/package-lock.json": 2}
"""The files of the extension, and how often its version stands in them, before those of its libraries."""


def version_of(tag: str) -> str:
    """The version of a tag. Raises `ValueError` for one that is none."""
    match = _TAG.fullmatch(tag)
    if match is None:
        raise ValueError(f"{tag}: a tag is v and a version such as v0.2.0 or v0.2.0rc1")
    return match[1]


def released(root: Path, version: str, date: str) -> dict[str, str]:
    """The texts of the files that a release changes, by their paths below `root`."""
    package = (root / PACKAGE).read_text(encoding="utf-8")
    former = _VERSION.findall(package)[0]
    texts = {PACKAGE: _VERSION.sub(f'__version__ = "{version}"', package), CHANGES: _changes(root, version, date)}
    for path in _mentioning(root):
        text = path.read_text(encoding="utf-8")
        pinned = re.sub(rf"(npulint(?:==|@v)|\brev: v){re.escape(former)}(?![\w.]*\d)", rf"\g<1>{version}", text)
        if pinned != text:
            texts[path.relative_to(root).as_posix()] = pinned
    for name, times in EXTENSION.items():
        text = (root / name).read_text(encoding="utf-8")
        texts[name] = re.sub(
            r'(?m)^(  |      )"version": "[^"]+"', rf'\1"version": "{semantic(version)}"', text, count=times
        )
    return texts


def semantic(version: str) -> str:
    """A version as npm spells it: 0.2.0-rc.1 for 0.2.0rc1."""
    return re.sub(r"(a|b|rc)(\d+)$", r"-\1.\2", version)


def _mentioning(root: Path) -> Iterator[Path]:
    """The files that may pin npulint."""
    yield from sorted((root / "npulint" / "hosts" / "integrations").rglob("*.y*ml"))
    yield from sorted(root.glob("README*.md"))
    yield from sorted((root / "docs").rglob("*.md"))


def _changes(root: Path, version: str, date: str) -> str:
    text = (root / CHANGES).read_text(encoding="utf-8")
    heading = f"## [{version}]"
    return text if heading in text else text.replace(_UNRELEASED, f"{_UNRELEASED}\n{heading} - {date}\n", 1)


def notes(text: str, version: str) -> str:
    """What the changelog says about a version. Raises `ValueError` when it says nothing."""
    found = re.search(rf"(?ms)^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", text)
    if found is None or not found[1].strip():
        raise ValueError(f"{CHANGES}: nothing about {version}")
    return found[1].strip() + "\n"


def problems(root: Path, version: str) -> list[str]:
    """Where the tree is not what a tag says."""
    try:
        notes((root / CHANGES).read_text(encoding="utf-8"), version)
    except ValueError as error:
        return [str(error)]
    texts: Mapping[str, str] = released(root, version, "")
    return [f"{name}: another version" for name, text in texts.items() if (root / name).read_text("utf-8") != text]


def main() -> int:
    """Write or check; 1 when there is something to say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("tag", metavar="TAG")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if the tree is not what the tag says")
    parser.add_argument("--notes", action="store_true", help="print the changes of the version")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the release (%(default)s)")
    args = parser.parse_args()
    try:
        version = version_of(args.tag)
        if args.notes:
            print(notes((ROOT / CHANGES).read_text(encoding="utf-8"), version), end="")
            return 0
        if args.check:
            said = problems(ROOT, version)
            print("\n".join(said), file=sys.stderr)
            return 1 if said else 0
        for name, text in released(ROOT, version, args.date).items():
            (ROOT / name).write_text(text, encoding="utf-8", newline="\n")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

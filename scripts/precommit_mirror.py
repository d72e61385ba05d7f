"""Update the repository that pre-commit installs npulint from: ``python scripts/precommit_mirror.py v0.2.0 FOLDER``.

pre-commit installs a hook's repository itself. That of npulint brings its whole tree with tests, so a small one, whose
package depends on the release of the same version, serves the hooks. FOLDER is a clone of it; the script writes its
files, commits and tags. Nothing happens when the tag exists.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.release import ROOT, version_of

_PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "npulint-pre-commit"
version = "{version}"
description = "Hooks of npulint for pre-commit"
requires-python = ">=3.10"
dependencies = ["npulint=={version}"]

[tool.setuptools]
py-modules = []
"""
_README = """\
# npulint for pre-commit

Hooks of npulint, which checks whether training projects are ready for Ascend NPUs. Written by npulint's release.

```yaml
repos:
  - repo: ADDRESS OF THIS REPOSITORY
    rev: v{version}
    hooks:
      - id: npulint
```
"""


def files(version: str) -> dict[str, str]:
    """The repository's files by name."""
    return {
        "pyproject.toml": _PROJECT.format(version=version),
        "README.md": _README.format(version=version),
        ".pre-commit-hooks.yaml": (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"),
        "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
    }


def update(folder: Path, tag: str) -> bool:
    """Commit and tag the files of a release in a clone; False when it has the tag already. Raises `ValueError` for a
    tag that is none, `CalledProcessError` when git fails."""
    version = version_of(tag)
    if _git(folder, "tag", "--list", tag):
        return False
    for name, text in files(version).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    _git(folder, "add", "--all")
    identity = ("-c", "user.name=npulint", "-c", "user.email=npulint@users.noreply.github.com")
    _git(folder, *identity, "commit", "--quiet", "--message", f"npulint {version}")
    _git(folder, "tag", tag)
    return True


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Update the clone; 1 for a tag that is none or when git fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("tag", metavar="TAG")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a clone of the repository")
    args = parser.parse_args()
    try:
        update(args.folder, args.tag)
    except (ValueError, subprocess.CalledProcessError) as error:
        print(getattr(error, "stderr", "") or error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

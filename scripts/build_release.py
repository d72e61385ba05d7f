"""Build what a release publishes: ``python scripts/build_release.py OUT``. Needs the packages build and cyclonedx-bom.

OUT then holds the source distribution, the wheel that is built from it, the list of components of an environment with
the wheel (SBOM, CycloneDX) and SHA256SUMS. Everything is built twice, and the script ends with 1 if the two differ:
times come from the commit, so that anyone can build the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUMS = "SHA256SUMS"
SBOM = "npulint.cdx.json"


def epoch(root: Path) -> str:
    """The time of the commit, in seconds since 1970."""
    words = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def build(root: Path, out: Path) -> list[Path]:
    """The source distribution and the wheel that is built from it."""
    environ = {**os.environ, "SOURCE_DATE_EPOCH": epoch(root), "PYTHONHASHSEED": "0"}
    words = [sys.executable, "-m", "build", "--outdir", str(out), str(root)]
    subprocess.run(words, check=True, env=environ, stdout=subprocess.DEVNULL)
    return sorted(out.iterdir())


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def components(wheel: Path, out: Path) -> None:
    """Write the SBOM of an environment with nothing but the wheel and what it needs."""
    with tempfile.TemporaryDirectory(prefix="npulint-sbom-") as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools"], check=True)
        made = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "-o", str(out), python]
        subprocess.run(made, check=True)


def main() -> int:
    """Build and compare; 1 when two builds of one commit differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="an empty or new folder")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    files = build(ROOT, args.out)
    with tempfile.TemporaryDirectory(prefix="npulint-again-") as folder:
        again = {path.name: digest(path) for path in build(ROOT, Path(folder))}
    different = [path.name for path in files if again.get(path.name) != digest(path)]
    if different:
        print(f"not reproducible: {', '.join(different)}", file=sys.stderr)
        return 1
    components(next(path for path in files if path.suffix == ".whl"), args.out / SBOM)
    published = sorted(path for path in args.out.iterdir() if path.name != SUMS)
    (args.out / SUMS).write_text("".join(f"{digest(path)}  {path.name}\n" for path in published))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

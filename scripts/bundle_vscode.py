"""Put npulint and the libraries that its server needs into the Visual Studio Code extension, for machines without it.

    python -m scripts.bundle_vscode [--target linux-x64] [EXTENSION]

writes ``bundled/libs`` of the extension: `any` with pure Python, and a folder of compiled libraries for each version of
Python. Versions are pinned in ``bundled/pure.txt`` and ``bundled/native.txt``. rapidfuzz is left out: only
``npulint compare`` imports it, which the extension does not offer.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "editors" / "vscode"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "linux-x64": ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64"),
    "linux-arm64": ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_28_aarch64"),
    "darwin-x64": ("macosx_10_9_x86_64", "macosx_10_13_x86_64", "macosx_10_15_x86_64"),
    "darwin-arm64": ("macosx_11_0_arm64",),
    "win32-x64": ("win_amd64",),
}
"""From the targets of vsce to the tags of wheels."""


def bundle(extension: Path, target: str, source: Path = ROOT) -> None:
    """Write the libraries for a target, and the npulint of `source`. Raises `subprocess.CalledProcessError`."""
    folder = extension / "bundled"
    libraries = folder / "libs"
    shutil.rmtree(libraries, ignore_errors=True)
    pure = ["--platform=any", "--implementation=py", "--abi=none", f"--python-version={PYTHONS[0]}"]
    _install(libraries / "any", [*pure, "--requirement", str(folder / "pure.txt")])
    with tempfile.TemporaryDirectory() as built:
        _pip("wheel", "--no-deps", "--wheel-dir", built, str(source))
        _install(libraries / "any", [*pure, *map(str, Path(built).glob("npulint-*.whl"))])
    platforms = [f"--platform={tag}" for tag in PLATFORMS[target]]
    for version in PYTHONS:
        tag = "cp" + version.replace(".", "")
        compiled = ["--implementation=cp", f"--abi={tag}", f"--python-version={version}", *platforms]
        _install(libraries / tag, [*compiled, "--requirement", str(folder / "native.txt")])
    shutil.rmtree(libraries / "any" / "bin", ignore_errors=True)
    for address in libraries.rglob("direct_url.json"):
        address.unlink()  # of the folder where the wheel was built


def _install(into: Path, words: Sequence[str]) -> None:
    common = ("--no-deps", "--only-binary=:all:", "--no-compile", "--upgrade", "--target", str(into))
    _pip("install", *common, *words)


def _pip(command: str, *words: str) -> None:
    """Run the pip of this interpreter, else of the one that its environment was made with."""
    for python in (sys.executable, sys._base_executable):  # type: ignore[attr-defined]
        pip = [python, "-m", "pip"]
        if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode == 0:
            break
    subprocess.run([*pip, command, "--quiet", "--disable-pip-version-check", *words], check=True)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("extension", nargs="?", type=Path, default=EXTENSION)
    parser.add_argument("--target", choices=PLATFORMS, default="linux-x64")
    given = parser.parse_args(words)
    bundle(given.extension, given.target)
    return 0


if __name__ == "__main__":
    sys.exit(main())

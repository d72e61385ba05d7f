"""A machine as probes see it: files below a folder, commands, environment variables. Tests replace each."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence

import msgspec

from npulint.core.processes import neutral_environment, neutral_folder

_MOST = 1 << 20  # bytes of a file
_MB = 1 << 20


class Ran(msgspec.Struct, frozen=True):
    """How a command ended: its exit code (None: stopped at the time limit) and what it printed."""

    code: int | None
    output: str = ""


Run = Callable[[Sequence[str], float], "Ran | None"]
"""Runs a command with a time limit in seconds; None if there is no such command."""


def run_command(words: Sequence[str], limit: float) -> Ran | None:
    """Run a command of the real machine. It starts in a neutral folder: an interpreter, also one that a tool starts,
    imports from the folder that it starts in."""
    program, *arguments = words
    try:
        done = subprocess.run(
            [os.path.abspath(program) if os.path.dirname(program) else program, *arguments],
            capture_output=True,
            timeout=limit,
            stdin=subprocess.DEVNULL,
            check=False,
            errors="replace",
            cwd=neutral_folder(),
            env=neutral_environment(),
        )
    except subprocess.TimeoutExpired:
        return Ran(None)
    except OSError:
        return None
    return Ran(done.returncode, f"{done.stdout}\n{done.stderr}")


def space_of(path: str) -> tuple[float, float] | None:
    """The size and the free space of the file system at a path, in MB."""
    try:
        status = os.statvfs(path)
    except (OSError, AttributeError):
        return None
    return status.f_blocks * status.f_frsize / _MB, status.f_bavail * status.f_frsize / _MB


def open_files_limit() -> int | None:
    """How many files a process may open; -1 for any number."""
    try:
        import resource
    except ImportError:
        return None
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def may_use(path: str) -> bool:
    """Whether the user may read and write a file."""
    return os.access(path, os.R_OK | os.W_OK)


class Machine(msgspec.Struct, frozen=True):
    """Where probes look. `root` is the folder in place of ``/``."""

    environ: Mapping[str, str]
    root: str = "/"
    run: Run = run_command
    arch: str = platform.machine()
    space: Callable[[str], tuple[float, float] | None] = space_of
    usable: Callable[[str], bool] = may_use
    open_files: Callable[[], int | None] = open_files_limit

    def at(self, path: str) -> str:
        """The real place of an absolute path."""
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path: str) -> str | None:
        """The text of a file; None if it cannot be read."""
        try:
            with open(self.at(path), "rb") as file:
                return file.read(_MOST).decode("utf-8", "replace")
        except OSError:
            return None

    def names(self, path: str) -> list[str] | None:
        """The sorted names in a folder; None if it cannot be read."""
        try:
            return sorted(os.listdir(self.at(path)))
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""
        return os.path.exists(self.at(path))

    def real(self, path: str) -> str:
        """A path without links, as seen from the root."""
        real_path, root = os.path.realpath(self.at(path)), os.path.realpath(self.root)
        return "/" + os.path.relpath(real_path, root) if real_path.startswith(root) else path


def pairs(text: str) -> dict[str, str]:
    """The lines ``key=value`` of a file."""
    parted = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip('"') for key, _, value in parted}

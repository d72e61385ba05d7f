"""Brings the projects of git addresses: shallow clones, made by git in a folder of the survey.

An address is never an option, and names one of few protocols. git asks for no password, runs no hook and no program of
the repository, fetches no submodule and no file of LFS. A clone gets its name when it is whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from npulint.survey.inputs import PROTOCOLS, Listed, is_taken
from npulint.survey.model import Job
from npulint.survey.parts import CLONES

_AT_ONCE = 4
_UNFINISHED = ".unfinished-"
_SETTINGS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "credential.helper=", "submodule.recurse=false")
_QUIET = {
    "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
    "GIT_ASKPASS": "false",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "false",
}
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_", "GIT_PROXY_")
"""Variables of git that stay: certificates, proxies, and which configuration is read."""
_DETAIL = 200  # characters of what git says


def absent(projects: Sequence[Listed], jobs: Sequence[Job], out: str) -> int:
    """How many projects must be cloned that are not there yet."""
    return sum(
        listed.is_address and is_taken(listed.place) and not os.path.isdir(_folder(out, job))
        for listed, job in zip(projects, jobs, strict=True)
    )


def cloned(projects: Sequence[Listed], jobs: Sequence[Job], out: str, seconds: int) -> list[Job]:
    """The jobs with the folders of their clones, or the reason why there is none. Clones that are there are kept."""
    if not any(project.is_address for project in projects):
        return list(jobs)
    os.makedirs(os.path.join(out, CLONES), exist_ok=True)
    for name in os.listdir(os.path.join(out, CLONES)):
        if name.startswith(_UNFINISHED):
            shutil.rmtree(os.path.join(out, CLONES, name), ignore_errors=True)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda project, job: _cloned(project, job, out, seconds), projects, jobs))


def forget(out: str) -> None:
    """Remove all clones."""
    shutil.rmtree(os.path.join(out, CLONES), ignore_errors=True)


def _folder(out: str, job: Job) -> str:
    return os.path.join(out, CLONES, job.identity)


def _cloned(listed: Listed, job: Job, out: str, seconds: int) -> Job:
    if not listed.is_address:
        return job
    if not is_taken(listed.place):
        return msgspec.structs.replace(job, failure="address")
    folder = _folder(out, job)
    if not os.path.isdir(folder):
        failure, detail = _clone(
            listed.place, os.path.join(out, CLONES, f"{_UNFINISHED}{job.identity}"), folder, seconds
        )
        if failure:
            return msgspec.structs.replace(job, failure=failure, detail=detail)
    return msgspec.structs.replace(job, path=folder)


def _clone(address: str, unfinished: str, folder: str, seconds: int) -> tuple[str, str]:
    """Clone an address; returns why that failed, and what git says."""
    words = ["git", *(word for setting in _SETTINGS for word in ("-c", setting)), "clone", "--quiet", "--depth=1"]
    words += ["--single-branch", "--no-tags", "--no-recurse-submodules", "--template=", "--", address, unfinished]
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)
    }
    try:
        with _started(words, {**environ, **_QUIET}) as process:
            _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        shutil.rmtree(unfinished, ignore_errors=True)
        return "clone-time", f"> {seconds} s"
    except OSError as error:
        return "clone", error.strerror or type(error).__name__
    if process.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        return "clone", _last_line(said, address)
    os.replace(unfinished, folder)
    return "", ""


@contextlib.contextmanager
def _started(words: Sequence[str], environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """git, and with it all that it started, ended at the end."""
    process = subprocess.Popen(
        words,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _last_line(said: bytes, address: str) -> str:
    """What git says last, without the address, which may have a password."""
    lines = [line for line in said.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    return (lines[-1] if lines else "").replace(address, "…")[:_DETAIL]

"""Additional reports: to files, and to the job summary of GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.core.whole_files import write_whole
from npulint.hosts.cli.host import Host

STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of standard output; opening it again by name would overwrite a redirected file."""
SUMMARY_LIMIT = 1024 * 1024  # bytes; GitHub drops larger summaries
_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def is_summary(path: str, environ: Mapping[str, str]) -> bool:
    """Whether this file is the job summary of GitHub Actions. Reports are appended to it, since other commands of the
    step write there too."""
    named = environ.get("GITHUB_STEP_SUMMARY", "")
    return bool(named) and os.path.realpath(path) == os.path.realpath(named)


def save(path: str, render: Callable[[int], Iterable[str | bytes]], environ: Mapping[str, str], lang: str) -> str:
    """Write a report to a file, whole or not at all; `render` takes the size limit in bytes, 0 for none, and gives the
    parts. Existing content of a job summary stays. Returns a warning when the report does not fit; raises
    `NpulintError`."""
    try:
        if not is_summary(path, environ):
            write_whole(path, map(_bytes, render(0)))
            return ""
        return _add(path, render, lang)
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise NpulintError(say(lang, "output.failed", path=path, detail=detail)) from error


def deliver(report: str | bytes, path: str, host: Host, lang: str) -> None:
    """Write an additional report to standard output or a file. Raises `NpulintError`."""
    if path not in STANDARD_OUTPUT:
        warning = save(path, lambda _: [report], host.environ, lang)
        if warning:
            host.warn(warning)
    elif isinstance(report, str):
        host.write(report)
    else:
        host.put(report)


def _add(path: str, render: Callable[[int], Iterable[str | bytes]], lang: str) -> str:
    with open(path, "ab+") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 2))
        end = stream.read()
        gap = b"" if not size or end == b"\n\n" else b"\n" if end.endswith(b"\n") else b"\n\n"
        room = SUMMARY_LIMIT - size - len(gap)
        report = b"".join(map(_bytes, render(room))) if room > 0 else b""
        if not report or len(report) > room:
            return say(lang, "output.full", path=path)
        try:
            stream.write(gap + report)
            stream.flush()
        except OSError:
            with suppress(OSError):
                os.ftruncate(stream.fileno(), size)
            raise
    return ""


def _bytes(part: str | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace")


def folder_in_repository(environ: Mapping[str, str]) -> str:
    """The working directory relative to the repository that CI checked out, with slashes; empty for the repository
    root, outside of it, or outside CI."""
    for root in filter(None, map(environ.get, _ROOTS)):
        try:
            folder = os.path.relpath(os.path.realpath(os.curdir), os.path.realpath(root)).replace(os.sep, "/")
        except (OSError, ValueError):  # on another drive
            continue
        if folder != ".." and not folder.startswith("../"):
            return "" if folder == "." else folder
    return ""


def sources_on_the_web(environ: Mapping[str, str]) -> str:
    """The URL of the working directory at the checked commit on the CI server; empty outside CI."""
    github = [environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "SHA")]
    gitlab = [environ.get(f"CI_{name}", "") for name in ("PROJECT_URL", "COMMIT_SHA")]
    if all(github):
        shown = f"{github[0]}/{github[1]}/blob/{github[2]}"
    elif all(gitlab):
        shown = f"{gitlab[0]}/-/blob/{gitlab[1]}"
    else:
        return ""
    folder = folder_in_repository(environ)
    return f"{shown}/{folder}" if folder else shown

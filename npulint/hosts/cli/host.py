"""The environment of a command: streams, environment variables, and the pipeline functions."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from io import TextIOBase
from typing import TYPE_CHECKING, TextIO, TypeVar, cast

import msgspec

from npulint.core.progress import Progress
from npulint.facts.model import Fact
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.report.terminal import is_terminal, plain_line

if TYPE_CHECKING:
    from npulint.commands.compare.compare_states import ComparedStates
    from npulint.judge.fix_results import FixResult

_Done = TypeVar("_Done")
_LAST_STREAM = 2  # the descriptor of standard error


class OutputError(OSError):
    """Standard output cannot be written, for example because its disk is full."""


def _fix(settings: Settings, progress: Progress | None) -> FixResult:
    from npulint.commands.check.fix_command import apply_fixes

    return apply_fixes(settings, settings.unsafe_fixes, progress)


def _compare(settings: Settings, reference: str, progress: Progress | None) -> RunResult:
    from npulint.commands.compare.compare_command import compare

    return compare(settings, reference, progress)


def _compare_states(settings: Settings, two: ComparedStates, progress: Progress | None) -> RunResult:
    from npulint.commands.compare.compare_change import compare_states

    return compare_states(settings, two, progress)


def _add_runs(result: RunResult, settings: Settings, runs: tuple[str, str]) -> RunResult:
    from npulint.runs.compare.compare_runs import add_runs

    return add_runs(result, settings, runs)


def _add_comparison(result: RunResult, settings: Settings, progress: Progress | None) -> RunResult:
    from npulint.commands.compare.compare_command import add_comparison

    return add_comparison(result, settings, progress)


class Host(msgspec.Struct, frozen=True):
    """The streams and functions of one run; tests pass their own."""

    environ: Mapping[str, str]
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    run: Callable[[Settings, Progress | None], RunResult]
    facts_of: Callable[[str], Sequence[Fact]]
    review: Callable[[dict[str, str], dict[str, str], Catalogue], RunResult]
    fix: Callable[[Settings, Progress | None], FixResult] = _fix
    compare: Callable[[Settings, str, Progress | None], RunResult] = _compare
    add_comparison: Callable[[RunResult, Settings, Progress | None], RunResult] = _add_comparison
    compare_states: Callable[[Settings, ComparedStates, Progress | None], RunResult] = _compare_states
    add_runs: Callable[[RunResult, Settings, tuple[str, str]], RunResult] = _add_runs

    def watched(self, work: Callable[[Settings, Progress | None], _Done], settings: Settings, lang: str) -> _Done:
        """The result of `work`; shows progress on a terminal."""
        if is_terminal(self.stderr) and not settings.quiet:
            from npulint.hosts.cli.progress import ProgressLine, wants_progress

            if wants_progress(self.stderr, self.environ):
                with ProgressLine(self.stderr, lang) as line:
                    return work(settings, line)
        return work(settings, None)

    def read(self) -> bytes:
        """All of standard input."""
        return self.stdin.buffer.read()

    def write(self, text: str) -> None:
        """Print to standard output; a closed pipe (``| head``) ends the output, not the run. Raises `OutputError`."""
        try:
            _put(self.stdout, text)
            self.stdout.flush()
        except OSError as error:
            _failed(self.stdout, error)

    def put(self, data: bytes) -> None:
        """Write bytes to standard output. Raises `OutputError`."""
        stream = getattr(self.stdout, "buffer", None)
        if stream is None:
            self.write(data.decode("utf-8", "replace"))
            return
        try:
            self.stdout.flush()
            stream.write(data)
            stream.flush()
        except OSError as error:
            _failed(self.stdout, error)

    def warn(self, text: str) -> None:
        """Print lines to standard error, control characters escaped."""
        try:
            _put(self.stderr, "".join(f"{plain_line(line)}\n" for line in text.split("\n")))
            self.stderr.flush()
        except BrokenPipeError:
            _silence(self.stderr)


def _put(stream: TextIO, text: str) -> None:
    """Write text; characters that the stream cannot encode become escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _failed(stream: TextIO, error: OSError) -> None:
    """End the output; raise `OutputError` unless its reader has left."""
    _silence(stream)
    if not isinstance(error, BrokenPipeError):
        raise OutputError(error.errno, error.strerror) from error


def _silence(stream: TextIO) -> None:
    """Redirect the stream to the null device, or flushing it at exit would fail."""
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
        os.close(descriptor)
    except (OSError, ValueError):
        pass


class _Closed(TextIOBase):
    """In place of standard output that the caller has closed, for which Python has no stream at all."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def system() -> Host:
    """The host with the real streams and functions. Of streams that the caller has closed, standard output cannot be
    written, standard input is empty, and what goes to standard error is lost."""
    if not (sys.stdin and sys.stdout and sys.stderr):
        while (spare := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
            pass  # or the next file that is opened would be taken for the stream
        os.close(spare)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    stdout = sys.stdout or cast(TextIO, _Closed())
    return Host(os.environ, sys.stdin, stdout, sys.stderr, _run, _facts_of, _review)


def _run(settings: Settings, progress: Progress | None) -> RunResult:
    from npulint.commands.check.pipeline import run

    return run(settings, progress)


def _facts_of(path: str) -> Sequence[Fact]:
    from npulint.commands.check.pipeline import facts_of

    return facts_of(path)


def _review(files: dict[str, str], target: dict[str, str], catalogue: Catalogue) -> RunResult:
    from npulint.commands.examples import check_sources

    return check_sources(files, target, catalogue)

"""How a run ended, as far as its output shows it: the exception, signal or exit code of the process that failed first.

What a run survived is not its end: an exception after which steps go on counts only if a launcher says later that a
process failed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.runs.read.frames import LineFact
from npulint.runs.read.logs.lines import LogLine, decoded, without_colours, without_source
from npulint.runs.read.logs.tracebacks import WANTED as FRAME
from npulint.runs.read.logs.tracebacks import TracebackFrame, frame_in, quoted

End = Literal["failed", "elsewhere", "signal", "finished", "open"]

ALWAYS = (b"Traceback (most", b"xitcode", b"exit code", b"exit status", b"Killed", b"core dumped", b"CANCELLED")
"""Words of lines that are read in very large logs, too."""
WANTED = (
    *(*ALWAYS, FRAME, b"egmentation fault", b"Bus error", b"Terminated", b"SIG", b"OOMKilled", b"oom_kill"),
    *(b"Out Of Memory", b"got signal", b"terminate called", b"Exit status", b"exited with code"),
    *(b"train_runtime", b"raining complete", b"raining finished", b"raining done", b"inished training"),
    *(b"Loss for final step", b"stopped: `max_", b"***** train metrics", b"above exception", b"Error: "),
    *(b"oss ", b"oss:", b"oss=", b"oss'", b"step ", b"step:", b"step=", b"poch", b"s/it", b"it/s"),
)
"""Literals of lines that show how a run ends."""

_PREFIX = lazy_compile(rb"(.{0,120}?) *(?:File \"|Traceback \(most|The above exc|During handling of)")
_EXCEPTION = lazy_compile(rb"((?:[A-Za-z_]\w{0,60}\.){0,8}(?:[A-Z]\w{0,80}|timeout|error))(?::(?!\d)|\(|[ \t]*\r?$)")
_ALONE = lazy_compile(rb"((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}Error): ")
_STEP = lazy_compile(
    rb"(?i)\b(?:loss|step|epoch|iter(?:ation)?s?)\b['\"]?\s{0,4}[:=\[(]?\s{0,4}\[?\d|\d(?:it|s|batch|step)/(?:s|it)\b"
)
_RANK = lazy_compile(rb"(?i)\[(?:rank|default)(\d{1,5})\]|\b(?:local_)?rank[ :=]{1,8}(\d{1,5})\b")
_CODE = lazy_compile(
    rb"(?i)exit ?code[^\w\n-]{1,12}(-?\d{1,3})\b|exit status[ :=]{1,3}(\d{1,3})\b|exited with code (\d{1,3})\b"
    rb"|exits with return code = (-?\d{1,3})"
)
_SIGNALS = {
    "SIGKILL": lazy_compile(
        rb"(?:^|[\s\d])Killed(?:\s|$)|\bSIGKILL\b|OOMKilled|oom_kill event|: Out Of Memory|got signal: 9\b"
    ),
    "SIGSEGV": lazy_compile(rb"[Ss]egmentation fault|\bSIGSEGV\b"),
    "SIGBUS": lazy_compile(rb"Bus error|\bSIGBUS\b"),
    "SIGABRT": lazy_compile(
        rb"Aborted\s{1,40}\(core dumped\)|Fatal Python error: Aborted"
        rb"|\bSIGABRT\b|terminate called after throwing"
    ),
    "SIGTERM": lazy_compile(
        rb"(?:^|[\s\d])Terminated(?:\s|$)|\bSIGTERM\b|CANCELLED AT|DUE TO TIME LIMIT|got signal: 15\b"
    ),
    "SIGINT": lazy_compile(rb"\bSIGINT\b|got signal: 2\b"),
}
_NUMBERS = {2: "SIGINT", 6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}
_STOPPED = frozenset(("SIGTERM", "SIGINT"))
"""Signals that launchers send to the other processes when one has failed."""
_FINISHED = lazy_compile(
    rb"(?i)train_runtime|\btraining (?:is )?(?:complete|finished|done)|finished training|loss for final step"
    rb"|stopped: `max_|\*{3,} train metrics"
)
_WRAPPERS = frozenset(
    """ChildFailedError ProcessRaisedException ProcessExitedException RayTaskError RayActorError ActorDiedError
    WorkerCrashedError SignalException""".split()
)
"""Exceptions with which a process reports that another one failed."""
_LATE = frozenset(
    """CalledProcessError DistStoreError DistNetworkError BrokenPipeError EOFError ConnectionResetError""".split()
)
"""Exceptions that are mostly raised because another process failed, or one that was started."""
_INTERRUPTED = frozenset(("KeyboardInterrupt", "SignalException"))
_AFTER = 60  # lines below a frame among which the exception is looked for
_MOST = 200  # failures
_NEAR = 400  # lines: so far behind an exception, a launcher's complaint is about it


class _Failure(msgspec.Struct):
    """A traceback: its lines, the exception at its end and the one that led to it, the line of user code, the rank."""

    begin: int
    end: int = 0
    name: str = ""
    text: str = ""
    rank: str = ""
    frame: TracebackFrame | None = None
    cause: str = ""
    prefix: bytes = b""

    @property
    def exception(self) -> str:
        """The class of the exception, without its modules."""
        return self.name.rpartition(".")[2]

    @property
    def is_wrapper(self) -> bool:
        """Whether it only reports that another process failed."""
        return self.exception in _WRAPPERS

    @property
    def precedence(self) -> tuple[bool, bool, int]:
        """The order in which failures are taken for the first one."""
        return self.is_wrapper, self.exception in _LATE, self.begin


@fact_kind("run_end")
class RunEnd(LineFact, kw_only=True):
    """How a run ended, by its output, at the line that shows it. failed: a process failed with an exception; elsewhere:
    a process failed whose own message is not in this output; signal: a signal ended it; finished: it says so; open:
    nothing shows an end. A line of code is the innermost of the user's in the traceback."""

    name: End
    exception: str
    """The class of the exception, without its modules."""
    text: str
    """The line of the exception, or that shows the end, without homes, user ids and addresses."""
    cause: str
    """The line of the exception that led to it in the same process, if the traceback names one."""
    quote: str
    """The same with the rank before it and the exception that led to it behind it."""
    rank: str
    """The rank that failed first, if the log or its name shows it."""
    signal: str
    """The name of the signal, such as ``SIGKILL``."""
    exit_code: int
    """The exit code that a launcher reports; 0 if none."""
    failures: int
    """The number of tracebacks at the end of the log."""
    begin: int
    """The line at which the traceback begins."""
    explained: Flag
    """Whether a known message near the end explains it."""


class _Mark(NamedTuple):
    """A line that shows an end of a process: its number and text, the rank, the signal and the exit code."""

    line: int
    text: str
    rank: str
    signal: str
    code: int


class Ending:
    """Collects what shows the end of a run, from the lines of its log."""

    def __init__(self) -> None:
        self._open: dict[bytes, _Failure] = {}  # tracebacks that are being printed, by the prefix of their lines
        self._pending: list[_Failure] = []  # since the last step
        self._survived: list[_Failure] = []  # those before it
        self._marks: list[_Mark] = []
        self._finished: tuple[int, str] | None = None
        self._last = 0

    def see(self, line: LogLine) -> None:
        """Process a line with a wanted literal."""
        self._last = line.number
        if b"Traceback (most" in line.found:
            prefix = _prefix(line.text)
            cause = self._open.pop(prefix, None)
            self._open[prefix] = _Failure(line.number) if cause is None or not cause.name else _chained(cause)
        elif b"above exception" in line.found:
            self._see_chain(_prefix(line.text))
        elif FRAME in line.found:
            self._see_frame(line)
        elif b"Error: " in line.found and (alone := _ALONE.match(without_source(line.text))) is not None:
            self._see_alone(line, alone[1].decode())
        elif _STEP.search(line.text, 0, 400):
            self._see_step()
        elif _FINISHED.search(line.text):
            self._see_step()
            self._finished = (line.number, quoted(decoded(line.text)))
        else:
            self._see_mark(line)

    def _see_step(self) -> None:
        """The run goes on."""
        if self._pending:
            self._survived, self._pending = self._pending, []
        self._marks.clear()
        self._finished = None

    def _see_alone(self, line: LogLine, name: str) -> None:
        """An exception whose traceback is not in the log; else it was read with that."""
        if all(failure.end != line.number for failure in self._pending) and len(self._pending) < _MOST:
            text, rank = quoted(decoded(line.text)), _rank(line.text)
            self._pending.append(_Failure(line.number, line.number, name, text, rank))

    def _see_chain(self, prefix: bytes) -> None:
        """The last exception of a process led to another one, whose traceback follows."""
        last = next((failure for failure in reversed(self._pending) if failure.prefix == prefix), None)
        if last is not None:
            self._pending.remove(last)
            self._open[prefix] = last

    def _see_frame(self, line: LogLine) -> None:
        prefix = _prefix(line.text)
        failure = self._open.setdefault(prefix, _Failure(line.number)) if len(self._open) < _MOST else None
        if failure is None:
            return
        failure.frame = frame_in(line.text) or failure.frame
        failure.rank = failure.rank or _rank(line.text)
        raised = _raised(line, prefix)
        if raised is not None:
            failure.end, failure.name, failure.text = raised
            failure.prefix = prefix
            del self._open[prefix]
            if len(self._pending) < _MOST:
                self._pending.append(failure)

    def _see_mark(self, line: LogLine) -> None:
        code = _exit_code(line.text)
        signal = next((name for name, pattern in _SIGNALS.items() if pattern.search(line.text)), "")
        if code < 0 or code > 128:
            signal = signal or _NUMBERS.get(-code if code < 0 else code - 128, "")
        if (code or signal) and len(self._marks) < _MOST:
            text = quoted(decoded(line.text))
            self._marks.append(_Mark(line.number, text, _rank(line.text), signal, code))

    def fact(self, path: str, rank: str) -> RunEnd:
        """The `run_end` of a log; `rank` is that of the whole log."""
        failures = [failure for failure in self._pending if failure.name]
        if not failures and self._marks:
            failures = [failure for failure in self._survived if failure.name and self._is_near(failure)]
        first = min(failures, key=lambda failure: failure.precedence, default=None)
        mark = self._decisive()
        if first is not None and not first.is_wrapper and not self._killed_before(first, mark):
            signal = "SIGINT" if first.exception in _INTERRUPTED else ""
            return self._of_failure(path, first, "signal" if signal else "failed", rank, len(failures), signal)
        if mark is not None and mark.signal:
            return self._of_mark(path, mark, "signal", rank)
        if first is not None:
            return self._of_failure(path, first, "elsewhere", rank, len(failures), "")
        if mark is not None:
            return self._of_mark(path, mark, "elsewhere", rank)
        if self._finished is not None:
            return _end("finished", path, self._finished[0], self._finished[1])
        return _end("open", path, max(self._last, 1), "")

    def _is_near(self, failure: _Failure) -> bool:
        return 0 <= self._marks[0].line - failure.end <= _NEAR

    def _decisive(self) -> _Mark | None:
        """The line that shows best how a process ended: the first with a signal that nobody sends to others, else the
        first."""
        own = (mark for mark in self._marks if mark.signal and mark.signal not in _STOPPED)
        return next(own, self._marks[0] if self._marks else None)

    def _killed_before(self, failure: _Failure, mark: _Mark | None) -> bool:
        """Whether a signal ended a process before an exception was raised in another."""
        return mark is not None and bool(mark.signal) and mark.line < failure.begin

    def _of_failure(self, path: str, failure: _Failure, name: End, rank: str, failures: int, signal: str) -> RunEnd:
        frame = failure.frame
        code = next((mark.code for mark in self._marks if mark.code), 0)
        end, of_rank = _end(name, path, failure.end, failure.text), failure.rank or rank
        return msgspec.structs.replace(
            end,
            quote=_quote(end.text, of_rank, failure.cause),
            exception=failure.exception,
            cause=failure.cause.replace("`", "'"),
            rank=of_rank,
            signal=signal,
            exit_code=code,
            failures=failures,
            begin=failure.begin,
            file=frame.file if frame else None,
            source_line=frame.line if frame else None,
            function=(frame.function or None) if frame else None,
        )

    def _of_mark(self, path: str, mark: _Mark, name: End, rank: str) -> RunEnd:
        end, of_rank = _end(name, path, mark.line, mark.text), mark.rank or rank
        quote = _quote(end.text, of_rank, "")
        return msgspec.structs.replace(end, quote=quote, rank=of_rank, signal=mark.signal, exit_code=mark.code)


def _end(name: End, path: str, line: int, text: str) -> RunEnd:
    return RunEnd(
        name=name,
        path=path,
        span=Span.at(line),
        exception="",
        text=text.replace("`", "'"),
        cause="",
        quote=text.replace("`", "'"),
        rank="",
        signal="",
        exit_code=0,
        failures=0,
        begin=line,
        explained="no",
    )


def _quote(text: str, rank: str, cause: str) -> str:
    of_rank = f"rank {rank}: " if rank and not _RANK.search(text.encode()) else ""
    led_by = f" … {cause}" if cause and cause not in text else ""
    return quoted(f"{of_rank}{text}{led_by}").replace("`", "'")


def _rank(text: bytes) -> str:
    match = _RANK.search(text, 0, 400)
    return (match[1] or match[2]).decode() if match else ""


def _exit_code(text: bytes) -> int:
    match = _CODE.search(text)
    return int(next(group for group in match.groups() if group)) if match else 0


def _chained(cause: _Failure) -> _Failure:
    """A traceback that follows from another one of the same process."""
    return _Failure(cause.begin, rank=cause.rank, frame=cause.frame, cause=cause.cause or cause.text)


def _prefix(text: bytes) -> bytes:
    """What a launcher puts before each line of a process: ``[rank3]:`` of ``[rank3]:   File "a.py"``."""
    match = _PREFIX.match(text)
    return match[1].rstrip() if match else b""


def _raised(line: LogLine, prefix: bytes) -> tuple[int, str, str] | None:
    """The line, the class and the text of the exception below a frame, in what the same process prints; None if another
    frame follows, or nothing."""
    below = line.after.split(b"\n", _AFTER)[1:_AFTER]
    bodies = [_own_text(without_colours(raw), prefix) for raw in below]
    for distance, body in enumerate(bodies, 1):
        if body is None or not body.strip():
            continue
        if body[:1].isspace():
            if FRAME in body:
                return None
            continue
        exception = _EXCEPTION.match(body)
        if exception is None:
            return None
        text = decoded(body).rstrip()
        if text.endswith(":"):
            text += " " + decoded(next((more.strip() for more in bodies[distance:] if more and more.strip()), b""))
        return line.number + distance, exception[1].decode(), quoted(text)
    return None


def _own_text(raw: bytes, prefix: bytes) -> bytes | None:
    """A line without the prefix of its process; None for a line of another one."""
    if not prefix:
        return raw
    if not raw.startswith(prefix):
        return None
    body = raw[len(prefix) :]
    return body[1:] if body[:1] == b" " else body

"""Reads logs (console output of a training run, CANN process logs (plog)) in one pass and constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.log_watcher import Watcher
from npulint.runs.read.logs.ending import ALWAYS, Ending
from npulint.runs.read.logs.ending import WANTED as OF_ENDING
from npulint.runs.read.logs.events import ALSO, Events, is_plog, literals, rank_by_name
from npulint.runs.read.logs.lines import LogLine, Readable, Scan, decoded
from npulint.runs.read.logs.tracebacks import quoted
from npulint.runs.read.logs.triage import across, explained, facts_of
from npulint.runs.read.rows import Note, Seen
from npulint.runs.read.source_fact import source_fact

__all__ = ["across", "read"]

_SIGNS = (
    *b"geop_npu torch_npu tf_adapter npu_bridge npu_device GePlugin Ascend HCCL".split(),
    b"ATC start working",
    b"accelerator to npu",
    b"npu:0",
    *b"torch-npu triton-ascend vllm-ascend mindspeed npu-smi /dev/davinci /ascend/ ascend-docker".split(),
)
_NPU = lazy_compile(rb"NPUs?(?![A-Za-z0-9_])")
_GPU = lazy_compile(
    rb"NCCL INFO|ProcessGroupNCCL|NVIDIA (?:[AHVLTB]\d|GeForce|RTX|Tesla|Graphics)|CUDA out of memory|gpu_device\.cc"
)
"""What only a run on GPUs prints; the word CUDA alone is in many failures on NPUs."""
_ERROR = lazy_compile(rb"\[ERROR\] ([A-Z][A-Z_]{1,15})\(")
_LEVELS = (("debug", b"[DEBUG] "), ("info", b"[INFO] "))


@fact_kind("run_log")
class LogSummary(FileFact):
    """A log: console output of a run, or a log of a CANN process (plog)."""

    name: Literal["console", "plog"]
    lines: int
    rank: str
    """If the log or its name shows it."""
    debug_lines: int
    """Lines of CANN by level, as the next two."""
    verbose_lines: int
    """Of the levels debug and info."""
    error_lines: int
    error_module: str
    """The module that reports the first error."""
    error_text: str
    """The first error."""


class _Whole:
    """Properties of a whole log."""

    def __init__(self) -> None:
        self.npu = self.gpu = self.plog = False
        self.levels = dict.fromkeys((*(name for name, _ in _LEVELS), "error"), 0)
        self.first_error = (0, "", "")

    def watch(self, data: bytes, cut: int, number: int) -> None:
        """Process a chunk whose first `cut` bytes are new, and whose first line has this number."""
        self.npu = self.npu or any(data.find(sign, 0, cut) >= 0 for sign in _SIGNS) or bool(_NPU.search(data, 0, cut))
        self.gpu = self.gpu or bool(_GPU.search(data, 0, cut))
        self.plog = self.plog or is_plog(data, cut)
        for name, sign in _LEVELS:
            self.levels[name] += data.count(sign, 0, cut)
        for match in _ERROR.finditer(data, 0, cut):
            self.levels["error"] += 1
            if not self.first_error[0]:
                at = match.start()
                text = quoted(decoded(data[at : at + 1000].partition(b"\n")[0]))
                self.first_error = (number + data.count(b"\n", 0, at), match[1].decode(), text)


def read(stream: Readable, path: str, watchers: Sequence[Watcher] = ()) -> list[Fact]:
    """The facts of a log: `run_source`, `run_log` and `run_end` for the whole, a `run_event` for each message, and
    those of the `watchers`. Whether a log without any trace of an NPU is of interest depends on what it lies beside.
    Raises `OSError` as the stream does; never for malformed content."""
    properties, events, ending = _Whole(), Events(), Ending()
    wants = [(frozenset(watcher.wants), watcher) for watcher in watchers]
    literal = {*literals(), *ALSO, *OF_ENDING, *(want for wanted, _ in wants for want in wanted)}
    levels = [word for watcher in watchers for word in watcher.levels]
    always = [*ALWAYS, *(word for watcher in watchers for word in watcher.always)]
    scan = Scan(literal, properties.watch, levels, always)
    for line in scan.over(stream):
        events.see(line)
        ending.see(line)
        _show(line, wants)
    rank = events.rank or rank_by_name(path)
    note: Note = "" if properties.npu or properties.plog or events.npu else "gpu" if properties.gpu else "no-npu"
    facts = _whole_facts(properties, path, scan.lines, note, rank)
    facts.append(explained(ending.fact(path, rank), events.found.values()))
    facts += facts_of(events.found.values(), path, events.tracebacks)
    for _, watcher in wants:
        facts += watcher.facts(path)
    return facts


def _show(line: LogLine, wants: list[tuple[frozenset[bytes], Watcher]]) -> None:
    text = ""
    for wanted, watcher in wants:
        if not wanted.isdisjoint(line.found):
            text = text or decoded(line.text)
            watcher.see(line.number, text, line.lines)


def _whole_facts(properties: _Whole, path: str, lines: int, note: Note, rank: str) -> list[Fact]:
    number, module, text = properties.first_error
    source = source_fact(path, Seen("log", lines), note)
    log = LogSummary(
        "plog" if properties.plog else "console",
        path,
        Span.at(number or 1),
        lines=lines,
        rank=rank,
        debug_lines=properties.levels["debug"],
        verbose_lines=properties.levels["debug"] + properties.levels["info"],
        error_lines=properties.levels["error"],
        error_module=module,
        error_text=text,
    )
    return [source, log]

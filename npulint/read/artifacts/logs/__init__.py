"""Logs: console output of a training run and the process logs of CANN (plog), in one pass and constant memory."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.log_watcher import Watcher
from npulint.read.artifacts.logs.events import ALSO, Events
from npulint.read.artifacts.logs.line_origin import is_plog, rank_by_name
from npulint.read.artifacts.logs.lines import LogLine, Readable, Scan, decoded
from npulint.read.artifacts.logs.messages import literals
from npulint.read.artifacts.logs.quoting import quoted
from npulint.read.artifacts.logs.ranks import across
from npulint.read.artifacts.logs.triage import facts_of

__all__ = ["across", "read"]

_SIGNS = (
    *b"geop_npu torch_npu tf_adapter npu_bridge npu_device GePlugin Ascend HCCL".split(),
    b"ATC start working",
    b"accelerator to npu",
    b"npu:0",
)
_NPU = lazy_compile(rb"NPUs?(?![A-Za-z0-9_])")
_ERROR = lazy_compile(rb"\[ERROR\] ([A-Z][A-Z_]{1,15})\(")
_LEVELS = (("debug", b"[DEBUG] "), ("info", b"[INFO] "), ("warning", b"[WARNING] "))


class _Whole:
    """What is so of a log as a whole."""

    def __init__(self) -> None:
        self.npu = self.plog = False
        self.levels = dict.fromkeys((*(name for name, _ in _LEVELS), "error"), 0)
        self.modules: dict[str, int] = {}
        self.first_error = (0, "", "")

    def watch(self, data: bytes, cut: int, number: int) -> None:
        """Take in a part of the log, of which the first `cut` bytes are new, and the number of its first line."""
        self.npu = self.npu or any(data.find(sign, 0, cut) >= 0 for sign in _SIGNS) or bool(_NPU.search(data, 0, cut))
        self.plog = self.plog or is_plog(data, cut)
        for name, sign in _LEVELS:
            self.levels[name] += data.count(sign, 0, cut)
        for found in _ERROR.finditer(data, 0, cut):
            module = found[1].decode()
            self.levels["error"] += 1
            if module in self.modules or len(self.modules) < 50:
                self.modules[module] = self.modules.get(module, 0) + 1
            if not self.first_error[0]:
                at = found.start()
                text = quoted(decoded(data[at : at + 1000].partition(b"\n")[0]))
                self.first_error = (number + data.count(b"\n", 0, at), module, text)


def read(stream: Readable, path: str, watchers: Sequence[Watcher] = ()) -> list[Fact]:
    """The facts of a log: `run_source` and `run_log` of the whole, a `run_event` for each message, and what the
    `watchers` saw. Of a log without any sign of an NPU only the first two are given. Raises `OSError` as the stream
    does; never for what the log holds.
    """
    whole, events = _Whole(), Events()
    wants = [(frozenset(one.wants), one) for one in watchers]
    literal = {*literals(), *ALSO, *(want for one, _ in wants for want in one)}
    levels = [word for one in watchers for word in one.levels]
    scan = Scan(literal, whole.watch, levels, [word for one in watchers for word in one.always])
    for line in scan.over(stream):
        events.see(line)
        _show(line, wants)
    npu = whole.npu or whole.plog or events.npu
    rank = events.rank or rank_by_name(path)
    found = _whole_facts(whole, path, scan.lines, npu, rank)
    if npu:
        found += facts_of(events.found.values(), path, rank, events.tracebacks)
        for _, watcher in wants:
            found += watcher.facts(path)
    return found


def _show(line: LogLine, wants: list[tuple[frozenset[bytes], Watcher]]) -> None:
    text = ""
    for wanted, watcher in wants:
        if not wanted.isdisjoint(line.found):
            text = text or decoded(line.text)
            watcher.see(line.number, text, line.lines)


def _whole_facts(whole: _Whole, path: str, lines: int, npu: bool, rank: str) -> list[Fact]:
    form = "plog" if whole.plog else "console"
    number, module, text = whole.first_error
    source = {
        "form": "log",
        "generation": 0,
        "rows": lines,
        "malformed": 0,
        "first_malformed": 0,
        "missing": "",
        "note": "" if npu else "no-npu",
    }
    log = {
        "form": form,
        "npu": "yes" if npu else "no",
        "lines": lines,
        "rank": rank,
        **{f"{name}_lines": count for name, count in whole.levels.items()},
        "verbose_lines": whole.levels["debug"] + whole.levels["info"],
        "error_module": module,
        "error_text": text,
        "error_modules": " ".join(sorted(whole.modules)),
    }
    top = Span()
    at = Span.at(number) if number else top
    return [GenericFact("run_source", "log", path, top, source), GenericFact("run_log", form, path, at, log)]

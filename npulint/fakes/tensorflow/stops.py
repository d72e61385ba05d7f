"""Why a TensorFlow program stopped, if it stops on an NPU server for the same reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from npulint.core.texts import say
from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.fakes.tensorflow.records import Failure, Remark, Report, Run
from npulint.fakes.tensorflow.trial import TensorFlowOutcome
from npulint.graphs.facts.graph_fact import STOP, Reason
from npulint.judge.findings import Finding, RunResult
from npulint.judge.settings import Settings
from npulint.judge.summaries.step_summary import StepOperator, StepSummary
from npulint.live.judge import judged
from npulint.live.result import LiveResult

_LONGEST = 200  # characters of an exception that are kept
_ADAPTER = ("npu_bridge", "npu_device", "hccl")
_NAMES = r"(?:npu_bridge|npu_device|hccl)[\w.]*'?"
_SAID: tuple[tuple[Reason, str], ...] = (
    ("adapter_name", rf"cannot import name '\w+' from '{_NAMES}"),
    ("adapter_name", rf"module '{_NAMES} has no attribute"),
    ("adapter_name", rf"No module named '{_NAMES}"),
    ("gpu_device", r"(?s)Cannot assign a device for operation .*(?:GPU|gpu):"),
    ("gpu_device", r"(?:Could not satisfy device specification|unknown device).*(?:GPU|gpu):"),
    ("gpu_device", r"(?:GPU|gpu):\d+ unknown device"),
)
_OPTIONS = ("options.py", "configs.py", "npu_options.py")  # modules of the fakes that refuse options
_OPTION_CHECKS = frozenset("NPU1106 NPU1107 NPU1108 NPU1109 NPU1114 NPU1151 NPU1152 NPU1153 NPU1154 NPU1155".split())
_HOST_CHECKS = frozenset("NPU1101 NPU1105 NPU1110 NPU1135".split())
_LIBRARIES = frozenset("horovod nvidia pycuda pynvml cupy byteps tensorrt nvtabular".split())
_WORD = re.compile(r"[A-Za-z_]\w{3,}")


def reason_of(failure: Failure) -> Reason | None:
    """Why a real NPU server raises this error; None if nothing is known about that."""
    if failure.type == "NotImplementedError" and failure.adapter:
        return None
    named = next((reason for reason, pattern in _SAID if re.search(pattern, failure.text)), None)
    if named is not None:
        return named
    if failure.module and failure.module.partition(".")[0] in _LIBRARIES:
        return "library"
    if failure.adapter:
        return "option" if failure.adapter.endswith(_OPTIONS) else "adapter_call"
    return None


def printed(failure: Failure) -> str:
    """The exception as Python prints it, in one line."""
    lines = failure.text.strip().split("\n")
    first = lines[-1 if lines[0].startswith(("in user code:", "in converted code:")) else 0].strip().rstrip(".")
    if first.startswith(f"{failure.type}: "):
        return first[:_LONGEST]
    return f"{failure.type}: {first}"[:_LONGEST] if first else failure.type


def frames_of(failure: Failure, reason: Reason | None) -> tuple[NodeFrame, ...]:
    """The lines to report, innermost last: of a misplaced operation, those that created it."""
    frames = failure.created if reason == "gpu_device" and failure.created else failure.frames
    return tuple(NodeFrame(*frame) for frame in frames)


def stops_graph(report: Report, version: str, static: Sequence[Finding], places: dict[str, str]) -> Graph | None:
    """A graph of the places where the program stopped or went on otherwise than it is written; None without any.
    `static` are the findings of the source check and `places` the files of their paths: a refused option is reported
    where it is set, which may be far from the session that refuses it."""
    nodes = [_remark(remark, static, places) for remark in report.remarks]
    failure = report.error
    reason = None if failure is None else reason_of(failure)
    if failure is not None and reason is not None:
        frames = frames_of(failure, reason)
        if reason == "option":
            frames = (*frames, *_set_at(failure.text, static, places))
        nodes.append(_node(reason, printed(failure), frames))
    return Graph("live_tensorflow", [Body("", nodes)], version) if nodes else None


def _remark(remark: Remark, static: Sequence[Finding], places: dict[str, str]) -> Node:
    frames = [NodeFrame(*frame) for frame in remark.frames]
    if remark.reason == "option_ignored":
        frames += _set_at(remark.text, static, places)
    elif remark.reason == "adapter_unused":
        frames += _only([finding for finding in static if finding.code in _HOST_CHECKS], places)
    return _node(remark.reason, remark.text, frames)


def _node(reason: str, text: str, frames: Iterable[NodeFrame]) -> Node:
    attrs = {"reason": reason, "operator": "", "error": text}
    return Node("stop", STOP, attrs=attrs, frames=tuple(frames))


def _set_at(text: str, static: Sequence[Finding], places: dict[str, str]) -> list[NodeFrame]:
    """Where the refused option is set, if the source check reports one option of that name."""
    words = set(_WORD.findall(text))
    lines = {
        (finding.path, finding.span.line)
        for finding in static
        if finding.code in _OPTION_CHECKS and finding.path in places and words & set(_named(finding))
    }
    return _at(lines, places)


def _only(static: Sequence[Finding], places: dict[str, str]) -> list[NodeFrame]:
    """The place of a finding of the source check, if it is the only one in code that ran."""
    lines = {(finding.path, finding.span.line) for finding in static if finding.path in places}
    return _at(lines, places)


def _at(lines: set[tuple[str, int]], places: dict[str, str]) -> list[NodeFrame]:
    return [NodeFrame(places[path], line) for path, line in lines] if len(lines) == 1 else []


def _named(finding: Finding) -> list[str]:
    """What a message quotes."""
    return [word for quoted in re.findall(r"`([^`]+)`", finding.message) for word in _WORD.findall(quoted)]


# Judges what a TensorFlow program built and ran: one result of all its graphs, and of where it stopped.


def judged_outcome(
    outcome: TensorFlowOutcome, name: str, settings: Settings, static: Sequence[Finding], places: dict[str, str]
) -> LiveResult:
    """The result of all graphs of a trial: findings at source lines and operators. `static` are the findings of the
    source check, `places` the files of their paths."""
    graphs = _relevant(outcome)
    stops = stops_graph(outcome.report, outcome.report.version, static, places)
    lang = settings.language()
    parts = [
        judged(graph, name=name, lang=lang, root="", steps=outcome.report.steps, settings=settings)
        for graph in (*graphs, *([stops] if stops is not None else ()))
    ]
    if not parts:
        empty = Graph("live_tensorflow", [Body("", [])], outcome.report.version)
        parts = [judged(empty, name=name, lang=lang, root="", settings=settings)]
    return _united(parts, name, outcome, lang)


def _relevant(outcome: TensorFlowOutcome) -> list[Graph]:
    """The graphs to judge: those of what trained; if nothing did, all that the user's code ran."""
    runs = [run for run in outcome.report.runs if run.graph in outcome.graphs]
    trained = {run.graph for run in runs if run.trains}
    chosen = trained or {run.graph for run in runs if run.place is not None}
    return [outcome.graphs[name] for name in sorted(chosen)]


def _united(parts: Sequence[LiveResult], name: str, outcome: TensorFlowOutcome, lang: str) -> LiveResult:
    """One result of several graphs of one program."""

    def answer(wanted: str) -> RunResult:
        reports = [part.report for part in parts]
        distinct: dict[tuple[object, ...], Finding] = {}
        for report in reports:
            for finding in report.findings:
                distinct.setdefault((finding.code, finding.path, finding.span.line, finding.subject), finding)
        ordered = sorted(distinct.values(), key=lambda finding: (finding.path, finding.span, finding.code))
        graphs = [graph for report in reports for graph in report.graphs if graph.nodes]
        step = _step([report.step for report in reports if report.step is not None], outcome, wanted)
        return msgspec.structs.replace(reports[0], findings=ordered, graphs=graphs, step=step, verdict=None)

    return LiveResult(name=name, graph=parts[0].graph, lang=lang, answer=answer, lines=parts[0].lines)


def _step(parts: Sequence[StepSummary], outcome: TensorFlowOutcome, lang: str) -> StepSummary:
    """The summary of all graphs of one program: equal operators of several graphs are one."""
    rows: dict[tuple[str, ...], StepOperator] = {}
    for row in (row for part in parts for row in part.operators):
        key = (row.name, row.verdict, row.path, str(row.line))
        step_operator = rows.get(key)
        rows[key] = (
            row
            if step_operator is None
            else msgspec.structs.replace(step_operator, count=step_operator.count + row.count)
        )
    notes = dict.fromkeys((*_notes(outcome.report, lang), *(note for part in parts for note in part.notes)))
    steps = max(1, outcome.report.steps)
    return msgspec.structs.replace(parts[0], operators=tuple(rows.values()), steps=steps, notes=tuple(notes))


def _notes(report: Report, lang: str) -> list[str]:
    """What the run did not show."""
    return [say(lang, "try.tf.missed", text=text) for text in dict.fromkeys(report.missed)]


def run_rows(report: Report, own: Mapping[str, str]) -> list[tuple[Run, str]]:
    """The runs to list with their places, most frequent first: those that train, then what the user's code ran more
    than once. `own` are the names to show for files."""
    rows = [run for run in report.runs if run.trains or (run.place is not None and run.count > 1)]
    rows.sort(key=lambda run: (not run.trains, -run.count))
    return [(run, _shown(run.place, own)) for run in rows]


def _shown(place: tuple[str, int] | None, own: Mapping[str, str]) -> str:
    return "" if place is None else f"{own.get(place[0], place[0])}:{place[1]}"

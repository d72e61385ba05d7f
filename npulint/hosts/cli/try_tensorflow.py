"""``npulint try`` for TensorFlow: runs the program under the fakes of the adapters, and reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from npulint.core.texts import say
from npulint.discover.paths import local
from npulint.fakes.orders import Ended
from npulint.fakes.tensorflow.records import Report, Run
from npulint.fakes.tensorflow.stops import frames_of, judged_outcome, printed, reason_of, run_rows
from npulint.fakes.tensorflow.trial import TensorFlowOutcome, TensorFlowTrial, run_tensorflow
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.reporting import report
from npulint.hosts.cli.try_program import announce, interpreter, order_of
from npulint.hosts.cli.try_report import CANNOT, concluded, ended_text, joined, source_check
from npulint.judge.settings import PEOPLE_FORMATS, Settings
from npulint.report.step.tables import aligned
from npulint.report.terminal import escape_control_chars

_MOST = 30  # rows of the table of runs
_LONGEST = 60  # characters of what ran


def script_of(program: str, module: bool) -> str:
    """The file of a script, or of a module in the working directory; empty where there is none."""
    if not module:
        return program
    base = program.replace(".", os.sep)
    paths = (f"{base}.py", os.path.join(base, "__main__.py"))
    return next((path for path in paths if os.path.isfile(path)), "")


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, near: str, settings: Settings) -> int:
    """Run the program, report, and return the exit code: 2 if nothing was seen. `near` is the path whose project and
    `settings` apply. Raises `NpulintError` for a program that cannot be started."""
    order = order_of(words, options, settings)
    adapter, _, cann, _ = settings.declared()
    trial = TensorFlowTrial(order, interpreter(options), os.getcwd(), adapter, cann, settings.language())
    announce(order, settings, host)
    explained = bool(options.get("explain_differences"))
    return _reported(run_tensorflow(trial), settings, host, near, order.program, explained)


def _reported(
    outcome: TensorFlowOutcome, settings: Settings, host: Host, near: str, program: str, explained: bool
) -> int:
    """Print the report and the tables of a trial; returns the exit code."""
    lang, ended = settings.language(), _ended(outcome.report)
    if "tensorflow" not in settings.target:
        target = {**settings.target, "tensorflow": outcome.report.version}
        settings = msgspec.structs.replace(settings, target=target)
    static = source_check(near, settings, host)
    places = {finding.path: os.path.abspath(local(finding.path)) for finding in static.findings}
    places = {path: place for path, place in places.items() if place in outcome.report.lines}
    live = judged_outcome(outcome, f"npulint try {program}", settings, static.findings, places)
    if not outcome.graphs and not ended.about_npu and not live.findings:
        host.warn(ended_text(ended, lang))
        host.warn(say(lang, "error", text=say(lang, "try.tf.nothing")))
        return CANNOT
    code = report(joined(live, static, ended, settings, explained), settings, host)
    if settings.format in PEOPLE_FORMATS:
        host.write("\n\n".join(["", *run_table(outcome.report, lang)]).removeprefix("\n") + "\n")
    return concluded(code, live.notes, ended, settings, host)


def _ended(report: Report) -> Ended:
    """How the program ended, as the trials of PyTorch say it."""
    if report.error is None:
        return Ended(report.how, report.steps, lines=report.lines)
    reason = reason_of(report.error)
    frames = frames_of(report.error, reason)
    place = f"{_shown(frames[-1].path)}:{frames[-1].line}" if frames else ""
    return Ended(report.how, report.steps, printed(report.error), place, reason is not None, lines=report.lines)


def _shown(path: str) -> str:
    """A path relative to the working directory, if it is below."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def run_table(report: Report, lang: str) -> list[str]:
    """What ran: fetches of sessions and functions, how often, and whether the shapes of their inputs changed."""
    paths: Mapping[str, str] = {run.place[0]: _shown(run.place[0]) for run in report.runs if run.place is not None}
    rows = [_row(run, place, lang) for run, place in run_rows(report, paths)[:_MOST]]
    keys = ("run", "trains", "count", "time", "traces", "shapes")
    heads = [say(lang, f"try.tf.column.{key}") for key in keys]
    heads.insert(1, say(lang, "live.column.place"))
    return ["\n".join([say(lang, "try.tf.runs"), *aligned(tuple(heads), rows)])] if rows else []


def _row(run: Run, place: str, lang: str) -> tuple[str, ...]:
    name = escape_control_chars(run.name)
    name = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."
    changed = [f"{key} {_shapes(shapes)}" for key, shapes in run.feeds.items() if len(shapes) > 1]
    return (
        name,
        escape_control_chars(place),
        say(lang, "try.tf.trains") if run.trains else "",
        str(run.count),
        f"{1000 * run.seconds / max(1, run.count):.1f}",
        str(run.traces) if run.traces else "",
        escape_control_chars("; ".join(changed)),
    )


def _shapes(shapes: Sequence[Sequence[int]]) -> str:
    return ", ".join("(" + ", ".join(map(str, shape)) + ")" for shape in shapes)

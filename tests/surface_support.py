"""A fake world for tests of everything around the pipeline: streams, a run with prepared results,
and one result that shows every part of a report."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from npulint.facts.model import Fact, Problem, Span
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.main import main
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.findings import (
    ChecklistItem,
    Evidence,
    Finding,
    Fix,
    FixEdit,
    ProgramSummary,
    Related,
    RunResult,
    Summary,
    SuppressedFinding,
)
from npulint.judge.settings import Settings

SOURCES: dict[str, list[str]] = {
    "models/train.py": [
        "import tensorflow as tf",
        "",
        "def parse(x):",
        "\tw = tf.Variable(1.0)  # 权重",
        "\treturn x * w",
        "",
        "ds = tf.data.Dataset.range(3).map(parse)",
        "config = tf.ConfigProto(",
        "    allow_soft_placement=True,",
        "    log_device_placement=True,",
        "    gpu_options=tf.GPUOptions(),",
        ")",
        'name = "模型"; y = tf.nn.dropout(x, 0.5)',
        'name = "模型"; z = tf.nn.dropout(y, 0.5)',
    ]
}


def source(path: str) -> Sequence[str]:
    """The lines of the sample project."""
    return SOURCES.get(path, ())


def finding(**changes: Any) -> Finding:
    """A finding with these fields and arbitrary other ones."""
    base = Finding(
        code="NPU1301",
        name="native-dropout",
        topic="dropout",
        category="performance",
        severity="warning",
        confidence="high",
        path="models/train.py",
        span=Span(13, 17, 13, 38),
        message="`tf.nn.dropout` is slow on the NPU",
        why="The native operator runs on the host.",
        fix=Fix("Use npu_ops.dropout.", "unsafe"),
    )
    return msgspec.structs.replace(base, **changes)


def sample() -> RunResult:
    """A result with findings of every shape, two programs, and files that were not read."""
    findings = [
        finding(
            code="NPU1101",
            name="variable-in-dataset-map",
            topic="variable_in_input_fn",
            category="functional",
            severity="error",
            span=Span(4, 6, 4, 22),
            message="`tf.Variable` runs in a function handed to Dataset.map",
            why="Input functions run on the host, variables live on the device.",
            fix=Fix("Use a constant."),
            related=(Related("models/train.py", Span(7, 31, 7, 34), "handed over here"),),
            program="models/train.py",
            fingerprint="0123456789abcdef0123",
            url="https://example.org/checks/variable-in-dataset-map",
        ),
        finding(
            code="NPU1103",
            name="plain-config-proto",
            topic="session_config",
            category="functional",
            confidence="medium",
            span=Span(8, 10, 12, 2),
            message="the session does not use the NPU",
            fix=Fix("Wrap it in npu_config_proto().", "safe", changes=(FixEdit("safe", ()),)),
        ),
        finding(fix=Fix("Use npu_ops.dropout.", "unsafe", changes=(FixEdit("unsafe", ()),))),
        finding(span=Span(14, 17, 14, 38)),
        finding(code="NPU1401", name="debug-print", severity="note", category="hygiene", span=Span(1, 1, 1, 2)),
        finding(
            code="NPU0101",
            name="syntax-error",
            topic="parse",
            category="functional",
            path="old/a\x1b[31m\n.py",
            span=Span(3, 1, 3, 2),
            message="this is Python 2\u202e, which cannot be parsed",
            fix=Fix("Port it to Python 3 first."),
        ),
    ]
    programs = [
        ProgramSummary("eval.py", 3, "torch", "migrated", (), ("evaluate",)),
        ProgramSummary(
            "models/train.py",
            4,
            "tensorflow 1.x",
            "not_started",
            ("estimator",),
            ("train",),
            "multi",
            (
                ChecklistItem(
                    "device",
                    "runs on the NPU",
                    "failed",
                    Evidence("models/train.py", Span(7, 1, 7, 9), "no-npu", "NPU1101"),
                ),
                ChecklistItem("loss_scale", "loss | scale", "passed", Evidence("models/opt\x1b.py", Span(3, 1, 3, 2))),
                ChecklistItem("own", "own\u202e item", "unknown", look="Compare `a|b` with *the* reference."),
            ),
        ),
    ]
    unread = [
        Problem("data/n.ipynb", "syntax-error", "bad cell", Span(9, 1, 9, 1), fatal=False),
        Problem("old/a\x1b[31m\n.py", "python2", "print", Span(3, 1, 3, 2)),
    ]
    target = {"cann": "8.0 (specified)", "framework": "tensorflow 1.x (inferred)"}
    silenced = [
        SuppressedFinding(
            finding(code="NPU1402", name="log-placement", span=Span(10, 5, 10, 30)), "comment", "see <docs> & #7"
        ),
        SuppressedFinding(
            finding(code="NPU1401", name="debug-print", severity="note", span=Span(2, 1, 2, 2)), "comment"
        ),
    ]
    summary = Summary(12, 11, 1, 1, 4, 1, 2, 0, 0.25)
    return RunResult(findings, programs, unread, target, summary, suppressed=silenced)


class Answer(msgspec.Struct):
    """What a command printed and returned."""

    code: int
    out: str
    err: str
    settings: Settings | None = None


def call(
    *words: str,
    result: RunResult | None = None,
    environ: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    run: Callable[[Settings], RunResult] | None = None,
    facts: Sequence[Fact] | Callable[[str], Sequence[Fact]] = (),
    judged: Sequence[Finding] = (),
) -> Answer:
    """Run a command in a fake world whose pipeline answers `result` (or does `run`)."""
    seen: list[Settings] = []

    def fake_run(settings: Settings, progress: Callable[[int, int], None] | None) -> RunResult:
        seen.append(settings)
        return run(settings) if run else result or RunResult(summary=Summary(files=1, read=1))

    def fake_review(files: dict[str, str], target: dict[str, str], catalogue: Catalogue) -> RunResult:
        return RunResult(findings=list(judged))

    out, err = io.StringIO(), io.StringIO()
    stdin_stream = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    facts_of = facts if callable(facts) else lambda path: facts
    host = Host(environ or {}, stdin_stream, out, err, fake_run, facts_of, fake_review)
    code = main(list(words), host)
    return Answer(code, out.getvalue(), err.getvalue(), seen[0] if seen else None)

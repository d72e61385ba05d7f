"""The result of a live check: findings as in an ordinary run, and every operator with its verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from npulint.core.texts import say
from npulint.facts.graph import Graph
from npulint.judge.findings import Finding, GraphSummary, RunResult
from npulint.judge.settings import FORMATS, RANK
from npulint.judge.source_lines import LineProvider
from npulint.judge.summaries.step_summary import StepOperator, StepSummary, StepWait
from npulint.live.operators import counted
from npulint.report.view import ReportView, render


class NotReadyError(AssertionError):
    """A failed live check; the text is the report of the failing findings. `result` is the whole result."""

    def __init__(self, text: str, result: LiveResult) -> None:
        super().__init__(text)
        self.result = result


class LiveResult:
    """The result of a live check. `findings` are at lines of user code; `step` describes the recorded step. `graph` is
    the recorded graph, `lines` returns the source of a path."""

    def __init__(
        self, *, name: str, graph: Graph, lang: str, answer: Callable[[str], RunResult], lines: LineProvider
    ) -> None:
        self.name = name
        self.graph = graph
        self._lang = lang
        self._answer = answer
        self.lines = lines
        self._results = {lang: answer(lang)}

    @property
    def findings(self) -> list[Finding]:
        """The findings, by place."""
        return self._results[self._lang].findings

    @property
    def report(self) -> RunResult:
        """The result as that of an ordinary run."""
        return self._results[self._lang]

    @property
    def step(self) -> StepSummary:
        """The recorded step: operators, waits, shapes that changed, memory."""
        step_summary = self._results[self._lang].step
        assert step_summary is not None
        return step_summary

    @property
    def operators(self) -> list[StepOperator]:
        """All recorded operators, most severe verdicts first."""
        return list(self.step.operators)

    @property
    def syncs(self) -> list[StepWait]:
        """The places where the host waits for the device, in all recorded steps."""
        return list(self.step.waits)

    @property
    def steps(self) -> int:
        """The number of recorded steps."""
        return self.step.steps

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not seen."""
        return self.step.notes

    @property
    def summary(self) -> GraphSummary:
        """The summary of the graph."""
        return self._results[self._lang].graphs[0]

    @property
    def counts(self) -> dict[str, int]:
        """The number of operator calls (TensorFlow: nodes) by verdict, most severe first."""
        return counted(self.operators)

    @property
    def syncs_per_step(self) -> float:
        """How often the host waits for the device per step."""
        return sum(sync.count for sync in self.syncs) / self.steps

    def failing(self, fail_on: str = "error", allow: Iterable[str] = ()) -> list[Finding]:
        """The findings of severity `fail_on` or higher (``never``: none), except allowed ones: by operator
        (``aten.huber_loss``) or check name or code. Raises `ValueError` for an unknown severity."""
        if fail_on not in RANK:
            raise ValueError(f"fail_on: {fail_on!r} is not one of {', '.join(RANK)}")
        excused = tuple(allow)
        grave = (finding for finding in self.findings if RANK[finding.severity] >= RANK[fail_on])
        return [finding for finding in grave if not any(is_about(finding, word) for word in excused)]

    def ok(self, fail_on: str = "error", allow: Iterable[str] = ()) -> bool:
        """Whether there is no finding of severity `fail_on` (error, warning, note) or higher."""
        return not self.failing(fail_on, allow)

    def raise_for(self, fail_on: str = "error", allow: Iterable[str] = ()) -> None:
        """Raise `NotReadyError`, an `AssertionError`, if there is such a finding."""
        failing = self.failing(fail_on, allow)
        if failing:
            raise NotReadyError(self.complaint(failing), self)

    def assert_ready(self, fail_on: str = "warning", allow: Iterable[str] = ()) -> None:
        """As `raise_for`, but also fails on warnings such as a CPU fallback; for tests."""
        self.raise_for(fail_on, allow)

    def complaint(self, findings: Sequence[Finding]) -> str:
        """The report of these findings only, below a heading."""
        result = self._results[self._lang]
        selected = msgspec.structs.replace(
            result, findings=list(findings), graphs=[], notices=[], target={}, step=None, verdict=None
        )
        view = ReportView(lang=self._lang, shown_from="note", lines=self.lines)
        body = render("text", selected, view).rstrip("\n")
        return f"{say(self._lang, 'live.failed', name=self.name, n=len(findings))}\n\n{body}"

    def text(self, lang: str = "", all_operators: bool = False) -> str:
        """The report for people, in `lang` (``en``, ``zh``) or the language of the result: findings, the graph, and a
        table of the operators that leave the NPU, or of all."""
        lang = lang or self._lang
        view = ReportView(lang=lang, shown_from="note", lines=self.lines, verbose=True, all_operators=all_operators)
        return render("text", self._result(lang), view).rstrip("\n") + "\n"

    def render(self, format_name: str, lang: str = "") -> str:
        """The report in a format of ``npulint check``: ``html``, ``markdown``, ``sarif`` … Raises `ValueError` for an
        unknown format."""
        if format_name not in FORMATS:
            raise ValueError(f"format_name: {format_name!r} is not one of {', '.join(FORMATS)}")
        lang = lang or self._lang
        return render(format_name, self._result(lang), ReportView(lang=lang, shown_from="note", lines=self.lines))

    def to_dict(self) -> dict[str, Any]:
        """The JSON report of an ordinary run as plain values, with `operators`, `counts`, `syncs`, `steps` and
        `notes`."""
        view = ReportView(lang=self._lang, shown_from="note", lines=self.lines)
        document: dict[str, Any] = msgspec.json.decode(render("json", self._results[self._lang], view))
        more = {"operators": self.operators, "counts": self.counts, "syncs": self.syncs, "notes": list(self.notes)}
        plain: dict[str, Any] = msgspec.to_builtins(more)
        return {"name": self.name, **document, **plain, "steps": self.steps}

    def to_json(self) -> str:
        """The same as JSON text."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=2).decode() + "\n"

    def _result(self, lang: str) -> RunResult:
        if lang not in self._results:
            self._results[lang] = self._answer(lang)
        return self._results[lang]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{word} {n}" for word, n in self.counts.items())
        return f"<LiveResult of {self.name}: {len(self.findings)} findings; {verdicts}>"


def is_about(finding: Finding, word: str) -> bool:
    """Whether a finding is from the check with this code or name, or about this operator: ``aten.scatter`` means all
    overloads. Findings about several operators name them in the message."""
    if word.casefold() in (finding.code.casefold(), finding.name):
        return True
    if finding.subject == word or finding.subject.startswith(f"{word}."):
        return True
    return bool(re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", finding.message))

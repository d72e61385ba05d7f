"""What a live check says: findings as of an ordinary run, and every operator with its verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from npulint.facts.graph import Graph
from npulint.findings import Finding, GraphSummary, RunResult
from npulint.live.operators import Operator, Sync, counted
from npulint.report.view import ReportView, render
from npulint.settings import RANK
from npulint.source_lines import LineProvider
from npulint.texts import say


class NotReadyError(AssertionError):
    """What was checked is not ready; the text is the report of what speaks against it. `result` has all of it."""

    def __init__(self, text: str, result: LiveResult) -> None:
        super().__init__(text)
        self.result = result


class LiveResult:
    """The answer of a live check.

    `findings` lie at lines of the user's code. `operators` are all operators that were recorded, the gravest verdicts
    first; `syncs` the places where the host waits for the device, in `steps` recorded steps. `notes` tell what was not
    seen. `graph` is the record itself, `lines` gives the source of a file by its path.
    """

    def __init__(
        self,
        *,
        name: str,
        graph: Graph,
        operators: list[Operator],
        syncs: list[Sync],
        steps: int,
        lang: str,
        notes: Sequence[str],
        answer: Callable[[str], RunResult],
        lines: LineProvider,
    ) -> None:
        self.name = name
        self.graph = graph
        self.operators = operators
        self.syncs = syncs
        self.steps = steps
        self.notes = tuple(notes)
        self._lang = lang
        self._answer = answer
        self.lines = lines
        self._told = {lang: answer(lang)}

    @property
    def findings(self) -> list[Finding]:
        """The findings, by place."""
        return self._told[self._lang].findings

    @property
    def summary(self) -> GraphSummary:
        """What is known about the graph as a whole."""
        return self._told[self._lang].graphs[0]

    @property
    def counts(self) -> dict[str, int]:
        """How many operators ran (of TensorFlow: nodes there are) by verdict, the gravest first."""
        return counted(self.operators)

    @property
    def syncs_per_step(self) -> float:
        """How often the host waits for the device in a step."""
        return sum(one.count for one in self.syncs) / self.steps

    def failing(self, fail_on: str = "error", allow: Iterable[str] = ()) -> list[Finding]:
        """The findings from the severity `fail_on` on (``never``: none), but for what is allowed: operators
        (``aten.huber_loss``), or checks by name or code. Raises `ValueError` for another severity."""
        if fail_on not in RANK:
            raise ValueError(f"fail_on: {fail_on!r} is not one of {', '.join(RANK)}")
        excused = tuple(allow)
        grave = (one for one in self.findings if RANK[one.severity] >= RANK[fail_on])
        return [one for one in grave if not any(is_about(one, word) for word in excused)]

    def ok(self, fail_on: str = "error", allow: Iterable[str] = ()) -> bool:
        """Whether no finding is as grave as `fail_on` (error, warning, note)."""
        return not self.failing(fail_on, allow)

    def raise_for(self, fail_on: str = "error", allow: Iterable[str] = ()) -> None:
        """Raise `NotReadyError`, an `AssertionError`, when there is such a finding."""
        failing = self.failing(fail_on, allow)
        if failing:
            raise NotReadyError(self.complaint(failing), self)

    def assert_ready(self, fail_on: str = "warning", allow: Iterable[str] = ()) -> None:
        """The same for tests: an operator that falls back to the CPU is enough to fail."""
        self.raise_for(fail_on, allow)

    def complaint(self, findings: Sequence[Finding]) -> str:
        """The report of some of the findings alone, under a heading."""
        result = self._told[self._lang]
        told = msgspec.structs.replace(result, findings=list(findings), graphs=[], notices=[], target={})
        view = ReportView(lang=self._lang, shown_from="note", lines=self.lines)
        body = render("text", told, view).rstrip("\n")
        return f"{say(self._lang, 'live.failed', name=self.name, n=len(findings))}\n\n{body}"

    def text(self, lang: str = "", all_operators: bool = False) -> str:
        """The report for people, in the language of the result or in `lang` (``en``, ``zh``): findings, the graph, and
        a table of the operators that leave the NPU, or of all."""
        from npulint.live.tables import operator_table, sync_table

        lang = lang or self._lang
        result = self._result(lang)
        view = ReportView(lang=lang, shown_from="note", lines=self.lines, verbose=True)
        blocks = [render("text", result, view).rstrip("\n")]
        blocks += operator_table(self.operators, lang, all_operators) + sync_table(self.syncs, self.steps, lang)
        blocks += [say(lang, "live.note", text=note) for note in self.notes]
        return "\n\n".join(block for block in blocks if block) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values: the JSON report of an ordinary run, with `operators`, `counts`, `syncs`, `steps`
        and `notes`."""
        view = ReportView(lang=self._lang, shown_from="note", lines=self.lines)
        document: dict[str, Any] = msgspec.json.decode(render("json", self._told[self._lang], view))
        more = {"operators": self.operators, "counts": self.counts, "syncs": self.syncs, "notes": list(self.notes)}
        plain: dict[str, Any] = msgspec.to_builtins(more)
        return {"name": self.name, **document, **plain, "steps": self.steps}

    def to_json(self) -> str:
        """The same as JSON text."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=2).decode() + "\n"

    def _result(self, lang: str) -> RunResult:
        if lang not in self._told:
            self._told[lang] = self._answer(lang)
        return self._told[lang]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{word} {n}" for word, n in self.counts.items())
        return f"<LiveResult of {self.name}: {len(self.findings)} findings; {verdicts}>"


def is_about(finding: Finding, word: str) -> bool:
    """Whether a finding is of the check with this code or name, or about this operator: ``aten.scatter`` means all of
    its overloads. Findings about more than one operator tell them in their message."""
    if word.casefold() in (finding.code.casefold(), finding.name):
        return True
    if finding.subject == word or finding.subject.startswith(f"{word}."):
        return True
    return bool(re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", finding.message))

"""SARIF reporting descriptors of the checks in a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from npulint.core.lazy_regex import lazy_compile
from npulint.judge.findings import CONFIDENCES, Finding
from npulint.judge.settings import RANK
from npulint.report.view import ReportView, RulePage
from npulint.report.xmltext import legal

MOST_CHARACTERS = 1024  # of a description, limit of GitHub
_NAME_CHARACTERS = 255
_TAGS = ("ascend", "npu")
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}
_ADDRESS = lazy_compile(r"https?://[!-;=?-\[\]_a-z~]+\Z")


def rules(findings: Iterable[Finding], view: ReportView) -> list[dict[str, Any]]:
    """A descriptor for each check with a finding, by code."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    return [_rule(groups[code], view.page(code)) for code in sorted(groups)]


def _rule(findings: Sequence[Finding], page: RulePage | None) -> dict[str, Any]:
    one = findings[0]
    severity = max((finding.severity for finding in findings), key=RANK.__getitem__)
    page = page or RulePage("", "", "", "")
    name = one.name.strip() or one.code
    title = page.title.strip() or name
    why = page.why.strip() or one.why.strip() or title
    advice = page.fix.strip() or one.fix.text.strip()
    plain = "\n\n".join(dict.fromkeys(filter(None, (title, why, advice))))
    described: dict[str, Any] = {
        "id": one.code,
        "name": cut(name, _NAME_CHARACTERS),
        "shortDescription": {"text": cut(title, MOST_CHARACTERS)},
        "fullDescription": {"text": cut(why, MOST_CHARACTERS)},
        "help": {"text": plain, "markdown": page.markdown.strip() or plain},
        "defaultConfiguration": {"level": severity},
        "properties": {
            "precision": max((finding.confidence for finding in findings), key=CONFIDENCES.index),
            "problem.severity": _PROBLEM[severity],
            "category": one.category,
            "topic": one.topic,
            "tags": list(dict.fromkeys(filter(None, (*_TAGS, one.category, one.topic)))),
        },
    }
    if _ADDRESS.match(one.url):
        described["helpUri"] = one.url
    return described


def cut(text: str, limit: int) -> str:
    """`text`, or its beginning in `limit` characters; control characters become escapes and count as such."""
    text = legal(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"

"""GitLab Code Quality report, shown in merge requests.

Errors become ``critical``, warnings ``major`` and notes ``info``; ``blocker`` and ``minor`` are not used, since
severity does not depend on confidence. GitLab does not show check names, so descriptions begin with them. It drops
findings with equal fingerprints and compares fingerprints to detect new findings, so they are unique and survive moved
lines. Suppressed findings are omitted.
"""

from __future__ import annotations

from typing import Any

import msgspec

from npulint.core.digest import blake2b
from npulint.judge.findings import Finding, RunResult
from npulint.report.json import encodable
from npulint.report.terminal import escape_control_chars
from npulint.report.view import ReportView, in_repository, visible

SEVERITY = {"error": "critical", "warning": "major", "note": "info"}
CATEGORY = {
    "functional": "Bug Risk",
    "precision": "Bug Risk",
    "performance": "Performance",
    "hygiene": "Style",
}


def render(result: RunResult, view: ReportView) -> str:
    """A JSON array with one issue per finding."""
    seen: set[str] = set()
    issues = [_issue(finding, _unique(finding, seen), view) for finding in visible(result, view)]
    return msgspec.json.format(msgspec.json.encode(encodable(issues)), indent=2).decode() + "\n"


def _issue(finding: Finding, fingerprint: str, view: ReportView) -> dict[str, Any]:
    first = max(1, finding.span.line)
    advice = "\n\n".join(map(escape_control_chars, filter(None, (finding.why, finding.fix.text, finding.url))))
    return {
        "type": "issue",
        "description": f"{finding.name}: {escape_control_chars(finding.message)}",
        "check_name": finding.name,
        "content": {"body": advice},
        "categories": [CATEGORY.get(finding.category, "Bug Risk")],
        "severity": SEVERITY[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": in_repository(finding.path, view.folder).removeprefix("./"),
            "lines": {"begin": first, "end": max(first, finding.span.end_line)},
        },
    }


def _unique(finding: Finding, seen: set[str]) -> str:
    """The fingerprint of the finding, or one derived from it if another finding has it already."""
    parts = (finding.path, finding.code, finding.message)
    fingerprint = finding.fingerprint or _digest(*parts)
    times = 1
    while fingerprint in seen:
        fingerprint = _digest(finding.fingerprint, *parts, str(times))
        times += 1
    seen.add(fingerprint)
    return fingerprint


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()

"""The plan of a port as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from npulint.commands.port.model import PlannedItem, PortPlan
from npulint.commands.port.text import style_reason
from npulint.core.texts import say
from npulint.judge.verdict import verdict_of
from npulint.report.effort.record import effort_record
from npulint.report.json import encodable
from npulint.report.verdict import verdict_record

VERSION = 1


def rendered(plan: PortPlan, lang: str) -> str:
    """The plan as a JSON document."""
    document = {
        "version": VERSION,
        "style": plan.style.name,
        "style_reason": style_reason(plan, lang),
        "effort": effort_record(plan.effort),
        "verdict": {
            "before": verdict_record(plan.before, lang),
            "after": verdict_record(verdict_of(plan.result), lang),
        },
        "files": [{"path": file.path, "new": file.new} for file in plan.files],
        "steps": [
            {
                "step": step.name,
                "title": say(lang, f"port.step.{step.name}"),
                "files": [file.path for file in step.files],
                "items": [_item(item) for item in step.items],
            }
            for step in plan.steps
        ],
        "left": [
            {
                "code": open_finding.finding.code,
                "name": open_finding.finding.name,
                "topic": open_finding.finding.topic,
                "severity": open_finding.finding.severity,
                "path": open_finding.finding.path,
                "line": open_finding.finding.span.line,
                "message": open_finding.finding.message,
                "why": open_finding.finding.why,
                "fix": open_finding.finding.fix.text,
                "refused": open_finding.reason,
            }
            for open_finding in plan.left
        ],
        "programs": [msgspec.to_builtins(program) for program in plan.programs],
    }
    return msgspec.json.format(msgspec.json.encode(encodable(document)), indent=2).decode() + "\n"


def _item(item: PlannedItem) -> dict[str, Any]:
    return {
        "code": item.code,
        "name": item.name,
        "title": item.title,
        "message": item.message,
        "why": item.why,
        "sure": "safe" if item.safe else "review",
        "places": [{"path": path, "line": line} for path, line in item.places],
        "edits": [
            {"path": edit.path, "line": edit.line, "before": list(edit.before), "after": list(edit.after)}
            for edit in item.edits
        ],
    }

"""The plan of a port as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from npulint.commands.port.effort import effort_of
from npulint.commands.port.model import PlannedItem, PortPlan
from npulint.commands.port.text import style_reason
from npulint.core.texts import say
from npulint.report.effort.record import effort_record
from npulint.report.json import encodable

VERSION = 1


def rendered(plan: PortPlan, lang: str) -> str:
    """The plan as a JSON document."""
    document = {
        "version": VERSION,
        "style": plan.style.name,
        "style_reason": style_reason(plan, lang),
        "effort": effort_record(effort_of(plan)),
        "files": [{"path": one.path, "new": one.new} for one in plan.files],
        "steps": [
            {
                "step": step.name,
                "title": say(lang, f"port.step.{step.name}"),
                "files": [one.path for one in step.files],
                "items": [_item(item) for item in step.items],
            }
            for step in plan.steps
        ],
        "left": [
            {
                "code": one.finding.code,
                "name": one.finding.name,
                "topic": one.finding.topic,
                "severity": one.finding.severity,
                "path": one.finding.path,
                "line": one.finding.span.line,
                "message": one.finding.message,
                "why": one.finding.why,
                "fix": one.finding.fix.text,
                "refused": one.reason,
            }
            for one in plan.left
        ],
        "programs": [msgspec.to_builtins(one) for one in plan.programs],
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
            {"path": one.path, "line": one.line, "before": list(one.before), "after": list(one.after)}
            for one in item.edits
        ],
    }

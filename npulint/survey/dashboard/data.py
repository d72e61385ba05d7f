"""The projects as data in the page."""

from __future__ import annotations

import json
from typing import Any

from npulint.core.texts import known, say
from npulint.report.json import encodable
from npulint.report.terminal import escape_control_chars
from npulint.survey.model import FAILED, ProjectRow
from npulint.survey.summary import VERDICTS, Summed

_TEXTS = "shown page more range effort items report details source commit blockers files none".split()


def data(summed: Summed, lang: str) -> str:
    """The data as JSON that may stand in a script element."""
    checks = list(summed.checks)
    numbers = {code: index for index, code in enumerate(checks)}
    frameworks = sorted({name for project in summed.projects for name in project.frameworks})
    verdicts = [*VERDICTS, FAILED]
    document = {
        "checks": [[escape_control_chars(one) for one in (code, summed.checks[code])] for code in checks],
        "frameworks": [[escape_control_chars(name), framework(name, lang)] for name in frameworks],
        "verdicts": [[word, verdict(word, lang)] for word in verdicts],
        "projects": [
            {
                **_fields(project, lang),
                "v": verdicts.index(FAILED if project.status == FAILED else project.verdict),
                "b": [numbers[code] for code in project.blockers],
                "f": [frameworks.index(name) for name in project.frameworks],
            }
            for project in summed.projects
        ],
        "texts": {name: say(lang, f"survey.js.{name}") for name in _TEXTS},
    }
    text = json.dumps(encodable(document), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _fields(row: ProjectRow, lang: str) -> dict[str, Any]:
    """The plain values of a project under short names; what is empty is left out."""
    failure = say(lang, f"survey.failure.{row.failure}") if row.failure else ""
    fields = {
        "n": escape_control_chars(row.project),
        "src": escape_control_chars(row.source),
        "c": row.commit,
        "why": failure + (say(lang, "aside", text=escape_control_chars(row.detail)) if row.detail else ""),
        "p": row.passed,
        "x": row.failed,
        "u": row.undetermined,
        "e": row.errors,
        "w": row.warnings,
        "lo": row.effort_low,
        "mid": row.effort_mid,
        "hi": row.effort_high,
        "files": row.files,
        "l": row.lines,
        "r": row.report,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}


def verdict(word: str, lang: str) -> str:
    """A verdict in words."""
    return say(lang, "survey.failed" if word == FAILED else f"html.verdict.{word}")


def framework(name: str, lang: str) -> str:
    """A framework in words."""
    return say(lang, f"framework.{name}") if known(f"framework.{name}") else escape_control_chars(name)

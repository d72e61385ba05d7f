"""The formats of the report about a machine."""

from __future__ import annotations

from npulint.doctor.report import Report, json, markdown, text
from npulint.report.terminal import escape_control_chars


def rendered(report: Report, shape: str, lang: str) -> str:
    """A report in a format: text, markdown, json or html."""
    if shape == "html":
        from npulint.doctor.page import html  # most reports are text

        return html(report, lang)
    plain = json(report) if shape == "json" else markdown(report, lang) if shape == "markdown" else text(report, lang)
    return "\n".join(map(escape_control_chars, plain.split("\n")))  # what a machine says is not trusted

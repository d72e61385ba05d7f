"""Two training runs as Markdown."""

from __future__ import annotations

from npulint.core.texts import say
from npulint.judge.findings import Comparison
from npulint.judge.summaries.run_comparison import RunComparison
from npulint.report.compared.runs import headline, paragraph, symptoms, table
from npulint.report.document.markdown import Writer
from npulint.report.markup import prose


def run_parts(comparison: Comparison, runs: RunComparison, writer: Writer, lang: str) -> list[str]:
    """The table of quantities, and what they show with its causes."""
    parts = [f"### {say(lang, 'pair.title')}", prose(headline(runs, lang))]
    if runs.curves:
        found = table(runs, lang)
        parts += writer.table(found.heads, found.rows)
    for symptom in symptoms(comparison, runs, lang):
        parts.append(
            f"**{prose(symptom.text)}{say(lang, 'compare.end')}** {prose(say(lang, 'heading', text=symptom.intro))}"
        )
        parts.append("\n".join(f"- {prose(paragraph(cause, lang).text)}" for cause in symptom.causes))
    return parts

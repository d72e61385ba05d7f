"""The content of reports about two compared training runs, independent of the format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, known, say
from npulint.judge.catalogue.forms import time
from npulint.judge.findings import Comparison
from npulint.judge.summaries.run_comparison import ComparedCurve, Explanation, RunComparison, Symptom
from npulint.report.document.markdown import Writer
from npulint.report.document.model import Cell, CodeCell, Note, Prose, Status, Table
from npulint.report.runs import words
from npulint.report.terminal import prose

_RATE = lazy_compile(r"/\s?s|per_?\s?s|ps$|throughput")


class SymptomText(msgspec.Struct, frozen=True):
    """What the runs show, how its causes are introduced, and these: what (with code in backticks), place, reason."""

    text: str
    intro: str
    causes: Sequence[tuple[str, str, str]]


def table(runs: RunComparison, lang: str) -> Table:
    """One row for each quantity: the course of both sides, and the result."""
    heads: list[Cell] = [say(lang, f"pair.head.{word}") for word in ("quantity", "reference", "migrated", "result")]
    rows = [_row(curve, lang) for curve in runs.curves]
    return Table(say(lang, "pair.title"), heads, rows, "figured", wide=True)


def _row(curve: ComparedCurve, lang: str) -> Sequence[Cell]:
    return (
        quantity(curve, lang),
        (_course(curve, 0, lang), CodeCell(curve.label)),
        (_course(curve, 1, lang), CodeCell(curve.migrated_label)),
        (Status("differs" if curve.differs else "consistent", result(curve, lang)), Note(_noise(curve, lang))),
    )


def quantity(curve: ComparedCurve, lang: str) -> str:
    """The name of the quantity."""
    return say(lang, f"pair.{curve.quantity}")


def _course(curve: ComparedCurve, side: int, lang: str) -> str:
    first, last = curve.first[side], curve.last[side]
    if curve.quantity == "step_time":
        if not first:
            return "-"
        label = curve.migrated_label if side else curve.label
        return f"{words.value(1 / first)}/s" if _RATE.search(label) else time(first * 1e6)
    if first is None and last is None:
        return "-"
    show = words.scale if curve.quantity == "loss_scale" else words.value
    return say(lang, "pair.course", first=show(first), last=show(last))


def result(curve: ComparedCurve, lang: str) -> str:
    """The verdict in words."""
    verdict = curve.verdict
    if verdict == "missing":
        verdict = "missing.reference" if curve.path else "missing.migrated"
    signed = verdict not in ("slower", "faster")
    gap = words.percent(curve.gap if signed else abs(curve.gap), lang, signed=signed)
    places = {"place": place(curve, curve.at, lang), "until": place(curve, curve.until, lang)}
    return say(lang, f"pair.verdict.{verdict}", gap=gap, **places)


def place(curve: ComparedCurve, at: float | None, lang: str) -> str:
    """A position in words, with its line in the log of the migrated run."""
    return "" if at is None else say(lang, f"pair.{curve.axis}", n=f"{at:,.10g}")


def _noise(curve: ComparedCurve, lang: str) -> str:
    """How much single values vary, where that matters."""
    if curve.noise < 0.1 or curve.verdict not in ("alike", "part", "apart", "meet"):
        return ""
    return say(lang, "aside", text=say(lang, "pair.noise", noise=words.percent(curve.noise, lang))).strip()


def symptoms(comparison: Comparison, runs: RunComparison, lang: str) -> Iterator[SymptomText]:
    """What the runs show, with causes."""
    curves = {curve.quantity: curve for curve in runs.curves}
    for symptom in runs.symptoms:
        at = place(curves[symptom.quantity], symptom.at, lang)
        intro = "found" if symptom.explained else "usual" if comparison.pairs else "usual.alone"
        causes = [_cause(cause, symptom, lang) for cause in symptom.explanations]
        yield SymptomText(say(lang, f"pair.symptom.{symptom.name}", place=at), say(lang, f"pair.{intro}"), causes)


def _cause(cause: Explanation, symptom: Symptom, lang: str) -> tuple[str, str, str]:
    parts = [say(lang, f"change.part.{part}") for part in cause.part.split() if known(f"change.part.{part}")]
    if not symptom.explained:
        return say(lang, "list.and").join(parts), "", cause.reason
    absent = say(lang, "compare.absent")
    values = [f"`{text}`" if text else absent for text in (cause.reference, cause.migrated)]
    return f"{parts[0]} `{cause.what}`: {' → '.join(values)}", f"{cause.path}:{cause.line}", cause.reason


def headline(runs: RunComparison, lang: str) -> str:
    """Whether the runs differ, in a sentence."""
    if not any(curve.count for curve in runs.curves):
        return say(lang, "pair.nothing")
    number = sum(curve.differs for curve in runs.curves)
    return count(lang, "pair.differs", number) if number else say(lang, "pair.same")


def paragraph(cause: tuple[str, str, str], lang: str) -> Prose:
    """A cause as a line."""
    what, at, reason = cause
    about = what + say(lang, "aside", text=at) if at else what
    return Prose(say(lang, "runs.about", path=about, text=reason))


# Two training runs as Markdown.


def run_parts(comparison: Comparison, runs: RunComparison, writer: Writer, lang: str) -> list[str]:
    """The table of quantities, and what they show with its causes."""
    parts = [f"### {say(lang, 'pair.title')}", prose(headline(runs, lang))]
    if runs.curves:
        quantities = table(runs, lang)
        parts += writer.table(quantities.heads, quantities.rows)
    for symptom in symptoms(comparison, runs, lang):
        parts.append(
            f"**{prose(symptom.text)}{say(lang, 'compare.end')}** {prose(say(lang, 'heading', text=symptom.intro))}"
        )
        parts.append("\n".join(f"- {prose(paragraph(cause, lang).text)}" for cause in symptom.causes))
    return parts

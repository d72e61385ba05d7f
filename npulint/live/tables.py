"""The tables below the report of a live check."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.live.operators import Operator, Sync, counted
from npulint.report.terminal import cells, escape_control_chars
from npulint.texts import count, known, say

_MOST = 200  # rows


def operator_table(rows: Sequence[Operator], lang: str, everything: bool) -> list[str]:
    """The number of operators by verdict, and a row per operator that leaves the NPU, or for `everything`."""
    if not rows:
        return []
    totals: dict[str, int] = {}
    for word, n in counted(rows).items():
        totals[_verdict(word, lang)] = totals.get(_verdict(word, lang), 0) + n
    counts = [f"{word} {n}" for word, n in totals.items()]
    heading = say(lang, "live.operators", list=say(lang, "list.and").join(counts))
    shown = [one for one in rows if everything or not one.fine]
    body = [
        (
            escape_control_chars(one.name),
            _verdict(one.verdict, lang),
            _phase(one.phase, lang),
            str(one.count),
            _where(one),
            one.via,
        )
        for one in shown[:_MOST]
    ]
    return ["\n".join([heading, *aligned(_heads(lang), body), *_more(len(shown), lang)])]


def sync_table(rows: Sequence[Sync], steps: int, lang: str) -> list[str]:
    """The places where the host waits for the device, with counts per step."""
    if not rows:
        return []
    total = sum(one.count for one in rows)
    heading = say(lang, "live.syncs", n=_rate(total, steps))
    body = [
        (escape_control_chars(one.name), _rate(one.count, steps), _where(one), escape_control_chars(one.inside))
        for one in rows[:_MOST]
    ]
    heads = tuple(say(lang, f"live.column.{key}") for key in ("operator", "per-step", "place", "inside"))
    return ["\n".join([heading, *aligned(heads, body), *_more(len(rows), lang)])]


def _heads(lang: str) -> tuple[str, ...]:
    keys = ("operator", "verdict", "phase", "times", "place", "via")
    return tuple(say(lang, f"live.column.{key}") for key in keys)


def aligned(heads: tuple[str, ...], body: Sequence[tuple[str, ...]]) -> list[str]:
    """Aligned rows below their heads; empty columns are omitted."""
    if not body:
        return []
    used = [place for place in range(len(heads)) if any(row[place] for row in body)]
    rows = [tuple(row[place] for place in used) for row in (heads, *body)]
    widths = [max(cells(row[place]) for row in rows) for place in range(len(used))]
    return [
        "  " + "  ".join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _more(rows: int, lang: str) -> list[str]:
    return [f"  {count(lang, 'live.more', rows - _MOST)}"] if rows > _MOST else []


def _verdict(word: str, lang: str) -> str:
    return say(lang, f"live.verdict.{word}") if known(f"live.verdict.{word}") else escape_control_chars(word)


def _phase(word: str, lang: str) -> str:
    return say(lang, f"live.phase.{word}") if known(f"live.phase.{word}") else escape_control_chars(word)


def _where(one: Operator | Sync) -> str:
    return f"{escape_control_chars(one.path)}:{one.line}" if one.path else ""


def _rate(total: int, steps: int) -> str:
    return str(total // steps) if total % steps == 0 else f"{total / steps:.1f}"

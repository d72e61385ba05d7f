"""Words about a recorded step that several formats share."""

from __future__ import annotations

from npulint.core.texts import known, say
from npulint.judge.summaries.step_summary import StepMemory, StepSummary

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(number: int) -> str:
    """Bytes with a suitable unit.

    >>> size(0), size(1536), size(34359738368)
    ('0 B', '1.5 KiB', '32 GiB')
    """
    value, unit = float(number), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f}".removesuffix(".0") + f" {_UNITS[unit]}"


def rate(total: int, steps: int) -> str:
    """A number per step."""
    return str(total // steps) if total % steps == 0 else f"{total / steps:.1f}"


def word(family: str, key: str, lang: str) -> str:
    """The word for a key that others may have written; the key itself if there is none."""
    return say(lang, f"{family}.{key}") if known(f"{family}.{key}") else key


def verdict(key: str, lang: str) -> str:
    """Where an operator with this verdict runs."""
    return word("live.verdict", key, lang)


def shapes(ordered_shapes: tuple[tuple[int, ...], ...]) -> str:
    """Shapes in order: ``(8, 128) → (8, 97)``."""
    return " → ".join(f"({', '.join(map(str, shape))})" for shape in ordered_shapes)


def fits(memory: StepMemory, lang: str) -> str:
    """Whether the peak fits into the memory of the chip, as a sentence."""
    if not memory.capacity:
        return say(lang, "step.fits.unknown", chip=memory.chip)
    notes = [say(lang, "target.assumed")] if memory.assumed else []
    notes += [say(lang, f"step.chip.{memory.chip}")] if known(f"step.chip.{memory.chip}") else []
    chip = memory.chip + (say(lang, "aside", text=say(lang, "list.clause").join(notes)) if notes else "")
    values = {"peak": size(memory.peak), "capacity": size(memory.capacity), "chip": chip}
    return say(lang, f"step.fits.{memory.fits}", **values)


def totals(step: StepSummary, lang: str) -> str:
    """How many operators run where."""
    counts: dict[str, int] = {}
    for operator in step.operators:
        name = verdict(operator.verdict, lang)
        counts[name] = counts.get(name, 0) + operator.count
    return say(lang, "list.and").join(f"{name} {number}" for name, number in counts.items())


def waits(step: StepSummary, lang: str) -> str:
    """How often the host waits per step."""
    return say(lang, "live.syncs", n=rate(sum(wait.count for wait in step.waits), step.steps))

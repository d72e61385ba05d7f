"""Values in the lines of a log, whatever the script calls them."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.recorded.values import Collector, Quantity
from npulint.runs.read.series.clock import step_of
from npulint.runs.read.series.loss import LABEL, VALUE, is_record
from npulint.runs.read.series.step_rate import timing_of

_NAMES: tuple[tuple[Quantity, tuple[str, ...]], ...] = (
    ("loss_scale", ("loss scale", "loss_scale", "lossscale")),
    ("grad_norm", ("grad norm", "grad_norm", "gnorm", "gradient norm", "gradient_norm")),
    ("learning_rate", ("learning rate", "learning_rate", "lr")),
    ("loss", ("loss",)),
)
_EVALUATES = lazy_compile(r"\b(?:e?val(?:uation|idation|id|uating)?|test(?:ing)?)\b|eval_|\(val\)")
_EPOCH = lazy_compile(r"['\"]?epoch['\"]?\s{0,2}[:=]\s{0,2}['\"]?(\d{1,6}\.\d{1,12})")
_BEFORE = 26  # characters of a label
_HEAD = 80  # characters that say what a line is about
_LOOKED_AT = 2048  # characters of a line
_PLACES = 4
_LETTERS = "abcdefghijklmnopqrstuvwxyz_"


class LogLines:
    """Finds the values of a log. Steps that begin anew with each epoch are counted on."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._before = 0  # steps of finished epochs
        self._last = -1
        self._stride = 1  # between two lines

    def see(self, number: int, text: str) -> None:
        """Process a line."""
        low = text[:_LOOKED_AT].lower()
        found = [(of, *one) for of, names in _NAMES for one in _values(low, names)]
        if not found and step_of(low) < 0:
            return
        timing = timing_of(low)
        if not found and timing is None:
            return
        if _EVALUATES.search(low, 0, _HEAD) and "train" not in low:
            return
        step, epoch = self._step(low), _EPOCH.search(low)
        at = None if step is None else float(step)
        place = float(epoch[1]) if epoch and at is None else None
        for quantity, label, value in found:
            self._collector.put(quantity, label, value, number, at, place)
        if timing is not None and at is not None:
            self._collector.put("step_time", timing.label, timing.seconds, number, at, place)

    def _step(self, low: str) -> int | None:
        """The number of the step since the start; None for a line that names none."""
        step = step_of(low)
        if step < 0:
            return None
        if step < self._last:
            self._before += self._last + (0 if step else self._stride)
        elif step > self._last >= 0:
            self._stride = step - self._last
        self._last = step
        return self._before + step


def _values(low: str, names: tuple[str, ...]) -> list[tuple[str, float]]:
    """Labels and values after the first of `names` that the line has."""
    for name in names:
        values = []
        at = low.find(name)
        for _ in range(_PLACES):
            if at < 0:
                break
            match = VALUE.match(low, at + len(name))
            before = low[max(0, at - _BEFORE) : at]
            if match and not is_record(before + name) and (name == "loss" or not before.endswith(tuple(_LETTERS))):
                label = LABEL.search(before)
                full = f"{(label[0] if label else '').strip('_ /.-')} {name}".strip()
                if not _EVALUATES.search(full):
                    values.append((full if name == "loss" else name, float(match[1])))
            at = low.find(name, at + len(name))
        if values:
            return values
    return []

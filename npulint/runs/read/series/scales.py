"""Finds loss scale messages in the formats of frameworks and scripts."""

from __future__ import annotations

import math

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.runs.read.series.numbers import NUMBER
from npulint.runs.read.series.scale import Scale

_APEX = lazy_compile(
    rf"gradient overflow\.  ?skipping step(?:, loss scaler (\d{{1,3}}) reducing loss scale to ({NUMBER}))?"
)
_DOWN = lazy_compile(rf"loss scaler reducing loss scale to ({NUMBER})")
_UP = lazy_compile(rf"loss scaler increasing loss scale to ({NUMBER})")
_DEEPSPEED = lazy_compile(
    rf"overflow!(?: rank (\d{{1,6}}))? skipping step\. attempted loss scale: ({NUMBER})"
    rf"(?:, but hysteresis is|, reducing to ({NUMBER}))?"
)
_MINIMUM = lazy_compile(rf"minimum loss scale reached \(({NUMBER})\)")
_FAIRSEQ = lazy_compile(rf"overflow detected, ignoring gradient, setting loss scale to: ({NUMBER})")
_MEGATRON = lazy_compile(rf"(?<![\w.-])loss scale: {{1,4}}({NUMBER}) \|")
_SKIPPED = lazy_compile(r"number of skipped iterations: {1,8}(\d{1,9})")
_HOOK = lazy_compile(rf"find overflow in this step, skip apply gradients, loss scale value ?= ?({NUMBER})")
_TOOL = lazy_compile(
    rf"precisiontool: train steps (\d{{1,10}}), loss_scale=({NUMBER}) / not_overflow_status=(\w{{1,8}})"
)
_SCRIPT = lazy_compile(
    rf"(?<![\w.-])(?:current )?loss[_ ]?scaler?(?:[_ ]value)?['\"]?\s{{0,4}}(?:is)?\s{{0,2}}"
    rf"(?::|=|>>>|\s)\s{{0,16}}(?:tensor\()?['\"]?\[{{0,2}}\s?({NUMBER})(?![:\w])"
)
_SCALERS = 8
_PRINTED = 3


class Scales:
    """The loss scales of one log, by format and scaler."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Scale] = {}
        self.current: float | None = None

    def see(self, line: int, low: str, step_lines: int) -> None:
        """Process a lower-case line after `step_lines` lines that name a step."""
        if "verflow" in low and (self._apex(line, low, step_lines) or self._skips(line, low, step_lines)):
            return
        if self._named(line, low, step_lines):
            return
        match = _SCRIPT.search(low)
        if match:
            self._value("script", "", line, match[1], step_lines)

    def facts(self, path: str, steps: int) -> list[Fact]:
        """A `run_series` for each loss scale that forms a series."""
        kept = [(scaler, scale) for (_, scaler), scale in self._known.items() if scale.is_series]
        return [scale.fact(path, scale.line, scaler, steps) for scaler, scale in kept]

    def _apex(self, line: int, low: str, step_lines: int) -> bool:
        match = _APEX.search(low)
        if match is None:
            return False
        if match[2] is None:
            self._skip("torch_npu", "", line)
        else:
            self._value("apex", match[1], line, match[2], step_lines, skipped=1)
        return True

    def _skips(self, line: int, low: str, step_lines: int) -> bool:
        match = _DEEPSPEED.search(low)
        if match:
            first = next((scaler for form, scaler in self._known if form == "deepspeed"), None)
            rank = match[1] or ""
            if first in (None, rank):
                after = match[3] or match[2]
                self._value("deepspeed", rank, line, after, step_lines, skipped=1, before=_number(match[2]))
            return True
        for form, pattern in (("hook", _HOOK), ("fairseq", _FAIRSEQ)):
            match = pattern.search(low)
            if match:
                before = _number(match[1]) if form == "hook" else 0.0
                if form == "hook" and self._printed_each_step():
                    form, before = "script", 0.0
                self._value(form, "", line, match[1], step_lines, skipped=1, before=before)
                return True
        return False

    def _printed_each_step(self) -> bool:
        """Whether a hook prints the scale of steps without overflow too, in another format."""
        script = self._known.get(("script", ""))
        return script is not None and script.points >= _PRINTED

    def _named(self, line: int, low: str, step_lines: int) -> bool:
        """Lines of formats with a distinctive name or shape."""
        match = _TOOL.search(low) if "precisiontool" in low else None
        if match:
            self._value("precision_tool", "", line, match[2], step_lines, skipped=int(match[3] in ("false", "0")))
            return True
        match = _DOWN.search(low) if "reducing" in low else None
        if match:
            self._value("torch_npu", "", line, match[1], step_lines)
            return True
        match = _UP.search(low) if "increasing" in low else None
        if match:
            scale = self._of("torch_npu", "")
            if scale is not None:
                scale.up(line, _number(match[1]), step_lines)
            return True
        match = _MINIMUM.search(low) if "minimum" in low else None
        if match:
            scale = self._of("fairseq", "")
            if scale is not None:
                scale.limit(line, _number(match[1]))
            return True
        skips = _SKIPPED.search(low) if "skipped iterations" in low else None
        match = _MEGATRON.search(low) if skips else None
        if match and skips:
            self._value("megatron", "", line, match[1], step_lines, skipped=int(skips[1]))
        return bool(match and skips)

    def _value(
        self, form: str, scaler: str, line: int, text: str, step_lines: int, skipped: int = 0, before: float = 0.0
    ) -> None:
        scale = self._of(form, scaler)
        value = _number(text)
        if scale is None or not math.isfinite(value):
            return
        known = scale.points
        scale.value(line, value, step_lines, before)
        self.current = value
        if skipped and scale.points > known:
            scale.skip(line, skipped)

    def _skip(self, form: str, scaler: str, line: int) -> None:
        scale = self._of(form, scaler)
        if scale is not None:
            scale.skip(line)

    def _of(self, form: str, scaler: str) -> Scale | None:
        scale = self._known.get((form, scaler))
        if scale is None and len(self._known) < _SCALERS:
            scale = self._known[(form, scaler)] = Scale(form)
        return scale


def _number(text: str) -> float:
    return float(text)

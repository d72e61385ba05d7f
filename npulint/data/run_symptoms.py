"""What two runs show, and which parts of the training config may cause it, likeliest first."""

from __future__ import annotations

import csv
import io
from functools import cache
from importlib import resources

import msgspec


class Cause(msgspec.Struct, frozen=True):
    """Parts of the training config (`npulint.facts.recipe`) that may cause a symptom, and why, in both languages."""

    symptom: str
    parts: tuple[str, ...]
    en: str
    zh: str

    def reason(self, lang: str) -> str:
        """Why, in a sentence."""
        return self.zh if lang == "zh" else self.en


@cache
def causes() -> dict[str, tuple[Cause, ...]]:
    """The causes by symptom: first_loss (the first losses differ), warm_up and later (losses part while the learning
    rate rises, or after that), not_finite, learning_rate, loss_scale, grad_norm (these curves part), length (one run
    has more steps) and slower."""
    text = resources.files("npulint.data").joinpath("run_symptoms.csv").read_text(encoding="utf-8")
    by_symptom: dict[str, tuple[Cause, ...]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        cause = Cause(row["symptom"], tuple(row["parts"].split()), row["en"], row["zh"])
        by_symptom[cause.symptom] = (*by_symptom.get(cause.symptom, ()), cause)
    return by_symptom

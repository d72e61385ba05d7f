"""Grammars of whole programs: the same program for the same seed, executed before it is used."""

from __future__ import annotations

from tests.oracle.grammars.made import Grammar
from tests.oracle.grammars.plain import PlainWriter
from tests.oracle.grammars.training import TrainingWriter

PLAIN = Grammar("plain", PlainWriter)
TRAINING = Grammar("training", TrainingWriter)
GRAMMARS = (PLAIN, TRAINING)
FIXED = 100  # programs of each grammar whose truth is recorded


def fixed() -> list[tuple[Grammar, int]]:
    """The grammar and the seed of each program whose truth is recorded."""
    return [(grammar, seed) for grammar in GRAMMARS for seed in range(1, FIXED + 1)]


__all__ = ["FIXED", "GRAMMARS", "PLAIN", "TRAINING", "Grammar", "fixed"]

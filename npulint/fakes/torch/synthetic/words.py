"""Made-up text."""

from __future__ import annotations

import random

_WORDS = (
    "the a this that one some model data train river house small large green old new people city water light "
    "is was has makes takes finds gives shows reads keeps and or but with from into over under very often never"
).split()


def lines(count: int, shortest: int = 8, longest: int = 30, seed: int = 0) -> list[str]:
    """Sentences of random words, the same for the same arguments."""
    chosen = random.Random(seed)
    return [
        " ".join(chosen.choice(_WORDS) for _ in range(chosen.randint(shortest, longest))).capitalize() + "."
        for _ in range(count)
    ]

"""What facts about kernels have in common."""

from __future__ import annotations

from npulint.facts.model import FileFact


class OfComputing(FileFact, kw_only=True):
    """A fact about a part of the computing time of a run."""

    share: float | None = None
    """The part in percent, without communication."""
    of_step: float | None = None
    """What computing takes of a step, in percent, where that is known."""

"""To be written."""

from __future__ import annotations

from npulint.assemble.graph.target import Target
from npulint.assemble.graph.tensorflow.view import View
from npulint.facts.model import Fact


def facts(view: View, target: Target) -> list[Fact]:
    """None yet."""
    return []

"""The kinds of facts that a question may name, with their attributes (docs/writing-checks.md explains them)."""

from npulint.catalogue.vocabulary import comparison, graph, programs, run, surroundings, tensorflow, torch
from npulint.catalogue.vocabulary.words import Kind, Kinds

KINDS: Kinds = (
    programs.KINDS | surroundings.KINDS | tensorflow.KINDS | torch.KINDS | comparison.KINDS | graph.KINDS | run.KINDS
)

__all__ = ["KINDS", "Kind"]

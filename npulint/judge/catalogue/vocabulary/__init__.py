"""The fact kinds that queries may name, with their attributes (documented in docs/facts.md), and the verbs of fixes."""

from npulint.judge.catalogue.vocabulary.kinds import Kind, fact_kinds

__all__ = ["Kind", "fact_kinds"]

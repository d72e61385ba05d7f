"""Kinds of facts that graphs of PyTorch have."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import Kinds

TORCH: Kinds = {}

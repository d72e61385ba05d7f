"""Kinds of facts that graphs of TensorFlow have."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import Kinds

TENSORFLOW: Kinds = {}

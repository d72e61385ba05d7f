"""Fact kinds of TensorFlow programs."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import Kinds

KINDS: Kinds = {}

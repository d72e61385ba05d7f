"""Kinds of facts that only PyTorch programs have."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, Kinds, plain, words

KINDS: Kinds = {
    "cuda_source": plain(what=words("kernel binding"), kernels=ANY),
}

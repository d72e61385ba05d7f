"""Kinds of facts that graph files have, of both frameworks."""

from __future__ import annotations

from npulint.catalogue.vocabulary.graph_tensorflow import TENSORFLOW
from npulint.catalogue.vocabulary.graph_torch import TORCH
from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, plain, words

KINDS: Kinds = {
    "graph": plain(
        framework=words("tensorflow torch"),
        form=words("graph_def meta_graph saved_model live_tensorflow exported_program torchscript live_torch"),
        version=ANY,
        trains=FLAG,
        functions=ANY,
        size=ANY,
        node=ANY,
        nodes=ANY,
        count=ANY,
    ),
    **TENSORFLOW,
    **TORCH,
}

"""Fact kinds of graph files of both frameworks."""

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
        release=ANY,
        assumed=FLAG,
        npu=ANY,
        decomposes=ANY,
        cpu=ANY,
        error=ANY,
        custom=ANY,
        unknown=ANY,
        style=words("session function"),
        clusters=ANY,
        mixed_clusters=ANY,
        device_nodes=ANY,
        aicpu_nodes=ANY,
        host_nodes=ANY,
        unknown_nodes=ANY,
        left_behind=ANY,
        left_share=ANY,
        cuts=ANY,
        cut_by=ANY,
        list=ANY,
        node=ANY,
        nodes=ANY,
        count=ANY,
    ),
    **TENSORFLOW,
    **TORCH,
}

"""Fact kinds of PyTorch graphs."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, plain, words

_PHASE = words("forward backward optimizer")

TORCH: Kinds = {
    "torch_op": plain(
        op=ANY,
        overload=ANY,
        namespace=ANY,
        verdict=words("npu npu_out decomposes generic cpu cpu_out error custom unknown"),
        cause=words("none foreign sparse chip -"),
        via=ANY,
        kernels=ANY,
        reaches=ANY,
        backward=ANY,
        computed=ANY,
        notes=ANY,
        inside=words("yes no chip"),
        lost=FLAG,
        needs=ANY,
        instead=ANY,
        phase=_PHASE,
        release=ANY,
        assumed=FLAG,
        certain=FLAG,
        echo=FLAG,
        live=FLAG,
        trains=FLAG,
        dtype=ANY,
        shape=ANY,
        node=ANY,
        nodes=ANY,
        count=ANY,
    ),
    "graph_sync": plain(
        op=ANY,
        shape=FLAG,
        phase=_PHASE,
        fallen=FLAG,
        live=FLAG,
        trains=FLAG,
        instead=ANY,
        node=ANY,
        nodes=ANY,
        count=ANY,
    ),
    "graph_type": plain(dtype=ANY, share=ANY, total=ANY, made_by=ANY, trains=FLAG, node=ANY, nodes=ANY, count=ANY),
    "graph_dim": plain(
        cause=words("values inputs"),
        dims=ANY,
        spread=ANY,
        phase=_PHASE,
        instead=ANY,
        trains=FLAG,
        node=ANY,
        nodes=ANY,
        count=ANY,
    ),
}

"""Fact kinds of TensorFlow graphs."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kind, Kinds, Values, plain, words

NODES: dict[str, Values] = {"node": ANY, "nodes": ANY, "count": ANY}
"""Attributes of all facts about nodes."""

_FAMILY = words("python gpu block collective summary opencv print table input file text custom other")
_STYLE = words("session function")

TENSORFLOW: Kinds = {
    "graph_control_flow": plain(
        loops=ANY,
        branches=ANY,
        parts=ANY,
        dynamic=words("no batch inner"),
        unknown_dims=ANY,
        refs=FLAG,
        **NODES,
    ),
    "graph_dynamic": plain(dims=words("batch inner rank"), shape=ANY, ops=ANY, **NODES),
    "graph_top_k": plain(k=words("shape unknown variable fed data"), maker=ANY, **NODES),
    "graph_half": plain(
        group=words("sum cross_entropy power moments zero_guard infinite"),
        extent=words("few many unknown"),
        elements=ANY,
        **NODES,
    ),
    "graph_half_training": plain(scaled=FLAG, **NODES),
    "graph_numbers": plain(share=ANY, heavy=ANY, ops=ANY, **NODES),
    "graph_input": plain(ops=ANY, runners=ANY, readers=ANY, dynamic=FLAG, **NODES),
    "graph_slow_op": plain(forward=ANY, backward=ANY, shapes=ANY, mode=ANY, **NODES),
    "graph_dropout": plain(noise_shape=FLAG, **NODES),
    "graph_op": plain(
        place=words("device host older"),
        mixed=words("device host"),
        on_path=FLAG,
        gray=FLAG,
        aicpu=FLAG,
        evidence=words("list rule adapter plugin proto listed none custom"),
        family=_FAMILY,
        dtype=ANY,
        cuts=FLAG,
        style=_STYLE,
        **NODES,
    ),
    "graph_group": plain(
        family=_FAMILY,
        ops=ANY,
        origins=ANY,
        apis=ANY,
        types=ANY,
        share=ANY,
        follow=ANY,
        cuts=FLAG,
        style=_STYLE,
        **NODES,
    ),
    "graph_table": plain(
        lookup=words("input step"), filled=words("device host both unknown"), split=FLAG, style=_STYLE, **NODES
    ),
    "graph_cut": Kind(
        {
            "value": ANY,
            "why": words("unlisted scope calls loop ref resource variant"),
            "family": _FAMILY,
            "from": ANY,
            **dict.fromkeys(("to", "ops", "origins", "apis", "stays", "share", "heavy"), ANY),
            "style": _STYLE,
            **NODES,
        }
    ),
}

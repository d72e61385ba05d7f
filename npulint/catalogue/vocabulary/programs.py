"""Kinds of facts about the Python code of both frameworks, and about programs as a whole."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, PURPOSE, Kind, Kinds, call, words

KINDS: Kinds = {
    "dynamic_shape": call(dims=ANY, inner=FLAG),
    "device": call(gpu=FLAG, via=ANY, computed=FLAG, tower=FLAG, written=words("literal computed elsewhere")),
    "distribution": call(
        stack=words("horovod tf.distribute npu tpu torch"),
        what=words(
            "init rank optimizer broadcast strategy allreduce shard other ddp parallel sync_bn collective sampler "
            "processes local_rank epoch no_sync accumulation"
        ),
        wraps_scaled=FLAG,
        kept=FLAG,
    ),
    "program": Kind(
        {
            "trains": FLAG,
            "evaluates": FLAG,
            "exports": FLAG,
            "purpose": PURPOSE,
            "state": words("not_started partial migrated"),
            "framework": words("tensorflow torch none unknown"),
            "mode": ANY,
            "multi_device": FLAG,
            "npu": FLAG,
            "project_npu": FLAG,
            "own_npu": FLAG,
            "entry": FLAG,
            "side": words("reference migrated"),
            "graph": ANY,
            "run": FLAG,
            "ranks": words("many one unknown"),
            "patched": FLAG,
            "precision": words("none mixed fp16 bf16 fp32 origin unknown default"),
            "tensorflow": ANY,
            "torch": ANY,
            "migration": words("none transfer manual agnostic left"),
            "port": words("explicit transfer"),
        }
    ),
}

"""Fact kinds of Python code in both frameworks, and of whole programs."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, PURPOSE, Kind, Kinds, call, words

KINDS: Kinds = {
    "call": call(in_train_loop=FLAG, on=ANY, trains_file=FLAG, passed=FLAG, of=words("one_plus state other")),
    "optimizer": call(
        scaled=FLAG,
        distributed=FLAG,
        alone=FLAG,
        what=words("tf keras npu"),
    ),
    "train_step": call(
        loop=ANY,
        scaled=words("yes no unknown apex bypassed scaler engine"),
        stepped=FLAG,
        gradients=words("compute_gradients tf.gradients tape unknown"),
        source_scaled=FLAG,
        beside_scaled=FLAG,
        on=ANY,
    ),
    "dynamic_shape": call(dims=ANY, inner=FLAG, written=ANY),
    "host_sync": call(written=ANY, timed=FLAG),
    "device": call(gpu=FLAG, via=ANY, computed=FLAG, tower=FLAG, written=words("literal computed elsewhere")),
    "distribution": call(
        stack=words("horovod tf.distribute npu tpu torch"),
        what=words(
            "init rank optimizer broadcast strategy allreduce shard other ddp parallel sync_bn collective sampler "
            "processes local_rank epoch no_sync accumulation"
        ),
        wraps_scaled=FLAG,
        kept=FLAG,
        device_set=words("given before late after unknown"),
        at_import=FLAG,
        timeout=ANY,
        size_from=ANY,
        contiguous=FLAG,
        from_environment=FLAG,
    ),
    "debug_aid": call(
        what=words("anomaly gradcheck profiler dump stop hook tool"),
        optional=FLAG,
        limited=words("no steps schedule"),
        covers=words("step training no"),
        reads=FLAG,
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

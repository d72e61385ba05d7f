"""Kinds of facts that only TensorFlow programs have."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, PLACED, PURPOSE, Kinds, call, code, words

KINDS: Kinds = {
    "init_group": call(),
    "joint_step": call(scaled=ANY),
    "small_constant": code(constant=ANY),
    "step_count": call(beside_scaled=FLAG),
    "hand_scaled": call(scaled=FLAG),
    "hooks": call(list=ANY, read_from_end=FLAG, kept=FLAG),
    "loss_scale": call(
        what=words("optimizer manager"),
        native=FLAG,
        wraps_distributed=FLAG,
        wraps_scaled=FLAG,
        wraps_clipping=FLAG,
        wraps_keras=FLAG,
        flag=words("yes no missing unknown"),
        manager=words("npu native object constant missing unknown"),
        branch=FLAG,
        dependent=FLAG,
    ),
    "input_stage": call(
        drop_remainder=words("yes no variable unknown missing"),
        purpose=PURPOSE,
        repeats=FLAG,
        callee=ANY,
        certain=FLAG,
        held=ANY,
        shard_by=ANY,
        shuffled=words("list_files shuffle listing no"),
        heavy=FLAG,
        elements=words("names records decoded unknown"),
    ),
    "lookup_table": call(),
    "variable": call(),
    "tape": call(compiled=FLAG, trains=FLAG, looped=FLAG),
    "step_call": call(tape=ANY),
    "loss_scale_use": call(),
    "model_compile": call(),
    "loop_size": call(agrees=words("yes no missing unknown")),
    "control_flow": call(implicit=FLAG),
    "top_k": call(k=ANY, words=ANY, summed=words("named direct no unknown"), into=ANY, over=ANY, count=ANY),
    "top_k_sum": call(summed=words("direct"), into=ANY, over=ANY, count=ANY),
    "run": call(fetches=ANY, fed=FLAG, loops=ANY, gated=FLAG, runs=ANY, traced=FLAG, deepest=FLAG),
    "checkpoint": call(each_step=FLAG),
    "graph_growth": call(),
    "py_func": call(shaped=FLAG, place=PLACED),
    "towers": call(many=FLAG, towers=ANY),
    "host_op": call(
        where=words("host older mixed"),
        ops=ANY,
        family=words(
            "python string parsing queue fused_cell spectral special sparse ragged ctc dynamic padding random geometry "
            "gradient"
        ),
        place=PLACED,
    ),
    "dropout": call(noise_shape=FLAG, alternative=FLAG),
    "half_reduction": call(),
    "zero_root": call(),
    "tf_api": call(
        support=words("no newer static_shape manual deprecated no_effect"),
        reason=words("eager tpu gpu operator raw shape towers old_estimator device determinism profiler"),
        release=words("1.15 2.6 both"),
        ops=ANY,
        instead=ANY,
        guarded=FLAG,
        plain=FLAG,
        used=FLAG,
        place=PLACED,
    ),
}

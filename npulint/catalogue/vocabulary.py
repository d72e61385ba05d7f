"""The kinds of facts that a question may name, with their attributes (docs/writing-checks.md explains them)."""

from __future__ import annotations

import msgspec

Values = frozenset[str]

_ANY: Values = frozenset()
_FLAG: Values = frozenset(("yes", "no", "unknown"))
_PURPOSE = frozenset(("train", "evaluate", "export", "data", "unknown"))


class Kind(msgspec.Struct, frozen=True):
    """One kind of fact. `attributes` maps each attribute to the words that it may hold (none: any value);
    `arguments` tells whether facts of this kind are calls, so that `args` may be asked."""

    attributes: dict[str, Values]
    arguments: bool = False


def _words(text: str) -> Values:
    return frozenset(text.split())


_PLACE: dict[str, Values] = {
    "active": _FLAG,
    "in_input": frozenset(("yes", "maybe", "no")),
    "in_loop": _FLAG,
    "in_test": _FLAG,
    "step": frozenset(("yes", "gated", "host", "no")),
    "behind": frozenset(("npu", "cuda", "none")),
    "function": _ANY,
    "under": _ANY,
}


def _plain(**attributes: Values) -> Kind:
    return Kind({"value": _ANY, **attributes})


def _code(**attributes: Values) -> Kind:
    """A kind whose facts are assignments or mentions in Python code."""
    return Kind({"value": _ANY, **_PLACE, **attributes})


def _call(**attributes: Values) -> Kind:
    """A kind whose facts are calls in Python code."""
    return Kind({"value": _ANY, **_PLACE, **attributes}, arguments=True)


KINDS: dict[str, Kind] = {
    "import": _code(star=_FLAG, guarded=_FLAG),
    "call": _call(in_train_loop=_FLAG, on=_ANY, trains_file=_FLAG, passed=_FLAG, of=_words("one_plus other")),
    "mention": _code(passed=_FLAG),
    "define": _plain(what=_words("function class lambda"), params=_ANY),
    "option": _call(),
    "environment": _call(via=_words("python shell dockerfile"), guarded=_ANY),
    "environment_read": _call(),
    "command": _plain(line=_ANY, guarded=_ANY, via=_ANY),
    "launch": _plain(options=_ANY),
    "dependency": _plain(version=_ANY),
    "setting": _call(
        via=_words("session_key run_config npu_options proto"),
        field=_words("s b i f"),
        entry=_ANY,
        text=_FLAG,
        file=_FLAG,
        mixed=_words("yes no unset unknown"),
        legal=_FLAG,
        nearest=_ANY,
        options=_ANY,
        beside=_ANY,
        expected_field=_ANY,
        field_ok=_words("yes no outdated unknown"),
        value_ok=_FLAG,
        allowed=_ANY,
        status=_words("active experimental deprecated removed dead unknown"),
        instead=_ANY,
        since=_ANY,
        until=_ANY,
        feeds_run_config=_FLAG,
        in_run_config=_FLAG,
        agrees=_words("yes no missing unknown"),
    ),
    "npu_optimizer": _call(
        remapping=_words("off on unset unknown"),
        memory_optimization=_words("off on unset unknown"),
        helper=_FLAG,
        run_config=_FLAG,
        named=_FLAG,
        spelling=_words("right wrong missing other unknown"),
        options=_ANY,
    ),
    "session": _call(npu=_FLAG, config=_words("none local unknown"), purpose=_PURPOSE, trains_file=_FLAG),
    "estimator": _call(
        npu=_FLAG,
        what=_words("estimator canned tpu npu"),
        config=_words("none npu wrapped other unknown"),
        purpose=_PURPOSE,
        trains_file=_FLAG,
    ),
    "init_group": _call(),
    "optimizer": _call(scaled=_FLAG, distributed=_FLAG, what=_words("tf keras npu")),
    "train_step": _call(
        loop=_ANY, scaled=_FLAG, gradients=_words("compute_gradients tf.gradients tape unknown"), on=_ANY
    ),
    "loss_scale": _call(
        what=_words("optimizer manager"), native=_FLAG, distributed=_FLAG, wraps_distributed=_FLAG, flag=_ANY
    ),
    "input_stage": _call(
        drop_remainder=_words("yes no variable unknown missing"),
        purpose=_PURPOSE,
        repeats=_FLAG,
        callee=_ANY,
        certain=_FLAG,
        shard_by=_ANY,
    ),
    "lookup_table": _call(),
    "variable": _call(),
    "control_flow": _call(),
    "dynamic_shape": _call(dims=_ANY, inner=_FLAG),
    "top_k": _call(k=_ANY, words=_ANY),
    "device": _call(gpu=_FLAG, via=_ANY, computed=_FLAG),
    "distribution": _call(
        stack=_words("horovod tf.distribute npu tpu"),
        what=_words("init rank optimizer broadcast strategy allreduce shard other"),
        wraps_scaled=_FLAG,
    ),
    "npu": _call(on=_ANY),
    "run": _call(fetches=_ANY, fed=_FLAG, loops=_ANY, gated=_FLAG, runs=_ANY),
    "graph_growth": _call(),
    "py_func": _call(shaped=_FLAG),
    "dropout": _call(noise_shape=_FLAG),
    "half_reduction": _call(),
    "zero_root": _call(),
    "mixlist_file": _plain(valid=_ANY),
    "mixlist_problem": _plain(detail=_ANY),
    "mixlist_entry": _plain(list=_ANY, action=_words("to-add to-remove"), known=_FLAG, nearest=_ANY),
    "program": Kind(
        {
            "trains": _FLAG,
            "evaluates": _FLAG,
            "exports": _FLAG,
            "purpose": _PURPOSE,
            "state": _words("not_started partial migrated"),
            "framework": _words("tensorflow torch none unknown"),
            "mode": _ANY,
            "multi_device": _FLAG,
            "npu": _FLAG,
            "project_npu": _FLAG,
            "entry": _FLAG,
            "ranks": _words("many one unknown"),
            "patched": _FLAG,
            "precision": _words("none mixed fp16 fp32 unknown default"),
            "tensorflow": _ANY,
            "torch": _ANY,
            "migration": _words("none transfer manual agnostic"),
        }
    ),
}

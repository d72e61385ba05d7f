"""The kinds of facts that a question may name, with their attributes (docs/writing-checks.md explains them)."""

from __future__ import annotations

import msgspec

Values = frozenset[str]

_ANY: Values = frozenset()
_FLAG: Values = frozenset(("yes", "no", "unknown"))
_PLACED = frozenset(("input", "path", "edge", "unknown"))
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
    "ranked": _FLAG,
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


_LAUNCH = _plain(
    options=_ANY,
    launcher=_ANY,
    interpreter=_ANY,
    loop=_FLAG,
    rounds=_ANY,
    port=_ANY,
    prepared=_FLAG,
    guarded=_ANY,
    along=_ANY,
    size=_ANY,
    short=_ANY,
    target=_words("npu gpu other unknown"),
)

KINDS: dict[str, Kind] = {
    "import": _code(star=_FLAG, guarded=_FLAG),
    "call": _call(in_train_loop=_FLAG, on=_ANY, trains_file=_FLAG, passed=_FLAG, of=_words("one_plus other")),
    "mention": _code(passed=_FLAG),
    "define": _plain(what=_words("function class lambda"), params=_ANY),
    "option": _call(),
    "environment": _call(
        via=_words("python shell dockerfile"),
        guarded=_ANY,
        known=_FLAG,
        status=_words("active debug deprecated obsolete cuda unknown"),
        instead=_ANY,
        nearest=_ANY,
        own=_FLAG,
        beside=_ANY,
        along=_ANY,
        refused=_FLAG,
        allowed=_ANY,
        value_ok=_FLAG,
        left_on=_FLAG,
        in_time=_FLAG,
        clash=_ANY,
        lacks=_ANY,
        problem=_words("exclusive unknown-key bad-value none"),
        detail=_ANY,
    ),
    "environment_read": _call(),
    "command": _plain(line=_ANY, guarded=_ANY, via=_ANY, loop=_FLAG),
    "launch": _LAUNCH,
    "start": _LAUNCH,
    "launch_option": _plain(
        option=_ANY,
        script=_ANY,
        known=_FLAG,
        effect=_words("aborts ignored unknown"),
        nearest=_ANY,
        fits=_FLAG,
        allowed=_ANY,
        detached=_FLAG,
        default=_ANY,
        by_caller=_FLAG,
        ranks=_FLAG,
        target=_words("npu gpu other unknown"),
        guarded=_ANY,
        feeds=_ANY,
        refused_by=_ANY,
        legal=_ANY,
    ),
    "shell_problem": _plain(variable=_ANY, exported=_FLAG, via=_ANY),
    "dependency": _plain(version=_ANY, via=_ANY, torch=_ANY, pairs=_FLAG),
    "package_index": _plain(cuda=_ANY, via=_ANY),
    "base_image": _plain(cuda=_FLAG, stage=_ANY),
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
        elsewhere=_ANY,
        available=_words("yes later gone unknown"),
        declared=_ANY,
        type_ok=_FLAG,
        expected_type=_ANY,
        acts_in=_words("any inference"),
        chips=_ANY,
        on_soc=_FLAG,
        soc=_ANY,
        feeds_run_config=_FLAG,
        in_run_config=_FLAG,
        launched=_FLAG,
        agrees=_words("yes no missing unknown"),
        divides=_FLAG,
    ),
    "option_conflict": _code(
        option=_ANY, other=_ANY, other_value=_ANY, via=_words("session_key run_config npu_options"), entry=_ANY
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
    "session": _call(npu=_FLAG, config=_words("none local unknown"), purpose=_PURPOSE, trains_file=_FLAG, closed=_FLAG),
    "estimator": _call(
        npu=_FLAG,
        what=_words("estimator canned tpu npu"),
        config=_words("none npu wrapped other unknown"),
        purpose=_PURPOSE,
        model_dir=_words("same differs unknown"),
        trains_file=_FLAG,
    ),
    "init_group": _call(),
    "joint_step": _call(scaled=_ANY),
    "small_constant": _code(constant=_ANY),
    "step_count": _call(beside_scaled=_FLAG),
    "hand_scaled": _call(scaled=_FLAG),
    "hooks": _call(list=_ANY, read_from_end=_FLAG),
    "optimizer": _call(
        scaled=_FLAG,
        distributed=_FLAG,
        what=_words("tf keras npu torch"),
        family=_words("stock npu apex_npu apex_gpu other"),
        fused=_ANY,
        via=_words("call name subclass"),
        spelling=_words("right wrong"),
        nearest=_ANY,
        extra=_ANY,
        amp=_FLAG,
        scaler=_FLAG,
        replaced=_FLAG,
    ),
    "optimizer_use": _call(
        family=_words("stock npu apex_npu apex_gpu other mixed unknown"), closure=_FLAG, model=_FLAG
    ),
    "apex_amp": _call(
        level=_words("O0 O1 O2 O3 unknown"),
        combine_grad=_words("yes no missing unknown"),
        combine_ddp=_words("yes no missing unknown"),
        optimizer=_words("stock npu apex_npu apex_gpu other mixed unknown missing"),
        wrapped=_words("yes sometimes no"),
        half=_FLAG,
        scale=_words("dynamic off static extreme missing unknown"),
    ),
    "grad_scaler": _call(
        device=_words("cuda npu cpu unknown"),
        enabled=_FLAG,
        dynamic=_words("yes no missing unknown"),
        positional=_ANY,
        first=_words("text other none"),
        alternative=_FLAG,
    ),
    "scaler_use": _call(on=_ANY, closure=_FLAG),
    "autocast": _call(
        device=_words("cuda npu cpu unknown"),
        enabled=_FLAG,
        dtype=_words("float16 bfloat16 default unknown"),
        alternative=_FLAG,
    ),
    "half_model": _call(trained=_FLAG),
    "grad_clip": _call(scaled=_words("inside scaler unscaled no"), params=_words("master model unknown")),
    "mask_fill": _code(fill=_ANY, infinite=_FLAG, half=_FLAG),
    "train_step": _call(
        loop=_ANY,
        scaled=_words("yes no unknown apex bypassed scaler engine"),
        stepped=_FLAG,
        gradients=_words("compute_gradients tf.gradients tape unknown"),
        source_scaled=_FLAG,
        beside_scaled=_FLAG,
        on=_ANY,
    ),
    "loss_scale": _call(
        what=_words("optimizer manager"),
        native=_FLAG,
        wraps_distributed=_FLAG,
        wraps_scaled=_FLAG,
        wraps_clipping=_FLAG,
        wraps_keras=_FLAG,
        flag=_words("yes no missing unknown"),
        manager=_words("npu native object constant missing unknown"),
        branch=_FLAG,
        dependent=_FLAG,
    ),
    "input_stage": _call(
        drop_remainder=_words("yes no variable unknown missing"),
        purpose=_PURPOSE,
        repeats=_FLAG,
        callee=_ANY,
        certain=_FLAG,
        shard_by=_ANY,
        shuffled=_words("list_files shuffle listing no"),
        heavy=_FLAG,
        elements=_words("names records decoded unknown"),
    ),
    "lookup_table": _call(),
    "variable": _call(),
    "npu_open": _call(
        default=_FLAG, reached=_FLAG, late=_words("variable model none"), first=_ANY, first_line=_ANY, other=_ANY
    ),
    "beside_open": _call(what=_words("variable model strategy seed threads option"), side=_words("before after")),
    "tape": _call(compiled=_FLAG, trains=_FLAG, looped=_FLAG),
    "step_call": _call(tape=_ANY),
    "loss_scale_use": _call(),
    "model_compile": _call(),
    "loop_size": _call(agrees=_words("yes no missing unknown")),
    "control_flow": _call(implicit=_FLAG),
    "dynamic_shape": _call(dims=_ANY, inner=_FLAG, written=_ANY),
    "host_sync": _call(written=_ANY, timed=_FLAG),
    "npu_option": _call(legal=_FLAG, nearest=_ANY, value_ok=_FLAG, allowed=_ANY),
    "export": _call(model=_words("device host unknown")),
    "spawn": _call(jit=_words("lost kept unset")),
    "top_k": _call(k=_ANY, words=_ANY),
    "device": _call(gpu=_FLAG, via=_ANY, computed=_FLAG, tower=_FLAG),
    "distribution": _call(
        stack=_words("horovod tf.distribute npu tpu torch"),
        what=_words(
            "init rank optimizer broadcast strategy allreduce shard other ddp parallel sync_bn collective sampler "
            "processes local_rank epoch no_sync accumulation"
        ),
        wraps_scaled=_FLAG,
        kept=_FLAG,
        device_set=_words("given before late after unknown"),
        at_import=_FLAG,
        timeout=_ANY,
        size_from=_ANY,
        contiguous=_FLAG,
        from_environment=_FLAG,
    ),
    "backend": _code(
        text=_ANY,
        source=_words("literal assigned option launcher parameter default config"),
        callee=_ANY,
        runs=_FLAG,
        beside=_ANY,
    ),
    "loader": _call(
        callee=_ANY,
        purpose=_words("train evaluate unknown"),
        drop_last=_words("yes no missing full unknown"),
        shuffle=_words("yes no missing unknown"),
        sampler=_words("distributed other none unknown"),
        sampled=_words("always sometimes no unknown"),
        workers=_words("missing none some many unknown"),
        pin_memory=_words("yes no missing unknown"),
        persistent=_words("yes no missing unknown"),
        dataset=_words("iterable map memory unknown"),
        device_items=_FLAG,
        sharded=_FLAG,
    ),
    "npu": _call(on=_ANY),
    "cuda": _call(
        form=_words("method text index api type is_cuda compare flag available capability version"),
        covered=_FLAG,
        breaks=_FLAG,
        counterpart=_ANY,
        group=_words("amp random memory stream profiler other"),
        receiver=_words("module tensor storage unknown"),
        position=_ANY,
        callee=_ANY,
        fallback=_FLAG,
        beside_npu=_FLAG,
        guarded=_FLAG,
        script=_FLAG,
        mentioned=_FLAG,
        ported=_FLAG,
        of=_words("tensor type device backend choice other"),
        gpu_only=_FLAG,
        op=_ANY,
        use=_words("apart compared shown properties field parsed read"),
    ),
    "early_binding": _code(after=_ANY),
    "late_move": _call(by=_words("npu cuda to"), line=_ANY),
    "library": _code(
        member=_ANY,
        group=_words(
            "attention quantized cuda_array inference data sparse_conv graph rendering fused_kernel deform_conv "
            "distributed monitor triton detection vision serving megatron native npu"
        ),
        works=_words("no partly yes"),
        substitute=_ANY,
        placed=_words("top try condition function"),
        used=_FLAG,
    ),
    "cuda_extension": _call(
        what=_words("build load inline import ffi"),
        cuda=_FLAG,
        placed=_words("top try condition function"),
        builds=_ANY,
    ),
    "triton_kernel": _code(),
    "npu_member": _call(nearest=_ANY),
    "retired_op": _call(status=_words("planned unmaintained"), substitute=_ANY),
    "cuda_source": _plain(what=_words("kernel binding"), kernels=_ANY),
    "torch_api": _call(
        support=_words("no partial yes unknown"),
        kernel=_words("npu cpu backward_cpu none host unknown"),
        versions_no=_ANY,
        added=_ANY,
        ops=_ANY,
        instead=_ANY,
        group=_words(
            "sparse sparse_coo sparse_product quantized linalg random embedding_bag recurrent strided tensordot "
            "complex gather"
        ),
        what=_words("function method class base mention"),
        along=_words("repeated other"),
        host=_FLAG,
    ),
    "tf_api": _call(
        support=_words("no newer static_shape manual deprecated no_effect"),
        reason=_words("eager tpu gpu operator raw shape towers old_estimator device determinism profiler"),
        release=_words("1.15 2.6 both"),
        ops=_ANY,
        instead=_ANY,
        guarded=_FLAG,
        plain=_FLAG,
        used=_FLAG,
        place=_PLACED,
    ),
    "float64": _call(device=_words("cpu other unknown"), reduced=_FLAG),
    "run": _call(fetches=_ANY, fed=_FLAG, loops=_ANY, gated=_FLAG, runs=_ANY, traced=_FLAG, deepest=_FLAG),
    "checkpoint": _call(each_step=_FLAG),
    "graph_growth": _call(),
    "py_func": _call(shaped=_FLAG, place=_PLACED),
    "towers": _call(many=_FLAG, towers=_ANY),
    "host_op": _call(
        where=_words("host older mixed"),
        ops=_ANY,
        family=_words(
            "python string parsing queue fused_cell spectral special sparse ragged ctc dynamic padding random geometry "
            "gradient"
        ),
        place=_PLACED,
    ),
    "dropout": _call(noise_shape=_FLAG),
    "half_reduction": _call(),
    "zero_root": _call(),
    "affinity": _call(
        confidence=_words("shape name"),
        guarded=_FLAG,
        returned=_words("yes maybe no"),
        mask=_words("none boolean additive"),
        conditions=_ANY,
        form=_ANY,
        half=_words("first second unknown"),
        exact=_FLAG,
        mode=_words("half interleave"),
        instead=_ANY,
    ),
    "fused_call": _call(
        gradient=_FLAG,
        used=_words("tensor element returned unknown"),
        training_only=_FLAG,
        scaled=_FLAG,
        mask=_words("none shared additive other"),
        keep=_words("none dropped other"),
    ),
    "half_math": _call(),
    "debug_aid": _call(
        what=_words("anomaly gradcheck profiler dump stop hook tool"),
        optional=_FLAG,
        limited=_words("no steps schedule"),
        covers=_words("step training no"),
        reads=_FLAG,
    ),
    "device_option": _call(),
    "switch": _code(),
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
            "own_npu": _FLAG,
            "entry": _FLAG,
            "ranks": _words("many one unknown"),
            "patched": _FLAG,
            "precision": _words("none mixed fp16 bf16 fp32 origin unknown default"),
            "tensorflow": _ANY,
            "torch": _ANY,
            "migration": _words("none transfer manual agnostic left"),
        }
    ),
}

"""Kinds of facts that only PyTorch programs have."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, call, code, plain, words

KINDS: Kinds = {
    "optimizer_use": call(family=words("stock npu apex_npu apex_gpu other mixed unknown"), closure=FLAG, model=FLAG),
    "apex_amp": call(
        level=words("O0 O1 O2 O3 unknown"),
        combine_grad=words("yes no missing unknown"),
        combine_ddp=words("yes no missing unknown"),
        optimizer=words("stock npu apex_npu apex_gpu other mixed unknown missing"),
        wrapped=words("yes sometimes no"),
        half=FLAG,
        scale=words("dynamic off static extreme missing unknown"),
        scale_chosen=FLAG,
    ),
    "autocast": call(
        device=words("cuda npu cpu unknown"),
        enabled=FLAG,
        dtype=words("float16 bfloat16 default unknown"),
        alternative=FLAG,
    ),
    "half_model": call(trained=FLAG),
    "mask_fill": code(fill=ANY, infinite=FLAG, half=FLAG, tensor=ANY),
    "npu_option": call(legal=FLAG, nearest=ANY, value_ok=FLAG, allowed=ANY),
    "export": call(model=words("device host unknown")),
    "spawn": call(jit=words("lost kept unset")),
    "loader": call(
        callee=ANY,
        purpose=words("train evaluate unknown"),
        drop_last=words("yes no missing full unknown"),
        shuffle=words("yes no missing unknown"),
        sampler=words("distributed other none unknown"),
        sampled=words("always sometimes no unknown"),
        workers=words("missing none some many unknown"),
        pin_memory=words("yes no missing unknown"),
        persistent=words("yes no missing unknown"),
        dataset=words("iterable map memory unknown"),
        device_items=FLAG,
        sharded=FLAG,
    ),
    "library": code(
        member=ANY,
        group=words(
            "attention quantized cuda_array inference data sparse_conv graph rendering fused_kernel deform_conv "
            "distributed monitor triton detection vision serving megatron native npu"
        ),
        works=words("no partly yes"),
        substitute=ANY,
        placed=words("top try condition function"),
        used=FLAG,
    ),
    "npu_member": call(nearest=ANY),
    "retired_op": call(status=words("planned unmaintained"), substitute=ANY),
    "cuda_source": plain(what=words("kernel binding"), kernels=ANY),
    "torch_api": call(
        support=words("no partial yes unknown"),
        kernel=words("npu cpu backward_cpu no_gradient none host unknown"),
        versions_no=ANY,
        added=ANY,
        ops=ANY,
        instead=ANY,
        group=words(
            "sparse sparse_coo sparse_product quantized linalg random embedding_bag recurrent strided tensordot "
            "complex gather"
        ),
        what=words("function method class base mention"),
        along=words("repeated other"),
        host=FLAG,
    ),
    "float64": call(device=words("cpu other unknown"), reduced=FLAG),
    "affinity": call(
        confidence=words("shape name"),
        guarded=FLAG,
        returned=words("yes maybe no"),
        mask=words("none boolean additive"),
        conditions=ANY,
        form=ANY,
        half=words("first second unknown"),
        exact=FLAG,
        mode=words("half interleave"),
        instead=ANY,
        tensor=ANY,
    ),
    "fused_call": call(
        gradient=FLAG,
        used=words("tensor element returned unknown"),
        training_only=FLAG,
        scaled=FLAG,
        mask=words("none shared additive other"),
        keep=words("none dropped other"),
    ),
    "half_math": call(),
}

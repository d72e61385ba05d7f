"""Kinds of facts that only PyTorch programs have."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, call, code, plain, words

KINDS: Kinds = {
    "backend": code(
        text=ANY,
        source=words("literal assigned option launcher parameter default config"),
        callee=ANY,
        runs=FLAG,
        beside=ANY,
        torch=FLAG,
    ),
    "cuda": call(
        form=words("method text index api type is_cuda compare flag available capability version"),
        covered=FLAG,
        breaks=FLAG,
        counterpart=ANY,
        group=words("amp random memory stream profiler other"),
        receiver=words("module tensor storage unknown"),
        position=ANY,
        callee=ANY,
        fallback=FLAG,
        beside_npu=FLAG,
        guarded=FLAG,
        script=FLAG,
        mentioned=FLAG,
        ported=FLAG,
        of=words("tensor type device backend choice other"),
        gpu_only=FLAG,
        op=ANY,
        use=words("apart compared shown properties field parsed read"),
        subject=ANY,
        holder=ANY,
        move=words("name text none"),
        within=ANY,
        torch=FLAG,
    ),
    "early_binding": code(after=ANY),
    "late_move": call(by=words("npu cuda to"), line=ANY),
    "cuda_extension": call(
        what=words("build load inline import ffi"),
        cuda=FLAG,
        placed=words("top try condition function"),
        builds=ANY,
    ),
    "triton_kernel": code(),
    "cuda_source": plain(what=words("kernel binding"), kernels=ANY),
    "device_option": call(),
    "switch": code(),
}

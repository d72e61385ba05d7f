"""Kinds of facts that only PyTorch programs have."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, call, plain, words

KINDS: Kinds = {
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

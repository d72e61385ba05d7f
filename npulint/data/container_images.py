"""What container images hold, as far as their names say it.

Sources: the tags of Ascend/cann-container-image (``cann:8.5.0-910b-ubuntu22.04-py3.11``), of vllm-ascend
(``v0.11.0-a3``) and of LLaMA-Factory (``latest-910b-ubuntu``).
"""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.chips import chip

Software = Literal["ascend", "cuda", "other", "unknown"]

_CUDA = lazy_compile(
    r"(?i)nvidia|nvcr|cuda|cudnn|(?:^|[:-])cu\d{2,3}\b|tensorrt|[:-]gpu\b|rocm/|pytorch/pytorch:|tensorflow:\S+-gpu"
)
_ASCEND = lazy_compile(
    r"(?i)ascend|(?:^|[/_.\-])cann(?=[:_.\-]|$)|(?:^|[/:_.\-])npu(?=[:_.\-\d]|$)|mindie|mindspeed|mindspore"
    r"|[:_\-](?:910[abc]?|310p)(?=[_.\-]|$)"
)
_CHIP = lazy_compile(r"(?i)[:_.\-](?P<chip>910[abc]?\d?|310p\d?|a[235]|950)(?=[_.\-]|$)")


def software_of(image: str) -> Software:
    """Whether an image is for Ascend NPUs or for NVIDIA GPUs, as its name says; computed parts are ``*``.

    >>> software_of("quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11"), software_of("nvidia/cuda:12.1.0-base")
    ('ascend', 'cuda')
    >>> software_of("ubuntu:22.04"), software_of("*"), software_of("verl:npu-cu128")
    ('other', 'unknown', 'unknown')
    """
    ascend, cuda = _ASCEND.search(image), _CUDA.search(image)
    if ascend and cuda:
        return "unknown"
    if ascend or cuda:
        return "ascend" if ascend else "cuda"
    return "unknown" if "*" in image or "$" in image or not image else "other"


def chip_of(image: str) -> str:
    """The generation of chips that an image for Ascend is built for; empty if its name does not say it.

    >>> chip_of("quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11"), chip_of("quay.io/ascend/vllm-ascend:v0.11.0-a3")
    ('910B', '910C')
    >>> chip_of("quay.io/ascend/vllm-ascend:v0.11.0-310p"), chip_of("team/train:v1-a3")
    ('310P', '')
    """
    match = _CHIP.search(image) if software_of(image) == "ascend" else None
    return chip(match["chip"]) if match else ""

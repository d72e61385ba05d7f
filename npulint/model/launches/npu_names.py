"""The names of launchers for the NPU beside those for GPUs."""

from __future__ import annotations

import posixpath

from npulint.core.lazy_regex import lazy_compile

_GPU = lazy_compile(r"(?i)(?<![a-z])(?:gpus?|cuda)(?![a-z])")


def launcher_for_npu(path: str) -> str:
    """The path of the launcher for the NPU beside one for GPUs: the file that a fix writes.

    >>> launcher_for_npu("run/train.sh"), launcher_for_npu("train_2gpu.sh")
    ('run/train_npu.sh', 'train_2npu.sh')
    """
    folder, name = posixpath.split(path)
    stem, dot, end = name.rpartition(".") if "." in name.strip(".") else (name, "", "")
    renamed = _GPU.sub("npu", stem.replace("_", "\0")).replace("\0", "_")
    return posixpath.join(folder, (renamed if renamed != stem else f"{stem}_npu") + dot + end)

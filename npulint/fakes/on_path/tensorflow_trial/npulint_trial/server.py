"""What differs on an NPU server from any other machine: it has no GPU, and what needs one is not installed."""

import importlib.abc
import importlib.machinery
import sys

_MISSING = frozenset("horovod nvidia pycuda pynvml cupy byteps tensorrt nvtabular".split())


class _Missing(importlib.abc.MetaPathFinder):
    """Refuses libraries for GPUs that may be installed here, and the adapter for another TensorFlow."""

    def __init__(self, adapters):
        self._names = _MISSING | adapters

    def find_spec(self, fullname, path=None, target=None):
        """Raise as Python does for a module that is not installed; the guards have no such modules."""
        if fullname.partition(".")[0] in self._names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def prepare(tensorflow, older):
    """Make this process one of an NPU server. `older`: with TensorFlow 1.15, whose adapter is another package than that
    of 2."""
    sys.meta_path.insert(0, _Missing({"npu_device"} if older else {"npu_bridge"}))
    for owner in (tensorflow.test, getattr(getattr(tensorflow.compat, "v1", None), "test", None)):
        for name in ("is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm"):
            if owner is not None and hasattr(owner, name):
                setattr(owner, name, lambda: False)

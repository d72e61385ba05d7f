"""Opens the device: functions run as they are on the CPU, as the adapter would run them."""

import contextlib
import functools
import importlib
import os

import npulint_record as record
import tensorflow as tf
from npulint_adapter import ranks
from npulint_adapter.plugin import is_inf_nan_enabled, set_device_sat_mode  # noqa: F401  names of the module
from npulint_adapter.ranks import size_in_environment as get_ranksize
from tensorflow.python.framework import ops as framework_ops

from npulint_device import npu_options
from npulint_device.npu_options import NpuConfig, NpuRunContextOptions, global_options  # noqa: F401
from npulint_device.scopes import keep_dtype_scope, npu_recompute_scope  # noqa: F401

NPU = "/job:localhost/replica:0/task:0/device:NPU"
_XLA = ("experimental_compile", "jit_compile")
_function = tf.function
_devices = {}
_default = []


class NpuDeviceHandle:
    """An open device."""

    def __init__(self, device_id, workers_num, worker_id):
        self._device_id = device_id
        self.workers_num = workers_num
        self.worker_id = worker_id

    def name(self):
        return f"{NPU}:{self._device_id}"

    def scope(self):
        return contextlib.nullcontext()

    def is_cluster_worker(self):
        return self.workers_num > 1 and self.workers_num > self.worker_id >= 0

    def as_default(self):
        """Have functions run on the device, wherever the program places them."""
        if not _default:
            tf.function = npu_compat_function
            for module in ("polymorphic_function.polymorphic_function", "def_function"):
                with contextlib.suppress(ImportError):
                    imported = importlib.import_module("tensorflow.python.eager." + module)
                    imported.function = npu_compat_function
            framework_ops.device = lambda *args, **kwargs: contextlib.nullcontext()
        _default[:] = [self]
        record.count("scopes", "as_default")
        return self


def open(device_id=None):
    """The device. Raises `RuntimeError` for a second one, or where a distributed training is described badly."""
    device_id = int(os.getenv("ASCEND_DEVICE_ID", "0")) if device_id is None else device_id
    if device_id in _devices:
        return _devices[device_id]
    if _devices:
        raise RuntimeError(f"Failed create npu instance on device {device_id} as existed instance on {list(_devices)}")
    workers = int(get_ranksize())
    if workers > 1:
        _distributed()
    record.add("devices", {"id": record.plain(device_id), "options": global_options().as_dict()})
    npu_options.opened.append(True)
    ranks.opened()
    _devices[device_id] = NpuDeviceHandle(device_id, workers, int(os.getenv("RANK_ID", "0")) if workers > 1 else 0)
    return _devices[device_id]


def _distributed():
    chief, table = os.getenv("CM_CHIEF_IP"), os.getenv("RANK_TABLE_FILE")
    if chief is not None and table is not None:
        raise RuntimeError("CM_CHIEF_IP and RANK_TABLE_FILE cannot be configured at the same time.")
    if chief is None and table is None:
        raise RuntimeError("CM_CHIEF_IP and RANK_TABLE_FILE are all not be configured.")
    if table is not None and not os.getenv("RANK_ID"):
        raise RuntimeError("You must specify rank id by set env RANK_ID in distribution mode")


def close():
    """Does nothing: there is no device."""


def global_npu_ctx():
    """The device that is the default, if any."""
    return _default[0] if _default else None


def npu_compat_function(func=None, *args, **kwargs):
    """``tf.function`` without XLA, which the adapter leaves out."""
    kwargs = {name: value for name, value in kwargs.items() if name not in _XLA}
    if func is None:
        return functools.partial(npu_compat_function, *args, **kwargs)
    return _function(func, *args, **kwargs)


def set_npu_loop_size(loop_size):
    """How many steps a loop of the device has."""
    record.add("loops", {"iterations": record.plain(loop_size)})


@contextlib.contextmanager
def npu_run_context(options=None):
    """Options for a part of the program."""
    if options is not None and not isinstance(options, NpuRunContextOptions):
        raise ValueError("options type must be NpuRunContextOptions")
    record.count("scopes", "npu_run_context")
    yield


def enable_v1():
    """Switch to sessions."""
    if _devices:
        os.environ["ASCEND_DEVICE_ID"] = str(next(iter(_devices)))
    tf.compat.v1.disable_v2_behavior()
    importlib.import_module("npulint_adapter.sessions")
    record.count("scopes", "enable_v1")

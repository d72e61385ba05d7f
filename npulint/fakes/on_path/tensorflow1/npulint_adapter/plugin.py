"""What opens and closes the device apart from sessions, and the profiler."""

import os

import npulint_record as record

from npulint_adapter import options, ranks

_NOT_A_KEY = ("graph_run_mode", "enable_profiling")


def npu_close():
    """Does nothing: there is no device."""


def npu_resource_init(**settings):
    """Open the device; its options are those of a session."""
    for name, value in settings.items():
        if name not in options.SESSION_KEYS and name not in _NOT_A_KEY:
            raise TypeError(f"npu_resource_init() got an unexpected keyword argument {name!r}")
        if name in options.SESSION_KEYS:
            options.check(name, value, options.SESSION_KEYS[name]["uses"]["session_key"])
    record.add("resources", {"call": "npu_resource_init", "options": record.plain(settings)})
    ranks.opened()


def npu_resource_shutdown():
    record.add("resources", {"call": "npu_resource_shutdown"})


_saturating = [True]


def set_device_sat_mode(mode):
    if mode not in (0, 1):
        raise ValueError(f"the saturation mode is 0 or 1, not {mode!r}")
    _saturating[:] = [mode == 0]
    record.add("resources", {"call": "set_device_sat_mode", "mode": mode})


def is_inf_nan_enabled():
    return not _saturating[0]


class Profiler:
    """Collects nothing."""

    def __init__(self, *, level="L0", aic_metrics="", output_path=""):
        for name, value in (("level", level), ("aic_metrics", aic_metrics), ("output_path", output_path)):
            if not isinstance(value, str):
                raise ValueError(f"Option {name} should be str, but get type: {type(value)}")
        self._output = output_path

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *raised):
        self.stop()

    def start(self):
        record.add("profilers", {"output_path": os.path.basename(self._output)})

    def stop(self):
        """Does nothing: nothing was collected."""


class ScopedGraphManager:
    """Graphs that are released at its end: there are none."""

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *raised):
        self.stop()

    def start(self):
        record.count("scopes", "ScopedGraphManager")

    def stop(self):
        """Does nothing: no graph was kept."""

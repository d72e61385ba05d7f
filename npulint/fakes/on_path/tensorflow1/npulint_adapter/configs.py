"""The configuration classes of the adapter for Estimators."""

import npulint_record as record
from tensorflow.python.estimator import run_config as run_config_lib

from npulint_adapter import options
from npulint_adapter.scopes import NpuExecutePlacement  # noqa: F401  a name of the module
from npulint_adapter.sessions import decorator_tf_session  # noqa: F401  a name of the module

_OF_TENSORFLOW = (
    "model_dir tf_random_seed save_summary_steps save_checkpoints_steps save_checkpoints_secs session_config "
    "keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps train_distribute eval_distribute"
).split()


def _uses(owner):
    """The arguments of a class by name, those with a known position first."""
    uses = {}
    for name, option in options.RUN_CONFIG.items():
        before, _, last = name.rpartition(".")
        use = option["uses"]["run_config"]
        if before == owner and (options.ABSENT or not use.get("until")):
            uses[last] = use
    return dict(
        sorted(
            uses.items(), key=lambda named_use: (named_use[1].get("position", -1) < 0, named_use[1].get("position", -1))
        )
    )


def _checked(owner, args, kwargs):
    """The arguments by name. Raises `TypeError` for one that the class does not have or that has another type, and
    `ValueError` for a value that the adapter refuses."""
    uses = _uses(owner)
    placed = [name for name, use in uses.items() if use.get("position", -1) >= 0]
    if len(args) > len(placed):
        raise TypeError("{}(): argument {} has no fixed place".format(owner or "NPURunConfig", len(placed)))
    given = dict(zip(placed, args))
    for name, value in kwargs.items():
        if name not in uses or name in given:
            raise TypeError("{}() got an unexpected argument {!r}".format(owner or "NPURunConfig", name))
        given[name] = value
    for name, value in given.items():
        _check(name, value, uses[name])
    return given


_TYPES = {"str": (str, bytes), "int": int, "bool": (bool, int), "flag": bool}


def _check(name, value, use):
    if value is None or use["type"] == "any":
        return
    if use["type"] == "object":
        wanted = use.get("values")
        if wanted and type(value).__name__ not in wanted:
            raise ValueError(f"`{name}` must be provided with type `{wanted[0]}`")
        return
    if not isinstance(value, _TYPES[use["type"]]):
        raise TypeError("{} must be {}, got {!r}".format(name, use["type"], value))
    options.check(name, value.decode() if isinstance(value, bytes) else value, use)


class _Config:
    """A group of options."""

    def __init__(self, *args, **kwargs):
        self.given = _checked(type(self).__name__, args, kwargs)


class ProfilingConfig(_Config):
    pass


class MemoryConfig(_Config):
    pass


class DumpConfig(_Config):
    pass


class GraphMemoryOptimizeConfig(_Config):
    pass


class ExperimentalConfig(_Config):
    pass


class DynamicInputConfig(_Config):
    pass


class NPURunConfig(run_config_lib.RunConfig):
    """The configuration of an `NPUEstimator`."""

    def __init__(self, *args, **kwargs):
        given = _checked("", args, kwargs)
        if given.get("mix_compile_mode") and given.get("iterations_per_loop", 1) != 1:
            raise ValueError("iterations_per_loop must be 1 with mix_compile_mode")
        self.iterations_per_loop = given.get("iterations_per_loop", 1)
        if not isinstance(self.iterations_per_loop, int) or self.iterations_per_loop < 1:
            raise ValueError(f"iterations_per_loop must be positive, got {self.iterations_per_loop!r}")
        self.horovod_mode = given.get("horovod_mode", False)
        stock = {name: value for name, value in given.items() if name in _OF_TENSORFLOW}
        stock.setdefault("save_summary_steps", 0)
        if stock.get("save_checkpoints_steps") is None and stock.get("save_checkpoints_secs") is None:
            stock["save_checkpoints_steps"] = 100
        self._npu = {name: value for name, value in given.items() if name not in _OF_TENSORFLOW}
        super().__init__(**stock)
        record.add("run_configs", {"options": record.plain(given)})

    def session_options(self):
        """Its options as session keys."""
        values = {}
        for name, value in self._npu.items():
            values.update(value.given if isinstance(value, _Config) else {name: value})
        return {key: value for key, value in values.items() if key in options.SESSION_KEYS and value is not None}

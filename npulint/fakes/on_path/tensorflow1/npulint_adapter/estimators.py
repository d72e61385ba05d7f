"""Estimators of the adapter."""

import os
import sys  # noqa: F401  a name of the module

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.python.estimator import estimator as estimator_lib
from tensorflow.python.estimator import model_fn as model_fn_lib
from tensorflow.python.util import function_utils

from npulint_adapter import options, ranks, sessions
from npulint_adapter.configs import NPURunConfig
from npulint_adapter.hooks import NPUBroadcastGlobalVariablesHook, SetIterationsVarHook


class NPUEstimatorSpec(model_fn_lib.EstimatorSpec):
    """A specification that may have a call on the host."""

    def __new__(cls, mode, host_call=None, **members):
        if host_call is not None and (not isinstance(host_call, (tuple, list)) or len(host_call) != 2):
            raise ValueError("host_call should be a tuple or list of two elements.")
        if host_call is not None and not callable(host_call[0]):
            raise TypeError("host_call[0] should be callable.")
        made = super().__new__(cls, mode=mode, **members)
        made._host_call = host_call
        record.count("specs", "NPUEstimatorSpec")
        return made


class NPUEstimator(estimator_lib.Estimator):
    """An Estimator whose sessions run on the NPU."""

    def __init__(
        self, model_fn=None, model_dir=None, config=None, params=None, job_start_file="", warm_start_from=None
    ):
        if config is None or not isinstance(config, NPURunConfig):
            raise ValueError("`config` must be provided with type `NPUConfigs`")
        if not job_start_file and not os.getenv("JOB_ID"):
            raise ValueError("Load job info failed, please check whether `JOB_ID` is set in environment variable")
        if model_dir is not None and config.model_dir is not None and model_dir != config.model_dir:
            raise ValueError("model_dir are set both in NPUEstimator and NPURunConfig, but with different values")
        estimator_lib._verify_model_fn_args(model_fn, params)
        config = _with_session(config)
        record.add("estimators", {"class": type(self).__name__, "iterations_per_loop": config.iterations_per_loop})
        self._assert_members_are_not_overridden = lambda: None
        super().__init__(
            model_fn=_augmented(model_fn, config),
            model_dir=model_dir or config.model_dir,
            config=config,
            params=params or {},
            warm_start_from=warm_start_from,
        )


def _with_session(config):
    """The configuration with one whose session has the options of the adapter."""
    if config.session_config is None:
        config = config.replace(session_config=tf.ConfigProto())
    rewrite = config.session_config.graph_options.rewrite_options
    entry = rewrite.custom_optimizers.add()
    entry.name = sessions.NAME
    for key, value in config.session_options().items():
        field = options.SESSION_KEYS[key]["field"]
        value = tf.compat.as_bytes(str(value) if not isinstance(value, bytes) else value) if field == "s" else value
        setattr(entry.parameter_map[key], field, value)
    return config


def _augmented(model_fn, config):
    """The model function with the hooks that the adapter adds."""

    def wrapped(features, labels, mode, params):
        offered = {"labels": labels, "mode": mode, "params": params, "config": config}
        wanted = function_utils.fn_args(model_fn)
        spec = model_fn(features=features, **{name: value for name, value in offered.items() if name in wanted})
        if not isinstance(spec, model_fn_lib.EstimatorSpec):
            raise RuntimeError(
                f"estimator_spec must have type `NPUEstimatorSpec` or `EstimatorSpec`. Got {type(spec)!r}"
            )
        if mode != model_fn_lib.ModeKeys.TRAIN:
            return spec
        added = []
        size = ranks.size_in_environment()
        if size.isdigit() and int(size) > 1 and not config.horovod_mode:
            added.append(NPUBroadcastGlobalVariablesHook(0, int(os.getenv("RANK_ID", "0"))))
        if config.iterations_per_loop > 1:
            added.append(SetIterationsVarHook(config.iterations_per_loop))
            spec = spec._replace(train_op=tf.group(spec.train_op, name="IterationOp"))
        return spec._replace(training_hooks=tuple(added + list(spec.training_hooks or [])))

    return wrapped

"""Keras under the adapter."""

import npulint_record as record
import tensorflow.compat.v1 as tf
from tensorflow.python.distribute import distribute_lib, one_device_strategy
from tensorflow.python.keras import backend

from npulint_adapter import ranks
from npulint_adapter.estimators import NPUEstimator
from npulint_adapter.hooks import broadcast_global_variables


def model_to_npu_estimator(
    keras_model=None,
    keras_model_path=None,
    custom_objects=None,
    model_dir=None,
    checkpoint_format="saver",
    config=None,
    job_start_file="",
):
    """An `NPUEstimator` of a model of Keras."""
    stock = tf.keras.estimator.model_to_estimator(
        keras_model=keras_model,
        keras_model_path=keras_model_path,
        custom_objects=custom_objects,
        model_dir=model_dir,
        config=tf.estimator.RunConfig(model_dir=model_dir),
        checkpoint_format=checkpoint_format,
    )
    return NPUEstimator(
        model_fn=stock._model_fn,
        model_dir=model_dir,
        config=config,
        job_start_file=job_start_file,
        warm_start_from=stock._warm_start_settings,
    )


class BroadcastGlobalVariablesCallbackImpl:
    """Gives the ranks the variables of the first one, before the first batch."""

    def __init__(self, root_rank, *args):
        super().__init__(*args)
        self.root_rank = root_rank
        self.broadcast_done = False

    def on_batch_begin(self, batch, logs=None):
        if not self.broadcast_done and int(ranks.size_in_environment()) > 1:
            backend.get_session().run(broadcast_global_variables(self.root_rank))
        self.broadcast_done = True


class NPUBroadcastGlobalVariablesCallback(BroadcastGlobalVariablesCallbackImpl, tf.keras.callbacks.Callback):
    def __init__(self, root_rank):
        super().__init__(root_rank)
        record.add("hooks", {"class": type(self).__name__, "root_rank": root_rank})


class NPUExtended(one_device_strategy.OneDeviceExtended):
    """One device, as many replicas as there are ranks."""

    @property
    def _num_replicas_in_sync(self):
        return int(ranks.size_in_environment())


class NPUStrategy(distribute_lib.StrategyV1):
    """The strategy of the adapter."""

    def __init__(self, device="/cpu:0"):
        if device != "/cpu:0":
            raise ValueError('"device" only support "/cpu:0"')
        super().__init__(NPUExtended(self, device))
        record.count("scopes", "NPUStrategy")

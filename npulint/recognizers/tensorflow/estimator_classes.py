"""Which classes and functions make an Estimator, and which functions make one from another."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile

PLAIN = frozenset(("tensorflow.estimator.Estimator", "tensorflow.contrib.learn.Estimator"))
"""Those that are given a model function."""
TPU = frozenset(
    (
        "tensorflow.contrib.tpu.TPUEstimator",
        "tensorflow.estimator.tpu.TPUEstimator",
        "tensorflow_gan.estimator.TPUGANEstimator",
        "tensorflow.contrib.gan.estimator.TPUGANEstimator",
    )
)
ANY_ESTIMATOR = "tensorflow.estimator.?"
"""What ``getattr(tf.estimator, name)`` is for an unknown name."""
_FROM_KERAS = "tensorflow.keras.estimator.model_to_estimator"
_CANNED = lazy_compile(
    r"^tensorflow\.estimator\.(?:experimental\.)?(?:DNN|Linear|Baseline|BoostedTrees|RNN|KMeans)\w*$"
    r"|^tensorflow\.contrib\.estimator\.(?:\w+\.)*(?:DNN|Linear|Baseline|BoostedTrees|RNN|LogisticRegression)\w*$"
    r"|^(?:tensorflow_gan|tensorflow\.contrib\.gan)\.estimator\.(?:Star)?GANEstimator$"
    rf"|^{_FROM_KERAS}$"
)
_ENDINGS = ("Classifier", "Regressor", "Estimator", "KMeans", "Annotations")
_NPU = (".NPUEstimator", ".model_to_npu_estimator")
RUNNERS = frozenset(
    ("tensorflow.contrib.learn.learn_runner.run", "tensorflow.contrib.learn.python.learn.learn_runner.run")
)
"""Functions that train what a function makes: it is given their run configuration."""
EXPERIMENT = "tensorflow.contrib.learn.Experiment"
_COPYING = frozenset(("add_metrics", "forward_features", "clip_gradients_by_norm"))


def is_canned(name: str) -> bool:
    """Whether this makes an Estimator with a model of its own, or one of a Keras model."""
    return bool(_CANNED.match(name)) and (name.endswith(_ENDINGS) or name == _FROM_KERAS)


def is_npu(name: str) -> bool:
    """Whether this makes an Estimator of the adapter."""
    return name.endswith(_NPU)


def is_maker(name: str) -> bool:
    """Whether this class or function of a library makes an Estimator."""
    return name in PLAIN or name in TPU or is_npu(name) or is_canned(name)


def is_copier(name: str) -> bool:
    """Whether this function makes an Estimator from its first argument."""
    head, _, last = name.rpartition(".")
    return last in _COPYING and head.endswith("estimator")

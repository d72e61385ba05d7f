"""Programs for the other rewrites of TensorFlow 1, by their number in docs/convert-tf2npu.md."""

from __future__ import annotations

from tests.convert_parts import EIGHT, NPU_OPTIMIZER
from tests.convert_samples import ESTIMATOR, HOROVOD, KERAS1, KERAS2, SESSION, Shape

OTHER_REWRITES = [
    Shape(
        "17",
        "tf-strategy-not-migrated",
        ESTIMATOR,
        {
            "settings": """
            strategy = tf.distribute.MirroredStrategy()  # here
            run_config = tf.estimator.RunConfig(train_distribute=strategy, save_summary_steps=0)
            """,
        },
        {
            "settings": """
            strategy = npu_strategy.NPUStrategy()
            run_config = tf.estimator.RunConfig(train_distribute=strategy, save_summary_steps=0)
            """,
        },
    ),
    Shape(
        "17",
        "tf-strategy-not-migrated",
        ESTIMATOR,
        {
            "imports": "from official.utils.misc import distribution_utils",
            "settings": """
            strategy = distribution_utils.get_distribution_strategy('mirrored', num_gpus=8)  # here
            run_config = tf.estimator.RunConfig(train_distribute=strategy, save_summary_steps=0)
            """,
        },
        {
            "settings": """
            strategy = npu_strategy.NPUStrategy()
            run_config = tf.estimator.RunConfig(train_distribute=strategy, save_summary_steps=0)
            """,
        },
    ),
    Shape(
        "18",
        "optimizer-pass-switched-off",
        SESSION,
        {
            "settings": "tf.config.optimizer.set_experimental_options({'constant_folding': False})  # here",
        },
        {
            "settings": "tf.config.optimizer.set_experimental_options(experimental_options)",
        },
    ),
    Shape(
        "19",
        "gpu-availability-test",
        SESSION,
        {
            "imports": """
            from tensorflow.python.client import device_lib


            def check_available_gpus():
                return [
                    d.name for d in device_lib.list_local_devices() if d.device_type == 'GPU'  # here
                ]
            """,
            "settings": "devices = check_available_gpus()",
        },
        {
            "settings": "devices = ['/device:CPU:0']",
        },
    ),
    Shape(
        "20",
        "gpu-options",
        KERAS2,
        {
            "settings": "limit = tf.config.experimental.VirtualDeviceConfiguration(memory_limit=4096)  # here",
        },
    ),
    Shape(
        "21",
        "soft-placement-off",
        SESSION,
        {
            "settings": "tf.config.set_soft_device_placement(False)  # here",
        },
        {
            "settings": "tf.config.set_soft_device_placement(enabled=True)",
        },
    ),
    Shape(
        "22",
        "gpu-options",
        KERAS2,
        {
            "settings": "tf.config.experimental.set_memory_growth(device, True)  # here",
        },
    ),
    Shape(
        "22",
        "gpu-options",
        KERAS2,
        {
            "settings": "tf.config.experimental.set_virtual_device_configuration(device, [])  # here",
        },
    ),
    Shape(
        "23",
        "xla-left-on",
        SESSION,
        {
            "model": """
            with tf.xla.experimental.jit_scope():  # here
                hidden = tf.layers.dense(hidden, 64)
            """,
        },
        {
            "model": """
            with tf.xla.experimental.jit_scope(compile_ops=False):
                hidden = tf.layers.dense(hidden, 64)
            """,
        },
    ),
    Shape(
        "24",
        "keras-session-cleared",
        KERAS1,
        {
            "settings": "tf.keras.backend.clear_session()  # here",
        },
        {
            "settings": "npu_clear_session()",
        },
    ),
    Shape(
        "25",
        "native-loss-scale",
        SESSION,
        {
            "optimizer": """
            scale = tf.train.experimental.FixedLossScale(1024)  # here
            step = tf.train.AdamOptimizer(1e-3).minimize(loss)
            """,
        },
        {
            "optimizer": """
            step = NPULossScaleOptimizer(
                tf.train.AdamOptimizer(1e-3), FixedLossScaleManager(1024)
            ).minimize(loss)
            """,
        },
    ),
    Shape(
        "26",
        "native-loss-scale",
        SESSION,
        {
            "optimizer": """
            scale = tf.train.experimental.DynamicLossScale()  # here
            step = tf.train.AdamOptimizer(1e-3).minimize(loss)
            """,
        },
        {
            "optimizer": """
            step = NPULossScaleOptimizer(
                tf.train.AdamOptimizer(1e-3), ExponentialUpdateLossScaleManager(2**15, 2000, 2)
            ).minimize(loss)
            """,
        },
    ),
    Shape(
        "27",
        "native-loss-scale",
        SESSION,
        {
            "optimizer": """
            optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(  # here
                tf.train.AdamOptimizer(1e-3), 1024
            )
            step = optimizer.minimize(loss)
            """,
        },
        {
            "optimizer": """
            step = NPULossScaleOptimizer(
                tf.train.AdamOptimizer(1e-3), FixedLossScaleManager(1024)
            ).minimize(loss)
            """,
        },
    ),
    Shape(
        "28",
        "horovod-not-migrated",
        SESSION,
        {
            "imports": "import horovod.tensorflow as hvd  # here",
        },
    ),
    Shape(
        "29",
        "horovod-not-migrated",
        SESSION,
        {
            "imports": "from horovod import tensorflow as hvd  # here",
            "settings": """
            hvd.init()
            rate = 1e-3 * hvd.size()
            """,
        },
        {
            "settings": """
            init_resource()
            rate = 1e-3 * get_npu_rank_size()
            """,
        },
    ),
    Shape(
        "30",
        "horovod-not-migrated",
        SESSION,
        {
            "imports": "import horovod.tensorflow as hvd  # here",
            "optimizer": "step = hvd.DistributedOptimizer(tf.train.AdamOptimizer(1e-3)).minimize(loss)",
        },
        {
            "optimizer": NPU_OPTIMIZER,
        },
    ),
    Shape(
        "30",
        "horovod-argument-without-counterpart",
        SESSION,
        {
            "imports": HOROVOD,
            "optimizer": """
            step = hvd.DistributedOptimizer(  # here
                tf.train.AdamOptimizer(1e-3), compression=hvd.Compression.fp16
            ).minimize(loss)
            """,
        },
        {
            "optimizer": NPU_OPTIMIZER,
        },
    ),
    Shape(
        "31",
        "horovod-not-migrated",
        SESSION,
        {
            "imports": "import horovod.tensorflow as hvd  # here",
            "session": """
            with tf.train.MonitoredTrainingSession(
                hooks=[hvd.BroadcastGlobalVariablesHook(0)]
            ) as sess:
            """,
        },
        {
            "session": """
            with tf.train.MonitoredTrainingSession(
                hooks=[NPUBroadcastGlobalVariablesHook(0, int(os.getenv('RANK_ID', '0')))],
                config=npu_config_proto(),
            ) as sess:
            """,
        },
    ),
    Shape(
        "32",
        "no-gradient-allreduce",
        SESSION,
        {
            "imports": "from npu_bridge.npu_init import *",
            "optimizer": """
            optimizer = tf.train.AdamOptimizer(1e-3)  # here
            step = optimizer.minimize(loss)
            """,
        },
        {
            "optimizer": NPU_OPTIMIZER,
        },
        launcher=EIGHT,
    ),
    Shape(
        "34",
        "gradients-bypass-allreduce",
        SESSION,
        {
            "imports": "from npu_bridge.npu_init import *",
            "optimizer": """
            optimizer = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(1e-3))
            variables = tf.trainable_variables()
            gradients = tf.gradients(loss, variables)
            step = optimizer.apply_gradients(zip(gradients, variables))  # here
            """,
        },
        {
            "optimizer": """
            optimizer = tf.train.AdamOptimizer(1e-3)
            variables = tf.trainable_variables()
            gradients = npu_allreduce(tf.gradients(loss, variables))
            step = optimizer.apply_gradients(zip(gradients, variables))
            """,
        },
        launcher=EIGHT,
    ),
    Shape(
        "33",
        "missing-initial-broadcast",
        SESSION,
        {
            "imports": "from npu_bridge.npu_init import *",
            "optimizer": NPU_OPTIMIZER,
            "session": "with tf.Session(config=npu_config_proto()) as sess:  # here",
        },
        {
            "optimizer": NPU_OPTIMIZER,
            "session": """
            hooks = npu_hooks_append()
            with tf.train.MonitoredTrainingSession(hooks=hooks, config=npu_config_proto()) as sess:
            """,
        },
        launcher=EIGHT,
    ),
    Shape(
        "33",
        "no-gradient-allreduce",
        KERAS1,
        {
            "imports": "from npu_bridge.npu_init import *",
            "settings": "set_keras_session_npu_config()",
            "compile": "model.compile(tf.keras.optimizers.Adam(1e-3), loss='mse')  # here",
        },
        {
            "compile": """
            model.compile(
                npu_distributed_optimizer_wrapper(tf.keras.optimizers.Adam(1e-3)), loss='mse'
            )
            """,
        },
        launcher=EIGHT,
    ),
    Shape(
        "35",
        "keras-session-without-npu-config",
        KERAS1,
        {
            "run": "model.fit(pictures, numbers, epochs=10)  # here",
        },
    ),
    Shape(
        "35",
        "npu-rank-without-init-resource",
        SESSION,
        {
            "imports": "from npu_bridge.npu_init import *",
            "optimizer": "step = tf.train.AdamOptimizer(1e-3 * get_npu_rank_size()).minimize(loss)  # here",
        },
        {
            "settings": "npu_session, npu_shutdown = init_resource()",
            "optimizer": "step = tf.train.AdamOptimizer(1e-3 * get_npu_rank_size()).minimize(loss)",
        },
    ),
]

import numpy as np
import tensorflow as tf


class Losses(tf.train.SessionRunHook):
    def __init__(self, loss):
        self.loss = loss

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        print("loss", run_values.results)


def model_fn(features, labels, mode, params):
    out = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.AdamOptimizer(params["lr"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[Losses(loss)])


def input_fn():
    numbers = np.random.RandomState(0)
    rows = numbers.rand(32, 4).astype("float32"), numbers.rand(32, 1).astype("float32")
    return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(8, drop_remainder=True)


def main():
    session_config = tf.ConfigProto(allow_soft_placement=True)
    session_config.gpu_options.allow_growth = True
    run_config = tf.estimator.RunConfig(model_dir="out", session_config=session_config, save_checkpoints_steps=100)
    estimator = tf.estimator.Estimator(model_fn, config=run_config, params={"lr": 0.1})
    estimator.train(input_fn, max_steps=4)


if __name__ == "__main__":
    main()

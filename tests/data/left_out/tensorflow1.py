"""Names that examples of checks for TensorFlow leave out."""

import numpy as np
import tensorflow as tf

x = tf.ones([8, 4])
y = labels = tf.ones([8, 1])
features = inputs = images = h = net = x
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, name="left_out") - y))
global_step = tf.train.get_or_create_global_step()
train_op = tf.group(tf.train.GradientDescentOptimizer(0.1).minimize(loss))
files = []
keep_prob = 0.9
rate = 0.1
is_training = training = True
_data = np.ones([32, 4], np.float32), np.ones([32, 1], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(_data).repeat().batch(8, drop_remainder=True)


train_input_fn = eval_input_fn = input_fn
dataset = ds = tf.data.Dataset.from_tensor_slices(_data)


def model_fn(features, labels, mode):
    found = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    step = tf.train.AdamOptimizer().minimize(found, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=found, train_op=step)

"""A residual denoiser: convolutions that predict the noise, which is then subtracted."""
import numpy as np
import tensorflow as tf


def gelu(x):
    return 0.5 * x * (1.0 + tf.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))


def conv(x, filters, name, activation=None):
    return tf.layers.conv2d(x, filters, 3, padding='same', activation=activation, name=name)


def block(x, filters, keep_prob, name):
    """Two convolutions with a shortcut."""
    with tf.variable_scope(name):
        y = conv(x, filters, 'first', activation=gelu)
        y = tf.nn.dropout(y, keep_prob)
        y = conv(y, filters, 'second')
        return x + 0.1 * y


def denoise(noisy, keep_prob, training, filters=64, blocks=8):
    """The clean estimate of a batch of noisy images."""
    with tf.variable_scope('denoiser', reuse=tf.AUTO_REUSE):
        with tf.device('/gpu:0'):
            features = conv(noisy, filters, 'entry', activation=tf.nn.relu)
            for i in range(blocks):
                features = block(features, filters, keep_prob, 'block%d' % i)
            features = tf.layers.dropout(features, rate=0.1, training=training)
            noise = conv(features, 3, 'exit')
        return noisy - noise


def loss_of(clean, estimate, hard_ratio):
    """Mean absolute error over the hardest patches of the batch."""
    per_patch = tf.reduce_mean(tf.abs(clean - estimate), axis=[1, 2, 3])
    wanted = tf.cast(tf.cast(tf.size(per_patch), tf.float32) * hard_ratio, tf.int32)
    hardest, _ = tf.nn.top_k(per_patch, k=tf.maximum(wanted, 1))
    return tf.reduce_mean(hardest)


def train_op_of(loss, learning_rate, global_step):
    rate = tf.train.exponential_decay(learning_rate, global_step, 20000, 0.5, staircase=True)
    optimizer = tf.train.AdamOptimizer(rate)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    return optimizer.apply_gradients(zip(gradients, variables), global_step=global_step)


def psnr(clean, estimate):
    return tf.reduce_mean(tf.image.psnr(clean, tf.clip_by_value(estimate, 0.0, 1.0), max_val=1.0))

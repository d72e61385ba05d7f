"""A residual denoiser: convolutions that predict the noise, which is then subtracted."""
import tensorflow as tf
from npu_bridge.npu_init import (ExponentialUpdateLossScaleManager, NPULossScaleOptimizer, npu_ops,
                                 npu_unary_ops)


def conv(x, filters, name, activation=None):
    return tf.layers.conv2d(x, filters, 3, padding='same', activation=activation, name=name)


def block(x, filters, keep_prob, name):
    """Two convolutions with a shortcut."""
    with tf.variable_scope(name):
        y = conv(x, filters, 'first', activation=npu_unary_ops.gelu)
        y = npu_ops.dropout(y, keep_prob) if keep_prob < 1.0 else y
        y = conv(y, filters, 'second')
        return x + 0.1 * y


def denoise(noisy, keep_prob, training, filters=64, blocks=8):
    """The clean estimate of a batch of noisy images; `training` is a Python bool."""
    with tf.variable_scope('denoiser', reuse=tf.AUTO_REUSE):
        features = conv(noisy, filters, 'entry', activation=tf.nn.relu)
        for i in range(blocks):
            features = block(features, filters, keep_prob, 'block%d' % i)
        features = npu_ops.dropout(features, 0.9) if training else features
        noise = conv(features, 3, 'exit')
        return noisy - noise


def loss_of(clean, estimate, batch_size, hard_ratio):
    """Mean absolute error over the hardest patches of the batch."""
    per_patch = tf.reduce_mean(tf.abs(clean - estimate), axis=[1, 2, 3])
    hardest, _ = tf.nn.top_k(per_patch, k=max(int(batch_size * hard_ratio), 1))
    return tf.reduce_mean(hardest)


def train_op_of(loss, learning_rate, global_step):
    rate = tf.train.exponential_decay(learning_rate, global_step, 20000, 0.5, staircase=True)
    manager = ExponentialUpdateLossScaleManager(init_loss_scale=2 ** 15, incr_every_n_steps=1000,
                                                decr_every_n_nan_or_inf=2, decr_ratio=0.5)
    optimizer = NPULossScaleOptimizer(tf.train.AdamOptimizer(rate), manager)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    return optimizer.apply_gradients(list(zip(gradients, variables)), global_step=global_step)


def psnr(clean, estimate):
    return tf.reduce_mean(tf.image.psnr(clean, tf.clip_by_value(estimate, 0.0, 1.0), max_val=1.0))

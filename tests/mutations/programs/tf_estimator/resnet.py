"""Residual network with bottlenecks."""
import tensorflow as tf

from hyper import BatchNorm

BLOCKS = {'small': [2, 2, 2, 2], 'large': [3, 4, 6, 3]}


def norm(net, training):
    return tf.compat.v1.layers.batch_normalization(net, momentum=BatchNorm.momentum, epsilon=BatchNorm.epsilon,
                                                   training=training)


def conv(net, filters, kernel_size, strides=1):
    return tf.compat.v1.layers.conv2d(net, filters, kernel_size, strides=strides, padding='SAME', use_bias=False,
                                      kernel_initializer=tf.compat.v1.variance_scaling_initializer())


def bottleneck(net, filters, training, strides, project):
    shortcut = net
    if project:
        shortcut = norm(conv(net, 4 * filters, 1, strides), training)
    net = tf.nn.relu(norm(conv(net, filters, 1), training))
    net = tf.nn.relu(norm(conv(net, filters, 3, strides), training))
    net = norm(conv(net, 4 * filters, 1), training)
    return tf.nn.relu(net + shortcut)


def build(images, training, num_classes, size='large'):
    net = tf.nn.relu(norm(conv(images, 64, 7, 2), training))
    net = tf.compat.v1.layers.max_pooling2d(net, 3, 2, padding='SAME')
    for stage, count in enumerate(BLOCKS[size]):
        for index in range(count):
            strides = 2 if stage > 0 and index == 0 else 1
            net = bottleneck(net, 64 * 2 ** stage, training, strides, project=index == 0)
    net = tf.reduce_mean(net, axis=[1, 2])
    net = tf.compat.v1.layers.dropout(net, rate=0.2, training=training)
    return tf.compat.v1.layers.dense(net, num_classes, name='dense')

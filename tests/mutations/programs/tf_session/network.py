"""A residual network that predicts the noise."""
import tensorflow as tf

WIDTH = 64


def conv(net, filters, size, name, activation=tf.nn.relu):
    return tf.layers.conv2d(net, filters, size, padding='same', activation=activation, name=name,
                            kernel_initializer=tf.variance_scaling_initializer(scale=2.0),
                            kernel_regularizer=tf.contrib.layers.l2_regularizer(5e-5))


def block(net, training, keep_prob, name):
    with tf.variable_scope(name):
        inner = conv(net, WIDTH, 3, 'first')
        inner = tf.layers.batch_normalization(inner, momentum=0.95, training=training)
        inner = tf.nn.dropout(inner, keep_prob)
        inner = conv(inner, WIDTH, 3, 'second', activation=None)
        return tf.nn.relu(net + 0.5 * inner)


def denoiser(noisy, training, keep_prob, depth=6):
    net = conv(noisy, WIDTH, 5, 'stem')
    for index in range(depth):
        net = block(net, training, keep_prob, 'block%d' % index)
    net = tf.layers.max_pooling2d(net, 2, 1, padding='same')
    noise = conv(net, 3, 3, 'head', activation=None)
    return noisy - noise


def edges(image):
    return tf.image.sobel_edges(image)

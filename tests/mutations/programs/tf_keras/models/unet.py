"""A small U-shaped network."""
import tensorflow as tf
from tensorflow.keras import layers, regularizers

from config import cfg


def conv_block(filters, name):
    return tf.keras.Sequential([
        layers.Conv2D(filters, 3, padding='same', use_bias=False, kernel_initializer='he_normal',
                      kernel_regularizer=regularizers.l2(cfg.MODEL.L2)),
        layers.BatchNormalization(momentum=0.97),
        layers.Activation('relu'),
        layers.Conv2D(filters, 3, padding='same', kernel_initializer='he_normal'),
        layers.LeakyReLU(0.1),
    ], name=name)


class UNet(tf.keras.Model):
    """Encoder and decoder with skips."""

    def __init__(self, classes, width=16, dropout=0.5, depth=4):
        super().__init__()
        self.stem = conv_block(width, 'stem')
        self.down = [conv_block(width * 2 ** (i + 1), f'down{i}') for i in range(depth)]
        self.pool = layers.MaxPool2D(2)
        self.drop = layers.Dropout(dropout)
        self.lift = [layers.Conv2DTranspose(width * 2 ** i, 2, strides=2) for i in reversed(range(depth))]
        self.up = [conv_block(width * 2 ** i, f'up{i}') for i in reversed(range(depth))]
        self.head = layers.Conv2D(classes, 1, dtype='float32')

    def call(self, images, training=False):
        net = self.stem(images, training=training)
        skips = [net]
        for block in self.down:
            net = block(self.pool(net), training=training)
            skips.append(net)
        net = self.drop(skips.pop(), training=training)
        for lift, block in zip(self.lift, self.up):
            net = tf.concat([lift(net), skips.pop()], axis=-1)
            net = block(net, training=training)
        return self.head(net)

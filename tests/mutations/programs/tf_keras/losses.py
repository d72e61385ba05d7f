"""Cross entropy and overlap."""
import tensorflow as tf

cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def dice_loss(masks, logits, smooth=1.0):
    probabilities = tf.nn.softmax(logits, axis=-1)
    target = tf.one_hot(masks, probabilities.shape[-1])
    overlap = tf.reduce_sum(target * probabilities, axis=[1, 2])
    total = tf.reduce_sum(target + probabilities, axis=[1, 2])
    return 1.0 - tf.reduce_mean((2.0 * overlap + smooth) / (total + smooth))


def combined_loss(masks, logits, weight=0.4):
    return cross_entropy(masks, logits) + weight * dice_loss(masks, logits)

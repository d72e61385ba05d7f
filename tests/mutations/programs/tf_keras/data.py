"""Images and masks."""
import pathlib

import tensorflow as tf

from config import cfg

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def load(image_path, mask_path):
    image = tf.io.decode_png(tf.io.read_file(image_path), channels=3)
    mask = tf.io.decode_png(tf.io.read_file(mask_path), channels=1)
    size = [cfg.DATA.SIZE, cfg.DATA.SIZE]
    image = tf.image.resize(image, size, method='bilinear')
    mask = tf.image.resize(mask, size, method='nearest')
    return image / 255.0, tf.squeeze(tf.cast(mask, tf.int32), -1)


def normalise(image):
    return (image - MEAN) / STD


def colour(image):
    low, high = cfg.DATA.CONTRAST
    image = tf.image.random_contrast(image, low, high)
    image = tf.image.random_hue(image, cfg.DATA.HUE)
    return tf.image.random_saturation(image, 0.8, 1.2)


def flip(image, mask):
    if tf.random.uniform([]) > 0.5:
        image, mask = tf.image.flip_left_right(image), tf.reverse(mask, axis=[1])
    return image, mask


def make_dataset(root, part, batch_size, shuffle):
    images = sorted(str(p) for p in pathlib.Path(root, part, 'images').glob('*.png'))
    masks = sorted(str(p) for p in pathlib.Path(root, part, 'masks').glob('*.png'))
    dataset = tf.data.Dataset.from_tensor_slices((images, masks))
    dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if shuffle:
        dataset = dataset.shuffle(cfg.DATA.SHUFFLE_BUFFER, seed=5)
        dataset = dataset.map(flip)
        dataset = dataset.map(lambda image, mask: (colour(image), mask))
    dataset = dataset.map(lambda image, mask: (normalise(image), mask))
    return dataset.batch(batch_size).prefetch(1)

"""Patches from tfrecords."""
import glob
import os

import tensorflow as tf

PATCH = 48
NOISE = 25.0
SHUFFLE_BUFFER = 4096
MEAN = [0.45, 0.44, 0.40]


def parse(record):
    features = tf.parse_single_example(record, {'image': tf.FixedLenFeature([], tf.string)})
    image = tf.image.decode_png(features['image'], channels=3)
    return tf.image.convert_image_dtype(image, tf.float32)


def augment(image):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_flip_up_down(image)
    turns = tf.random_uniform([], 0, 4, dtype=tf.int32)
    return tf.image.rot90(image, turns)


def random_patch(image):
    return tf.random_crop(image, [PATCH, PATCH, 3])


def center_patch(image):
    return tf.image.resize_image_with_crop_or_pad(image, PATCH, PATCH)


def normalise(image):
    return (image - tf.constant(MEAN)) / 0.25


def add_noise(image):
    noise = tf.random_normal([PATCH, PATCH, 3], stddev=NOISE / 255.0)
    return normalise(image + noise), normalise(image)


def files_of(folder, part):
    return sorted(glob.glob(os.path.join(folder, part, '*.tfrecord')))


def training_set(folder, batch_size, augmented):
    dataset = tf.data.TFRecordDataset(files_of(folder, 'train'))
    dataset = dataset.shuffle(SHUFFLE_BUFFER)
    dataset = dataset.map(parse, num_parallel_calls=8)
    dataset = dataset.map(random_patch)
    if augmented:
        dataset = dataset.map(augment)
    dataset = dataset.map(add_noise)
    dataset = dataset.repeat()
    dataset = dataset.batch(batch_size)
    return dataset.prefetch(2)


def evaluation_set(folder, batch_size):
    dataset = tf.data.TFRecordDataset(files_of(folder, 'valid'))
    dataset = dataset.map(parse).map(center_patch).map(add_noise)
    return dataset.repeat(1).batch(batch_size)

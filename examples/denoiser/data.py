"""Input pipeline: noisy patches from a TFRecord file, and whole images for evaluation."""
import os

import numpy as np
import tensorflow as tf
from PIL import Image


def camera_table(path):
    """Maps the camera name of a record to its index."""
    return tf.contrib.lookup.index_table_from_file(path, num_oov_buckets=1)


def parse(record, patch_size):
    features = tf.parse_single_example(record, {
        'image': tf.FixedLenFeature([], tf.string),
        'camera': tf.FixedLenFeature([], tf.string, default_value=''),
    })
    image = tf.image.decode_png(features['image'], channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.random_crop(image, [patch_size, patch_size, 3]), features['camera']


def augment(image, camera):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_flip_up_down(image)
    return image, camera


def add_noise(image, camera, table):
    """Adds Gaussian noise; its strength depends on the camera."""
    strength = tf.Variable([0.02, 0.05, 0.01, 0.08, 0.04], trainable=False, name='noise_strength')
    index = table.lookup(camera)
    noise = tf.random_normal(tf.shape(image)) * tf.gather(strength, index)
    return tf.clip_by_value(image + noise, 0.0, 1.0), image


def training_batches(flags):
    """An initializable iterator over (noisy, clean) batches of patches."""
    table = camera_table(flags.cameras)
    dataset = tf.data.TFRecordDataset(os.path.join(flags.data_dir, 'train.tfrecord'))
    dataset = dataset.shuffle(10000).repeat(flags.epochs)
    dataset = dataset.map(lambda r: parse(r, flags.patch_size), num_parallel_calls=8)
    dataset = dataset.map(augment, num_parallel_calls=8)
    dataset = dataset.map(lambda image, camera: add_noise(image, camera, table))
    dataset = dataset.batch(flags.batch_size)
    dataset = dataset.prefetch(4)
    return dataset.make_initializable_iterator()


def test_images(data_dir):
    """Yields (name, noisy, clean) arrays of every test image, each in its own size."""
    folder = os.path.join(data_dir, 'test')
    random = np.random.RandomState(0)
    for name in sorted(os.listdir(folder)):
        clean = np.asarray(Image.open(os.path.join(folder, name)).convert('RGB'), np.float32) / 255.0
        noisy = clean + random.normal(0.0, 0.05, clean.shape).astype(np.float32)
        yield name, np.clip(noisy, 0.0, 1.0), clean

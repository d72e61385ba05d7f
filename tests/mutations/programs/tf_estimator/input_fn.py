"""Input of the estimator."""
import os

import tensorflow as tf

from hyper import IMAGE_SIZE

CHANNEL_MEANS = [123.68, 116.78, 103.94]


def parse_record(record):
    features = {
        'image/encoded': tf.io.FixedLenFeature([], tf.string),
        'image/class/label': tf.io.FixedLenFeature([], tf.int64),
    }
    parsed = tf.io.parse_single_example(record, features)
    label = tf.cast(parsed['image/class/label'], tf.int32) - 1
    return parsed['image/encoded'], label


def preprocess_train(encoded):
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.image.extract_jpeg_shape(encoded),
        bounding_boxes=tf.zeros([1, 0, 4]),
        area_range=(0.08, 1.0),
        aspect_ratio_range=(0.75, 1.33),
        use_image_if_no_bounding_boxes=True)
    image = tf.slice(tf.image.decode_jpeg(encoded, channels=3), begin, size)
    image = tf.image.resize(image, [IMAGE_SIZE, IMAGE_SIZE], method='bilinear')
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, max_delta=32.0)
    return image - tf.constant(CHANNEL_MEANS)


def preprocess_eval(encoded):
    image = tf.image.decode_jpeg(encoded, channels=3)
    image = tf.image.resize(image, [256, 256])
    image = tf.image.resize_with_crop_or_pad(image, IMAGE_SIZE, IMAGE_SIZE)
    return image - tf.constant(CHANNEL_MEANS)


def make_input_fn(data_dir, is_training, batch_size, workers=1, worker_index=0):
    """The input function of one worker."""

    def transform(record):
        encoded, label = parse_record(record)
        image = preprocess_train(encoded) if is_training else preprocess_eval(encoded)
        return image, label

    def input_fn():
        pattern = 'train-*' if is_training else 'validation-*'
        dataset = tf.data.Dataset.list_files(os.path.join(data_dir, pattern), shuffle=is_training)
        if is_training:
            dataset = dataset.shard(workers, worker_index)
        dataset = dataset.interleave(tf.data.TFRecordDataset, cycle_length=10)
        if is_training:
            dataset = dataset.shuffle(10000).repeat()
        dataset = dataset.map(transform, num_parallel_calls=16)
        dataset = dataset.batch(batch_size, drop_remainder=False)
        return dataset.prefetch(tf.data.experimental.AUTOTUNE)

    return input_fn

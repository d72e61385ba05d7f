"""Trains a small segmentation network on one NPU."""
import time

import tensorflow as tf
from npu_bridge.npu_init import ExponentialUpdateLossScaleManager, NPULossScaleOptimizer, RewriterConfig, npu_config_proto

BATCH_SIZE = 16
STEPS = 3000


def batches():
    """Pairs of an image and its mask."""
    files = tf.data.Dataset.list_files('data/*.record', seed=1)
    records = tf.data.TFRecordDataset(files).shuffle(1000, seed=1).repeat()
    return records.map(parse, 8).batch(BATCH_SIZE, drop_remainder=True).prefetch(2).make_initializable_iterator()


def parse(record):
    features = {'image': tf.FixedLenFeature([256 * 256 * 3], tf.float32), 'mask': tf.FixedLenFeature([256 * 256], tf.float32)}
    row = tf.parse_single_example(record, features)
    return tf.reshape(row['image'], [256, 256, 3]), tf.reshape(row['mask'], [256, 256, 1])


def network(image):
    with tf.variable_scope('encoder'):
        x = tf.layers.conv2d(image, 32, 3, 2, padding='same', activation=tf.nn.relu)
        x = tf.layers.conv2d(x, 64, 3, 2, padding='same', activation=tf.nn.relu)
    with tf.variable_scope('decoder'):
        x = tf.layers.conv2d_transpose(x, 32, 3, 2, padding='same', activation=tf.nn.relu)
        return tf.layers.conv2d_transpose(x, 1, 3, 2, padding='same')


def dice_loss(logits, mask):
    with tf.name_scope('dice'):
        found = tf.sigmoid(logits)
        both = tf.reduce_sum(found * mask, axis=[1, 2, 3])
        return 1 - tf.reduce_mean(2 * both / (tf.reduce_sum(found + mask, axis=[1, 2, 3]) + 1e-6))


def session_config():
    config = tf.ConfigProto(allow_soft_placement=True)
    rewrite = config.graph_options.rewrite_options
    npu = rewrite.custom_optimizers.add()
    npu.name = 'NpuOptimizer'
    npu.parameter_map['use_off_line'].b = True
    npu.parameter_map['precision_mode'].s = tf.compat.as_bytes('allow_mix_precision')
    rewrite.remapping = RewriterConfig.OFF
    rewrite.memory_optimization = RewriterConfig.OFF
    return npu_config_proto(config_proto=config)


def main(_):
    tf.set_random_seed(1)
    iterator = batches()
    image, mask = iterator.get_next()
    loss = dice_loss(network(image), mask)
    manager = ExponentialUpdateLossScaleManager(
        init_loss_scale=2 ** 32, incr_every_n_steps=1000, decr_every_n_nan_or_inf=2, decr_ratio=0.5)
    train_op = NPULossScaleOptimizer(tf.train.AdamOptimizer(1e-3), manager).minimize(loss)
    scale = manager.get_loss_scale()
    tf.summary.scalar('loss', loss)
    summaries = tf.summary.merge_all()
    writer = tf.summary.FileWriter('out')
    with tf.Session(config=session_config()) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(iterator.initializer)
        started = time.time()
        for step in range(1, STEPS + 1):
            _, value, scaled = sess.run([train_op, loss, scale])
            if step % 100 == 0:
                writer.add_summary(sess.run(summaries), step)
            if step % 10 == 0:
                print('step %d, loss %.5f, loss_scale = %.1f, %.3f sec/step' % (
                    step, value, scaled, (time.time() - started) / 10))
                started = time.time()


if __name__ == '__main__':
    tf.app.run()

"""Trains the denoiser on one NPU."""
import os
import time

import tensorflow as tf

import data
import model
from npu import session_config
from options import FLAGS


def build(iterator):
    """The training graph: fetches by name."""
    noisy, clean = iterator.get_next()
    estimate = model.denoise(noisy, FLAGS.keep_prob, training=True)
    loss = model.loss_of(clean, estimate, FLAGS.batch_size, FLAGS.hard_ratio)
    global_step = tf.train.get_or_create_global_step()
    train_op = model.train_op_of(loss, FLAGS.learning_rate, global_step)
    tf.summary.scalar('loss', loss)
    tf.summary.scalar('psnr', model.psnr(clean, estimate))
    return train_op, loss, global_step, tf.summary.merge_all()


def train():
    iterator = data.training_batches(FLAGS)
    train_op, loss, global_step, summaries = build(iterator)
    saver = tf.train.Saver(max_to_keep=3)
    writer = tf.summary.FileWriter(FLAGS.output_dir, tf.get_default_graph())
    checkpoint = os.path.join(FLAGS.output_dir, 'denoiser.ckpt')
    steps = FLAGS.epochs * FLAGS.patches_per_epoch // FLAGS.batch_size

    with tf.Session(config=session_config()) as sess:
        # One run each: variables that are initialised together with an iterator stay zero on the device.
        sess.run(tf.global_variables_initializer())
        sess.run(tf.tables_initializer())
        sess.run(iterator.initializer)
        started = time.time()
        for _ in range(steps):
            _, value, step = sess.run([train_op, loss, global_step])
            if step % FLAGS.summary_steps == 0:
                writer.add_summary(sess.run(summaries), step)
            if step % 100 == 0:
                rate = 100 * FLAGS.batch_size / (time.time() - started)
                started = time.time()
                print('step %d loss %.5f %.1f patches/s' % (step, value, rate))
            if step % 5000 == 0:
                saver.save(sess, checkpoint, global_step=step)
        saver.save(sess, checkpoint, global_step=steps)


def main(_):
    tf.gfile.MakeDirs(FLAGS.output_dir)
    tf.set_random_seed(1)
    train()


if __name__ == '__main__':
    tf.app.run()

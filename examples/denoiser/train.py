"""Trains the denoiser on one GPU."""
import os
import time

import tensorflow as tf

import data
import model
from options import FLAGS


def session_config():
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.9
    return config


def build(iterator):
    """The training graph: fetches by name."""
    noisy, clean = iterator.get_next()
    training = tf.placeholder_with_default(True, [], name='training')
    estimate = model.denoise(noisy, FLAGS.keep_prob, training)
    loss = model.loss_of(clean, estimate, FLAGS.hard_ratio)
    global_step = tf.train.get_or_create_global_step()
    train_op = model.train_op_of(loss, FLAGS.learning_rate, global_step)
    tf.summary.scalar('loss', loss)
    tf.summary.scalar('psnr', model.psnr(clean, estimate))
    tf.summary.image('estimate', estimate, max_outputs=2)
    return train_op, loss, global_step, tf.summary.merge_all()


def train():
    iterator = data.training_batches(FLAGS)
    train_op, loss, global_step, summaries = build(iterator)
    saver = tf.train.Saver(max_to_keep=3)
    writer = tf.summary.FileWriter(FLAGS.output_dir, tf.get_default_graph())
    checkpoint = os.path.join(FLAGS.output_dir, 'denoiser.ckpt')

    sess = tf.Session(config=session_config())
    sess.run(tf.group(tf.global_variables_initializer(), tf.tables_initializer(), iterator.initializer))

    steps = FLAGS.epochs * FLAGS.patches_per_epoch // FLAGS.batch_size
    started = time.time()
    for _ in range(steps):
        _, value, summary = sess.run([train_op, loss, summaries])
        step = sess.run(global_step)
        writer.add_summary(summary, step)
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

"""Trains a denoising network on patches with a plain session."""
import os
import time

import numpy as np
import tensorflow as tf

import inputs
import network

flags = tf.app.flags
FLAGS = flags.FLAGS

flags.DEFINE_string('data_dir', './patches', 'folder with the tfrecords')
flags.DEFINE_string('log_dir', './logs', 'folder for summaries and checkpoints')
flags.DEFINE_float('learning_rate', 0.001, 'first learning rate')
flags.DEFINE_float('decay_rate', 0.96, 'factor of the decay')
flags.DEFINE_integer('decay_steps', 5000, 'steps between two decays')
flags.DEFINE_integer('batch_size', 64, 'patches in a batch')
flags.DEFINE_integer('max_steps', 120000, 'steps of the training')
flags.DEFINE_float('weight_decay', 1e-4, 'weight of the L2 penalty')
flags.DEFINE_float('keep_prob', 0.8, 'share of units that dropout keeps')
flags.DEFINE_float('clip_norm', 5.0, 'largest norm of the gradients')
flags.DEFINE_integer('seed', 1234, 'seed of all generators')
flags.DEFINE_string('init_from', '', 'checkpoint to start from')
flags.DEFINE_boolean('augment', True, 'flip and turn the patches')

EVAL_EVERY = 1000
EMA_DECAY = 0.999
FREEZE = ('stem',)


def fix_seeds(seed):
    np.random.seed(seed)
    tf.set_random_seed(seed)


def learning_rate_at(global_step):
    rate = tf.train.exponential_decay(FLAGS.learning_rate, global_step, FLAGS.decay_steps, FLAGS.decay_rate,
                                      staircase=True)
    return tf.maximum(rate, 1e-6)


def trained_variables():
    return [v for v in tf.trainable_variables() if not v.op.name.startswith(FREEZE)]


def build_train_op(loss, global_step):
    rate = learning_rate_at(global_step)
    optimizer = tf.train.AdamOptimizer(rate, beta1=0.9, beta2=0.98, epsilon=1e-7)
    variables = trained_variables()
    grads, names = zip(*optimizer.compute_gradients(loss, var_list=variables))
    clipped, norm = tf.clip_by_global_norm(grads, FLAGS.clip_norm)
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        apply_op = optimizer.apply_gradients(zip(clipped, names), global_step=global_step)
    average = tf.train.ExponentialMovingAverage(EMA_DECAY, num_updates=global_step)
    with tf.control_dependencies([apply_op]):
        train_op = average.apply(variables)
    tf.summary.scalar('learning_rate', rate)
    tf.summary.scalar('gradient_norm', norm)
    return train_op


def build_loss(clean, restored):
    pixel_loss = tf.reduce_mean(tf.abs(clean - restored))
    edge_loss = tf.losses.mean_squared_error(network.edges(clean), network.edges(restored))
    penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.name])
    return pixel_loss + 0.1 * edge_loss + FLAGS.weight_decay * penalty


def psnr(clean, restored):
    return tf.reduce_mean(tf.image.psnr(clean, restored, max_val=1.0))


def evaluate(sess, score, iterator_init, training, batches=50):
    sess.run(iterator_init)
    scores = [sess.run(score, feed_dict={training: False}) for _ in range(batches)]
    return float(np.mean(scores))


def restore(sess, saver):
    if FLAGS.init_from:
        saver.restore(sess, FLAGS.init_from)


def main(_):
    fix_seeds(FLAGS.seed)
    global_step = tf.train.get_or_create_global_step()
    training = tf.placeholder_with_default(True, shape=(), name='training')
    train_set = inputs.training_set(FLAGS.data_dir, FLAGS.batch_size, FLAGS.augment)
    eval_set = inputs.evaluation_set(FLAGS.data_dir, batch_size=16)
    train_iterator = train_set.make_initializable_iterator()
    eval_iterator = eval_set.make_initializable_iterator()
    noisy, clean = tf.cond(training, train_iterator.get_next, eval_iterator.get_next)

    restored = network.denoiser(noisy, training, FLAGS.keep_prob)
    loss = build_loss(clean, restored)
    train_op = build_train_op(loss, global_step)
    score = psnr(clean, restored)

    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    saver = tf.train.Saver(max_to_keep=5)
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        restore(sess, saver)
        sess.run(train_iterator.initializer)
        for step in range(FLAGS.max_steps):
            _, value = sess.run([train_op, loss])
            if step % 100 == 0:
                print('step %d loss %.4f' % (step, value))
            if step % EVAL_EVERY == 0:
                print('psnr %.3f' % evaluate(sess, score, eval_iterator.initializer, training))
                saver.save(sess, os.path.join(FLAGS.log_dir, 'model'), global_step=step)


if __name__ == '__main__':
    tf.app.run()

"""Mean PSNR of the last checkpoint over the test images."""
import tensorflow as tf

import data
import model
from npu import session_config
from options import FLAGS


def main(_):
    size = [1, FLAGS.test_height, FLAGS.test_width, 3]
    noisy = tf.placeholder(tf.float32, size, name='noisy')
    clean = tf.placeholder(tf.float32, size, name='clean')
    estimate = model.denoise(noisy, keep_prob=1.0, training=False)
    quality = model.psnr(clean, estimate)
    values = []
    with tf.Session(config=session_config()) as sess:
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(FLAGS.output_dir))
        for name, image, truth in data.test_images(FLAGS.data_dir, FLAGS.test_height, FLAGS.test_width):
            values.append(sess.run(quality, {noisy: image[None], clean: truth[None]}))
            print('%s %.2f dB' % (name, values[-1]))
    print('mean %.2f dB over %d images' % (sum(values) / len(values), len(values)))


if __name__ == '__main__':
    tf.app.run()

"""Mean PSNR of the last checkpoint over the test images, each in its own size."""
import tensorflow as tf

import data
import model
from options import FLAGS


def main(_):
    noisy = tf.placeholder(tf.float32, [1, None, None, 3], name='noisy')
    clean = tf.placeholder(tf.float32, [1, None, None, 3], name='clean')
    estimate = model.denoise(noisy, keep_prob=1.0, training=False)
    quality = model.psnr(clean, estimate)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    values = []
    with tf.Session(config=config) as sess:
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(FLAGS.output_dir))
        for name, image, truth in data.test_images(FLAGS.data_dir):
            values.append(sess.run(quality, {noisy: image[None], clean: truth[None]}))
            print('%s %.2f dB' % (name, values[-1]))
    print('mean %.2f dB over %d images' % (sum(values) / len(values), len(values)))


if __name__ == '__main__':
    tf.app.run()

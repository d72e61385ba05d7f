"""Command line options shared by training and evaluation."""
import tensorflow as tf

flags = tf.app.flags

flags.DEFINE_string('data_dir', './data', 'directory with train.tfrecord and the test images')
flags.DEFINE_string('output_dir', './output', 'where checkpoints and summaries go')
flags.DEFINE_string('cameras', 'lists/cameras.txt', 'camera names, one per line')
flags.DEFINE_integer('batch_size', 32, 'patches per step')
flags.DEFINE_integer('epochs', 40, 'passes over the training set')
flags.DEFINE_integer('patch_size', 64, 'side of a training patch in pixels')
flags.DEFINE_integer('test_height', 320, 'height to which test images are cut')
flags.DEFINE_integer('test_width', 480, 'width to which test images are cut')
flags.DEFINE_integer('patches_per_epoch', 64000, 'size of the training set')
flags.DEFINE_float('learning_rate', 1e-4, 'learning rate of Adam')
flags.DEFINE_float('keep_prob', 0.9, 'share of features kept by dropout')
flags.DEFINE_integer('summary_steps', 500, 'steps between two summaries')
flags.DEFINE_float('hard_ratio', 0.7, 'share of the patches that count, the hardest first')

FLAGS = flags.FLAGS

import numpy as np
import tensorflow as tf

tf.set_random_seed(0)
x = tf.placeholder(tf.float32, [8, 4])
y = tf.placeholder(tf.float32, [8, 1])
w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
with tf.device("/gpu:0"):
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
numbers = np.random.RandomState(0)
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        feed = {x: numbers.rand(8, 4), y: numbers.rand(8, 1)}
        _, value = sess.run([train_op, loss], feed_dict=feed)
        print("loss", value)

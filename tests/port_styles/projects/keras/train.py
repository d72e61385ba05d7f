import numpy as np
import tensorflow as tf


class Losses(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print("loss", logs["loss"])


numbers = np.random.RandomState(0)
x, y = numbers.rand(32, 4).astype("float32"), numbers.rand(32, 1).astype("float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=0, callbacks=[Losses()])

"""What the fake adapter does. Python 3.7, because TensorFlow 1.15 runs in no newer one."""

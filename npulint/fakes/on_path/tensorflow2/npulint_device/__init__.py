"""What the fake adapter for TensorFlow 2 does. Python 3.7, as the one for TensorFlow 1.15, which it uses."""

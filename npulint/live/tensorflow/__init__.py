"""Live checks of TensorFlow, which is imported only when they are called."""

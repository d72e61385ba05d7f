"""Live checks of TensorFlow; its modules import the framework when they are called."""

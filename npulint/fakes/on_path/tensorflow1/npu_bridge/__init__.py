"""A fake of the adapter for TensorFlow 1.15."""

from npulint_adapter import modules

modules.install()
modules.fill(globals(), __name__)

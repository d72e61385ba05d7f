"""A fake of the adapter for TensorFlow 2."""

from npulint_device.package import adapter

adapter.install()
adapter.fill(globals(), __name__)

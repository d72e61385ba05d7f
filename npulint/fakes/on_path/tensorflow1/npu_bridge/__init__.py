"""A fake of the adapter for TensorFlow 1.15."""

from npulint_adapter.modules import bridge

bridge.install()
bridge.fill(globals(), __name__)

"""A fake of torch_npu."""

from npulint.fakes.torch import adapter

adapter.install(__name__)


def _autoload():
    """Called by PyTorch at its own import, which has imported this."""

"""A fake of apex as it is on NPU servers."""

from npulint.fakes.torch import apex

apex.install(__name__)

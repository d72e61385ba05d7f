"""The Python reader: source text to plain syntax facts, by `ast`."""

from npulint.read.python.parse import read_python

__all__ = ["read_python"]

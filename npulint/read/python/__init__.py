"""The Python reader: `ast` in, plain syntax facts out."""

from npulint.read.python.parse import read_python

__all__ = ["read_python"]

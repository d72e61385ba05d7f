"""Recognisers: syntax facts become domain facts, once, whatever dialect they are written in."""

from npulint.assemble.recognizers.run import recognise

__all__ = ["recognise"]

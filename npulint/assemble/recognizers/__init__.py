"""Recognizers: from syntax facts to the facts that checks query, whatever API or dialect the code uses."""

from npulint.assemble.recognizers.run import recognise

__all__ = ["recognise"]

"""Readers: bytes to facts, one module per kind of input; none of them knows a check or another file."""

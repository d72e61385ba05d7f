"""Readers: bytes to facts, one module per kind of file; they know neither checks nor other files."""

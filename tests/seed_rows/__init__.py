"""Pitfalls of field reports, written in many spellings by a generator."""

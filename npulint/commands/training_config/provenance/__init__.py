"""Provenance of values, under one start of a program."""

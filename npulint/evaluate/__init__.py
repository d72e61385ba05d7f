"""Evaluation: the catalogue's questions over a program's facts."""

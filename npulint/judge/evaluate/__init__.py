"""Evaluation: applies the queries of the catalogue to the facts of a program."""

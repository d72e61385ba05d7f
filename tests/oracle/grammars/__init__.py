"""Grammars of whole programs."""


def fixed():
    return []

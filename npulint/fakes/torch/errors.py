"""Errors of the fake torch_npu."""

from __future__ import annotations


class NotSimulated(NotImplementedError):
    """The program uses what torch_npu has and its fake lacks: that says nothing about the program."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the fake torch_npu does not simulate {name}")


class Missing(RuntimeError):
    """A data set or weights that are not on this machine: that says nothing about the program."""

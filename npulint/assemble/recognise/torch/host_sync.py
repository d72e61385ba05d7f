"""TODO."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.model import Fact


def wants(name: str) -> bool:
    """Nothing yet."""
    return False


def of_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """Nothing yet."""
    return []


def of_module(context: Context, module: Module) -> list[Fact]:
    """Nothing yet."""
    return []

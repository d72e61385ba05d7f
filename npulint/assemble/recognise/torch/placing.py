"""Whether code runs whenever its module is loaded."""

from __future__ import annotations

from npulint.assemble.guards import is_main
from npulint.assemble.module import Module

_KINDS = {"try": "try", "except": "try", "function": "function", "lambda": "function"}


def placed(module: Module, block: int) -> str:
    """``top`` when it does; else what may keep it from running or from doing harm: ``try``, ``function``,
    ``condition``."""
    around = [module.blocks[b] for b in module.ancestors(block)] if block > 0 else []
    for record in around:
        if record.kind in _KINDS:
            return _KINDS[record.kind]
    return "condition" if any(r.kind in ("if", "else") and not is_main(r.test) for r in around) else "top"

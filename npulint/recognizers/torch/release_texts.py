"""Releases of packages that are compared as numbers, by their first characters."""

from __future__ import annotations

from npulint.facts.code import Unknown
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.registry import recognizes

_ATTRIBUTE = ".__version__"
_CUT = ((None, 3, None), (0, 3, None))  # major number, dot, one digit


@fact_kind("cut_release")
class CutRelease(CallFact):
    """The first characters of the release of a package become a number (``float(torchvision.__version__[:3])``), which
    takes 0.16 for 0.1; the name is the package."""


@recognizes("float")
def cut_releases(call: CallSite) -> list[CutRelease]:
    """Conversions of a part of a ``__version__``."""
    package = _package(call.args[0]) if len(call.args) == 1 else ""
    return [CutRelease(call, package)] if package else []


def _package(value: Expr) -> str:
    """The package whose release an expression takes a part of; empty for all others."""
    holder, part = value.operands()[:2] if value.operator == "[]" else (None, None)
    if holder is None or part is None or not isinstance(part.value, Unknown) or part.value.bounds not in _CUT:
        return ""
    return holder.name.removesuffix(_ATTRIBUTE) if holder.name.endswith(_ATTRIBUTE) else ""

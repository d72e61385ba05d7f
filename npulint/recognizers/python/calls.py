"""Calls of frameworks and libraries."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite
from npulint.recognizers.python.names import FRAMEWORKS
from npulint.recognizers.registry import recognizes

_APART = frozenset(("os.environ.setdefault", "os.putenv", "os.getenv", "os.environ.get"))
_UNASKED = (
    "numpy.",
    "os.path.",
    "math.",
    "time.",
    "re.",
    "logging.",
    "matplotlib.",
    "pandas.",
    "scipy.",
    "cv2.",
    "PIL.",
    "json.",
    "random.",
)


@fact_kind("call")
class LibraryCall(CallFact):
    """A function or method of a framework or library is called; the name is its canonical name."""

    @attribute
    def of(self) -> Literal["one_plus", "state", "other"] | None:
        """For ``tensorflow.log`` whether its argument is ``1 + x`` (one_plus); for ``torch.load`` whether a table of
        weights is loaded (state)."""
        if self.name == "tensorflow.log":
            return "one_plus" if _is_one_plus(self.call) else "other"
        if self.name == "torch.load":
            from npulint.recognizers.torch.checkpoints import content  # rarely needed

            return content(self.call)
        return None


@fact_kind("call")
class BoundCall(CallFact):
    """A function of a framework is bound by ``functools.partial``; the name is its canonical name."""

    passed: bool = True


def _is_asked(name: str) -> bool:
    """Whether a canonical name belongs to a known package, except members that no check can query."""
    return "." in name and not name.startswith(("?", *_UNASKED)) and ":" not in name and name not in _APART


@recognizes(matching=_is_asked)
def library_calls(call: CallSite) -> tuple[Fact, ...]:
    """A fact for each call of a known external function; for ``functools.partial`` also for the bound function."""
    if call.name == "functools.partial" and call.args:
        bound = call.args[0].name
        return (BoundCall(call, bound),) if bound.startswith(FRAMEWORKS) else ()
    return (LibraryCall(call, call.name),)


def _is_one_plus(call: CallSite) -> bool:
    """Whether the first argument is ``1 + x`` in either order."""
    value = call.argument("x", 0)
    return value is not None and any(part.single == 1 for part in value.operands("+"))

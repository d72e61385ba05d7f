"""Towers: the model is built once per GPU, in a loop over devices or by slim's deployment module."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes

_DEVICE = "tensorflow.device"
_DEPLOYMENT = "DeploymentConfig"
_GPU = lazy_compile(r"gpu|cuda|tower|clone|device")
_LISTS = frozenset("enumerate list sorted zip tuple".split())


@fact_kind("towers")
class Towers(CallFact):
    """A device scope depends on its loop, or clones are configured; the name is the canonical callee."""

    _counts: tuple[int, ...]  # possible numbers of towers; empty if unknown

    @attribute
    def many(self) -> Flag:
        """Whether the model is built more than once."""
        if not self._counts:
            return "unknown"
        return "yes" if min(self._counts) > 1 else "no" if max(self._counts) <= 1 else "unknown"

    @attribute
    def towers(self) -> str:
        """How often at most; 0 if that is not known."""
        return str(max(self._counts, default=0))


@recognizes(matching=lambda name: name == _DEVICE or name.endswith(_DEPLOYMENT))
def towers(call: CallSite) -> list[Towers]:
    """Device scopes and slim's deployment configuration."""
    if call.name != _DEVICE:
        clones = call.argument("num_clones", 0)
        return [] if clones is None else [Towers(call, call.name, tuple(_numbers(clones)))]
    loop = call.scope.loop
    device = call.argument("device_name_or_function", 0)
    if loop is None or device is None:
        return []
    over = call.expr(loop.record.test)
    words = [*_words(over), *_words(device)]
    is_tower = _changes(device, loop) and _GPU.search(" ".join(words).lower())
    return [Towers(call, call.name, tuple(_lengths(over)))] if is_tower else []


def is_repeated(call: CallSite) -> bool:
    """Whether a device scope certainly contains one of several towers."""
    return call.name == _DEVICE and any(fact.many == "yes" for fact in towers(call))


def _changes(device: Expr, loop: Scope) -> bool:
    """Whether a device is computed from the loop variable."""
    assigned = [assignment for assignment in loop.assignments if assignment.scope is loop]
    elements = [
        (assignment.target, assignment.value.subscript[0] if assignment.value.subscript else assignment.value)
        for assignment in assigned
    ]
    return not {target for target, value in elements if value.operator == "iter"}.isdisjoint(_words(device))


def _words(value: Expr) -> list[str]:
    """The names and texts in an expression, including those in calls."""
    return [part.written or part.text for part in value.mentioned if part.written or part.text]


@walker(depth=7, otherwise=list)
def _lengths(value: Expr) -> list[int]:
    """The possible numbers of iterations of a loop."""
    if value.is_display:
        return [len(value.items)]
    call = value.call
    if call is not None:
        return _lengths_of_result(call) if call.args else []
    found = [_lengths(assignment.value) for assignment in value.assignments]
    return [number for part in found for number in part] if all(found) else []


def _lengths_of_result(call: CallSite) -> list[int]:
    if call.last in ("range", "xrange"):
        return _numbers(call.args[:2][-1])
    if call.last == "split":
        return _pieces(call)
    return _lengths(call.args[0]) if call.last in _LISTS else []


@walker(depth=7, otherwise=list)
def _numbers(value: Expr) -> list[int]:
    """The possible numbers of a value; also ``len(…)`` of a list or of a split text."""
    call = value.call
    if call is not None and call.last == "len":
        return _lengths(call.args[0]) if call.args else []
    known = value.known.values
    numbers = [one for one in known if isinstance(one, int) and not isinstance(one, bool)]
    if numbers or not value.written:
        return numbers if len(numbers) == len(known) else []
    found = [_numbers(assignment.value) for assignment in value.assignments]
    return [number for part in found for number in part] if all(found) else []


def _pieces(call: CallSite) -> list[int]:
    """The possible numbers of parts of ``text.split(",")``."""
    separator = call.args[0].text
    known = call.receiver.known.values if call.receiver is not None and call.receiver.written else ()
    texts = [one for one in known if isinstance(one, str) and not one.startswith("tensorflow.")]  # not only names
    return [len(text.split(separator)) for text in texts] if separator else []

"""Which operator of the forward pass a gradient belongs to: TensorFlow says so in the names of nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from npulint.facts.graph import NodeFrame
from npulint.lazy_regex import lazy_compile

_OLDER = lazy_compile(r"(?:^|/)gradients(?:_\d+)?/(?!.*gradients(?:_\d+)?/)(.+?)_grad/")
_TAPE = "gradient_tape/"
_DEEPEST = 32  # scopes of a name that are looked at

Frames = dict[str, tuple[NodeFrame, ...]]
"""The frames of the nodes of one body, by their names."""


def gradient_frames(frames: Frames, inputs: Mapping[str, tuple[str, ...]]) -> Frames:
    """The frames of the gradients among the nodes of a body: those of the operators that they belong to. `inputs` are
    the nodes whose values each takes."""
    scopes: dict[str, list[str]] = defaultdict(list)
    for name in frames:
        if not is_gradient(name):
            scopes[name.rpartition("/")[0]].append(name)
    found: Frames = {}
    for name in filter(is_gradient, frames):
        named = next((frames[one] for one in forward_names(name) if frames.get(one)), ())
        found[name] = named or _near(name, frames, inputs, scopes)
    return {name: made for name, made in found.items() if made}


def is_gradient(name: str) -> bool:
    """Whether a node is part of a gradient, by its name."""
    return bool(_OLDER.search(name)) or bool(_scope(name))


def forward_names(name: str) -> list[str]:
    """Which operators a node may be part of the gradient of, as TensorFlow spells it in the node's name; the likeliest
    first, none for other nodes."""
    older = _OLDER.search(name)
    if older:
        return [older[1]]
    rest = _scope(name)
    if not rest:
        return []
    names = [rest.removesuffix("Grad")]
    while "/" in rest and len(names) < _DEEPEST:
        rest = rest.rpartition("/")[0]
        names.append(rest)
    return names


def _scope(name: str) -> str:
    """What a gradient of ``GradientTape`` is called below the scope of the tape; empty for other nodes."""
    before, tape, rest = name.rpartition(_TAPE)
    return rest if tape and (not before or before.endswith("/")) else ""


def _near(
    name: str, frames: Frames, inputs: Mapping[str, tuple[str, ...]], scopes: Mapping[str, list[str]]
) -> tuple[NodeFrame, ...]:
    """The frames of the operators in the scope of a gradient of ``GradientTape`` that it shares a value with, else of
    all of the scope, if these come from one line."""
    beside = scopes.get(_scope(name).rpartition("/")[0], [])
    taken = set(inputs.get(name, ()))
    sharing = [one for one in beside if one in taken or not taken.isdisjoint(inputs.get(one, ()))]
    for some in (sharing, beside):
        lines = {frames[one][-1]: frames[one] for one in some if frames[one]}
        if len(lines) == 1:
            return next(iter(lines.values()))
    return ()

"""Maps gradients to the operators of the forward pass by node names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import NodeFrame

_OLDER = lazy_compile(r"(?:^|/)gradients(?:_\d+)?/(?!.*gradients(?:_\d+)?/)(.+?)_grad/")
_TAPE = "gradient_tape/"
_DEEPEST = 32  # scopes of a name that are searched

Frames = dict[str, tuple[NodeFrame, ...]]
"""The frames of the nodes of one body, by their names."""


def gradient_frames(frames: Frames, inputs: Mapping[str, tuple[str, ...]]) -> Frames:
    """The frames of gradient nodes in a body: those of their forward operators. `inputs` are the input nodes of each
    node."""
    scopes: dict[str, list[str]] = defaultdict(list)
    for name in frames:
        if not is_gradient(name):
            scopes[name.rpartition("/")[0]].append(name)
    gradients: Frames = {}
    for name in filter(is_gradient, frames):
        named = next((frames[forward_name] for forward_name in forward_names(name) if frames.get(forward_name)), ())
        gradients[name] = named or _near(name, frames, inputs, scopes)
    return {name: made for name, made in gradients.items() if made}


def is_gradient(name: str) -> bool:
    """Whether a node name is that of a gradient."""
    return bool(_OLDER.search(name)) or bool(_scope(name))


def forward_names(name: str) -> list[str]:
    """The possible forward operators of a gradient node, likeliest first; empty for other nodes."""
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
    """The name that ``GradientTape`` gives a gradient within its scope; empty for other nodes."""
    before, tape, rest = name.rpartition(_TAPE)
    return rest if tape and (not before or before.endswith("/")) else ""


def _near(
    name: str, frames: Frames, inputs: Mapping[str, tuple[str, ...]], scopes: Mapping[str, list[str]]
) -> tuple[NodeFrame, ...]:
    """The frames of operators in the scope of a ``GradientTape`` gradient with a common input, else of the whole scope
    if from one line."""
    siblings = scopes.get(_scope(name).rpartition("/")[0], [])
    taken = set(inputs.get(name, ()))
    sharing = [sibling for sibling in siblings if sibling in taken or not taken.isdisjoint(inputs.get(sibling, ()))]
    for some in (sharing, siblings):
        lines = {frames[sibling][-1]: frames[sibling] for sibling in some if frames[sibling]}
        if len(lines) == 1:
            return next(iter(lines.values()))
    return ()

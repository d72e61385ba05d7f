"""The NPU counterpart of a training script: a script that trains the same model with the same data on the NPU, and is
started instead of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope, scope_at
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import walker
from npulint.recognizers.npu_need import Script

# What makes models and data, but for what is about devices, gradients and the like.
_MADE = lazy_compile(
    r"^(?:torch\.nn\.(?!DataParallel)[A-Z]\w*|(?:torchvision|torchaudio|torchtext)\.(?:models|datasets)\.[\w.]+"
    r"|(?:timm|transformers|diffusers|datasets|torch_geometric|ogb|segmentation_models_pytorch|monai)\.[\w.]+)$"
)
_KINDS = lazy_compile(
    r"^(?:torch\.nn\.|torch\.utils\.data\.\w*Dataset|(?:pytorch_)?lightning\.\w*Module$|torch_geometric\.)"
)
_ALIKE = 0.75
"""The share of project functions that both scripts call, of those that either calls."""


class _Made(NamedTuple):
    """What code makes: models and data, by their names, and other functions of the project that it calls."""

    things: Set[str]
    functions: Set[str]


def counterpart(script: Script, ported: Iterable[Script], context: Context) -> str:
    """The path of the first of some scripts on the NPU that trains what a script trains; empty if none does."""
    return next((other.entry for other in ported if _is_counterpart(script, other, context)), "")


def _is_counterpart(script: Script, other: Script, context: Context) -> bool:
    if not other.entry or other.entry == script.entry or is_test_file(other.entry):
        return False
    if script.entry in other.paths:  # it starts the code of the script
        steps = [fact for fact in script.index.of_kind("train_step") if fact.path == script.entry]
        return any(map(other.surely_runs, steps))
    shared = set(script.paths) & set(other.paths)
    ours, theirs = (_made(context, sorted({*each.paths} - shared), shared) for each in (script, other))
    if ours.things != theirs.things or not (ours.things or ours.functions):
        return False
    either = ours.functions | theirs.functions
    return len(ours.functions & theirs.functions) >= _ALIKE * len(either)


def _made(context: Context, paths: Sequence[str], shared: Set[str]) -> _Made:
    """What is made in files of one script, by means that both may have."""
    things, functions = set[str](), set[str]()
    for path in paths:
        for call in scope_at(context, context.project.modules[path], 0).all_calls:
            target = call.target
            if target is None:
                things.update([_with_text(call)] if _MADE.match(call.name) else [])
            elif target.kind == "class" and _is_model_or_data(target):
                things.add(target.last_name)
            elif target.path in shared:
                functions.add(f"{target.path}:{target.qualname}")
    return _Made(things, functions)


def _with_text(call: CallSite) -> str:
    """The name of a function of a library, with the text that says what it loads."""
    text = call.args[0].literal if call.args else None
    return f"{call.name}({text})" if isinstance(text, str) else call.name


@walker(depth=8, otherwise=bool)
def _is_model_or_data(owner: Scope) -> bool:
    """Whether a class is a module of PyTorch or a data set."""
    return any(_KINDS.match(base.name) or any(map(_is_model_or_data, _own(base))) for base in owner.bases)


def _own(base: Expr) -> Iterator[Scope]:
    """The class of the project that a base class is."""
    found = base.scope.context.names.function(base.name) if ":" in base.name else None
    if found is not None:
        yield scope_at(base.scope.context, *found)

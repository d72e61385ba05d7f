"""The NPU counterparts of training scripts and launchers: a script that trains the same model with the same data on the
NPU, or a launcher that starts the same with such arguments there, and is started instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.model.launches.project_launches import Launch, Target
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
"""The share of project functions that both scripts call, of those that either calls, or of arguments that launchers
pass."""
_SAME = 0.875
"""The share of texts that are the same, of the arguments that two launchers pass."""
_DEVICE = lazy_compile(r"(?i)[-_.]?(?:npus?|ascend|gpus?|cuda|hccl|nccl)(?![a-z])")


class _Made(NamedTuple):
    """What code makes: models and data, by their names, and other functions of the project that it calls."""

    things: Set[str]
    functions: Set[str]


class LauncherStart(NamedTuple):
    """The launcher at a path starts something, a script or a framework, with arguments by name (None: computed)."""

    path: str
    started: str
    target: Target
    arguments: Mapping[str, object]


def script_start(launch: Launch) -> LauncherStart:
    """The start of a script of the project."""
    words = {str(number): word.text for number, word in enumerate(launch.fact.record.words) if "*" not in word.text}
    return LauncherStart(launch.fact.path, launch.entry, launch.target, {**launch.options, **words})


def launcher_counterparts(starts: Iterable[LauncherStart]) -> dict[str, str]:
    """Of some starts, the launchers for other devices, each with one for the NPU that starts the same: all that they
    start, another one starts there with the same model and data, as far as arguments say."""
    for_npu, others = defaultdict[str, list[LauncherStart]](list), defaultdict[str, list[LauncherStart]](list)
    for start in starts:
        plain = start._replace(arguments={name: _without_device(value) for name, value in start.arguments.items()})
        table, key = (for_npu, start.started) if start.target == "npu" else (others, start.path)
        table[key].append(plain)
    pairs: dict[str, str] = {}
    for path, own in others.items():
        matching = [_on_npu(start, for_npu.get(start.started, ())) for start in own]
        if all(matching):
            pairs[path] = matching[0]
    return pairs


def _on_npu(start: LauncherStart, for_npu: Iterable[LauncherStart]) -> str:
    return next((other.path for other in for_npu if _are_alike(start.arguments, other.arguments)), "")


def _are_alike(ours: Mapping[str, object], theirs: Mapping[str, object]) -> bool:
    """Whether arguments are for the same model and data: mostly the same ones, with the same files and mostly the same
    texts. Numbers follow the device."""
    names = ours.keys() & theirs.keys()
    if len(names) < _ALIKE * len(ours.keys() | theirs.keys()):
        return False
    pairs = ((ours[name], theirs[name]) for name in names)
    texts = [(left, right) for left, right in pairs if isinstance(left, str) and isinstance(right, str)]
    other = [left + right for left, right in texts if left.rpartition("/")[2] != right.rpartition("/")[2]]
    return len(other) <= (1 - _SAME) * len(texts) and not any("/" in both for both in other)


def _without_device(value: object) -> object:
    """A text without a slash at its end and without words for the device in the last part."""
    if not isinstance(value, str):
        return value
    folder, slash, last = value.rstrip("/").rpartition("/")
    return f"{folder}{slash}{_DEVICE.sub('', last)}"


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

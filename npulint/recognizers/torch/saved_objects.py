"""Checkpoints that are loaded, and what the project saves into them that a load of weights only refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.values import truth
from npulint.model.running.code_facts import CallFact
from npulint.model.running.code_places import operations
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, module_scopes
from npulint.model.values.script_role import is_test_file
from npulint.recognizers.registry import recognizes

Refused = Literal["namespace", "configuration", "model", "numpy", "none"]
_SAFE_SINCE = (2, 6)  # the first release of PyTorch that loads weights only by default
_PARSERS = frozenset(("parse_args", "parse_known_args", "parse_args_into_dataclasses"))
_CONFIGURATIONS = lazy_compile(
    r"^(?:omegaconf\.OmegaConf\.(?:load|create|merge|structured|from_cli)|yacs\.config\.CfgNode|easydict\.EasyDict"
    r"|ml_collections\.ConfigDict|mmcv\.Config\.fromfile|mmengine\.Config\.fromfile)$"
)
_NUMPY = lazy_compile(r"^numpy\.(?!\w+\.load)[\w.]+$")
_MODULES = lazy_compile(r"^torch\.nn\.[A-Z]\w*$|^torchvision\.models\.[a-z]\w*$")
_OF_MODULES = frozenset("eval train parameters named_parameters modules named_modules children state_dict".split())
_MOVED = lazy_compile(r"(?:\.(?:npu|cuda|cpu|to|train|eval|float|half|bfloat16)\(\))+$")


@fact_kind("checkpoint")
class LoadedCheckpoint(CallFact):
    """``torch.load`` is called."""

    @attribute
    def weights_only(self) -> Flag:
        """Whether it unpickles tensors and plain values only: by its argument, or by default since PyTorch 2.6."""
        return flag(_is_weights_only(self.call))

    @attribute
    def refused(self) -> Refused:
        """What the checkpoint contains that such a load refuses: the parsed arguments (a namespace), an object of a
        configuration library, a whole model, arrays or numbers of NumPy, or none that is known. Known is what the
        project itself saves, at the same path or under the keys that are read, and a model by its use."""
        if _is_used_as_module(self.call):
            return "model"
        refusals = (_refused(value) for value in _saved_values(self.call))
        return next((refusal for refusal in refusals if refusal != "none"), "none")


@recognizes("torch.load")
def loaded_checkpoints(call: CallSite) -> list[LoadedCheckpoint]:
    """The calls of ``torch.load``."""
    return [LoadedCheckpoint(call, "torch.load")]


def _is_weights_only(call: CallSite) -> bool | None:
    given = call.argument("weights_only")
    if given is not None:
        return truth(given.known)
    if call.argument("pickle_module", 2) is not None:
        return False
    release = call.context.torch_release
    if release is None or call.has_unknown_options or _is_replaced(call.context):
        return None
    return release >= _SAFE_SINCE


@once
def _is_replaced(context: Context) -> bool:
    """Whether the project replaces ``torch.load``, or allows further classes."""
    modules = module_scopes(context)
    if any("torch.load" in module.module.dotted for module in modules):
        return True
    return any(module.calls_named("add_safe_globals", "safe_globals") for module in modules)


# -- what is loaded ----------------------------------------------------------------------------------


def _is_used_as_module(load: CallSite) -> bool:
    """Whether the result has methods of modules, or is called."""
    method = load.method
    if method is not None and method.last in _OF_MODULES:
        return True
    names = _names(load)
    routine = load.scope.routine
    calls = (call for call in routine.calls if call.line >= load.line and call.written)
    heads = ((call, *call.written.rpartition(".")[::2]) for call in calls)
    return any(last in _OF_MODULES if head else last in names for call, head, last in heads if head in (*names, ""))


def _names(load: CallSite) -> frozenset[str]:
    """The plain names that keep the very result of a call, and nothing else in its function."""
    kept = {
        assignment.target
        for assignment in load.assignments
        if "." not in assignment.target and "[" not in assignment.target
    }
    others = {
        local_assignment.target
        for local_assignment in load.scope.routine.local_assignments
        if local_assignment.value.call is not load
    }
    return frozenset(kept - others)


def _read_keys(load: CallSite) -> frozenset[str]:
    """The keys that are read from the result of a call."""
    names = _names(load)
    pairs = (operation.subscript for operation in operations(load.scope, "[]"))
    keys = {key.text for holder, key in filter(None, pairs) if holder.written in names or holder.call is load}
    reads = load.scope.calls_named("get", "pop")
    keys |= {read.args[0].text for read in reads if read.args and read.written.rpartition(".")[0] in names}
    return frozenset(keys - {""})


# -- what is saved -----------------------------------------------------------------------------------


@once
def _saves(context: Context) -> list[CallSite]:
    """The project's calls of ``torch.save``."""
    modules = (module for module in module_scopes(context) if not is_test_file(module.path))
    return [call for module in modules for call in module.calls_named("save") if call.name == "torch.save"]


def _saved_values(load: CallSite) -> Iterator[Expr]:
    """What the project saves into the checkpoint that a call loads: the object, or the values of its dictionary."""
    path, keys = _paths(load.argument("f", 0)), _read_keys(load)
    for save in _saves(load.context):
        saved = save.argument("obj", 0)
        if saved is None:
            continue
        same_file = bool(path & _paths(save.argument("f", 1)))
        tables = [display for display in saved.displays if display.entries]
        if same_file and not tables:
            yield saved
        for table in tables:
            given = {key.text for key, _ in table.entries if key is not None}
            if same_file or (keys and keys <= given):
                yield from (value for _, value in table.entries)


def _paths(value: Expr | None) -> frozenset[str]:
    """The paths that an expression may be."""
    values = () if value is None or not value.known.exact else value.known.values
    return frozenset(path for path in values if isinstance(path, str) and path)


def _refused(value: Expr) -> Refused:
    """What a saved value is that a load of weights only refuses."""
    for made in value.sites:
        if made.last in _PARSERS or made.name == "argparse.Namespace":
            return "namespace"
        if _CONFIGURATIONS.search(made.name):
            return "configuration"
        if _NUMPY.search(made.name):
            return "numpy"
    return "model" if _is_module(value) else "none"


def _is_module(value: Expr) -> bool:
    """Whether an object is certainly a module."""
    meaning = _MOVED.sub("", value.name)
    if not meaning.endswith("()"):
        return False
    if ":" in meaning:
        return value.context.names.member(meaning, "state_dict").startswith("torch.nn.")
    return _MODULES.search(meaning[:-2]) is not None


__all__ = ["LoadedCheckpoint", "loaded_checkpoints"]

"""Which functions run in the input pipeline (on the host) instead of in the graph."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Assignment, Ref, Return, Value, nested
from npulint.model.code.module import Module
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes

_STAGES = frozenset(
    "map flat_map filter interleave from_generator map_and_batch parallel_interleave apply reduce scan take_while "
    "group_by_window bucket_by_sequence_length py_func numpy_function py_function parallel_map "
    "map_with_legacy_function".split()
)
_INPUT_FUNCTION = lazy_compile(
    r"(?:^|[._])(?:\w*input_fn\w*|parse\w*|_?parse|preprocess\w*|augment\w*|decode_\w+|read_\w+|\w*_example)$"
)
_INPUT_FILE = lazy_compile(
    r"(?:^|[/_])(?:data|dataset|datasets|input|inputs|preprocess\w*|(?:auto_?)?augment\w*|reader|loader|data_\w+|\w+_data|\w*input_pipeline|tfrecord\w*)(?:[/_.]|\.py$)"
)


@once
def pipeline_of(context: Context) -> InputPipeline:
    """The functions passed to stages of the input pipeline, directly or through other functions."""
    return InputPipeline(context)


class InputPipeline:
    """The functions that are passed, also through other functions, to a stage of the input pipeline."""

    def __init__(self, context: Context) -> None:
        self._root = context.project.root
        self._readers: dict[str, dict[str, list[Scope]]] = {}
        self._inside: set[Scope] = set()
        self._captured: set[CallSite] | None = None
        queue = [function for module in module_scopes(context) for function in _passed_to_stages(module)]
        while queue:
            function = queue.pop()
            if function not in self._inside:
                self._inside.add(function)
                targets = (call.target for call in function.calls)
                called = (target.called_block for target in targets if target is not None)
                queue += [*function.functions, *(block for block in called if block is not None)]

    def readers(self, scope: Scope) -> dict[str, list[Scope]]:
        """The names that pipeline functions read from enclosing scopes, or that stages take as arguments, with the
        blocks of those functions and stages."""
        readers = self._readers.get(scope.path)
        if readers is None:
            readers = self._readers[scope.path] = defaultdict(list)
            inside = {function.block for function in self._inside if function.module is scope.module}
            for function, names in sorted(_names_read(scope.module, inside).items()):
                for name in names:
                    readers[name].append(scope.at(function))
            for index, name in enumerate(scope.call_names):
                if name.startswith("tensorflow.data."):
                    call = scope.call(index)
                    for read in {read for value in call.record.args for read in _names(value)}:
                        readers[read].append(call.scope)
        return readers

    def captures(self, made: CallSite) -> bool:
        """Whether functions of the pipeline read the object that a call makes from enclosing scopes."""
        if self._captured is None:
            self._captured = {made for read in self._reads() for made in read.sites}
        return made in self._captured

    def _reads(self) -> Iterator[Expr]:
        """What functions of the pipeline read from enclosing scopes."""
        by_module: dict[str, list[Scope]] = defaultdict(list)
        for function in self._inside:
            by_module[function.path].append(function)
        for functions in by_module.values():
            read = _names_read(functions[0].module, {function.block for function in functions})
            for function in functions:
                yield from (function.named(name, function.record.line) for name in read[function.block])

    def in_input(self, scope: Scope) -> Literal["yes", "maybe", "no"]:
        """``yes`` (runs in the pipeline), ``maybe`` (its function or file is named like one) or ``no``."""
        if self._inside and not self._inside.isdisjoint(scope.ancestors):
            return "yes"
        named = _INPUT_FUNCTION.search(scope.qualname) or _INPUT_FILE.search(scope.path.removeprefix(self._root))
        return "maybe" if named else "no"


def _passed_to_stages(module: Scope) -> Iterator[Scope]:
    """The functions that are arguments of the stages in a module."""
    for call in module.calls_named(*_STAGES):
        if call.name.rpartition(".")[2] in _STAGES and is_stage(call.name):
            for value in call.arguments:
                yield from value.functions


def _names_read(module: Module, functions: set[int]) -> dict[int, set[str]]:
    """For each function the dotted names that it reads without binding them."""
    read: dict[int, set[str]] = {function: set() for function in functions}
    if not functions:
        return read
    code = module.code
    for call in code.calls:
        function = module.function_of(call.block)
        if function in functions:
            for value in (call.callee, *call.args, *(v for _, v in call.keywords)):
                read[function].update(_names(value))
    records: list[Assignment | Return] = [*code.assignments, *code.returns]
    for record in records:
        function = module.function_of(record.block)
        if function in functions:
            read[function].update(_names(record.value))
    for function, names in read.items():
        names.difference_update(module.blocks[function].params, module.names.get(function, ()))
    return read


def _names(value: Value) -> Iterator[str]:
    """The dotted names in an expression, and their prefixes."""
    for part in nested(value):
        name = part.name if isinstance(part, Ref) else ""
        while name:
            yield name
            name = name.rpartition(".")[0]


def is_stage(name: str) -> bool:
    """Whether a canonical callee is a tf.data stage, or a method of something that may be one."""
    if name.startswith(
        (
            "tensorflow.data.",
            "tensorflow.contrib.data.",
            "tensorflow.py_func",
            "tensorflow.numpy_function",
            "tensorflow.py_function",
        )
    ):
        return True
    return name.startswith("?") and looks_like_dataset(name.rpartition(".")[0])


_DATASET_NAME = lazy_compile(
    r"(?:^\?|[._])(?:\w*dataset\w*|ds|\w+_ds|d?set|\w*_data|data|files|filenames_ds)(?:\(\))?$", re.IGNORECASE
)


def looks_like_dataset(name: str) -> bool:
    """Whether an unresolved name is customary for a dataset (``?dataset``, ``?self.train_ds``)."""
    return bool(_DATASET_NAME.search(name))

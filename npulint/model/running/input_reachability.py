"""Which functions run in the input pipeline (on the host) instead of in the graph."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Assignment, Ref, Return, Value, nested
from npulint.model.code.module import Module
from npulint.model.code.reached import CALLED_BY_FRAMEWORKS
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import walker

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
        self._calls: dict[str, list[_GivenTo]] = {}
        self._captured: set[CallSite] | None = None
        queue = [function for module in module_scopes(context) for function in _passed_to_stages(module)]
        self._take(queue)
        if self._inside:
            methods = _methods_by_name(context)
            while queue := list(self._only_called_inside(context, methods)):
                self._take(queue)

    def _take(self, queue: list[Scope]) -> None:
        """Functions that run in the pipeline, with those in them and those that they surely call."""
        while queue:
            function = queue.pop()
            if function not in self._inside:
                self._inside.add(function)
                queue += function.functions
                queue += [own for call in function.calls for own in _called(call) if own is not None]

    def _only_called_inside(self, context: Context, methods: dict[str, list[Scope]]) -> Iterator[Scope]:
        """Methods that functions of the pipeline call of objects whose class is not known, or of which a class may
        override them, and nothing else calls by this name."""
        names = {call.last for function in self._inside for call in function.calls if "." in call.written}
        for name in names & methods.keys():
            if name not in self._calls:
                self._calls[name] = [_GivenTo.of(call) for call in _project_calls(context, name)]
            of_inside: dict[range, bool] = {}  # by the number of arguments that a method takes
            for method in methods[name]:
                takes = _takes(method)
                if takes not in of_inside:
                    calls = [given.call for given in self._calls[name] if given.starred or given.number in takes]
                    of_inside[takes] = bool(calls) and all(map(self._is_inside, calls))
                if of_inside[takes] and method not in self._inside:
                    yield method

    def _is_inside(self, call: CallSite) -> bool:
        return not self._inside.isdisjoint(call.scope.ancestors)

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


def _called(call: CallSite) -> Iterator[Scope | None]:
    """The own functions that a call runs: a function, ``__init__`` of a class, ``__call__`` of an instance, a method of
    an object that comes from elsewhere."""
    target = call.target
    if target is None and call.receiver is not None and call.name.startswith("?"):
        for made in call.receiver.sites:
            if made.target is not None and made.target.kind == "class":
                yield made.target.definition(call.last)
    elif target is not None and target.kind == "class" and call.name.endswith("()"):
        yield target.definition("__call__")
    elif target is not None:
        yield target.called_block


def _methods_by_name(context: Context) -> dict[str, list[Scope]]:
    """The methods of the project's classes, but for those that Python and frameworks call by themselves."""
    methods: dict[str, list[Scope]] = defaultdict(list)
    for module in module_scopes(context):
        for function in module.blocks_of("function"):
            if function.is_method and function.last_name not in CALLED_BY_FRAMEWORKS:
                methods[function.last_name].append(function)
    return methods


class _GivenTo(NamedTuple):
    """A call, and how many arguments it gives: `starred` if there may be more than are seen."""

    call: CallSite
    number: int
    starred: bool

    @classmethod
    def of(cls, call: CallSite) -> _GivenTo:
        return cls(call, len(call.record.args) + len(call.record.keywords), call.starred)


def _takes(method: Scope) -> range:
    """The numbers of arguments that may be given to a method."""
    record = method.record
    most = 99 if any(param.startswith("*") for param in record.params) else len(record.params) - 1
    return range(len(record.params) - len(record.defaults) - 1, most + 1)


def _project_calls(context: Context, name: str) -> list[CallSite]:
    """The calls by a name outside of tests that may run code of the project."""
    calls = [call for module in module_scopes(context) for call in module.calls_named(name)]
    return [call for call in calls if not _is_of_library(call) and not is_test_file(call.scope.path)]


def _is_of_library(call: CallSite) -> bool:
    """Whether a call is known to run no code of the project."""
    return call.target is None and not call.name.startswith("?") and ":" not in call.name


def _passed_to_stages(module: Scope) -> Iterator[Scope]:
    """The functions that are arguments of the stages in a module."""
    for call in module.calls_named(*_STAGES):
        if call.name.rpartition(".")[2] in _STAGES and is_stage(call.name):
            for value in call.arguments:
                yield from _functions(value)


@walker(depth=4, otherwise=list)
def _functions(value: Expr) -> list[Scope]:
    """The own functions that an argument may be, also where branches assign different ones to a name."""
    found = value.functions
    if found or not (value.written or value.alternatives):
        return found
    inner = value.alternatives or [assignment.value for assignment in value.assignments]
    return [function for expr in inner for function in _functions(expr)]


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

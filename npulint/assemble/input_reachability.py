"""Which functions run in the input pipeline (on the host) instead of in the graph."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from npulint.assemble.flow import Flow, initialiser
from npulint.assemble.module import Module
from npulint.facts.code import Assignment, Op, Ref, Return, SequenceDisplay, Value
from npulint.lazy_regex import lazy_compile

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


class Reach:
    """The functions passed to stages of the input pipeline, directly or through other functions."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.inside: set[tuple[str, int]] = set()
        self._readers: dict[str, dict[str, list[int]]] = {}
        self._fill()

    def _fill(self) -> None:
        queue: list[tuple[Module, int]] = []
        for module in self.flow.names.project.modules.values():
            for index in module.calls_of(*_STAGES):
                call = module.code.calls[index]
                if call.args or call.keywords:
                    name = self.flow.names.of_call(module, index)
                    if name.rpartition(".")[2] in _STAGES and is_stage(name):
                        for value in (*call.args, *(v for _, v in call.keywords)):
                            queue += self.flow.functions(module, value, call.block, call.line)
        while queue:
            module, block = queue.pop()
            if (module.path, block) in self.inside:
                continue
            self.inside.add((module.path, block))
            queue += [(module, inner) for inner in module.functions_in.get(block, ())]
            for index in module.calls_in.get(block, ()):
                queue += self._called(module, index)

    def _called(self, module: Module, index: int) -> list[tuple[Module, int]]:
        target = self.flow.names.function(self.flow.names.of_call(module, index))
        if target is None:
            return []
        block = initialiser(*target)
        return [(target[0], block)] if block >= 0 else []

    def readers(self, module: Module) -> dict[str, list[int]]:
        """The names that pipeline functions read from enclosing scopes, or that stages take as arguments, with the
        blocks of those functions and stages."""
        known = self._readers.get(module.path)
        if known is None:
            known = self._readers[module.path] = defaultdict(list)
            inside = {function for path, function in self.inside if path == module.path}
            for function, names in sorted(_names_read(module, inside).items()):
                for name in names:
                    known[name].append(function)
            for index, call in enumerate(module.code.calls):
                if self.flow.names.of_call(module, index).startswith("tensorflow.data."):
                    for name in {n for value in call.args for n in _names(value)}:
                        known[name].append(call.block)
        return known

    def in_input(self, module: Module, block: int) -> Literal["yes", "maybe", "no"]:
        """``yes`` (runs in the pipeline), ``maybe`` (its function or file is named accordingly) or ``no``."""
        function = module.function_of(block)
        while function >= 0:
            if (module.path, function) in self.inside:
                return "yes"
            function = module.function_of(module.blocks[function].parent)
        name = module.qualname(block)
        if name and _INPUT_FUNCTION.search(name):
            return "maybe"
        return "maybe" if _INPUT_FILE.search(module.path.removeprefix(self.flow.names.project.root)) else "no"


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
    queue = [value]
    while queue:
        part = queue.pop()
        if isinstance(part, Ref):
            name = part.name
            while name:
                yield name
                name = name.rpartition(".")[0]
        elif isinstance(part, Op):
            queue += part.operands
        elif isinstance(part, SequenceDisplay):
            queue += part.items


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

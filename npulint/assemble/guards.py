"""Guards: does a piece of code run unless somebody turns on an option?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from npulint.assemble.flow import Flow
from npulint.assemble.module import Module
from npulint.facts.attributes import Flag
from npulint.facts.code import Block, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.values import truth
from npulint.lazy_regex import lazy_compile

_NPU = lazy_compile(r"(?<!i)npu|ascend|davinci|hccl|910", re.IGNORECASE)  # no input
_GPU = lazy_compile(r"cuda|gpu", re.IGNORECASE)
# Options that choose the job of a script: each of its jobs counts as run.
_ROLE = lazy_compile(
    r"(?:^|[._])(?:is_|do_|if_|for_|to_)?(?:pre|fine)?_?(?:train|training|eval|evaluate|test|predict"
    r"|infer|inference|mode|phase|action|task|command|cmd|export|tune)(?:_mode|_only|_phase)?$",
    re.IGNORECASE,
)
# What a script that is meant to be started imports: a module without it tests itself below ``__main__``.
_COMMAND_LINES = frozenset("argparse absl.flags absl fire click typer hydra docopt optparse unittest".split())
_MADE_UP = frozenset("rand randn randint zeros ones empty arange Tensor FloatTensor".split())
_EQUALITY = frozenset(("==", "is", "in", "!=", "is not", "not in"))
_DEPTH = 8


class Guards:
    """Answers ``yes``, ``no`` (behind something that is off by default) or ``unknown`` per block."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self._memo: dict[tuple[str, int], Flag] = {}
        self._given: set[str] | None = None
        self._tests_itself: dict[str, bool] = {}
        self._imported: set[str] | None = None
        self.server: Callable[[Module, int], Flag] | None = None
        """Whether a block runs on an NPU server; set by `npulint.assemble.build`."""

    def active(self, module: Module, block: int, depth: int = 0) -> Flag:
        """Whether code in `block` runs by default."""
        key = (module.path, block)
        known = self._memo.get(key)
        if known is None:
            self._memo[key] = "unknown"  # answers a recursive question
            known = self._memo[key] = self._active(module, block, depth)
        return known

    def surely(self, module: Module, block: int) -> bool:
        """Whether code in `block` surely runs when its function is called: every condition around it holds by default,
        or chooses the job of the script, each of which counts as run."""
        for around in module.ancestors(block):
            record = module.blocks[around]
            if record.kind in ("function", "lambda", "except"):
                return record.kind != "except"
            if record.kind in ("if", "else") and self._condition(module, around, record) != "yes":
                if not any(_ROLE.search(word) for word in self._words(module, record.test)):
                    return False
        return True

    def _condition(self, module: Module, block: int, record: Block) -> Flag:
        """Whether a branch is taken, on an NPU server or by default."""
        there = "unknown" if self.server is None else self.server(module, block)
        return self._own(module, record) if there == "unknown" else there

    def guarded_by(self, module: Module, block: int) -> Literal["npu", "cuda", "none"]:
        """Which device the conditions around `block` ask for: npu, cuda or none."""
        found: Literal["cuda", "none"] = "none"
        for inner in module.ancestors(block):
            record = module.blocks[inner]
            if record.kind in ("if", "else"):
                wanted = (record.kind == "else") == _negated(record.test)
                words = self._words(module, record.test) if wanted else []
                if any(_NPU.search(word) for word in words):
                    return "npu"
                if any(_GPU.search(word) for word in words):
                    found = "cuda"
        return found

    def _active(self, module: Module, block: int, depth: int) -> Flag:
        if block < 0:
            return "yes"
        record = module.blocks[block]
        if self.server is not None and self.server(module, block) == "no":
            return "no"
        here = self._own(module, record)
        if here == "no":
            return "no"
        if record.kind == "function" and depth < _DEPTH and self._only_inactive_callers(module, block, depth):
            return "no"
        outer = self.active(module, record.parent, depth) if record.parent >= 0 else "yes"
        return outer if outer == "no" or here == "yes" else here

    def _own(self, module: Module, record: Block) -> Flag:
        if record.kind not in ("if", "else"):
            return "yes"
        test = record.test
        if is_main(test):
            return "no" if record.kind == "if" and self.tests_itself(module) else "yes"
        answer = truth(self.flow.known(module, test, record.parent, record.line))
        if answer is None:
            names_npu = any(_NPU.search(word) for word in self._words(module, test))
            return "no" if names_npu and (record.kind == "else") != _negated(test) else "unknown"
        if self._waits_for_a_name(module, record):
            return "unknown"
        if answer == (record.kind == "if"):
            return "yes"
        return "unknown" if any(_ROLE.search(word) for word in self._words(module, test)) else "no"

    def _waits_for_a_name(self, module: Module, record: Block) -> bool:
        """Whether a condition asks which of several names an option has that has none unless it is given."""
        test = record.test
        if not isinstance(test, Op) or test.op != "==" or not isinstance(test.operands[1], Const):
            return False
        if not isinstance(test.operands[1].value, str):
            return False
        return self.flow.known(module, test.operands[0], record.parent, record.line).values == (None,)

    def tests_itself(self, module: Module) -> bool:
        """Whether what a module does when it is started only tries its own classes: others import the module and it
        calls none of them, or it gives a class of its own made-up tensors; it reads no command line, and starts no
        training."""
        known = self._tests_itself.get(module.path)
        if known is None:
            known = self._tests_itself[module.path] = (
                not any(record.module in _COMMAND_LINES for record in module.code.imports)
                and not any(record.name.startswith("sys.argv") for record in module.code.name_uses)
                and not module.calls_of("backward", "main", "train", "run", "fit")
                and (self._is_brought_along(module) or self._tries_own_class(module))
            )
        return known

    def is_trial(self, module: Module, block: int) -> bool:
        """Whether code runs only when a module tests itself."""
        around = (module.blocks[b] for b in module.ancestors(block))
        return any(b.kind == "if" and is_main(b.test) for b in around) and self.tests_itself(module)

    def _started_calls(self, module: Module) -> list[str]:
        """The canonical names of what a module calls when it is started."""
        started = {b for b, record in enumerate(module.blocks) if record.kind == "if" and is_main(record.test)}
        return [
            self.flow.names.of_call(module, i)
            for i, call in enumerate(module.code.calls)
            if started & {call.block, module.blocks[call.block].parent}
        ]

    def _is_brought_along(self, module: Module) -> bool:
        """Whether others import a module that, when started, calls nothing of theirs."""
        if module.path not in self.imported():
            return False
        targets = (self.flow.names.function(name) for name in self._started_calls(module))
        return all(target is None or target[0] is module for target in targets)

    def _tries_own_class(self, module: Module) -> bool:
        """Whether a module, when started, makes tensors out of nothing and an object of one of its classes."""
        names, called = self.flow.names, self._started_calls(module)
        made_up = any(name.startswith("torch.") and name.rpartition(".")[2] in _MADE_UP for name in called)
        found = (names.function(name) for name in called) if made_up else ()
        return any(one is not None and one[0] is module and one[0].blocks[one[1]].kind == "class" for one in found)

    def imported(self) -> set[str]:
        """The paths of the modules that other modules of the project import."""
        if self._imported is None:
            project = self.flow.names.project
            self._imported = {
                target.path
                for module in project.modules.values()
                for record in module.code.imports
                for target in project.imported(module, record)
                if target is not module
            }
        return self._imported

    def _only_inactive_callers(self, module: Module, block: int, depth: int) -> bool:
        callers = self.flow.callers(module, block)
        return (
            bool(callers)
            and not self._handed_over(module.blocks[block].name.rpartition(".")[2])
            and all(self.active(home, home.code.calls[index].block, depth + 1) == "no" for home, index in callers)
        )

    def _handed_over(self, name: str) -> bool:
        """Whether anything of this name is given to a call: then somebody else may call it."""
        if self._given is None:
            calls = [call for module in self.flow.names.project.modules.values() for call in module.code.calls]
            given = {v.name for call in calls for v in call.args if isinstance(v, Ref)}
            given.update(v.name for call in calls for _, v in call.keywords if isinstance(v, Ref))
            self._given = {written.rpartition(".")[2] for written in given}
        return name in self._given

    def words(self, module: Module, block: int) -> list[str]:
        """The names and texts in the conditions around `block`."""
        around = [module.blocks[b] for b in module.ancestors(block)]
        return [word for record in around if record.kind in ("if", "else") for word in self._words(module, record.test)]

    def _words(self, module: Module, value: Value, depth: int = 0) -> list[str]:
        """The names and texts in a condition."""
        if isinstance(value, Ref):
            return [value.name]
        if isinstance(value, Const):
            return [value.value] if isinstance(value.value, str) else []
        if isinstance(value, Op) and depth >= _DEPTH:
            return []
        return [word for part in module.parts(value) for word in self._words(module, part, depth + 1)]


def _negated(test: Value) -> bool:
    """Whether a condition asks for the absence of what it names."""
    if not isinstance(test, Op):
        return False
    if test.op == "not":
        return True
    against = [one for v in test.operands for one in (v.items if isinstance(v, SequenceDisplay) else (v,))]
    nothing = test.op in _EQUALITY and any(isinstance(one, Const) and not one.value for one in against)
    return (test.op in ("!=", "not in", "is not")) != nothing


def is_main(test: Value) -> bool:
    """Whether a condition is ``__name__ == "__main__"``."""
    return (
        isinstance(test, Op)
        and test.op == "=="
        and any(isinstance(v, Ref) and v.name == "__name__" for v in test.operands)
        and any(isinstance(v, Const) and v.value == "__main__" for v in test.operands)
    )

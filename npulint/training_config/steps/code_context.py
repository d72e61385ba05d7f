"""The context of code in a module: its function, and whether it is only for evaluation."""

from __future__ import annotations

from npulint.assemble.module import Module
from npulint.facts.code import Call, Op
from npulint.lazy_regex import lazy_compile
from npulint.training_config.steps.model import MODULE

_EVALUATION = lazy_compile(
    r"(?:^|[_.])(?:eval|evaluate|evaluation|val|valid|validate|validation|test|infer|inference)(?:[_.]|$)"
)


def home_of(module: Module, block: int) -> int:
    """The named function around a block, or `MODULE`; a lambda belongs to the function that contains it."""
    function = module.function_of(block)
    while function >= 0 and module.blocks[function].kind == "lambda":
        function = module.function_of(module.blocks[function].parent)
    return max(function, MODULE)


def evaluates(module: Module, block: int) -> bool:
    """Whether code is only for evaluation, judging by the names around it."""
    return any(_EVALUATION.search(word) for word in (module.qualname(block).lower(), module.path.rpartition("/")[2]))


def is_open(call: Call) -> bool:
    """Whether ``*args`` or ``**kwargs`` may pass more arguments than are visible."""
    return any(isinstance(a, Op) and a.op == "star" for a in call.args) or any(k == "**" for k, _ in call.keywords)

"""Mixed precision: autocast, and models made half."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.inner_functions import joined_calls
from npulint.model.running.npu_server import npu_server
from npulint.model.running.surroundings import step_at
from npulint.model.running.training import training_of
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch import scaling
from npulint.recognizers.torch.half_types import HALVES, cast_to
from npulint.recognizers.torch.receiver_types import is_model

_CASTS = frozenset(("half", "bfloat16", "to", "type"))
_TRAINING = lazy_compile(r"\.backward$|^torch\.optim\.\w+$|NpuFused|^apex\.amp\.")


@recognizes("torch.autocast", "torch.cuda.amp.autocast", "torch.npu.amp.autocast", *scaling.HELPERS)
@fact_kind("autocast")
class Autocast(CallFact):
    """An autocast context is created; the name is its canonical constructor."""

    @attribute
    def device(self) -> str:
        """The device type that it is for: cuda, npu, cpu, another one or unknown."""
        return scaling.device(self.call)

    @attribute
    def enabled(self) -> Flag:
        """Whether it is enabled."""
        return scaling.enabled(self.call)

    @attribute
    def dtype(self) -> Literal["float16", "bfloat16", "default", "unknown"]:
        """The element type that operators compute in."""
        value = self.call.argument("dtype")
        if value is None:
            return "default"
        single = value.single
        return "float16" if single in HALVES else "bfloat16" if single == "torch.bfloat16" else "unknown"

    @attribute
    def alternative(self) -> bool:
        """Whether the same name, or the same call in another branch, means the NPU's."""
        return scaling.alternative(self.call)

    @attribute
    def trains(self) -> bool:
        """Whether every training step opens it, or the training loop runs in it."""
        opened = self._opened
        if self.step == "yes" or any(step_at(block, block.record.line) == "yes" for block in opened):
            return True
        loops = (loop for loop in training_of(self.call.context).loops if loop.module is self.scope.module)
        return any(ancestor in opened for loop in loops for ancestor in loop.ancestors)

    @property
    def _opened(self) -> list[Scope]:
        """The ``with`` blocks of its module that open it."""
        return _opened_contexts(self.scope).get(self.call, [])

    @attribute
    def dead(self) -> bool:
        """Whether an NPU server never comes to it, whatever the options are."""
        return npu_server(self.call.context).runs(self.scope, self.span.line) == "no"


@once_per_file
def _opened_contexts(module: Scope) -> dict[CallSite, list[Scope]]:
    """The ``with`` blocks of a module by the calls that may make what they open."""
    opened: dict[CallSite, list[Scope]] = defaultdict(list)
    for block in module.blocks_of("with"):
        for call in {site for site in (block.test.call, *block.test.sites) if site is not None}:
            opened[call].append(block)
    return opened


# -- half models ------------------------------------------------------------------------------------


@fact_kind("half_model")
class HalfModel(CallFact):
    """A model is cast to half precision; the name is half or bfloat16."""

    @attribute
    def trained(self) -> bool:
        """Whether the function that casts the model also trains it."""
        return any(_TRAINING.search(call.name) for call in joined_calls(self.call.scope))


@recognizes(matching=lambda name: name.rpartition(".")[2] in _CASTS)
def half_models(call: CallSite) -> list[HalfModel]:
    """``model.half()``, ``model.to(torch.bfloat16)`` and the like."""
    last = call.name.rpartition(".")[2]
    target = cast_to(call) if last in ("to", "type") else last
    return [HalfModel(call, target)] if target and is_model(call.receiver) else []

"""Training steps: where gradients are computed, by the code itself or by a library's trainer; moves to the NPU."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.backward import is_stepped, scaled
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_TRAINER = lazy_compile(
    r"^(?:pytorch_lightning|lightning(?:\.pytorch)?|transformers|trl|detectron2)\.(?:\w+\.)*\w*Trainer\(\)\.(?:fit|train)$"
    r"|^(?:mmcv|mmengine)\.(?:\w+\.)*(?:build_runner|\w*Runner(?:\.from_cfg)?)\(\)\.(?:run|train)$"
    r"|^fastai\.(?:\w+\.)*\w*[Ll]earner\(\)\.(?:fit|fine_tune)\w*$"
)
_STARTS = (".fit", ".train", ".run", ".fit_one_cycle", ".fine_tune")


def matches(name: str) -> bool:
    """``loss.backward()``, what starts a trainer, ``x.npu()``."""
    return name.endswith((".backward", ".npu")) or (name.endswith(_STARTS) and bool(_TRAINER.match(name)))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``train_step`` facts, named backward, fit or train; ``npu`` facts."""
    last = name.rpartition(".")[2]
    if last == "npu":
        return [context.call_fact("npu", "npu", module, index, on=name)]
    if last == "backward" and (context.names.function(name) is not None or _in_backward(module, index)):
        return []
    block = module.code.calls[index].block
    loop = "yes" if last != "backward" or context.training.train_loop(module, block) >= 0 else "no"
    return [
        context.call_fact(
            "train_step",
            last,
            module,
            index,
            loop=loop,
            on=name,
            scaled=lambda: scaled(context, module, index, name) if last == "backward" else "engine",
            stepped=lambda: "yes" if is_stepped(module, index) else "no",
        )
    ]


def _in_backward(module: Module, index: int) -> bool:
    """Inside an own gradient function."""
    return module.qualname(module.code.calls[index].block).endswith(".backward")


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """Steps are calls."""
    return []

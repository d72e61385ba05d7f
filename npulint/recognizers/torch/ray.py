"""Ray: the devices that its tasks, actors and placement groups ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.facts import code
from npulint.facts.attributes import attribute
from npulint.facts.code import Const, Table, Value
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.code_places import imports_package
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.recognizers.registry import recognizes_in_modules

_GPU = "GPU"
_KEYWORD = "num_gpus"


@fact_kind("ray_resource")
class RayResource(PlaceFact):
    """Ray is requested to provide devices of a kind; the name is the resource: ``GPU``."""

    what: Literal["task", "bundle"]
    """What needs them: a task or an actor, or a bundle of a placement group."""
    _fixed: bool = False
    """Whether it is a literal number under no condition."""
    _elsewhere: bool = False
    """Whether the options come from a module that names the NPU as a resource."""

    @attribute
    def beside_npu(self) -> bool:
        """Whether the same file names the NPU as a resource of Ray, or, unless a task always requires GPUs, the NPU
        at all: it may require either."""
        if self._fixed:
            return self._elsewhere or _names_resource(self.scope.module)
        return self._elsewhere or self.scope.module.code.npu


@recognizes_in_modules
def ray_resources(module: Scope) -> Iterator[RayResource]:
    """The places where a module that imports Ray asks for GPUs: ``num_gpus=1``, ``{"GPU": 1}``."""
    if not imports_package(module, "ray"):
        return
    for call in module.calls_named("remote", "options"):
        if _asks(call):
            yield RayResource(call.scope, call.span, _GPU, "task", _is_fixed(call), _from_choice(call))
    seen: set[tuple[int, int]] = set()
    for value, block, line in code.written_values(module.module.code):
        if (block, line) not in seen and any(map(_is_bundle, code.nested(value))):
            seen.add((block, line))
            yield RayResource(module.at(block), Span.at(line), _GPU, "bundle")


def _asks(call: CallSite) -> bool:
    """Whether a task or actor asks for GPUs; an amount of 0 asks for none."""
    if call.last == "remote" and "ray.remote" not in (
        call.name,
        call.written,
    ):  # a package of the project may be ``ray``
        return False
    amount = call.argument(_KEYWORD)
    return amount is not None and not _is_nothing(amount)


def _is_fixed(call: CallSite) -> bool:
    """Whether a task requires a literal number of GPUs, under no condition."""
    amount = call.argument(_KEYWORD)
    free = all(ancestor.kind not in ("if", "else", "except") for ancestor in call.scope.ancestors)
    return amount is not None and amount.is_literal and free


def _from_choice(call: CallSite) -> bool:
    """Whether the options are a mapping (``**config``) and a module that this one imports names the NPU as a resource:
    it chooses by the device."""
    if any(name == _KEYWORD for name, _ in call.record.keywords):
        return False
    project = call.scope.context.project
    return any(_names_resource(project.modules[path]) for path in project.uses(call.scope.path))


def _names_resource(module: Module) -> bool:
    """Whether the text ``NPU`` stands in a module."""
    values = (part for value, _, _ in code.written_values(module.code) for part in code.nested(value))
    return any(isinstance(value, Const) and value.value == "NPU" for value in values)


def _is_nothing(amount: Expr) -> bool:
    values = amount.known
    return values.exact and all(not value for value in values.values)


def _is_bundle(value: Value) -> bool:
    """Whether a value is a dict of resources with GPUs."""
    if not isinstance(value, Table):
        return False
    entries = zip(value.keys, value.values, strict=False)
    return any(isinstance(key, Const) and key.value == _GPU and value != Const(0) for key, value in entries)

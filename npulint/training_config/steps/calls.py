"""Steps from the calls of a module."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.data.recipe import RecipeCall, recipe_call
from npulint.facts.code import Call, Ref
from npulint.facts.model import Span
from npulint.training_config.steps.arguments import named_literals, of_own, of_splits, of_vocabulary
from npulint.training_config.steps.code_context import evaluates, home_of, is_open
from npulint.training_config.steps.model import Argument, CodeStep
from npulint.training_config.steps.unresolved import cast_of, derived, part_by_name, registered, settings_arguments

_ANY_MODULE = "torch.nn.Module"  # result of applying a module whose class is unknown
_READING = frozenset(("dataset", "shuffle"))
_DEFINING = frozenset(("add_argument", "HParams", "set_defaults"))


class Calls:
    """Creates steps from the calls of a project's modules."""

    def __init__(self, context: Context, framework: str) -> None:
        self.context = context
        self._framework = framework
        self.names = context.names

    def of(self, module: Module) -> Iterator[CodeStep]:
        """The steps of a module's calls, in text order."""
        for index, name in enumerate(self.names.of_calls(module)):
            call = module.code.calls[index]
            step = self._known(module, index, call, name) or self._own(module, index, call, name)
            if step is None:
                step = self._named(module, index, call)
            if step is not None:
                yield step

    def _known(self, module: Module, index: int, call: Call, name: str) -> CodeStep | None:
        """The step of a call in the recorded tables, or of applying an object of a recorded class (a layer)."""
        known = recipe_call(name, self._framework)
        if known is None or known.same_as.rstrip("()") == _ANY_MODULE:
            return None
        if known.transparent:
            cast = cast_of(call, known)
            return self._step("call", f"?.{cast}", f".{cast}", "half_cast", module, call, (), index) if cast else None
        arguments = () if known.same_as.endswith("()") else tuple(of_vocabulary(call, known))
        if known.part in _READING:
            arguments += tuple(of_splits(module, call, [argument.name for argument in arguments], known))
        step = self._step(
            "call", known.same_as, _shown(known.same_as), known.part, module, call, arguments, index, known
        )
        handed = self._handed(module, call) if known.part == "transform" else ()
        return msgspec.structs.replace(step, handed=handed) if handed else step

    def _handed(self, module: Module, call: Call) -> tuple[tuple[str, int], ...]:
        """The project functions that are passed to a call."""
        references = (value for value in (*call.args, *(value for _, value in call.keywords)) if isinstance(value, Ref))
        named = (self.names.function(self.names.of_name(module, v.name, call.block, call.line)) for v in references)
        return tuple((home.path, block) for home, block in (one for one in named if one is not None))

    def _own(self, module: Module, index: int, call: Call, name: str) -> CodeStep | None:
        target = self.names.function(name) or self._only_method(module, name)
        if target is None:
            return None
        home, block = target
        made = None if name.endswith("()") else derived(self.names, home, block)
        if made is not None:
            given = tuple(of_vocabulary(call, made))
            return self._step("call", made.same_as, _shown(made.same_as), made.part, module, call, given, index, made)
        applied = name.endswith("()") and home.blocks[block].kind == "class"
        shown = home.blocks[block].name.rpartition(".")[2] or "lambda"
        arguments = () if applied else tuple(of_own(self.context, module, index, home, block))
        key = f"{home.path}:{block}" + ("()" if applied else "")
        return self._step("own", key, shown, "", module, call, arguments, index, None, (home.path, block))

    def _only_method(self, module: Module, name: str) -> tuple[Module, int] | None:
        """The project method that a call on an unknown object refers to, if only one class of the project, or of the
        modules imported here, has a method of that name."""
        if not name.startswith("?") or "." not in name:
            return None
        found = self.context.memoize("own methods", self._methods).get(name.rpartition(".")[2], [])
        if len(found) > 1:
            near = (module.path, *self.context.project.uses(module.path))
            found = [one for one in found if one[0].path in near]
        return found[0] if len(found) == 1 else None

    def _methods(self) -> dict[str, list[tuple[Module, int]]]:
        found: dict[str, list[tuple[Module, int]]] = {}
        for module in self.context.project.modules.values():
            for block, record in enumerate(module.blocks):
                if record.kind == "function" and module.blocks[record.parent].kind == "class":
                    found.setdefault(record.name.rpartition(".")[2], []).append((module, block))
        return found

    def _named(self, module: Module, index: int, call: Call) -> CodeStep | None:
        """The step of a call of an unknown function with settings as keywords: ``dict(type="SGD", lr=0.1)``."""
        last = module.callee_name(index)
        made = registered(last, call)
        if made is not None:
            passed = tuple(one for one in of_vocabulary(call, made) if one.name != "type")
            return self._step("call", made.same_as, _shown(made.same_as), made.part, module, call, passed, index, made)
        part = part_by_name(call.callee)
        if part:
            return self._step("call", last, last, part, module, call, tuple(settings_arguments(call)), index)
        arguments = tuple(named_literals(call))
        if not arguments:
            return None
        if last in _DEFINING or last.startswith("DEFINE_"):
            return None  # options are traced separately
        parts = [argument.role for argument in arguments]
        part = next((p for p in parts if p != "setting"), "setting")
        return self._step("named", last, last, part, module, call, arguments, index)

    def _step(
        self,
        kind: str,
        name: str,
        shown: str,
        part: str,
        module: Module,
        call: Call,
        arguments: tuple[Argument, ...],
        index: int,
        known: RecipeCall | None = None,
        target: tuple[str, int] | None = None,
    ) -> CodeStep:
        return CodeStep(
            kind=kind,
            name=name,
            shown=shown,
            part=part,
            module=module,
            home=home_of(module, call.block),
            block=call.block,
            span=Span.of(call),
            arguments=arguments,
            open=is_open(call),
            call=index,
            target=target,
            known=known,
            evaluates=evaluates(module, call.block),
        )


def _shown(name: str) -> str:
    """A canonical name for display: a class without its module, a function with the last part of its module."""
    words = name.split(".")
    if len(words) > 1 and words[-1][:1].islower() and not words[-2].endswith(")"):
        return ".".join(words[-2:]).lstrip("?")
    return words[-1]

"""Names: what a dotted name means at its place, across aliases, assignments, classes and modules.

The result is one canonical name: ``tensorflow.nn.top_k`` for a framework member,
``module:Class.method`` for the project's own definitions, ``X().m`` for the member of a call's
result, ``?name`` for what cannot be known (a parameter, say).
"""

from __future__ import annotations

from functools import cached_property

from npulint.data.names import canonical, star_exports
from npulint.facts.code import Assignment, CallResult, Const, Function, Import, Op, Ref, Return, SequenceDisplay, Value
from npulint.model.code.argument_results import CalledFunction, made_of_arguments
from npulint.model.code.branch_imports import ImportMeanings, imports_at
from npulint.model.code.module import Module, bound_before
from npulint.model.code.project import Project
from npulint.model.code.recursion import Recursion

_TOP = 2  # depth of the name that a caller asked for, or of a call's

_ALIASED = ("tensorflow", "npu_bridge", "torch", "apex")
_DATASET = "tensorflow.data.Dataset()"
_WITHOUT_MEMBERS = frozenset(
    ("object", "abc.ABC", "typing.Generic", "typing.Generic[]", "typing.Protocol", "typing.Protocol[]")
)  # bases that only declare
_LONGEST = 1000  # characters of a name: those of ``x = x.f()``, written thousands of times, would grow and grow
_NOT_DATASET = ("make_", "reduce", "output_", "element_spec", "get_single_element", "options")


class Names:
    """Resolves names in all modules of a project; answers are remembered."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.imported = ImportMeanings(project, self.of_import)
        self._roots: dict[tuple[str, int, str, int], str] = {}
        self._all: dict[str, list[str]] = {}
        self._functions: dict[str, tuple[Module, int] | None] = {}
        self._by_name = {m.name: m for m in project.modules.values()}
        self._asked = Recursion(depth=25, steps=600)  # many branches would make it explode

    def of_call(self, module: Module, index: int) -> str:
        """The canonical name of what call number `index` of `module` calls."""
        meaning = module.callees[index]
        if meaning is None:
            call = module.code.calls[index]
            written = call.callee.name if isinstance(call.callee, Ref) else ""
            meaning = module.plain.get(written)
            if meaning is not None and written:
                module.callees[index] = meaning
                return meaning
            key = (module.path, index)
            if not self._asked.enter(key):
                return "?"
            if written:
                meaning = self.of_name(module, written, call.block, call.line)
            else:
                meaning = self.of_value(module, call.callee, call.block, call.line)
            self._asked.leave(key)
            if len(meaning) > _LONGEST:
                meaning = "?"
            if not meaning.startswith("?") or self._asked.final:
                module.callees[index] = meaning
        return meaning

    def of_calls(self, module: Module) -> list[str]:
        """The canonical names of what all calls of `module` call, in text order."""
        names = self._all.get(module.path)
        if names is None:
            plain, calls = module.plain, module.code.calls
            names = [""] * len(calls)
            for index in sorted(range(len(calls)), key=[call.line for call in calls].__getitem__):
                callee = calls[index].callee  # what a name was before is known when it is asked for what it is made
                meaning = plain.get(callee.name) if isinstance(callee, Ref) else None
                names[index] = meaning or self.of_call(module, index)
            self._all[module.path] = names
        return names

    def of_value(self, module: Module, value: Value, block: int, line: int) -> str:
        """The canonical name of a value, or ``?``."""
        if isinstance(value, Ref):
            return self.of_name(module, value.name, block, line)
        if isinstance(value, CallResult):
            return self.of_result(self.of_call(module, value.call), module, value.call)
        if isinstance(value, Function):
            return f"{module.name}:{module.blocks[value.block].name or '<lambda>'}"
        if isinstance(value, Op):
            if value.op == "." and isinstance(value.operands[1], Const):
                base = self.of_value(module, value.operands[0], block, line)
                return self.member(base, str(value.operands[1].value))
            if value.op in ("or", "if"):
                for operand in value.operands[1:] if value.op == "if" else value.operands:
                    name = self.of_value(module, operand, block, line)
                    if not name.startswith("?"):
                        return name
            if value.op == "[]":
                return self._looked_up(module, value, block, line) or self._element(module, value, block, line)
        return "?"

    def _element(self, module: Module, value: Op, block: int, line: int) -> str:
        holder, key = value.operands
        if isinstance(holder, CallResult) and isinstance(key, Const) and isinstance(key.value, int):
            returned = self._returned_element(module, holder, key.value)
            if returned:
                return returned
        base = self.of_value(module, holder, block, line)
        return "?" if base.startswith("?") else base + "[]"

    def _looked_up(self, module: Module, value: Op, block: int, line: int) -> str:
        """What ``torch.optim.__dict__["SGD"]`` is; empty for other subscripts."""
        holder, key = value.operands
        if not isinstance(holder, Ref) or not holder.name.endswith(".__dict__") or not isinstance(key, Const):
            return ""
        return self.member(self.of_name(module, holder.name[: -len(".__dict__")], block, line), str(key.value))

    def _returned_element(self, module: Module, result: CallResult, index: int) -> str:
        """What ``f()[index]`` is when the own function f returns a tuple as written."""
        target = self.function(self.of_call(module, result.call))
        for returned in target[0].returns.get(target[1], ()) if target else ():
            items = returned.value.items if isinstance(returned.value, SequenceDisplay) else ()
            if target and -len(items) <= index < len(items):
                name = self._of_returned(target[0], returned, items[index])
                if not name.startswith("?"):
                    return name
        return ""

    def of_result(self, callee: str, module: Module, index: int) -> str:
        """The name of a call's result: own functions are followed into their return values, dataset
        transformations stay datasets, ``functools.partial(f)`` is f."""
        if callee.startswith("tensorflow."):
            return _framework_result(callee)
        if callee == "functools.partial":
            call = module.code.calls[index]
            if call.args:
                return self.of_value(module, call.args[0], call.block, call.line)
        target = self.function(callee)
        if target is None:
            return callee + "()"
        home, block = target
        if home.blocks[block].kind == "class":
            return f"{home.name}:{home.blocks[block].name}()"
        names = (
            self._of_returned(home, return_record, return_record.value)
            for return_record in _regular(home, home.returns.get(block, []))
        )
        name = next((name for name in names if not name.startswith("?")), callee + "()")
        if not self._is_of_function(name):
            return name
        return self.made_of_arguments(CalledFunction(home, block, module, index)) or name

    def _is_of_function(self, name: str) -> bool:
        """Whether a name only says which own function has given something."""
        target = self.function(name[:-2]) if name.endswith("()") else None
        return target is not None and target[0].blocks[target[1]].kind == "function"

    def made_of_arguments(self, called: CalledFunction) -> str:
        """The canonical name of what a function makes of the arguments of one call; an empty text if unknown."""
        results = _regular(called.home, called.home.returns.get(called.function, []))
        question = ("made of arguments", called.home.path, called.function)
        if not results or not self._asked.enter(question):
            return ""
        name = made_of_arguments(self, called, results)
        self._asked.leave(question)
        return name

    def _of_returned(self, home: Module, returned: Return, value: Value) -> str:
        """The canonical name of what a function returns, or of an element of it."""
        level = object()  # the names in it are the questions that must not be asked within themselves
        if not self._asked.enter(level):
            return "?"
        name = self.of_value(home, value, returned.block, returned.line + 1)
        self._asked.leave(level)
        return name

    def of_name(self, module: Module, name: str, block: int, line: int) -> str:
        """The canonical name of a dotted name as written at a place."""
        plain = module.plain.get(name)
        if plain is not None:
            return plain
        root, _, rest = name.partition(".")
        if root in module.shadowed:
            meaning = module.settled.get((block, root)) or self._root(module, root, block, line)
            return self._inside(module, root, meaning, rest) if rest else meaning
        # Bound by a module-level import or not at all.
        meaning = module.plain.get(root) or self._root(module, root, 0, 0)
        if rest:
            meaning = self._inside(module, root, meaning, rest)
        if not self._asked.active or not meaning.startswith("?"):
            module.plain[name] = meaning
        return meaning

    def _inside(self, module: Module, root: str, meaning: str, rest: str) -> str:
        """What the rest of a dotted name means whose root was found."""
        imported = root in module.imports.get(0, ())
        for part in rest.split("."):
            # A folder without __init__ is no module, but its modules are.
            inner = self.project.find(f"{meaning}.{part}", module) if imported and _is_plain(meaning) else None
            meaning = f"{inner.name}:" if inner is not None else self.member(meaning, part)
            if imported and meaning.endswith(part) and "(" not in meaning:
                written = meaning.replace(":", ".")
                copied = self.project.foreign_name(written, module)
                meaning = meaning if copied == written else copied
        return meaning

    def _root(self, module: Module, root: str, block: int, line: int) -> str:
        key = (module.path, block, root, line)
        meaning = self._roots.get(key)
        if meaning is None:
            if not self._asked.enter(key):
                return "?" + root
            meaning = self._look_up(module, root, block, line)
            self._asked.leave(key)
            if not meaning.startswith("?") or self._asked.final:
                self._roots[key] = meaning
        return meaning

    def _look_up(self, module: Module, root: str, block: int, line: int) -> str:
        here = block
        first = True
        while here >= 0:
            record = module.blocks[here]
            if root in module.params.get(here, ()):
                owner = module.owner_of_self(root, here)
                if owner >= 0:
                    return module.settle(block, root, f"{module.name}:{module.blocks[owner].name}()")
                if root not in module.names.get(here, ()):
                    return module.settle(block, root, "?" + root)
                return self._rebound(module, here, root, block, line)
            if module.scope[here] == here and (record.kind != "class" or first):
                meaning = self._in_scope(module, here, root, block, line)
                if meaning:
                    bound = len(module.names.get(here, {}).get(root, ()))
                    once = (
                        bound + (root in module.imports.get(here, ())) <= 1
                        and (here, root) not in module.repeated_imports
                    )
                    final = len(self._asked.active) <= _TOP or not meaning.startswith(
                        "?"
                    )  # deeper down it may be a circle
                    return module.settle(block, root, meaning) if once and final else meaning
            first = first and record.kind not in ("function", "lambda")
            here = record.parent
        return self._from_stars(module, root) or root

    def _rebound(self, module: Module, scope: int, root: str, block: int, line: int) -> str:
        """What a parameter has been made before this place, else that it is unknown."""
        before = bound_before(module.names.get(scope, {}).get(root, []), line)
        for bind in module.reaching(before, block, line) if before else ():
            name = self.of_bind(module, bind)
            if not name.startswith("?"):
                return name
        return "?" + root

    def _in_scope(self, module: Module, scope: int, root: str, block: int, line: int) -> str:
        binds = module.names.get(scope, {}).get(root)
        record = module.import_of(scope, root, block, line)
        if record is not None and not (binds and _may_be_rebound(module, record, binds, block, line)):
            return self.imported.meaning(module, root, imports_at(module, record, scope, block))
        if not binds:
            return ""
        for bind in module.reaching(binds, block, line):
            name = self.of_bind(module, bind)
            if not name.startswith("?"):
                return name
        return self.of_import(module, record) if record is not None else "?" + root

    def of_bind(self, module: Module, bind: Assignment) -> str:
        """The canonical name of what one assignment binds."""
        return self.of_value(module, bind.value, bind.block, bind.line)

    def of_import(self, module: Module, record: Import) -> str:
        """The canonical name that an import binds."""
        if not record.name:
            target = self.project.find(record.module, module, record.level)
            if target is not None:
                return f"{target.name}:"
            return canonical(self.project.foreign_name(record.module, module) if record.alias else record.module)
        base = self.project.source(record, module)
        if base is not None:
            exported = self.exported(base, record.name)
            if exported:
                return exported
        dotted = f"{record.module}.{record.name}" if record.module else record.name
        inner = self.project.find(dotted, module, record.level)
        if inner is not None:
            return f"{inner.name}:"
        dotted = self.project.foreign_name(dotted, module, record.level)
        return canonical(dotted) if dotted else "?" + record.name

    def exported(self, module: Module, name: str) -> str:
        """What `module` offers under `name`, or an empty text."""
        key = (module.path, -1, name, 0)
        if not self._asked.enter(key):
            return ""
        meaning = self._in_scope(module, 0, name, 0, 1 << 30) or self._from_stars(module, name)
        self._asked.leave(key)
        return meaning

    def _from_stars(self, module: Module, name: str) -> str:
        for record in module.stars:
            target = self.project.find(record.module, module, record.level)
            if target is not None:
                if not name.startswith("_"):
                    stars = self.exported(target, name)
                    if stars:
                        return stars
            elif name in star_exports(record.module):
                return canonical(f"{record.module}.{name}")
        return ""

    def member(self, base: str, part: str) -> str:
        """The canonical name of ``base.part``."""
        if ":" in base and not base.startswith("?"):
            return self._own_member(base, part)
        if base.startswith(_ALIASED):
            return canonical(f"{base}.{part}")
        return f"{base}.{part}"

    def _own_member(self, base: str, part: str) -> str:
        module_name, _, qualname = base.partition(":")
        module = self.named(module_name)
        if module is None:
            return f"{base}.{part}"
        if not qualname:
            inner = self.project.find(f"{module_name}.{part}", module) if "__init__" in module.path else None
            return self.exported(module, part) or (f"{inner.name}:" if inner else f"{base}{part}")
        if qualname.endswith("()"):
            return self._instance_member(module, qualname[:-2], part) or f"{base}.{part}"
        return f"{base}.{part}"

    def _instance_member(self, module: Module, qualname: str, part: str) -> str:
        block = self.block_named(module, qualname)
        if block < 0 or module.blocks[block].kind != "class":
            return ""
        if module.definition(block, part) >= 0:
            return f"{module.name}:{qualname}.{part}"
        binds = module.attributes.get(block, {}).get(part) or module.names.get(block, {}).get(part) or ()
        for bind in reversed(binds):
            key = ("attribute", module.path, block, part, bind.line)
            if not self._asked.enter(key):
                continue
            name = self.of_bind(module, bind)
            self._asked.leave(key)
            if not name.startswith("?"):
                return name
        question = ("inherited", module.path, block, part)
        if binds or not self._asked.enter(question):
            return ""
        meaning = self._inherited(module, block, part)
        self._asked.leave(question)
        return meaning

    def _inherited(self, module: Module, block: int, part: str) -> str:
        record = module.blocks[block]
        key = ("bases", module.path, block)
        if not self._asked.enter(key):  # the base's name stands for an instance of the class itself
            return ""
        bases = [self.of_value(module, base, record.parent, record.line) for base in record.bases]
        self._asked.leave(key)
        for name in bases:
            parent = self.named(name.partition(":")[0]) if ":" in name else None
            if parent is not None:
                inherited = self._instance_member(parent, name.partition(":")[2], part)
                if inherited:
                    return inherited
            elif not name.startswith("?") and name not in _WITHOUT_MEMBERS:
                return f"{name}().{part}"
        return ""

    def named(self, name: str) -> Module | None:
        """The project's module of this dotted name."""
        return self._by_name.get(name)

    def block_named(self, module: Module, qualname: str) -> int:
        """The block of the function or class `qualname` in `module`, or -1."""
        return module.qualified.get(qualname, -1)

    def called(self, module: Module, index: int) -> list[tuple[Module, int]]:
        """The project's own functions and classes that call number `index` of a module may be of: one, unless its name
        is imported in the branches of a condition."""
        name = self.of_call(module, index)
        definition = self.function(name)
        if definition is not None or name[1:] not in self._chosen_imports:
            return [] if definition is None else [definition]
        call = module.code.calls[index]
        written = call.callee.name if isinstance(call.callee, Ref) else ""
        chosen = self.imported.choices(module, written, call.block)
        return [function for choice in chosen if (function := self.function(choice)) is not None]

    @cached_property
    def _chosen_imports(self) -> frozenset[str]:
        """The names that are imported in the branches of a condition anywhere."""
        modules = self.project.modules.values()
        return frozenset([name for module in modules for _, name in module.branch_imports])

    def function(self, name: str) -> tuple[Module, int] | None:
        """The project's own function or class with this canonical name."""
        if ":" not in name or name.startswith("?"):
            return None
        if name not in self._functions:
            module_name, _, qualname = name.partition(":")
            module = self.named(module_name)
            block = self.block_named(module, qualname.replace("()", "")) if module is not None else -1
            self._functions[name] = (module, block) if module is not None and block >= 0 else None
        return self._functions[name]


def _regular(module: Module, returns: list[Return]) -> list[Return]:
    """The returns of a function but for those of its handlers of exceptions, unless it has no others."""
    tried = [r for r in returns if not any(module.blocks[b].kind == "except" for b in module.ancestors(r.block))]
    return tried or returns


def _is_plain(name: str) -> bool:
    return not name.startswith(("?", "tensorflow.")) and ":" not in name and "(" not in name


def _framework_result(callee: str) -> str:
    """Results that keep their type through method chains."""
    if callee.startswith(("tensorflow.data.", "tensorflow.contrib.data.")):
        last = callee.rsplit(".", 1)[1]
        if callee.startswith("tensorflow.data.Iterator") or last.startswith(_NOT_DATASET):
            return "tensorflow.data.Iterator()" if last.startswith("make_") and "iterator" in last else callee + "()"
        if last in _TRANSFORMATIONS and ("experimental" in callee or "contrib" in callee):
            return callee + "()"
        return _DATASET
    return callee + "()"


# Functions of tf.data.experimental / tf.contrib.data that give a transformation, not a dataset.
_TRANSFORMATIONS = frozenset(
    "map_and_batch shuffle_and_repeat prefetch_to_device parallel_interleave sloppy_interleave ignore_errors unbatch "
    "batch_and_drop_remainder bucket_by_sequence_length group_by_window scan enumerate_dataset copy_to_device "
    "dense_to_sparse_batch padded_batch_and_drop_remainder filter_for_shard rejection_resample unique "
    "take_while".split()
)


def _may_be_rebound(module: Module, record: Import, binds: list[Assignment], block: int, line: int) -> bool:
    """Whether assignments may have bound a name anew since it was imported: one stands behind the import, and not only
    behind the line that uses it (``f = wrapped(f)``)."""
    later = [bind for bind in binds if bind.line > record.line]
    here = module.scope[record.block] == module.scope[block] and record.line < line
    if not later or not here or any(module.blocks[around].kind == "loop" for around in module.ancestors(block)):
        return bool(later)
    return any(bind.line < line for bind in later)

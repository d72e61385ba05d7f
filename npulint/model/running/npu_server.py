"""The model of the NPU server: the values of conditions, helpers and imports where torch has an NPU and no CUDA.

Three values throughout: what is not certain there stays unknown. Whether CUDA answers is certain only in projects that
name the NPU themselves; transfer_to_npu makes the functions of CUDA answer for the NPU, and a project that names no NPU
will be moved by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from functools import cached_property

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.facts.values import NO, NOTHING, YES, PossibleValues, merge, truth
from npulint.model.code.mentions import mentioning_blocks
from npulint.model.running.adaptors import stands_in_for, transferred
from npulint.model.running.backend_tables import modules_of_other_backends
from npulint.model.running.exits import Exits
from npulint.model.running.importers import import_places
from npulint.model.running.npu_answers import answer, found_program, importable
from npulint.model.running.own_classes import class_names, class_users
from npulint.model.values.arithmetic import apply
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import memoized, walker

_OTHER_DEVICES = frozenset(("cuda", "gpu", "xpu", "mps", "hip", "hpu", "xla", "mlu", "musa", "rocm"))
_OF_ONE_DEVICE = lazy_compile(r"(?i)(?:cuda|gpu|rocm|cpu|xpu|hpu|mlu|musa)(\w+)$")
_IMPORT_ERRORS = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException", "OSError"))
_EQUALITY = {"==": True, "in": True, "is": True, "!=": False, "not in": False, "is not": False}
_FIND_SPEC = frozenset(("importlib.util.find_spec", "importlib.find_loader", "pkgutil.find_loader"))
_CONVERSIONS = frozenset(("bool", "str", "int", "torch.device"))


class NpuServer:
    """The model for the code of one project; create with `npu_server`."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._exits = Exits(self.taken, self._failing_imports)
        self._answers = 0  # how many values came from the machine

    # -- the machine -------------------------------------------------------------------------------

    @cached_property
    def transferred(self) -> bool | None:
        """Whether the functions of CUDA answer for the NPU; None where the project does not say it or does not name the
        NPU at all."""
        if transferred(self.context):
            return True
        modules = (module for module in self.context.project.modules.values() if module.code.npu)
        return None if all(is_test_file(module.path) for module in modules) else False

    # -- conditions --------------------------------------------------------------------------------

    def truth(self, test: Expr) -> bool | None:
        """The truth value of a condition there; None if undetermined, or if it has nothing to do with the machine:
        what settings make of it is up to those who change them."""
        before = self._answers
        holds = truth(self.value(test))
        return holds if self._answers > before else None

    def from_machine(self, values: PossibleValues) -> PossibleValues:
        """Note that a value, unless it is unknown, comes from the machine."""
        self._answers += values is not NOTHING
        return values

    def value(self, expression: Expr) -> PossibleValues:
        """The scalars that an expression may have there; of a device its text."""
        values, is_from_machine = _answered(expression, self)
        self._answers += is_from_machine
        return values

    def answered(self, expression: Expr) -> tuple[PossibleValues, bool]:
        """The same worked out anew, and whether anything in it came from the machine."""
        before = self._answers
        values = _value(expression, self)
        return values, self._answers > before

    def recorded(self, name: str) -> PossibleValues:
        """What the table has for a canonical name."""
        values = answer(name, bool(self.transferred))
        if self.transferred is None and values is not NOTHING:
            other = answer(name, True)
            values = NOTHING if other is NOTHING else merge([values, other])
        return self.from_machine(values)

    def has(self, name: str) -> PossibleValues:
        """Whether a module has a member."""
        release = self.context.torch_release
        newer = release is not None and release >= (2, 6)
        return YES if name == "torch.npu" or (name == "torch.accelerator" and newer) else NOTHING

    def importable(self, module: str) -> bool | None:
        """Whether a module can be imported; None if that depends on what is installed."""
        is_importable = importable(module)
        return None if is_importable is False and stands_in_for(self.context, module) else is_importable

    # -- what runs ---------------------------------------------------------------------------------

    def runs(self, scope: Scope, line: int = 0) -> Flag:
        """Whether a block, or what stands at `line` of it, runs there when what is around it is run: ``no`` behind a
        condition that is false there, after a return, or where an import has failed."""
        here = self.runs_with_module(scope, line)
        return "no" if here != "no" and scope.path in _unused_modules(self) else here

    def runs_with_module(self, scope: Scope, line: int = 0) -> Flag:
        """The same whenever its module is imported."""
        if line and self.is_dead(scope, line):
            return "no"
        return _block_runs(scope)

    def block_runs(self, scope: Scope) -> Flag:
        """Whether a block runs whenever its module is imported, worked out anew."""
        here = self.taken(scope)
        around = scope.parent
        if around is None or here == "no":
            return here
        outer = self.runs_with_module(around, scope.record.line)
        if outer == "no":
            return outer
        if scope.kind == "function":
            return "no" if self._only_dead_code_uses(scope) else "yes"
        if scope.kind in ("lambda", "class"):
            return "no" if self._is_class_of_another(scope) else "yes"
        return outer if here == "yes" else here

    def unused_modules(self) -> Iterator[str]:
        """The paths of modules that only code imports that does not run there, or that are for other back ends in a
        table with one for the NPU, worked out anew; tests do not count.

        From each module that something imports, the imports that run with their modules are followed to one that
        nothing imports, or around in a circle.
        """
        importers = import_places(self.context)
        used: set[str] = set()
        unused: set[str] = set(modules_of_other_backends(self.context))
        for start in importers:
            chain = {} if start in unused else {start: iter(importers[start])}
            while chain and start not in used:
                places = next(reversed(chain.values()))
                importer = next((scope for scope, line in places if self._imports(scope, line, unused)), None)
                if importer is None:
                    unused.add(chain.popitem()[0])
                elif importer.path in used or importer.path in chain or importer.path not in importers:
                    used.update(chain)
                else:
                    chain[importer.path] = iter(importers[importer.path])
        yield from unused

    def _imports(self, scope: Scope, line: int, unused: Set[str]) -> bool:
        """Whether an import is executed, perhaps, if its module is none of those that are not."""
        return scope.path not in unused and self.runs_with_module(scope, line) != "no"

    def _is_class_of_another(self, owner: Scope) -> bool:
        """Whether a class of a project that was moved by hand is for another device."""
        return self.transferred is False and (self._has_sibling_for_npu(owner) or self._only_dead_code_names(owner))

    def _only_dead_code_names(self, owner: Scope) -> bool:
        """Whether code uses a class, but none that runs: ``return CudaPlatform()`` behind a question for CUDA."""
        users = class_users(self.context).get(owner.last_name, ())
        outside = [user for user in users if user is not owner and not user.is_inside(owner)]
        return bool(outside) and not owner.decorators and all(self.runs(scope) == "no" for scope in outside)

    def _has_sibling_for_npu(self, owner: Scope) -> bool:
        """Whether a class is for another device, and one for the NPU has the same name otherwise: ``CudaPlatform`` and
        ``NpuPlatform``, of which a project uses that of the device that is there."""
        match = _OF_ONE_DEVICE.match(owner.last_name)
        if match is None:
            return False
        rest = match[1].lower()
        return any(f"{word}{rest}" in class_names(self.context) for word in ("npu", "ascend"))

    def _only_dead_code_uses(self, function: Scope) -> bool:
        """Whether a private function of a module is used, and only by code that does not run."""
        name = function.record.name
        if not name.startswith("_") or "." in name or function.decorators:
            return False
        blocks = Counter(function.module.derive(mentioning_blocks).get(name, ()))
        for call in function.callers:
            if self.runs(call.scope, call.line) == "no":
                blocks[call.scope.block] -= call.scope.module is function.module
            elif call.scope.module is not function.module:
                return False
        return bool(blocks) and all(not left or self.runs(function.at(block)) == "no" for block, left in blocks.items())

    def taken(self, scope: Scope) -> Flag:
        """Whether a branch is taken there, or a handler entered; other blocks always are, loops perhaps."""
        if scope.kind in ("if", "else"):
            holds = _holds(scope)
            return "unknown" if holds is None else "yes" if holds == (scope.kind == "if") else "no"
        if scope.kind == "except":
            return self._handles(scope)
        return "unknown" if scope.kind == "loop" else "yes"

    def _handles(self, handler: Scope) -> Flag:
        """Whether a handler of exceptions runs: the import that it is for fails there, or succeeds."""
        caught = {name.rpartition(".")[2] for name in handler.test.written_names}
        tried = _try_of(handler)
        if tried is None or (caught and caught.isdisjoint(_IMPORT_ERRORS)):
            return "unknown"
        answers = [self.importable(name) for name, _ in _imports_in(tried)]
        if False in answers:
            return "yes"
        only_imports = (
            bool(answers)
            and None not in answers
            and not any(call.block == tried.block for call in tried.module.code.calls)
        )
        return "no" if only_imports else "unknown"

    # -- what follows an exit ----------------------------------------------------------------------

    def is_dead(self, scope: Scope, line: int) -> bool:
        """Whether what stands at `line` of a block follows an exit that is certainly taken there, or an import that
        fails."""
        return self._exits.are_before(scope, line)

    def _failing_imports(self, module: Scope) -> list[tuple[int, int]]:
        """The ``try`` blocks of a module with imports that fail there, and the lines of these."""
        return [
            (tried.block, line)
            for tried in module.blocks_of("try")
            for name, line in _imports_in(tried)
            if self.importable(name) is False
        ]


@once
def npu_server(context: Context) -> NpuServer:
    """The one model of the server for a project."""
    return NpuServer(context)


@memoized(meanwhile=lambda: "unknown")
def _block_runs(scope: Scope) -> Flag:
    return npu_server(scope.context).block_runs(scope)


@memoized(meanwhile=frozenset)
def _unused_modules(server: NpuServer) -> frozenset[str]:
    return frozenset(server.unused_modules())


@memoized(meanwhile=lambda: None)
def _holds(branch: Scope) -> bool | None:
    """The truth value of the condition of a branch."""
    return npu_server(branch.context).truth(branch.test)


@walker(depth=16, otherwise=lambda: (NOTHING, False), kept=True)
def _answered(expression: Expr, server: NpuServer) -> tuple[PossibleValues, bool]:
    return server.answered(expression)


def _value(expression: Expr, server: NpuServer) -> PossibleValues:
    if expression.is_literal:
        return expression.known
    if expression.call is not None:
        return _of_call(expression.call, server)
    if expression.written:
        return _of_name(expression, server)
    if expression.operator in _EQUALITY and _is_other_device(expression, server):
        return server.from_machine(NO if _EQUALITY[expression.operator] else YES)
    if expression.operator in ("[]", "."):
        return _of_part(expression, server)
    if expression.operator == "if":
        test, chosen, other = expression.operands()
        holds = server.truth(test)
        if holds is not None:
            return server.value(chosen if holds else other)
    if expression.operator:
        return apply(expression.operator, [server.value(operand) for operand in expression.operands()])
    return NOTHING


def _of_name(expression: Expr, server: NpuServer) -> PossibleValues:
    values = server.recorded(expression.name)
    if values is not NOTHING:
        return values
    if expression.written.endswith(".is_cuda"):
        return server.from_machine(NO if server.transferred is False else NOTHING)
    if expression.written.endswith(".type"):
        return _kind_of_device(expression.scope.named(expression.written[: -len(".type")], expression.line), server)
    plain = expression.known
    assignments = expression.assignments
    if plain.symbol:  # an option is what its user makes it
        return PossibleValues(plain.values, False, plain.symbol)
    if (plain.exact and len(plain.values) == 1) or not assignments:
        return plain
    live = [assignment for assignment in assignments if server.runs(assignment.scope, assignment.line) != "no"]
    if not live or expression.passed_to is not None:
        return plain
    if len(live) < len(assignments):
        server.from_machine(NO)
    merged = merge([server.value(assignment.value) for assignment in live])
    return merged if merged.exact else plain if len(live) == len(assignments) else merged


def _kind_of_device(device: Expr, server: NpuServer) -> PossibleValues:
    values = server.value(device)
    texts = [value for value in values.values if isinstance(value, str)]
    if len(texts) != len(values.values) or not texts:
        return NOTHING
    return PossibleValues(tuple(dict.fromkeys(text.partition(":")[0] for text in texts)), values.exact, values.symbol)


def _of_part(expression: Expr, server: NpuServer) -> PossibleValues:
    """An element of a display whose index is known, or an attribute of what a call gives."""
    values = server.recorded(expression.name)
    if values is not NOTHING or expression.subscript is None:
        attribute = expression.attribute
        if values is NOTHING and attribute is not None and attribute[1] == "type":
            return _kind_of_device(attribute[0], server)
        return values
    holder, index = expression.subscript
    key = server.value(index).single
    for display in holder.displays if key is not None else ():
        for entry, value in display.entries:
            if entry is not None and entry.literal == key:
                return server.value(value)
    return expression.known


def _of_call(call: CallSite, server: NpuServer) -> PossibleValues:
    name = call.name
    values = server.recorded(f"{name}()")
    if values is not NOTHING:
        return values
    first = call.args[0] if call.args else None
    if first is not None:
        if name in _CONVERSIONS:
            scalars = server.value(first)
            return apply(name, [scalars]) if name == "bool" else scalars
        if name in _FIND_SPEC:
            return server.from_machine(_availability(first.single, server))
        if name == "shutil.which":
            return server.from_machine(found_program(str(first.single)))
        if name == "hasattr":
            return server.from_machine(server.has(f"{first.name}.{call.args[-1].literal}"))
    target = call.target
    if target is None or target.kind == "class":
        return call.result.known
    scalars = _returned(target, server)
    if scalars.exact:
        return scalars
    by_name = server.recorded(f"*.{target.record.name.rpartition('.')[2]}()")  # a convention for such helpers
    return scalars if by_name is NOTHING else by_name


def _availability(module: object, server: NpuServer) -> PossibleValues:
    is_importable = server.importable(module) if isinstance(module, str) else None
    return NOTHING if is_importable is None else YES if is_importable else PossibleValues((None,), True)


@walker(depth=8, otherwise=lambda: NOTHING)
def _returned(function: Scope, server: NpuServer) -> PossibleValues:
    """What an own function gives there: the values of the returns that run, up to the first that surely does."""
    valueses = []
    for record in function.module.returns.get(function.block, ()):
        scope = function.at(record.block)
        answer = server.runs(scope, record.line)
        if answer == "no":
            server.from_machine(NO)
        else:
            valueses.append(server.value(Expr(record.value, scope, record.line + 1)))
    return merge(valueses) if valueses else NOTHING


def _is_other_device(comparison: Expr, server: NpuServer) -> bool:
    """Whether the kind of a device in use is compared with devices of other makers only."""
    left, right = comparison.operands()
    for subject, others in ((left, right), (right, left)):
        texts = [expr.literal for expr in (others.items if others.is_display else [others])]
        kinds = {text.partition(":")[0] for text in texts if isinstance(text, str)}
        if kinds and len(kinds) == len(texts) and kinds <= _OTHER_DEVICES:
            return _says_device(subject) or (server.transferred is not None and _is_kind_of_unknown(subject, server))
    return False


def _says_device(value: Expr) -> bool:
    """Whether an expression is the kind of a tensor's device: ``x.device.type``, ``str(x.device)``."""
    call = value.call
    if call is not None and call.written == "str" and call.args:
        return call.args[0].dotted.endswith(".device")
    return value.dotted.endswith(".device.type")


def _is_kind_of_unknown(value: Expr, server: NpuServer) -> bool:
    """Whether an expression, or all that a name stands for, is the ``type`` of something that the code does not say:
    a device that is handed on, which in a project that was moved is the NPU."""
    exprs = [assignment.value for assignment in value.assignments] if value.written.isidentifier() else []
    kinds = exprs or [value]
    return all(kind.dotted.endswith(".type") and not server.value(kind).exact for kind in kinds)


def _try_of(handler: Scope) -> Scope | None:
    """The ``try`` that a handler of exceptions belongs to."""
    block, blocks = handler.block - 1, handler.module.blocks
    while block > 0 and blocks[block].kind == "except" and blocks[block].parent == handler.record.parent:
        block -= 1
    tried = blocks[block]
    return handler.at(block) if tried.kind == "try" and tried.parent == handler.record.parent else None


def _imports_in(tried: Scope) -> list[tuple[str, int]]:
    """The modules that a ``try`` imports directly, with their lines."""
    records = (
        import_record
        for import_record in tried.module.code.imports
        if import_record.block == tried.block and not import_record.level
    )
    return [
        (f"{record.module}.{record.name}" if record.name not in ("", "*") else record.module, record.line)
        for record in records
    ]

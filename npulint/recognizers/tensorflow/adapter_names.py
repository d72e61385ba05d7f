"""Names of the TensorFlow adapter that no release has: misspelt ones, and ones of another module."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from npulint.data.names import canonical, star_exports
from npulint.data.npu_symbols import ROOTS, is_module, meant, meant_by_star, missing
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.model.code.module import Module
from npulint.model.programs.project_options import NO_OPTIONS, ProjectOptions
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.import_failures import is_optional
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import Scope, scope_at
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules

NONE = "-"
_BUILTINS = frozenset(dir(builtins))
_DEEP = 8  # modules that a star import is followed through


@fact_kind("adapter_name")
class UnknownAdapterName(PlaceFact):
    """A name of npu_bridge or npu_device is imported or used that no recorded release of the adapter has; the name is
    the dotted name."""

    _module: str
    _options: ProjectOptions = NO_OPTIONS

    def complete(self, options: ProjectOptions) -> None:
        """Stores the options of the whole project, which are known only when all facts exist."""
        self._options = options

    @attribute
    def member(self) -> str:
        """The part of the name that does not exist."""
        return self.name.removeprefix(f"{self._module}.").partition(".")[0]

    @attribute
    def holder(self) -> str:
        """The module that does not have it."""
        return self._module

    @attribute
    def nearest(self) -> str:
        """The dotted name that is probably meant, or ``-``. It is one that the declared release of the adapter may
        have; with a release that is not recorded only very similar names count."""
        declared = self._options.declared
        return meant(self._module, self.member, declared.adapter, declared.cann) or NONE


@recognizes_in_modules
def unknown_adapter_names(module: Scope) -> Iterator[Fact]:
    """The names of the adapter in a module that do not exist, each at its import, else wherever it is used."""
    if _has_own_adapter(module.context):
        return
    imported: set[str] = set()
    for fact in _imported(module):
        imported.add(fact.name)
        yield fact
    uses = dict.fromkeys((*_used(module), *_starred(module)))
    for name, block, span in uses:
        wrong = missing(name)
        full = "" if wrong is None else ".".join(wrong)
        if wrong is not None and full not in imported and not _is_provided(module, *wrong):
            yield UnknownAdapterName(module.at(block), span, full, wrong[0])


@once
def _has_own_adapter(context: Context) -> bool:
    """Whether the project contains a package of that name: a copy, or a stand-in for other machines."""
    parts = (path.removesuffix(".py").split("/") for path in context.project.modules)
    return any(not set(ROOTS).isdisjoint(part) for part in parts)


def _imported(module: Scope) -> Iterator[UnknownAdapterName]:
    """The imports of what does not exist, but for those that may fail."""
    for record in module.module.code.imports:
        if record.level or record.module.partition(".")[0] not in ROOTS:
            continue
        scope = module.at(record.block)
        if module.context.project.imported(module.module, record) or is_optional(scope):
            continue
        name = record.module if record.name in ("", "*") else f"{record.module}.{record.name}"
        wrong = missing(name)
        if wrong is not None and not _is_provided(module, *wrong):
            yield UnknownAdapterName(scope, Span.of(record), ".".join(wrong), wrong[0])


def _used(module: Scope) -> Iterator[tuple[str, int, Span]]:
    """The canonical names of the adapter that a module calls or mentions."""
    names, code = module.context.names, module.module.code
    if not any(import_record.module.partition(".")[0] in ROOTS for import_record in code.imports):
        return
    for index, name in enumerate(names.of_calls(module.module)):
        if name.startswith(ROOTS) and "(" not in name:  # the call of the part before it is told itself
            call = code.calls[index]
            yield name, call.block, Span.of(call)
    for use in code.name_uses:
        name = names.of_name(module.module, use.name, use.block, use.line)
        if name.startswith(ROOTS) and "(" not in name:
            yield name, use.block, Span.of(use)


def _starred(module: Scope) -> Iterator[tuple[str, int, Span]]:
    """The undefined names of a module that probably misspell what a star import of the adapter brings."""
    stars = _stars(module, _DEEP)
    own = [star for star in stars if star.partition(".")[0] in ROOTS and is_module(star)]
    if not own or any(star not in own and not star_exports(star) for star in stars):
        return
    homes: dict[str, str] = {}
    for call in module.all_calls:
        for value in (call.callee, *call.arguments):
            root = value.written.partition(".")[0]
            if root and root not in homes:
                is_defined = root in _BUILTINS or _is_bound(module.module, root)
                homes[root] = "" if is_defined else next((star for star in own if meant_by_star(star, root)), "")
            if root and homes[root] and value.name.partition(".")[0] == root:
                yield canonical(f"{homes[root]}.{root}"), call.scope.block, call.span


@walker(depth=_DEEP, otherwise=list)
def _stars(module: Scope, left: int) -> list[str]:
    """The modules outside the project that star imports lead to, also those of the project's own modules."""
    stars: list[str] = []
    for record in module.module.stars:
        target = module.context.project.find(record.module, module.module, record.level)
        if target is None:
            stars.append(record.module or "?")
        else:
            stars += _stars(scope_at(module.context, target, 0), left - 1)
    return stars


def _is_bound(module: Module, name: str) -> bool:
    """Whether anything in a module binds a name."""
    return name in module.shadowed or any(name in table for table in module.imports.values())


def _is_provided(module: Scope, holder: str, member: str) -> bool:
    """Whether the code sets the name itself, or asks whether it exists."""
    ends = (f"{holder}.{member}", f"{holder.rpartition('.')[2]}.{member}")
    if any(target.endswith(ends) for target in module.module.dotted):
        return True
    return any(value.text == member for call in module.calls_named("hasattr", "getattr") for value in call.args)

"""The modules that scripts import: by statements, by computed names, and as configurations say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Const
from npulint.model.code.module import Module
from npulint.model.programs.configured.targets import modules_of_configurations
from npulint.model.values.choices import IMPORTERS, imported_by_name
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, call_at
from npulint.model.values.script_role import is_test_file

_MAKERS = frozenset(("instantiate", "get_class", "get_method", "get_object", "call"))  # of Hydra, by dotted names
_DOTTED = lazy_compile(r"^[A-Za-z_]\w*(?:\.\w+)+$")


class ImportedModules:
    """The imports of a project, as paths of its modules. `computed` are those that are imported by computed names, as
    far as imports were followed."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._next: dict[str, list[str]] = {}
        self.computed: set[str] = set()

    @cached_property
    def imported(self) -> set[str]:
        """The paths of the modules that other modules import."""
        return {target for path in self._context.project.modules for target in self._imports(path) if target != path}

    def closure(self, module: Module) -> set[str]:
        """The paths of all project modules that `module` can import, including itself."""
        seen: set[str] = set()
        queue = [module.path]
        while queue:
            path = queue.pop()
            if path not in seen:
                seen.add(path)
                queue += self._imports(path)
        return seen

    def _imports(self, path: str) -> list[str]:
        imports = self._next.get(path)
        if imports is None:
            project = self._context.project
            computed = [target.path for target in self._by_computed_name(project.modules[path])]
            computed += [target.path for target in self._made_by_name(project.modules[path])]
            self.computed.update(computed)
            imports = self._next[path] = list(dict.fromkeys((*project.uses(path), *computed)))
        return imports

    def _by_computed_name(self, module: Module) -> list[Module]:
        """Modules imported by ``importlib.import_module("prefix." + name)`` and the like, and those of the classes that
        Hydra makes as configurations say."""
        modules: list[Module] = []
        for index in module.calls_where(lambda last: last.endswith(IMPORTERS)):
            call = call_at(self._context, module, index)
            if call.written and call.args:
                named = imported_by_name(call)
                if not call.args[0].known.exact:
                    named += modules_of_configurations(self._context, module)
                    named = named or self._left_to_names(call)
                modules += named
        made = module.calls_where(lambda last: last in _MAKERS)
        if any(call_at(self._context, module, index).name.startswith("hydra.") for index in made):
            modules += modules_of_configurations(self._context, module)
        return modules

    def _left_to_names(self, call: CallSite) -> list[Module]:
        """What an import by a name of which nothing is known may import: the modules of the importer's package that no
        statement imports, and that define what is then called of the module."""
        in_project = self._context.project.in_project
        package, slash, _ = in_project(call.path).partition("/")
        members = set(_members(call)) if slash else set()
        return [
            module
            for module in (self._unimported if members else ())
            if in_project(module.path).startswith(f"{package}/")
            and any(module.definition(0, member) >= 0 for member in members)
        ]

    @cached_property
    def _unimported(self) -> list[Module]:
        """The modules that no statement of another one imports, without scripts and tests."""
        project = self._context.project
        used = {target for path in project.modules for target in project.uses(path) if target != path}
        return [
            module
            for path, module in project.modules.items()
            if path not in used and not module.main_guards and not is_test_file(path)
        ]

    def _made_by_name(self, module: Module) -> list[Module]:
        """Modules of which a class or function is named in a text, as in ``class_name="models.unet.UNet"``, where the
        project imports by names that are computed."""
        if not self._imports_by_name:
            return []
        values = [record.value for record in module.code.assignments]
        values += [value for call in module.code.calls for _, value in call.keywords]
        texts = {value.value for value in values if isinstance(value, Const) and isinstance(value.value, str)}
        modules = []
        for text in texts:
            if _DOTTED.match(text):
                home, _, last = text.rpartition(".")
                target = self._context.project.find(home, module)
                if target is not None and target.definition(0, last) >= 0:
                    modules.append(target)
        return modules

    @cached_property
    def _imports_by_name(self) -> bool:
        """Whether some module of the project imports modules by names that are computed."""
        for module in self._context.project.modules.values():
            for index in module.calls_where(lambda last: last.endswith(IMPORTERS)):
                call = call_at(self._context, module, index)
                if call.args and not call.args[0].is_literal:
                    return True
        return False


def _members(call: CallSite) -> Iterator[str]:
    """What is called of the result of a call, in its file: ``import_module(name).Net()``, ``lib.Net()``."""
    names = {assignment.target for assignment in call.assignments}
    for other in call.scope.at(0).all_calls:
        receiver = other.receiver
        if receiver is not None and (receiver.call == call or receiver.written in names):
            yield other.last

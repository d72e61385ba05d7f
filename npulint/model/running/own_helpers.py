"""The helpers with which a project itself chooses the device: ``get_accelerator().synchronize()``,
``current_platform.device_type``, ``get_device_name()``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, module_scopes
from npulint.model.values.script_role import is_test_file

_NAME = lazy_compile(
    r"_?(?:get_)?(?:current_|torch_)?(?:accelerator|platform|device_module|device_type|device_name|torch_device)$"
)
_IS_DEVICE = lazy_compile(r"(?:device_type|device_name)$")
_DEVICE_MEMBERS = ("device_type", "device_name", "current_device_name")
_ENOUGH = 2  # modules that import it; a name in one module is that module's own affair


class OwnHelper(msgspec.Struct, frozen=True):
    """A function or object that modules of the project import from another one. `expression` is how it is written,
    `statement` the import, `members` what the project takes of it, each as it is written; `paths` are the files that
    it is imported from."""

    expression: str
    statement: str
    members: dict[str, str]
    paths: frozenset[str]

    def member(self, name: str) -> str:
        """A member as the project writes it; empty if it uses none of this name."""
        return f"{self.expression}.{name}" if name in self.members else ""

    @property
    def device(self) -> str:
        """The expression for the kind of device; empty if the helper has none."""
        if _IS_DEVICE.search(self.expression.removesuffix("()")):
            return self.expression
        member = next((self.members[name] for name in _DEVICE_MEMBERS if name in self.members), "")
        return f"{self.expression}.{member}" if member else ""


@once
def own_helpers(context: Context) -> list[OwnHelper]:
    """The helpers of a project, the one that most modules import first."""
    users: Counter[tuple[str, str]] = Counter()
    homes: dict[str, set[str]] = defaultdict(set)
    for module in context.project.modules.values():
        for record in module.code.imports:
            if record.level or not _NAME.match(record.name):
                continue
            home = context.project.find(record.module, module)
            if home is not None and home is not module:
                users[record.name, record.module] += not is_test_file(module.path)
                homes[record.name].add(home.path)
    chosen: dict[str, str] = {}
    for (name, module_name), number in users.most_common():
        if number >= _ENOUGH:
            chosen.setdefault(name, module_name)
    called, members = _uses(context, chosen) if chosen else (set(), {})
    return [
        OwnHelper(
            f"{name}()" if name in called else name,
            f"from {module_name} import {name}",
            members.get(name, {}),
            frozenset(homes[name]),
        )
        for name, module_name in chosen.items()
    ]


def _uses(context: Context, names: Container[str]) -> tuple[set[str], dict[str, dict[str, str]]]:
    """Which of these names the project calls, and what it takes of each, as it is written (``device_name()``)."""
    called: set[str] = set()
    members: dict[str, dict[str, str]] = defaultdict(dict)
    for scope in module_scopes(context):
        for call in scope.all_calls:
            if call.last in names:
                called.add(call.last)
            owner = _owner(call)
            if owner in names:
                members[owner].setdefault(call.last, f"{call.last}()")
        for use in scope.module.code.name_uses:
            holder, _, member = use.name.rpartition(".")
            if holder in names:
                members[holder][member] = member
    return called, members


def _owner(call: CallSite) -> str:
    """The last segment of what a method is called on: ``get_accelerator`` of ``get_accelerator().synchronize()``."""
    made = call.receiver.call if call.receiver is not None else None
    return made.last if made is not None else call.written.rpartition(".")[0].rpartition(".")[2]

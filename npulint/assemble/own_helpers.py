"""The helpers with which a project itself chooses the device: ``get_accelerator().synchronize()``,
``current_platform.device_type``, ``get_device_name()``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec

from npulint.assemble.context import Context, once
from npulint.assemble.cursors import CallSite, module_scopes
from npulint.assemble.script_role import is_test_file
from npulint.lazy_regex import lazy_compile

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
        found = next((self.members[name] for name in _DEVICE_MEMBERS if name in self.members), "")
        return f"{self.expression}.{found}" if found else ""


@once
def own_helpers(context: Context) -> list[OwnHelper]:
    """The helpers of a project, the one that most modules import first."""
    found: Counter[tuple[str, str]] = Counter()
    paths: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in context.project.modules.values():
        for record in module.code.imports:
            if record.level or not _NAME.match(record.name):
                continue
            home = context.project.find(record.module, module)
            if home is not None and home is not module:
                found[record.name, record.module] += not is_test_file(module.path)
                paths[record.name, record.module].add(home.path)
    chosen: dict[str, tuple[str, str]] = {}
    for key, number in found.most_common():
        if number >= _ENOUGH:
            chosen.setdefault(key[0], key)
    used = dict(_members(context, frozenset(chosen)))
    return [
        OwnHelper(
            f"{name}()" if used.get(name, {}).pop("()", "") else name,
            f"from {home} import {name}",
            used.get(name, {}),
            frozenset().union(*(some for (other, _), some in paths.items() if other == name)),
        )
        for name, home in chosen.values()
    ]


def _members(context: Context, names: frozenset[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """What the project takes of each of these names, as written (``device_name()``); ``()`` if it calls the name."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for scope in module_scopes(context) if names else ():
        for call in scope.all_calls:
            if call.last in names:
                found[call.last]["()"] = "()"
            holder, _, member = call.written.rpartition(".")
            owner = _called_on(call) if call.receiver is not None else ""
            name = owner or holder.rpartition(".")[2]
            if name in names and call.last:
                found[name].setdefault(call.last, f"{call.last}()")
        for use in scope.module.code.name_uses:
            holder, _, member = use.name.rpartition(".")
            if holder in names:
                found[holder][member] = member
    return iter(found.items())


def _called_on(call: CallSite) -> str:
    """The last segment of the call whose result a method is called on."""
    made = call.receiver.call if call.receiver is not None else None
    return made.last if made is not None else ""

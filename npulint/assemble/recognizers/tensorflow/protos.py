"""ConfigProto objects: which custom optimizers they hold and through which helpers they pass."""

from __future__ import annotations

import re
from collections import defaultdict

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.facts.code import Assignment, Call, CallResult, Op, Ref, Value
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues

_ADD = "graph_options.rewrite_options.custom_optimizers.add"
_HELPERS = frozenset(
    ("npu_config_proto", "npu_run_config_init", "set_keras_session_npu_config", "init_resource", "session_dump_config")
)
_REWRITE = ("remapping", "memory_optimization")
_REWRITER = ("rewrite_options", "rewriter_config", "rewrite_config")
_DEPTH = 4  # short names of short names
_OTHERS = frozenset(("GradFusionOptimizer", "OMPartitionSubgraphsPass"))


def site_key(site: Site) -> str:
    """A name for an object: where it was made."""
    module, index = site
    return f"{module.path}:{module.code.calls[index].line}:{module.code.calls[index].column}"


class Proto:
    """One ConfigProto: its custom optimizers (where added), rewrite options and helpers."""

    def __init__(self) -> None:
        self.entries: list[Site] = []
        self.rewrite: dict[str, PossibleValues] = {}
        self.helpers: set[str] = set()


def protos_of(context: Context) -> Protos:
    """The ConfigProto objects of the project under recognition."""
    return context.memoize("protos", lambda: Protos(context))


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """``npu_optimizer`` and ``custom_optimizer_name`` facts."""
    protos = protos_of(context)
    return [*protos.facts(module), *protos.names(module)]


class Protos:
    """All ConfigProto objects of a project by where they were made."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.by_site: dict[str, Proto] = defaultdict(Proto)
        self.entries: dict[str, tuple[Site, list[str]]] = {}
        self.unplaced: list[Site] = []
        for module in context.project.modules.values():
            for index in module.calls_of("add", "NPURunConfig", *_HELPERS):
                self._of_call(module, index)
        for module in context.project.modules.values():
            self._rewrite(module)

    def _of_call(self, module: Module, index: int) -> None:
        last = module.callee_name(index)
        call = module.code.calls[index]
        written = call.callee.name if isinstance(call.callee, Ref) else ""
        name = self.context.names.of_call(module, index)
        if last == "add" and (written.endswith("custom_optimizers.add") or name.endswith(_ADD)):
            holders = self.holders(module, written.removesuffix(".add"), call.block, call.line)
            self.entries[site_key((module, index))] = ((module, index), [site_key(h) for h in holders])
            for holder in holders:
                self.by_site[site_key(holder)].entries.append((module, index))
            if not holders:
                self.unplaced.append((module, index))
        elif name.rpartition(".")[2] in _HELPERS or name.endswith("NPURunConfig"):
            self._helper(module, index, name.rpartition(".")[2])

    def _helper(self, module: Module, index: int, helper: str) -> None:
        call = module.code.calls[index]
        values: list[Value] = [*call.args, *(v for k, v in call.keywords if "config" in k)]
        for value in values:
            for site in self.context.flow.sites(module, value, call.block, call.line):
                self.by_site[site_key(site)].helpers.add(helper)

    def holders(self, module: Module, dotted: str, block: int, line: int, depth: int = 0) -> list[Site]:
        """The objects at the root of ``config.graph_options…``, also through local short names."""
        root, _, rest = dotted.partition(".")
        base = (
            f"{root}.{rest.partition('.')[0]}"
            if self.context.project.modules and module.owner_of_self(root, block) >= 0
            else root
        )
        sites = self.context.flow.sites(module, Ref(base), block, line)
        if sites or depth > _DEPTH:
            return sites
        found: list[Site] = []
        for home, bind in self.context.flow.bindings(module, base, block, line)[:4]:
            if isinstance(bind.value, Ref) and bind.value.name != base:
                found += self.holders(home, bind.value.name, bind.block, bind.line, depth + 1)
            elif isinstance(bind.value, Op) and bind.value.op == ".":
                value: Value = bind.value
                while isinstance(value, Op) and value.op == ".":
                    value = value.operands[0]
                if isinstance(value, CallResult):
                    found += self.context.flow.sites(home, value, bind.block, bind.line)
        return found

    def _rewrite(self, module: Module) -> None:
        for target, binds in module.dotted.items():
            if not target.endswith(_REWRITE):
                continue
            head, _, last = target.rpartition(".")
            if last not in _REWRITE:
                continue
            for bind in binds:
                meaning = self.context.names.of_name(module, head, bind.block, bind.line)
                if head.endswith(_REWRITER) or meaning.endswith(_REWRITER):
                    value = self.context.known(module, bind.value, bind)
                    for holder in self.holders(module, head, bind.block, bind.line):
                        self.by_site[site_key(holder)].rewrite[last] = value

    def entry_of(self, module: Module, bind: Assignment, root: str) -> str:
        """The custom optimizer (its place) that an assignment to ``root.parameter_map[…]`` configures."""
        for site in self.context.flow.sites(module, Ref(root), bind.block, bind.line):
            key = site_key(site)
            if key in self.entries:
                return key
        return ""

    def facts(self, module: Module) -> list[Fact]:
        """``npu_optimizer`` facts: one per ``custom_optimizers.add()``."""
        found = []
        for key, (site, holders) in self.entries.items():
            if site[0] is not module:
                continue
            protos = [self.by_site[h] for h in holders]
            helpers = {h for p in protos for h in p.helpers}
            name = self._name(module, site)
            attrs = {
                "entry": key,
                "named": "yes" if name else "no",
                "spelling": _spelling(name),
                "placed": "yes" if holders else "no",
                "remapping": _switch(protos, "remapping"),
                "memory_optimization": _switch(protos, "memory_optimization"),
                "helper": "yes" if helpers - {"NPURunConfig"} else "no",
                "run_config": "yes" if "NPURunConfig" in helpers else "no",
                "target": lambda at=site[1]: _target(module, at),
                "rewriter": _rewriter(module.code.calls[site[1]]),
            }
            found.append(self.context.call_fact("npu_optimizer", name, module, site[1], **attrs))
        return found

    def names(self, module: Module) -> list[Fact]:
        """``custom_optimizer_name`` facts: where the optimizers that a module makes get their names."""
        found = []
        for key, bind in self.context.memoize(("names", module.path), lambda: self._named(module)).items():
            if key in self.entries:
                name = self.context.known(module, bind.value, bind).single
                spelled = _spelling(name if isinstance(name, str) else "?")
                found.append(
                    self.context.bind_fact(
                        "custom_optimizer_name", str(name), module, bind, spelling=spelled, target=bind.target[:-5]
                    )
                )
        return found

    def _name(self, module: Module, site: Site) -> str:
        bind = self.context.memoize(("names", module.path), lambda: self._named(module)).get(site_key(site))
        if bind is not None:
            known = self.context.known(module, bind.value, bind).single
            return known if isinstance(known, str) else "?"
        call = site[0].code.calls[site[1]]
        given = argument(call, "name", -1)
        known = None if given is None else self.context.known(site[0], given, call).single
        return "" if given is None else known if isinstance(known, str) else "?"

    def _named(self, module: Module) -> dict[str, Assignment]:
        """The first assignment of a name to each object that a module makes or is given."""
        found: dict[str, Assignment] = {}
        for target, binds in module.dotted.items():
            if target.endswith(".name"):
                for bind in binds:
                    for site in self.context.flow.sites(module, Ref(target[:-5]), bind.block, bind.line):
                        found.setdefault(site_key(site), bind)
        return found


def _target(module: Module, index: int) -> str:
    """The one name that the result of a call gets, as written."""
    given = [bind.target for bind in module.code.assignments if bind.value == CallResult(index)]
    return given[0] if len(given) == 1 and "[" not in given[0] and "(" not in given[0] else "unknown"


def _rewriter(call: Call) -> str:
    """The rewriter options to which the call adds an optimizer, as written."""
    written = call.callee.name if isinstance(call.callee, Ref) else ""
    rewriter = written.removesuffix(".custom_optimizers.add")
    return rewriter if rewriter != written and "(" not in rewriter else "unknown"


def _spelling(name: str) -> str:
    """right, wrong (meant to be the NPU's), missing, other or unknown."""
    if name in ("", "?"):
        return "unknown" if name else "missing"
    if name == "NpuOptimizer":
        return "right"
    return "wrong" if re.search(r"npu|optimi[sz]er$", name, re.IGNORECASE) and name not in _OTHERS else "other"


def _switch(protos: list[Proto], option: str) -> str:
    """off, on, unset or unknown."""
    values = [p.rewrite.get(option) for p in protos]
    if not values:
        return "unknown"
    if all(v is None for v in values):
        return "unset"
    texts = {str(x).rpartition(".")[2] for v in values if v is not None for x in v.values}
    if texts and texts <= {"OFF", "2"}:
        return "off"
    return "on" if texts and "OFF" not in texts and "2" not in texts else "unknown"

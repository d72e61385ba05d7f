"""The communication backend: every text with which a process group may be initialised, at the place where it is
written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.code import Const
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.code_places import imports_package, options_named
from npulint.model.running.conditions import BRANCHES
from npulint.model.running.guards import has_npu_branch
from npulint.model.running.surroundings import surroundings_of
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.agnostic import is_device_specific

# From callee to the parameter for the backend, and its position.
_STARTS = {
    "torch.distributed.init_process_group": ("backend", 0),
    "torch.distributed.new_group": ("backend", 2),
    "deepspeed.init_distributed": ("dist_backend", 0),
    "mmcv.runner.init_dist": ("backend", 1),
    "mmcv.runner.dist_utils.init_dist": ("backend", 1),
    "mmengine.dist.init_dist": ("backend", 1),
}
_KEYS = ("backend", "dist_backend", "distributed_backend", "ddp_backend")
_KNOWN = lazy_compile(r"^(?:\w+:)?(?:nccl|gloo|hccl|mpi|lccl)(?:,\w+:\w+)*$")
_SETTING = lazy_compile(r"Config|Cfg|Args|Params|[Pp]aram|[Ss]ettings?|Plugin|Strategy")
_FAMILIES = ("nccl", "hccl", "gloo")
Source = Literal["literal", "assigned", "option", "launcher", "parameter", "default", "config"]


class BackendOrigin(msgspec.Struct, frozen=True):
    """A place where the text of a backend is written, and its form; while searching, without the text."""

    source: Source
    scope: Scope
    span: Span
    text: str = ""
    offered: bool = False
    """Whether it is only one of those that somebody may choose."""
    replaced: bool = False
    """Whether a later assignment may replace it by something unknown."""


@fact_kind("backend")
class Backend(PlaceFact):
    """A string with which a process group may be initialised; the name is nccl, hccl, gloo or the string in lower
    case."""

    text: str
    """The text as written."""
    source: Source
    """The form of the text: a literal argument, assigned, an option's default, passed by a launcher, the default of a
    parameter that a call omits (parameter) or of a function without callers (default), an entry of a configuration."""
    callee: str
    """The function that initialises the process group, or the holder of the settings."""
    runs: Flag | None
    """Whether the process group is initialised by default."""
    beside: str
    """The other possible backends of the same call."""
    replaced: bool
    """Whether a later assignment may replace it by something unknown: ``if key in table: backend = table[key]``."""
    alone: bool = False
    """Whether the group has one process only: ``world_size=1``."""

    @attribute
    def npu_branch(self) -> bool:
        """Whether its condition has an alternative branch for the NPU."""
        return any(has_npu_branch(ancestor) for ancestor in self.scope.ancestors if ancestor.kind in BRANCHES)

    @attribute
    def device_specific(self) -> bool:
        """Whether it is for one kind of device on purpose, as for `cuda`."""
        return is_device_specific(self.scope)

    @attribute
    def of_runner(self) -> bool:
        """Whether it is a setting of a runner of OpenMMLab (``dist_cfg``, ``dist_params``), which takes HCCL on the NPU
        whatever the setting is."""
        return self.source == "config" and self.callee == "dict" and not imports_package(self.scope, "torch")

    @attribute
    def torch(self) -> bool:
        """Whether its file imports torch itself."""
        return imports_package(self.scope, "torch")


@recognizes(*_STARTS)
def process_groups(call: CallSite) -> list[Backend]:
    """The backends with which a call may initialise a process group, at the places where they are written."""
    origins = _started(call)
    siblings = [
        backend_origin
        for other in call.scope.calls_named(call.name.rpartition(".")[2])
        for backend_origin in _started(other, call.name)
    ]
    runs = surroundings_of(call.scope).active
    backends = [_backend(origin, call.name, runs, [*origins, *siblings]) for origin in origins if not origin.offered]
    size = call.argument("world_size", 3) if call.last == "init_process_group" else None
    return (
        [msgspec.structs.replace(backend, alone=True) for backend in backends]
        if size is not None and size.literal == 1
        else backends
    )


@recognizes(matching=lambda name: name == "dict" or (":" in name and _SETTING.search(name) is not None))
def settings(call: CallSite) -> list[Backend]:
    """The backends in settings: ``dict(backend="nccl")``."""
    here = BackendOrigin("config", call.scope, call.span)
    origins = [text for key, value in call.record.keywords if key in _KEYS for text in _texts(call.expr(value), here)]
    return [_backend(origin, call.name, None, origins) for origin in origins]


def _started(call: CallSite, name: str = "") -> list[BackendOrigin]:
    """The possible backends of a call; none if it calls something other than `name`."""
    value = call.argument(*_STARTS[call.name]) if call.name == (name or call.name) else None
    return [] if value is None else _origins(value, BackendOrigin("literal", call.scope, call.span))


def _backend(origin: BackendOrigin, callee: str, runs: Flag | None, among: list[BackendOrigin]) -> Backend:
    """The fact for one text; `among` are all possible texts of this call or of others in the same condition."""
    name = _family(origin.text)
    others = {_family(other.text) for other in among} - {name}
    beside = " ".join(sorted(others))
    return Backend(
        origin.scope, origin.span, name, origin.text, origin.source, callee, runs, beside, replaced=origin.replaced
    )


def _family(text: str) -> str:
    """``nccl`` also for ``cpu:gloo,cuda:nccl``."""
    lowered = text.lower()
    return next((word for word in _FAMILIES if word in lowered), lowered)


def _texts(value: Expr, here: BackendOrigin) -> list[BackendOrigin]:
    return [msgspec.structs.replace(here, text=value.text)] if _KNOWN.match(value.text.lower()) else []


@walker(depth=9, otherwise=list)
def _origins(value: Expr, here: BackendOrigin) -> list[BackendOrigin]:
    """The possible texts of `value` at the places where they are written."""
    if value.is_literal:
        return _texts(value, here)
    if value.written:
        return list(_of_name(value, here))
    call = value.call
    if call is not None:
        return list(_of_result(call, here))
    return [origin for alternative in value.alternatives for origin in _origins(alternative, here)]


def _of_result(call: CallSite, here: BackendOrigin) -> Iterator[BackendOrigin]:
    """The possible results of ``os.environ.get("BACKEND", "nccl")``, ``backend.lower()`` and project functions."""
    if call.name == "os.getenv" or call.last == "get":
        passed = call.args[1:2]
        offered = msgspec.structs.replace(here, offered=True)
        tables = [] if call.receiver is None else call.receiver.displays
        yield from (origin for table in tables for _, expr in table.entries for origin in _origins(expr, offered))
    elif call.last in ("lower", "strip") and call.written:
        passed = [] if call.receiver is None else [call.receiver]
    elif call.name in ("getattr", "str"):
        passed = call.args[2:3] if call.name == "getattr" else call.args[:1]
    else:
        for returned in call.target.returns if call.target is not None else ():
            line = returned.line - 1  # results are evaluated after their line
            yield from _origins(returned, BackendOrigin("assigned", returned.scope, Span.at(line)))
        return
    for expr in passed:
        yield from _origins(expr, here)


def _of_name(value: Expr, here: BackendOrigin) -> Iterator[BackendOrigin]:
    assignments = value.assignments
    traced = [(assignment, _origins(assignment.value, _assigned(assignment))) for assignment in assignments]
    unknown = [
        assignment
        for assignment, origins in traced
        if not origins and value.written not in assignment.value.written_names
    ]
    for assignment, origins in traced:
        replaced = any(assignment.line < other.line and other.scope is not assignment.scope for other in unknown)
        yield from (msgspec.structs.replace(it, replaced=it.replaced or replaced) for it in origins)
    if any(assignment.line < value.line and value.scope.is_inside(assignment.scope) for assignment in assignments):
        return
    options = _of_options(value)
    yield from options
    if not options and not assignments:
        yield from _of_parameter(value)
        if "." in value.written:
            yield from _set_in_configuration(value.context).get(value.written.rpartition(".")[2], ())


def _of_options(value: Expr) -> list[BackendOrigin]:
    """The default of a command line option, and the values that launchers pass."""
    holder, _, last = value.written.rpartition(".")
    options = options_named(value.context, last) if holder else []
    if not options:
        return []
    own = [option for option in options if option.scope.module is value.module]
    backend_origins = [
        text
        for option in own or options
        for text in _origins(option.default, BackendOrigin("option", option.scope, option.span))
    ]
    for option_place in own or options:
        offered = BackendOrigin("option", option_place.scope, option_place.span, offered=True)
        backend_origins += [text for choice in option_place.choices for text in _texts(choice, offered)]
    launched = BackendOrigin("launcher", options[0].scope, options[0].span)
    for text in value.context.options.launched(last, value.module):
        backend_origins += _texts(value.sibling(Const(text)), launched)
    return backend_origins


def _of_parameter(value: Expr) -> Iterator[BackendOrigin]:
    """The arguments that callers pass for a parameter, or else its default."""
    function = value.parameter_of
    if function is None:
        return
    passed = function.passed(value.written)
    for call, expr in passed:
        if expr is not None:
            yield from _origins(expr, BackendOrigin("literal", call.scope, call.span))
    left_out = any(expr is None and not call.starred for call, expr in passed)
    default = function.default(value.written)
    if default is not None and (left_out or not passed):
        span = Span.at(default.line)
        yield from _origins(default, BackendOrigin("parameter" if left_out else "default", default.scope, span))


@once
def _set_in_configuration(context: Context) -> dict[str, list[BackendOrigin]]:
    """From the last segment of a name or key to the backends that the project assigns to it (``cfg.DIST_BACKEND``)."""
    configuration: dict[str, list[BackendOrigin]] = {}
    for assignment in (assignment for module in module_scopes(context) for assignment in module.assignments):
        entries = [(key.text, value) for key, value in assignment.value.entries if key is not None]
        for key, value in ((assignment.target.rpartition(".")[2], assignment.value), *entries):
            if "backend" in key.lower():
                here = msgspec.structs.replace(_assigned(assignment), source="config")
                configuration.setdefault(key, []).extend(_texts(value, here))
    return configuration


def _assigned(assignment: AssignmentSite) -> BackendOrigin:
    return BackendOrigin("assigned", assignment.scope, assignment.span)

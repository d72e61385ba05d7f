"""Plain facts: imports, calls of frameworks and libraries, mentions, definitions, environment."""

from __future__ import annotations

from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, Op, Ref
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues

_ENVIRON_SET = frozenset(("os.environ.setdefault", "os.putenv"))
_ENVIRON_GET = frozenset(("os.getenv", "os.environ.get"))
_ROOTS = (
    "tensorflow.",
    "npu_bridge.",
    "npu_device.",
    "torch.",
    "torch_npu.",
    "keras.",
    "horovod.",
    "precision_tool.",
    "apex.",
    "tfdbg_ascend",
)


_QUIET = (
    "numpy.",
    "os.path.",
    "math.",
    "time.",
    "re.",
    "logging.",
    "matplotlib.",
    "pandas.",
    "scipy.",
    "cv2.",
    "PIL.",
    "json.",
    "random.",
)


def matches(name: str) -> bool:
    """Members of known packages, but for those that no check will ever ask about."""
    return "." in name and not name.startswith("?") and ":" not in name and not name.startswith(_QUIET)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``call`` fact unless the callee is the project's own or unknown; environment facts."""
    call = module.code.calls[index]
    if name in _ENVIRON_SET or name in _ENVIRON_GET:
        return _environment(context, module, index, name)
    if name == "functools.partial" and call.args:
        inner = context.names.of_value(module, call.args[0], call.block, call.line)
        return [context.call_fact("call", inner, module, index, passed="yes")] if inner.startswith(_ROOTS) else []
    if name == "tensorflow.log":
        of = "one_plus" if _one_plus(context, module, call) else "other"
        return [context.call_fact("call", name, module, index, of=of)]
    if name == "torch.load":
        return [context.call_fact("call", name, module, index, of=partial(_loaded, module, index))]
    return [context.call_fact("call", name, module, index)]


def _loaded(module: Module, index: int) -> str:
    from npulint.assemble.recognizers.torch.checkpoints import content  # few ask

    return content(module, index)


def _one_plus(context: Context, module: Module, call: Call) -> bool:
    """Whether the first argument is ``1 + x`` in either order."""
    value = argument(call, "x", 0)
    if not isinstance(value, Op) or value.op != "+":
        return False
    return any(context.known(module, v, call).single == 1 for v in value.operands)


def _environment(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    call = module.code.calls[index]
    variable = context.known(module, call.args[0], call).single if call.args else None
    if not isinstance(variable, str):
        return []
    if name in _ENVIRON_GET:
        return [context.call_fact("environment_read", variable, module, index)]
    value = context.known(module, call.args[1], call) if len(call.args) > 1 else PossibleValues()
    return [context.call_fact("environment", variable, module, index, value=value, via="python")]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """Facts that are no calls: imports, mentions, definitions, ``os.environ[...] = …``."""
    return [
        *_imports(context, module),
        *_mentions(context, module),
        *_definitions(module),
        *_assigned(context, module),
        *_options(context, module),
    ]


def _imports(context: Context, module: Module) -> list[Fact]:
    found = []
    for record in module.code.imports:
        if context.project.imported(module, record):
            continue
        if record.level:
            continue
        name = record.module if record.name in ("", "*") else f"{record.module}.{record.name}"
        around = module.ancestors(record.block) if record.block else ()
        tried = any(module.blocks[b].kind in ("try", "except") for b in around)
        attrs = {
            "star": "yes" if record.name == "*" else "no",
            "guarded": "yes" if tried else "no",
            "used": lambda alias=record.alias: _used(context, module, alias),
        }
        span = Span(record.line, record.column, record.line, record.end_column)
        found.append(Fact("import", name, module.path, span, attrs, None, context.around(module, record.block)))
    return found


def _used(context: Context, module: Module, alias: str) -> str:
    """Whether the file calls or mentions what an import gives; unknown where that has no name."""
    if not alias or alias == "*":
        return "unknown"
    return "yes" if alias in context.memoize(("roots", module.path), lambda: _roots(module)) else "no"


def _roots(module: Module) -> set[str]:
    """The first names of all that a file calls or mentions."""
    called = [call.callee.name for call in module.code.calls if isinstance(call.callee, Ref)]
    return {name.partition(".")[0] for name in (*called, *(record.name for record in module.code.name_uses))}


def _mentions(context: Context, module: Module) -> list[Fact]:
    """A ``mention`` for each; what is handed to somebody who may call it is a ``call`` as well."""
    named = []
    for record in module.code.name_uses:
        name = context.names.of_name(module, record.name, record.block, record.line)
        if name.startswith(_ROOTS) and "()" not in name:
            named.append((name, record))
    passed = _passed(module) if named else set()
    found = []
    for name, record in named:
        attrs = {"passed": "yes" if record.name in passed else "no"}
        span = Span(record.line, record.column, record.line, record.end_column)
        around = context.around(module, record.block)
        found.append(Fact("mention", name, module.path, span, attrs, None, around))
        if record.name in passed:
            found.append(Fact("call", name, module.path, span, dict(attrs), None, around))
    return found


def _options(context: Context, module: Module) -> list[Fact]:
    """The options that a module defines, with what they are unless somebody says otherwise."""
    found = []
    for name, options in context.options.by_module.get(module.path, {}).items():
        for option in options:
            call = option.call
            value = context.known(module, option.value, call)
            span = Span(call.line, call.column, call.end_line, call.end_column)
            around = context.around(module, call.block)
            found.append(Fact("option", name, module.path, span, {"value": value}, None, around))
    return found


def _passed(module: Module) -> set[str]:
    """Names handed to calls: a function among them is called by somebody else."""
    partial = set(module.calls_of("partial"))
    calls = [call for index, call in enumerate(module.code.calls) if index not in partial]
    found = {value.name for call in calls for value in call.args if isinstance(value, Ref)}
    return found.union(value.name for call in calls for _, value in call.keywords if isinstance(value, Ref))


def _definitions(module: Module) -> list[Fact]:
    found = []
    for block in module.blocks:
        if block.name:
            attrs = {"what": block.kind, "params": PossibleValues((", ".join(block.params),), True)}
            span = Span(block.line, 1, block.line, 1)
            found.append(Fact("define", block.name.rpartition(".")[2], module.path, span, attrs))
    return found


def _assigned(context: Context, module: Module) -> list[Fact]:
    found = []
    for target, binds in module.dotted.items():
        root, bracket, rest = target.partition("[")
        if bracket and rest.endswith("]") and root.endswith("environ"):
            for bind in binds:
                if context.names.of_name(module, root, bind.block, bind.line) == "os.environ":
                    found.append(context.bind_fact("environment", rest[:-1], module, bind, via="python"))
    return found

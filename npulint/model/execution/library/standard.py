"""Functions of the standard library that programs use to hold and change their configuration."""

from __future__ import annotations

import ast
import json
import math
import operator
import posixpath
import shlex
import textwrap
from collections.abc import Callable
from typing import Any, Final

from npulint.model.abstract_values import paths
from npulint.model.abstract_values.hosted import Unhosted, adopted, hosted
from npulint.model.abstract_values.objects import Items
from npulint.model.abstract_values.value import ABSENT, NONE, TRUE, UNKNOWN, Const, Obj, Value, const, joined, unknown
from npulint.model.execution import attributes, expressions, files, items, path_objects, records, texts
from npulint.model.execution.calls import function_of, given_by, make_partial
from npulint.model.execution.library.functions import FUNCTIONS, Function, known_or_open
from npulint.model.execution.machine import Arguments, Machine


def _first(arguments: Arguments) -> Value:
    return arguments.positional[0] if arguments.positional else UNKNOWN


def _hosted_function(function: Callable[..., Any], hint: str = "") -> Function:
    """A function of Python's own library without effects, worked out where its arguments are known."""

    def call(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        def of_known() -> Value:
            args = [hosted(value, m.heap) for value in arguments.positional]
            options = {key: hosted(value, m.heap) for key, value in arguments.keywords.items()}
            if any(isinstance(arg, int) and arg.bit_length() > 64 for arg in args):
                raise Unhosted
            return adopted(function(*args, **options), m.heap, site)

        return known_or_open(m, of_known, arguments, hint)

    return call


def _path_function(name: str, hint: str) -> Function:
    """A function on paths: of texts as Python has it, of a file of the project below its root."""
    plain = _hosted_function(getattr(posixpath, name), hint)

    def call(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        arguments = Arguments([path_objects.plain_path(value) for value in arguments.positional], arguments.keywords)
        obj = _first(arguments).single
        if name == "join":
            joined_parts = paths.joined_path(m.heap, arguments.positional)
            if joined_parts is not None:
                return joined_parts
        if not isinstance(obj, Obj) or obj.kind != "path":
            is_own = name == "relpath" and any(
                not isinstance(value.single, Const) or str(value.single.value).startswith(("/", ".."))
                for value in arguments.all()
            )  # what it gives depends on the working folder
            return unknown("", hint) if is_own else plain(m, arguments, site)
        if name == "dirname":
            return paths.parent_path(m.heap, obj)
        if name == "basename":
            return paths.last_part(obj)
        if name == "normpath":
            return Value((obj,))
        if name == "split":
            return m.heap.sequence("tuple", [paths.parent_path(m.heap, obj), paths.last_part(obj)])
        if name == "relpath":
            return _relative(m, obj, arguments)
        return TRUE if name == "isabs" else unknown("", hint)

    return call


def _relative(m: Machine, obj: Obj, arguments: Arguments) -> Value:
    """What ``os.path.relpath(path, start)`` gives."""
    given = arguments.get(1, "start")
    start = _working_folder(m, Arguments(), None) if given is None else path_objects.plain_path(given)
    folder = start.single
    is_path = isinstance(folder, Obj) and folder.kind == "path"
    return paths.between(obj, folder) if is_path else unknown("", "str")  # type: ignore[arg-type]


def _absolute(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    path = paths.relative_path(_first(arguments), m.working_folder)
    return unknown("", "str") if path is None else paths.path_value(m.heap, path)


def _working_folder(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    changed = m.heap.get(m.heap.symbol("os"), "<chdir>")
    return paths.path_value(m.heap, m.working_folder) if changed.single is ABSENT else unknown("os.getcwd()", "str")


def _change_folder(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    m.heap.put(m.heap.symbol("os"), "<chdir>", TRUE)
    return NONE


_PATHS: Final = {
    f"{module}.{name}": _path_function(name, hint)
    for module in ("os.path", "posixpath")
    for name, hint in (
        ("join", "str"),
        ("basename", "str"),
        ("dirname", "str"),
        ("split", ""),
        ("splitext", ""),
        ("normpath", "str"),
        ("isabs", "bool"),
        ("relpath", "str"),
        ("commonprefix", "str"),
    )
}
_MATH_HINTS: Final = {
    **dict.fromkeys(("ceil", "floor", "trunc", "gcd"), "int"),
    **dict.fromkeys(("isclose", "isnan", "isinf", "isfinite"), "bool"),
    "prod": "number",
}
_MATH: Final = {
    f"math.{name}": _hosted_function(getattr(math, name), _MATH_HINTS.get(name, "float"))
    for name in (
        "ceil floor trunc sqrt log log2 log10 exp pow sin cos tan tanh fabs fmod hypot degrees radians gcd isclose"
        " isnan isinf isfinite prod atan atan2 copysign fsum"
    ).split()
}
_OPERATORS: Final = {
    f"operator.{name}": _hosted_function(getattr(operator, name)) for name in "neg truth not_ abs pos index".split()
}
_BINARY_OPERATORS: Final[dict[str, ast.operator | ast.cmpop]] = {
    "add": ast.Add(),
    "sub": ast.Sub(),
    "mul": ast.Mult(),
    "truediv": ast.Div(),
    "floordiv": ast.FloorDiv(),
    "mod": ast.Mod(),
    "pow": ast.Pow(),
    "or_": ast.BitOr(),
    "and_": ast.BitAnd(),
    "xor": ast.BitXor(),
    "eq": ast.Eq(),
    "ne": ast.NotEq(),
    "lt": ast.Lt(),
    "le": ast.LtE(),
    "gt": ast.Gt(),
    "ge": ast.GtE(),
}


def _operator_function(node: ast.operator | ast.cmpop) -> Function:
    def call(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        left, right = arguments.positional[:2]
        if isinstance(node, ast.cmpop):
            return expressions.compare(m, node, left, right)
        return expressions.binary(m, node, left, right, site or ast.Pass())

    return call


def _contains(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return items.contains(m, arguments.positional[0], arguments.positional[1])


def _getitem(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return items.get_item(m, arguments.positional[0], arguments.positional[1])


def _setitem(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    items.store_item(m, *arguments.positional[:3])
    return NONE


def _getter(kind: str) -> Function:
    def make(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return Value((m.heap.make(kind, data=arguments.positional),))

    return make


# -- copies


def _copy(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    given = _first(arguments)
    return items.each(
        m, given, lambda alternative: copied(m, alternative, False, {}), lambda: unknown(given.reason, given.hint)
    )


def _deepcopy(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    given = _first(arguments)
    return items.each(
        m, given, lambda alternative: copied(m, alternative, True, {}), lambda: unknown(given.reason, given.hint)
    )


_NOT_COPIED: Final = frozenset(("symbol", "function", "class", "module"))


def copied(m: Machine, alternative: Const | Obj, deep: bool, done: dict[Obj, Value]) -> Value:
    """A copy of an alternative, with copies of all that it holds where `deep`."""
    if isinstance(alternative, Const) or alternative.kind in _NOT_COPIED or (alternative.kind == "method" and not deep):
        return Value((alternative,))
    if alternative in done:
        return done[alternative]
    if alternative.kind not in ("list", "tuple", "dict", "set", "instance"):
        return UNKNOWN
    if alternative.kind == "instance":
        name = "__deepcopy__" if deep else "__copy__"
        method = m.class_attribute(alternative, name)
        if method is not None:
            return m.call(method, Arguments([m.heap.mapping(())] if deep else []))
        if alternative.cls in m.enums:
            return Value((alternative,))
        if m.extends_unseen(alternative):
            m.may_throw()
            return UNKNOWN
    made = m.heap.make(alternative.kind, alternative.name, alternative.cls, alternative.data)
    done[alternative] = Value((made,))
    if alternative.items is not None:
        made.items = _copied_value(m, alternative.items, True if alternative.kind == "instance" else deep, done, deep)
    content = m.store.read(alternative.store, "<items>")
    if isinstance(content, Items):
        if content.items is None:
            each = _copied_value(m, content.each, deep, done, deep)
            m.heap.put(made, "<items>", Items(None, each))
        else:
            m.heap.put(
                made, "<items>", Items(tuple(_copied_value(m, item, deep, done, deep) for item in content.items))
            )
    layout = m.heap.layout_of(alternative)
    for key in layout.keys:
        m.heap.put(made, key, _copied_value(m, m.heap.get(alternative, key), deep, done, deep))
    m.heap.put(made, "<layout>", layout)
    return done[alternative]


def _copied_value(m: Machine, value: Value, copies: bool, done: dict[Obj, Value], deep: bool) -> Value:
    if not copies:
        return value
    parts = [
        Value((alternative,)) if alternative is ABSENT else copied(m, alternative, deep, done)  # type: ignore[arg-type]
        for alternative in value.alternatives
    ]
    return joined([*parts, *([unknown(value.reason, value.hint)] if value.is_open else [])])


# -- functools


def _partial(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    function = _first(arguments)
    given = Arguments(arguments.positional[1:], arguments.keywords, arguments.rest, arguments.options)
    inner = function.single
    before = given_by(m, inner) if isinstance(inner, Obj) and inner.kind == "partial" else None
    if isinstance(inner, Obj) and before is not None and before.is_exact:
        function = function_of(inner)
        positional, keywords = [*before.positional, *given.positional], {**before.keywords, **given.keywords}
        given = Arguments(positional, keywords, given.rest, given.options)
    return make_partial(m, function, given)


def _reduce(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    function, content = arguments.positional[0], items.listed(m, arguments.positional[1])
    if content.items is None:
        return m.unseen("functools.reduce()", arguments.all())
    values = [*arguments.positional[2:3], *content.items]
    if not values:
        m.throw_new("TypeError", "reduce() of empty iterable with no initial value")
    result = values[0]
    for value in values[1:]:
        result = m.call(function, Arguments([result, value]))
    return result


def _wraps(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.heap.make("wraps", data=_first(arguments)),))


def call_wraps(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``functools.wraps(f)(wrapper)`` gives."""
    wrapper = _first(arguments)
    inner = wrapper.single
    if isinstance(inner, Obj) and inner.kind == "function":
        for name in ("__name__", "__doc__", "__qualname__"):
            m.heap.set(inner, name, m.attribute(obj.data, name))
        m.heap.set(inner, "__wrapped__", obj.data)
    return wrapper


def _cached(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    function = _first(arguments)
    obj = function.single
    if isinstance(obj, Obj) and obj.kind == "function":
        return Value((m.heap.make("cached", obj.name, data=function),))
    size = arguments.get(0, "maxsize")
    is_plain = size is None or size.single == Const(None)
    return Value((m.heap.make("cacher"),)) if is_plain else unknown("functools.lru_cache()")


def _plain_number(value: object) -> object:
    """The same; `Unhosted` for numbers of which it depends on the interpreter whether they count as equal ones."""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        raise Unhosted
    return value


def call_cached(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a function gives that keeps its results by its arguments."""
    for value in arguments.all():
        items.refuse_unhashable(m, value)
    try:
        plain = [_plain_number(hosted(value, m.heap)) for value in arguments.positional]
        named = sorted((k, repr(_plain_number(hosted(v, m.heap)))) for k, v in arguments.keywords.items())
        key = repr(plain + named)
    except Unhosted:
        objects = all(isinstance(alternative, Obj) for value in arguments.all() for alternative in value.alternatives)
        is_known = objects and not any(value.is_open for value in arguments.all())
        key = repr([value.alternatives for value in arguments.all()]) if is_known else ""
    is_unsure = m.heap.get(obj, "<unsure>").single is not ABSENT
    kept = m.heap.get(obj, f"kept {key}") if key else UNKNOWN
    if key and not kept.may_be_absent:
        return kept
    if not key or any(len(value.alternatives) != 1 for value in arguments.all()):
        m.heap.set(obj, "<unsure>", TRUE)  # which results are kept is not known any more
    elif kept.single is ABSENT and not is_unsure:
        result = m.call(obj.data, arguments)
        m.heap.set(obj, f"kept {key}", result)
        return result
    return m.value_of_branches([lambda: m.call(obj.data, arguments), lambda: UNKNOWN])


def _cached_property(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    function = _first(arguments)
    obj = function.single
    name = obj.name if isinstance(obj, Obj) else ""
    return Value((m.heap.make("property", "cached", data=(function, name)),))


def _singledispatch(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.heap.make("dispatch", data=_first(arguments)),))


def call_dispatch(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a function gives that is chosen by the type of its first argument."""

    def of(given: Const | Obj) -> Value:
        for kind in m.mro(m.type_of(given)):
            value = m.heap.get(obj, kind)
            if value.single is not ABSENT:
                return m.call(value.without(ABSENT), arguments)
        return m.call(obj.data, arguments)

    return items.each(m, _first(arguments), of, lambda: m.unseen("singledispatch()", [obj.data, *arguments.all()]))


def dispatch_attribute(m: Machine, obj: Obj, name: str) -> Value:
    """``f.register`` of a function that is chosen by type."""
    if name == "register":
        return Value((m.heap.make("dispatch_register", data=obj),))
    return attributes.get(m, obj.data, name)


def call_dispatch_register(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """``f.register(type)``, ``f.register(type, function)`` or ``@f.register`` of an annotated function."""
    owner: Obj = obj.data
    first = _first(arguments).single
    if isinstance(first, Obj) and first.kind in ("class", "symbol"):
        if len(arguments.positional) > 1:
            m.heap.set(owner, first, arguments.positional[1])
            return arguments.positional[1]
        return Value((m.heap.make("dispatch_for", data=(owner, first)),))
    if isinstance(first, Obj) and first.kind == "function":
        node = first.data.node
        parameters = [*node.args.posonlyargs, *node.args.args]
        annotation = parameters[0].annotation if parameters else None
        kind = m.evaluate(annotation).single if annotation is not None else None
        if isinstance(kind, Obj):
            m.heap.set(owner, kind, Value((first,)))
            return _first(arguments)
    m.forget_all()
    return _first(arguments)


def call_dispatch_for(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """The decorator that ``f.register(type)`` gives."""
    owner, kind = obj.data
    m.heap.set(owner, kind, _first(arguments))
    return _first(arguments)


# -- contextlib


def _contextmanager(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.heap.make("contextmanager", data=_first(arguments)),))


def call_contextmanager(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a function decorated with ``contextlib.contextmanager`` gives."""
    generator = m.call(obj.data, arguments).single
    if isinstance(generator, Obj) and generator.kind == "generator":
        return Value((m.heap.make("generator_context", data=generator),))
    return UNKNOWN


def _context(name: str) -> Function:
    def context(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return Value((m.heap.make("context", name, data=arguments),))

    return context


# -- dataclasses, enumerations, named tuples


def _dataclass(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj = _first(arguments).single
    if isinstance(obj, Obj) and obj.kind == "class":
        records.make_dataclass(m, obj, Arguments((), arguments.keywords))
        return _first(arguments)
    return Value((m.heap.make("dataclass", data=arguments),))


def call_dataclass(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """The decorator that ``dataclass(frozen=True)`` gives."""
    cls = _first(arguments).single
    if isinstance(cls, Obj) and cls.kind == "class":
        records.make_dataclass(m, cls, obj.data)
    return _first(arguments)


def _field(kind: str) -> Function:
    def field(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return Value((m.heap.make("field", kind, data=arguments),))

    return field


def _replace(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    def of(alternative: Const | Obj) -> Value:
        if (
            isinstance(alternative, Obj)
            and alternative.kind == "instance"
            and records.fields_of(m, alternative) is not None
        ):
            return records.replaced(m, alternative, arguments, site)
        return m.unseen("dataclasses.replace()", arguments.all())

    return items.each(m, _first(arguments), of, lambda: unknown("dataclasses.replace()"))


def _asdict(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if arguments.keywords or len(arguments.positional) > 1:
        return m.unseen("dataclasses.asdict()", arguments.all())
    return records.as_dict(m, _first(arguments))


def _fields(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj = _first(arguments).single
    cls = obj if isinstance(obj, Obj) and obj.kind == "class" else obj.cls if isinstance(obj, Obj) else None
    record = None if cls is None else next((m.records[base] for base in m.mro(cls) if base in m.records), None)
    if record is None:
        return UNKNOWN
    made = []
    for field in record.fields:
        if not field.is_stored:
            continue
        entry = m.heap.make("instance", "Field", m.heap.symbol("dataclasses.Field"))
        m.heap.fill(entry, [("name", const(field.name)), ("default", field.default or UNKNOWN), ("type", UNKNOWN)])
        made.append(Value((entry,)))
    return m.heap.sequence("tuple", made)


def _namedtuple(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    try:
        name = str(hosted(arguments.positional[0], m.heap))
        given = hosted(arguments.positional[1], m.heap)
    except (Unhosted, IndexError):
        return UNKNOWN
    if arguments.keywords.keys() - {"defaults"}:
        return UNKNOWN
    names = given.replace(",", " ").split() if isinstance(given, str) else [str(field) for field in given]  # type: ignore[attr-defined]
    defaults = arguments.keywords.get("defaults")
    values = items.listed(m, defaults).items if defaults is not None else ()
    if values is None:
        return UNKNOWN
    return Value((records.named_tuple_class(m, name, names, list(values)),))


def _unique(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj = _first(arguments).single
    if isinstance(obj, Obj) and obj in m.enums and len(m.enum_members(obj)) < len(m.enums[obj][1]):
        m.throw_new("ValueError", "duplicate values found")
    return _first(arguments)


def _auto(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.heap.make("auto"),))


def _namespace(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    made = m.heap.make("instance", "SimpleNamespace", m.heap.symbol("types.SimpleNamespace"), site=site)
    m.heap.fill(made, [])
    for given in arguments.positional:
        items.update(m, made, given)
    for key, value in arguments.keywords.items():
        m.heap.set(made, key, value)
    if arguments.options is not None:
        m.heap.set_any(made, arguments.options)
    return Value((made,))


# -- collections and itertools


def _defaultdict(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    factory = _first(arguments) if arguments.positional else NONE
    made = FUNCTIONS["dict"](m, Arguments(arguments.positional[1:], arguments.keywords), site)
    owner = made.single
    assert isinstance(owner, Obj)
    owner.name = "defaultdict"
    if factory.single != Const(None):
        owner.data = factory
    return made


def _ordered(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    made = FUNCTIONS["dict"](m, arguments, site)
    owner = made.single
    assert isinstance(owner, Obj)
    owner.name = "OrderedDict"
    return made


def _opaque(name: str) -> Function:
    """A class whose instances are not followed: what they are given may be changed through them."""

    def make(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return m.unseen(name, arguments.all())

    return make


def _product(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    import itertools

    contents = [items.listed(m, given).items for given in arguments.positional]
    valueses = [content for content in contents if content is not None]
    if len(valueses) < len(contents) or arguments.keywords or math.prod(map(len, valueses)) > 200:
        return m.heap.sequence_of_any("list", UNKNOWN, site)
    rows = [m.heap.sequence("tuple", row) for row in itertools.product(*valueses)]
    return m.heap.sequence("list", rows, site)


def _endless(name: str) -> Function:
    def endless(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return Value((m.heap.make("lazy", name, data=arguments),))

    return endless


def _repeated(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    times = arguments.get(1, "times")
    if times is None:
        return Value((m.heap.make("lazy", "cycle", data=Arguments([m.heap.sequence("list", [_first(arguments)])])),))
    constant = times.single
    if isinstance(constant, Const) and isinstance(constant.value, int) and constant.value <= 300:
        return m.heap.sequence("list", [_first(arguments)] * constant.value, site)
    return m.heap.sequence_of_any("list", _first(arguments), site)


def _chain(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.heap.make("lazy", "chain", data=arguments),))


# -- json, shlex and others


def _loads(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if arguments.keywords:
        return m.unseen("json.loads()", arguments.all())
    text = texts.known_text(_first(arguments))
    if text is None:
        m.may_throw("ValueError")
        return UNKNOWN
    return files.parsed_json(m, text, site)


def _dumps(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if arguments.keywords.keys() - {"indent", "sort_keys", "ensure_ascii"}:
        return m.unseen("json.dumps()", arguments.all())
    return _hosted_function(json.dumps, "str")(m, arguments, site)


def _exit(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    m.throw(m.exception("SystemExit", arguments.positional[:1] or [NONE]))


def _exit_at_once(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    m.exit_at_once(_first(arguments))
    return NONE


def _identity(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return _first(arguments)


def _second(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return arguments.positional[1] if len(arguments.positional) > 1 else UNKNOWN


def _import_module(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    name = texts.known_text(_first(arguments))
    if name is None:
        m.forget_all()
        return UNKNOWN
    if name.startswith("."):
        package = arguments.get(1, "package")
        base = texts.known_text(package) if package is not None else None
        if base is None:
            m.forget_all()
            return UNKNOWN
        level = len(name) - len(name.lstrip("."))
        parts = base.split(".")
        name = ".".join([*parts[: len(parts) - level + 1], name.lstrip(".")])
    return m.import_module(name)


def _reload(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj = _first(arguments).single
    if isinstance(obj, Obj) and obj.kind == "module":
        m.reload_module(obj)
        return _first(arguments)
    return _first(arguments)


def _warn(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    m.may_throw()  # filters may make errors of warnings
    return NONE


def _register_exit(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    m.register_exit(make_partial(m, _first(arguments), Arguments(arguments.positional[1:], arguments.keywords)))
    return _first(arguments)


def _run_coroutine(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return m.await_value(_first(arguments))


def _abstract_method(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj = _first(arguments).single
    if isinstance(obj, Obj):
        m.abstract_methods.add(obj)
    return _first(arguments)


def _type_alias(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return UNKNOWN


LOGGER: Final = "<logger>"


def _logger(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.heap.symbol(LOGGER),))


STANDARD: Final[dict[str, Function]] = {
    **{f"builtins.{name}": function for name, function in FUNCTIONS.items()},
    "builtins.exit": _exit,
    "builtins.quit": _exit,
    "builtins.open": files.open_file,
    "io.open": files.open_file,
    **_PATHS,
    **_MATH,
    **_OPERATORS,
    **{f"operator.{name}": _operator_function(node) for name, node in _BINARY_OPERATORS.items()},
    "operator.contains": _contains,
    "operator.getitem": _getitem,
    "operator.setitem": _setitem,
    "operator.itemgetter": _getter("itemgetter"),
    "operator.attrgetter": _getter("attrgetter"),
    "os.fspath": _identity,
    "os.path.abspath": _absolute,
    "os.path.realpath": _absolute,
    "os.getcwd": _working_folder,
    "pathlib.Path.cwd": lambda m, arguments, site: path_objects.make_path(
        m, Arguments([_working_folder(m, arguments, site)]), site
    ),
    "os.chdir": _change_folder,
    "os.path.exists": files.exists,
    "os.path.isfile": files.exists,
    "os._exit": _exit_at_once,
    "sys.exit": _exit,
    "sys.intern": _identity,
    "copy.copy": _copy,
    "copy.deepcopy": _deepcopy,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.wraps": _wraps,
    "functools.lru_cache": _cached,
    "functools.cache": _cached,
    "functools.cached_property": _cached_property,
    "functools.singledispatch": _singledispatch,
    "functools.total_ordering": _identity,
    "contextlib.contextmanager": _contextmanager,
    "contextlib.suppress": _context("suppress"),
    "contextlib.nullcontext": _context("nullcontext"),
    "contextlib.closing": _context("closing"),
    "dataclasses.dataclass": _dataclass,
    "dataclasses.field": _field("dataclass"),
    "dataclasses.replace": _replace,
    "dataclasses.asdict": _asdict,
    "dataclasses.fields": _fields,
    "attr.s": _dataclass,
    "attr.attrs": _dataclass,
    "attr.dataclass": _dataclass,
    "attr.define": _dataclass,
    "attr.frozen": _dataclass,
    "attrs.define": _dataclass,
    "attr.ib": _field("attrs"),
    "attr.attrib": _field("attrs"),
    "attr.field": _field("attrs"),
    "attrs.field": _field("attrs"),
    "collections.namedtuple": _namedtuple,
    "collections.OrderedDict": _ordered,
    "collections.defaultdict": _defaultdict,
    "collections.Counter": _opaque("collections.Counter()"),
    "collections.deque": _opaque("collections.deque()"),
    "enum.auto": _auto,
    "enum.unique": _unique,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "types.MappingProxyType": _opaque("types.MappingProxyType()"),
    "typing.cast": _second,
    "typing.overload": _identity,
    "typing.final": _identity,
    "typing.no_type_check": _identity,
    "typing.runtime_checkable": _identity,
    "typing.TypeVar": _type_alias,
    "typing.NewType": _type_alias,
    "abc.abstractmethod": _abstract_method,
    "itertools.product": _product,
    "itertools.chain": _chain,
    "itertools.count": _endless("count"),
    "itertools.cycle": _endless("cycle"),
    "itertools.repeat": _repeated,
    "json.loads": _loads,
    "json.dumps": _dumps,
    "json.load": files.load_json,
    "yaml.safe_load": files.load_yaml,
    "yaml.load": files.load_yaml,
    "yaml.full_load": files.load_yaml,
    "shlex.split": _hosted_function(shlex.split),
    "shlex.quote": _hosted_function(shlex.quote, "str"),
    "textwrap.dedent": _hosted_function(textwrap.dedent, "str"),
    "ast.literal_eval": _hosted_function(ast.literal_eval),
    "importlib.import_module": _import_module,
    "importlib.reload": _reload,
    "warnings.warn": _warn,
    "atexit.register": _register_exit,
    "asyncio.run": _run_coroutine,
    "logging.getLogger": _logger,
}
"""By canonical name the functions that are modelled."""

QUIET: Final = frozenset(
    (
        "uuid.uuid4 warnings.filterwarnings warnings.simplefilter time.time time.sleep time.perf_counter "
        "os.makedirs os.mkdir os.getpid os.listdir os.cpu_count os.path.expanduser os.path.isdir "
        "os.path.getsize random.seed random.random random.randint random.uniform random.randrange "
        "random.getrandbits random.gauss datetime.datetime.now time.strftime sys.stdout.write "
        "sys.stdout.flush sys.stderr.write gc.collect inspect.isclass inspect.isfunction inspect.signature "
        "platform.system platform.node socket.gethostname shutil.copy shutil.rmtree "
        "tempfile.mkdtemp "
    ).split()
)
"""Functions of the standard library that neither change nor call what they are given."""

READING: Final = frozenset(
    (
        *(
            f"{owner}.{name}"
            for owner in ("logging", LOGGER)
            for name in "debug info warning warn error critical exception log".split()
        ),
        *"json.dump yaml.dump yaml.safe_dump pickle.dump pickle.dumps torch.save pprint.pprint pprint.pformat".split(),
    )
)
"""Functions that change nothing of what they are given, and call of it only what makes a text or a copy."""

HINTS: Final = {
    "time.time": "float",
    "time.perf_counter": "float",
    "random.random": "float",
    "random.uniform": "float",
    "random.gauss": "float",
    "random.randint": "int",
    "random.randrange": "int",
    "random.getrandbits": "int",
    "os.getcwd": "str",
    "os.getpid": "int",
    "os.path.abspath": "str",
    "os.path.realpath": "str",
    "os.path.expanduser": "str",
    "os.path.isdir": "bool",
    "platform.system": "str",
    "platform.node": "str",
    "socket.gethostname": "str",
    "time.strftime": "str",
}
"""The types of what these give."""

CONSTANTS: Final[dict[str, object]] = {
    "math.pi": math.pi,
    "math.e": math.e,
    "math.inf": math.inf,
    "os.sep": "/",
    "os.name": "posix",
    "os.linesep": "\n",
    "os.path.sep": "/",
    "os.pathsep": ":",
    "sys.platform": "linux",
    "sys.byteorder": "little",
    "sys.maxsize": 2**63 - 1,
    "typing.TYPE_CHECKING": False,
}
"""Constants of the standard library on the systems that programs are judged for."""

"""Parsers of command lines (argparse): the real one is built with what is known of the program's, and asked."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any, Final

from npulint.model.abstract_values.hosted import Unhosted, adopted, hosted
from npulint.model.abstract_values.objects import ITEMS, Items
from npulint.model.abstract_values.store import Region
from npulint.model.abstract_values.value import ABSENT, UNKNOWN, Const, Obj, Value, const, unknown
from npulint.model.execution import items, texts
from npulint.model.execution.machine import Arguments, Dead, Guard, Machine

GIVEN: Final = "\x00given"
"""The word of a command line that is not known."""
_CALLS: Final = ITEMS  # so that they are not known any more where a parser is given to code that is not seen
_OTHERS: Final = "add_others"
_GROUPS: Final = frozenset(("add_argument_group", "add_mutually_exclusive_group"))
_ADDING: Final = frozenset(
    "add_argument add_argument_group add_mutually_exclusive_group add_subparsers add_parser set_defaults".split()
)


_METHODS: Final = _ADDING | frozenset(
    "parse_args parse_known_args get_default error exit print_help format_help print_usage format_usage".split()
)


class _NotKnown(Exception):
    """The options cannot be worked out."""


class _Given(str):
    """A word whose text is not known."""


def make_parser(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``argparse.ArgumentParser(...)`` gives."""
    return Value((_made(m, "parser", "", arguments),))


def _made(m: Machine, kind: str, name: str, arguments: Arguments, owner: Obj | None = None) -> Obj:
    made = m.heap.make("options", kind, data=(name, arguments, owner))
    m.heap.put(made, _CALLS, Items(()))
    return made


def set_parser_attribute(m: Machine, obj: Obj, name: str, value: Value) -> None:
    """Setting an attribute of a parser or option may change what it does."""
    m.lost = m.lost or name in _METHODS
    if name not in ("description", "epilog", "help", "usage", "prog"):
        m.unseen("", _with_owners(obj))


def _with_owners(obj: Obj) -> list[Value]:
    """A parser, group or option with those that it belongs to."""
    values: list[Value] = []
    owner: Obj | None = obj
    while owner is not None:
        values.append(Value((owner,)))
        owner = owner.data[2]
    return values


def parser_attribute(m: Machine, obj: Obj, name: str) -> Value:
    """The methods of a parser, a group of options or of subparsers."""
    if name not in _METHODS:
        if name not in ("prog", "description", "dest"):  # what is read may be changed
            m.unseen("", _with_owners(obj))
        return UNKNOWN
    return Value((m.heap.make("options_method", name, data=obj),))


_FOLLOWED: Final = frozenset(("add_argument", "set_defaults", "add_subparsers"))


def call_method(m: Machine, method: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a method of a parser gives."""
    obj: Obj = method.data
    name = method.name
    if name == "set_defaults" and "parents" in obj.data[1].keywords:
        for parent in items.listed(m, obj.data[1].keywords["parents"]).any_item.alternatives:
            if isinstance(parent, Obj):
                m.heap.put(parent, _CALLS, Items(None))
    if name in _ADDING:
        return _added(m, obj, name, arguments)
    if name in ("parse_args", "parse_known_args"):
        return _parse(m, obj, arguments, name, site)
    if name == "get_default":
        return m.unseen("get_default()", [])
    if name in ("error", "exit"):
        code = const(2) if name == "error" else (arguments.get(0, "status") or const(0))
        m.throw(m.exception("SystemExit", [code]))
    return m.unseen(f"{name}()", arguments.all())


def _added(m: Machine, obj: Obj, name: str, arguments: Arguments) -> Value:
    """Note a call that adds something to a parser or group."""
    content = m.heap.items_of_key(obj, _CALLS)
    call = Value((_made(m, name, name, arguments, obj),))
    m.heap.put(obj, _CALLS, Items(None) if content.items is None else Items((*content.items, call)))
    return call


ADD_OTHERS: Final = frozenset(("deepspeed.add_config_arguments", "deepspeed.add_tuning_arguments"))
"""Functions of libraries that add options to a parser, and change nothing of those that are there."""


def add_others(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What one of these functions gives."""
    given = arguments.get(0, "parser") or UNKNOWN
    obj = given.single
    if not isinstance(obj, Obj) or obj.kind != "options":
        return m.unseen("", arguments.all())
    _added(m, obj, _OTHERS, Arguments())
    return given


# -- parsing


def _parse(m: Machine, parser: Obj, arguments: Arguments, name: str, site: ast.AST | None) -> Value:
    words = _words(m, arguments)
    base = arguments.get(1, "namespace")
    try:
        if words is None or not arguments.is_exact or _may_be_options(words):
            raise _NotKnown
        attributes, rest = _Build(m).parsed(parser, words, name)
    except (_NotKnown, Unhosted):
        attributes, rest = None, None
    made = m.heap.make("instance", "Namespace", m.heap.symbol("argparse.Namespace"), site=site)
    target = base.single if base is not None and base.single != Const(None) else made
    if not isinstance(target, Obj):
        return m.unseen("parse_args()", arguments.all())
    if target is made:
        m.heap.fill(made, [])
    if attributes is None:
        m.may_throw("SystemExit")
        if words is None or GIVEN in words:  # one of them may be --help, which ends the program normally
            m.end(True)
        m.heap.set_any(target, unknown("--"))
        for key in m.option_names(parser):
            m.heap.set(target, key, unknown(f"--{key}"))
    else:
        if target is not made:
            return m.unseen("parse_args()", arguments.all())
        if rest is not None and name == "parse_args":
            m.heap.set_any(target, unknown("--"))
        for key, value in attributes.items():
            m.heap.set(target, key, value)
    result = Value((target,))
    if name == "parse_args":
        return result
    return m.heap.sequence("tuple", [result, m.heap.sequence_of_any("list", UNKNOWN) if rest is None else rest])


def _words(m: Machine, arguments: Arguments) -> list[str] | None:
    given = arguments.get(0, "args")
    if given is None or given.single == Const(None):
        content = items.listed(m, m.attribute(Value((m.heap.symbol("sys"),)), "argv"))
        values = None if content.items is None else content.items[1:]
    else:
        values = items.listed(m, given).items
    if values is None:
        return None
    words: list[str] = []
    for value in values:
        text = texts.known_text(value)
        if text is None:
            if value.hint != "str" or any(not isinstance(alternative, Const) for alternative in value.alternatives):
                return None
            words.append(_Given(GIVEN))
        else:
            words.append(text)
    return words


def _may_be_options(words: list[str]) -> bool:
    """Whether a word that is not known stands where an option may stand."""
    before = ["", *words]
    return any(
        isinstance(word, _Given) and (not before[index].startswith("-") or "=" in before[index])
        for index, word in enumerate(words)
    )


class _Build:
    """Builds a parser of this Python from the calls that the program made, and parses with it."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self._has_parents = self._has_others = False

    def parsed(self, parser: Obj, words: list[str], name: str) -> tuple[dict[str, Value], Value | None]:
        m = self._m
        real = argparse.ArgumentParser(**self._options(parser.data[1], _PARSER_OPTIONS))
        self._fill(real, parser)
        try:
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                if name == "parse_args" and not self._has_others:
                    namespace, rest = real.parse_args(words), None
                else:
                    namespace, rest = real.parse_known_args(words)
        except SystemExit as error:
            if any(isinstance(word, _Given) for word in words):
                raise _NotKnown from None
            m.throw(m.exception("SystemExit", [const(error.code if isinstance(error.code, int) else 1)]))
        except (argparse.ArgumentError, TypeError, ValueError, AttributeError, IndexError, KeyError):
            raise _NotKnown from None
        values = {key: self._adopted(value, key) for key, value in vars(namespace).items()}
        if rest is None or self._has_others:
            return values, None if rest is None else self._m.heap.sequence_of_any("list", UNKNOWN)
        return values, self._adopted(rest, "")

    def _adopted(self, value: object, key: str) -> Value:
        if isinstance(value, (_Kept, _KeptList)):
            return value.value
        if isinstance(value, _Given):
            return unknown(f"--{key}", "str")
        if isinstance(value, list) and any(isinstance(part, (_Given, _Kept)) for part in value):
            return self._m.heap.sequence("list", [self._adopted(part, key) for part in value])
        try:
            return adopted(value, self._m.heap)
        except Unhosted:
            return unknown(f"--{key}")

    def _fill(self, real: Any, owner: Obj) -> None:
        """Repeat the calls that were made for a parser and its groups, in their order."""
        made: dict[Obj, Any] = {owner: real}
        for call, holder in sorted(self._calls(owner), key=lambda pair: pair[0].serial):
            name, arguments, _ = call.data
            self._repeat(made[holder], name, arguments, call, made)

    def _calls(self, owner: Obj) -> list[tuple[Obj, Obj]]:
        content = self._m.heap.items_of_key(owner, _CALLS)
        if content.items is None:
            raise _NotKnown
        calls: list[tuple[Obj, Obj]] = []
        for value in content.items:
            call = value.single
            if not isinstance(call, Obj):
                raise _NotKnown
            calls.append((call, owner))
            if call.name in _GROUPS:
                calls += self._calls(call)
        return calls

    def _repeat(self, real: Any, name: str, arguments: Arguments, call: Obj, made: dict[Obj, Any]) -> None:
        self._has_others = self._has_others or name == _OTHERS
        if name == "add_argument":
            self._add_argument(real, arguments)
        elif name == "set_defaults":
            if self._has_parents:
                raise _NotKnown  # the options are shared with the parents
            real.set_defaults(**{key: self._kept(value) for key, value in arguments.keywords.items()})
            if arguments.options is not None:
                raise _NotKnown
        elif name == "add_argument_group":
            made[call] = real.add_argument_group()
        elif name == "add_mutually_exclusive_group":
            made[call] = real.add_mutually_exclusive_group(**self._options(arguments, {"required"}))
        elif name == "add_subparsers":
            self._fill(real.add_subparsers(**self._options(arguments, {"dest", "required"})), call)
        elif name == "add_parser":
            word = self._plain(arguments.positional[0])
            options = self._options(arguments, {"aliases", "parents", *_PARSER_OPTIONS})
            options.pop("prog", None)
            self._fill(real.add_parser(str(word), **options), call)

    def _add_argument(self, real: Any, arguments: Arguments) -> None:
        if not arguments.is_exact:
            raise _NotKnown
        names = [str(self._plain(value)) for value in arguments.positional]
        options: dict[str, Any] = {}
        for key, value in arguments.keywords.items():
            if key in ("help", "metavar"):
                continue
            if key == "type":
                kind = self._converter(value)
                if kind is not None:
                    options["type"] = kind
            elif key == "default":
                adds = _is_adding(arguments.keywords.get("action"))
                options["default"] = self._kept_list(value) if adds else self._kept(value)
            elif key == "const":
                options["const"] = self._kept(value)
            elif key == "choices":
                choices = self._plain_items(value)
                options["choices"] = _Choices(choices)
            elif key == "action":
                options["action"] = self._action(value)
            else:
                options[key] = self._plain(value)
        try:
            real.add_argument(*names, **options)
        except (argparse.ArgumentError, TypeError, ValueError):
            self._m.lost = True  # the program ends where the option is added
            raise _NotKnown from None

    def _plain_items(self, value: Value) -> list[object]:
        content = items.listed(self._m, value)
        if content.items is None:
            raise _NotKnown
        return [self._plain(item) for item in content.items]

    def _action(self, value: Value) -> Any:
        single = value.single
        if isinstance(single, Const):
            return single.value
        if isinstance(single, Obj) and single.name == "argparse.BooleanOptionalAction":
            return argparse.BooleanOptionalAction
        self._m.unseen("add_argument()", [value])
        raise _NotKnown

    def _kept(self, value: Value) -> object:
        """A default: a text as it is, for argparse converts it; anything else is only handed through."""
        single = value.single
        if isinstance(single, Const):
            return single.value
        if isinstance(single, Obj) and single.name == "argparse.SUPPRESS":
            return argparse.SUPPRESS
        if any(isinstance(part, Const) and isinstance(part.value, str) for part in value.alternatives) or value.is_open:
            if value.is_open and value.hint and value.hint != "str":
                return _Kept(value)
            return _Kept(_converted_unknown(value))
        return _Kept(value)

    def _kept_list(self, value: Value) -> object:
        """A default that argparse copies and extends where the option is given, and hands through where it is not."""
        plain = self._plain(value)
        return _KeptList(plain, value) if isinstance(plain, list) else plain

    def _plain(self, value: Value) -> object:
        try:
            plain = hosted(value, self._m.heap)
        except Unhosted:
            obj = value.single
            if isinstance(obj, Obj) and obj.name in _ARGPARSE_CONSTANTS:
                return _ARGPARSE_CONSTANTS[obj.name]
            if isinstance(obj, Obj) and obj.kind == "options":
                raise _NotKnown from None
            raise _NotKnown from None
        return plain

    def _options(self, arguments: Arguments, wanted: set[str] | frozenset[str]) -> dict[str, Any]:
        if not arguments.is_exact:
            raise _NotKnown
        if "fromfile_prefix_chars" in arguments.keywords:
            raise _NotKnown
        options = {key: self._plain(value) for key, value in arguments.keywords.items() if key in wanted - {"parents"}}
        if "parents" in arguments.keywords and "parents" in wanted:
            options["parents"] = self._parents(arguments.keywords["parents"])
            self._has_parents = True
        return options

    def _parents(self, value: Value) -> list[Any]:
        content = items.listed(self._m, value)
        parents = []
        for item in content.items or ():
            obj = item.single
            if not isinstance(obj, Obj) or obj.kind != "options":
                raise _NotKnown
            real = argparse.ArgumentParser(**self._options(obj.data[1], _PARSER_OPTIONS))
            self._fill(real, obj)
            parents.append(real)
        if content.items is None:
            raise _NotKnown
        return parents

    def _converter(self, value: Value) -> Callable[[str], object] | None:
        obj = value.single
        m = self._m
        if obj == Const(None):
            return None
        if not isinstance(obj, Obj):
            raise _NotKnown

        def convert(word: str) -> object:
            if isinstance(word, _Given):
                hint = obj.name.rpartition(".")[2] if obj.name in _SIMPLE else ""
                return _Kept(unknown("--", hint))
            guards, regions, ends = m.guards, m.store.regions, len(m.ends)

            m.guards = [*guards, Guard(Region(m.store.serial))]
            try:
                result = m.call(value, Arguments([const(word)]))
            except Dead:
                m.lost = True  # with what exception decides how the program goes on
                raise argparse.ArgumentTypeError("invalid") from None
            finally:
                m.guards, m.store.regions = guards, regions
                del m.ends[ends:]
            try:
                return hosted(result, m.heap)
            except Unhosted:
                return _Kept(result)

        return convert


_SIMPLE: Final = frozenset(("builtins.int", "builtins.float", "builtins.str"))
_PARSER_OPTIONS: Final = frozenset(
    (
        "prefix_chars",
        "argument_default",
        "conflict_handler",
        "add_help",
        "allow_abbrev",
        "prog",
        "exit_on_error",
        "parents",
    )
)
_ARGPARSE_CONSTANTS: Final = {
    "argparse.SUPPRESS": argparse.SUPPRESS,
    "argparse.REMAINDER": argparse.REMAINDER,
    "argparse.OPTIONAL": argparse.OPTIONAL,
    "argparse.ZERO_OR_MORE": argparse.ZERO_OR_MORE,
    "argparse.ONE_OR_MORE": argparse.ONE_OR_MORE,
}


def _is_adding(action: Value | None) -> bool:
    """Whether an option copies its default, where it is given, and adds to it."""
    constant = None if action is None else action.single
    return isinstance(constant, Const) and constant.value in ("append", "extend", "append_const")


class _KeptList(list[object]):
    """A list of the program; a copy is no more that list."""

    def __init__(self, items: list[object], value: Value) -> None:
        super().__init__(items)
        self.value = value

    def __copy__(self) -> list[object]:
        return list(self)


class _Kept:
    """A value of the program that a real parser only hands through."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)


class _Choices:
    """Choices that a word that is not known may be among."""

    def __init__(self, choices: list[object]) -> None:
        self._choices = choices

    def __contains__(self, word: object) -> bool:
        return isinstance(word, (_Given, _Kept)) or word in self._choices

    def __iter__(self) -> Iterator[object]:
        return iter(self._choices)


def _converted_unknown(value: Value) -> Value:
    """A default that may be a text, which argparse would convert."""
    return Value(tuple(alternative for alternative in value.alternatives if alternative is ABSENT), True, value.reason)

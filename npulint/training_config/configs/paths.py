"""Evaluates expressions that name files to texts, with ``*`` for unknown parts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from itertools import product

import msgspec

from npulint.assemble.callers import argument, callers, implicit_arguments, passed
from npulint.assemble.conditions import holds
from npulint.assemble.context import Context
from npulint.assemble.cursors import expr_at, scope_at
from npulint.assemble.launches.options import HOLDERS, Option
from npulint.assemble.launches.project_launches import Launch
from npulint.assemble.module import Module
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.lazy_regex import lazy_compile

_DEPTH = 24
_STEPS = 1500  # expressions visited per query
_CALLERS = 64  # calls of one function that are visited
_MOST = 8  # alternatives that are kept
_LONG = 500  # characters of a path
UNKNOWN = "*"

_SAME = frozenset(
    """abspath realpath normpath expanduser expandvars fspath str Path PurePath PosixPath PurePosixPath open GFile File
    Open FastGFile resolve absolute absolute_path read read_text readlines strip to_absolute_path get_original_path
    StringIO BytesIO BufferedReader decode encode as_posix""".split()
)
_TEMPLATE = lazy_compile(r"\{[^{}]*\}")
_PERCENT = lazy_compile(r"%[-+ #0-9.]*[sdrif]")
_ENDING = lazy_compile(r"\.(?:ya?ml|json|toml|ini|cfg|conf|gin|pbtxt|prototxt|config|py)$")


class PathFrame(msgspec.Struct, frozen=True, eq=False):
    """The call through which a function was entered: its parameters have the arguments of this call only."""

    home: Module
    function: int
    caller: Module
    index: int
    outer: PathFrame | None = None


def takes(module: Module, name: str, block: int) -> int:
    """The innermost function around `block` that has a parameter of this name, or 0."""
    function = module.function_of(block)
    while function > 0 and name not in module.blocks[function].params:
        function = module.function_of(module.blocks[function].parent)
    return max(function, 0)


class Paths:
    """Evaluates texts under one start of a program (None: with default options). `modules` are the paths of the modules
    whose calls count; None for all."""

    def __init__(self, context: Context, launch: Launch | None = None, modules: frozenset[str] | None = None) -> None:
        self.context = context
        self.launch = launch
        self.modules = modules
        self._busy: set[tuple[str, str, int, int]] = set()
        self._steps = 0

    def of(
        self, module: Module, value: Value, block: int, line: int, frame: PathFrame | None = None
    ) -> tuple[str, ...]:
        """The possible texts of `value`; empty when nothing is known."""
        self._steps = 0
        found = self._texts(module, value, block, line, frame, 0)
        return tuple(text for text in found if text.strip("*/"))

    def _texts(
        self, module: Module, value: Value, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[str, ...]:
        self._steps += 1
        if depth > _DEPTH or self._steps > _STEPS:
            return ()
        if isinstance(value, Const):
            return (value.value,) if isinstance(value.value, str) else ()
        if isinstance(value, Ref):
            return self._name(module, value.name, block, line, frame, depth + 1)
        if isinstance(value, CallResult):
            return self._result(module, value.call, frame, depth + 1)
        if isinstance(value, SequenceDisplay):
            return _unique(
                text for one in value.items[:_MOST] for text in self._texts(module, one, block, line, frame, depth + 1)
            )
        if isinstance(value, Op):
            return self._operation(module, value, block, line, frame, depth + 1)
        return ()

    def _operation(
        self, module: Module, value: Op, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[str, ...]:
        operands = value.operands

        def texts(operand: Value) -> tuple[str, ...]:
            return self._texts(module, operand, block, line, frame, depth)

        if value.op in ("+", "join"):
            return _joined("", [texts(one) for one in operands])
        if value.op == "iter":
            return texts(operands[0])
        if value.op == "/":
            return _joined("/", [texts(one) for one in operands])
        if value.op == "if":
            test = holds(expr_at(self.context, module, operands[0], block, line))
            chosen = operands[1:] if test is None else operands[1:2] if test else operands[2:]
            return _unique(text for one in chosen for text in texts(one))
        if value.op == "or":
            return _unique(text for one in operands for text in texts(one) if text)
        if value.op == "%" and isinstance(operands[0], Const):
            arguments = operands[1].items if isinstance(operands[1], SequenceDisplay) else operands[1:]
            return _filled(_PERCENT, str(operands[0].value), [texts(one) for one in arguments])
        if value.op == "." and isinstance(operands[1], Const) and operands[1].value == "parent":
            return tuple(posixpath.dirname(text) for text in texts(operands[0]))
        if value.op == "[]" and isinstance(operands[0], Ref) and isinstance(operands[1], Const):
            return self._item(module, operands[0].name, operands[1].value, block, line, frame, depth)
        return ()

    def _item(
        self, module: Module, holder: str, key: object, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[str, ...]:
        """``sys.argv[1]``, ``kwargs["path"]``, ``args["path"]``."""
        if holder == "sys.argv":
            return self._word(key)
        if holder == "sys.path":
            return (posixpath.dirname(self.launch.entry) if self.launch is not None else module.folder,)
        if not isinstance(key, str):
            return ()
        function = module.function_of(block)
        if function > 0 and f"**{holder}" in module.blocks[function].params:
            passed = self.arguments(module, function, key, frame)
            return _unique(
                text
                for home, value, at, around in passed
                if value is not None
                for text in self._texts(home, value, at.block, at.line, around, depth)
            )
        return self._name(module, f"{holder}.{key}", block, line, frame, depth)

    def _word(self, index: object) -> tuple[str, ...]:
        words = (self.launch.fact.attrs.get("words") if self.launch else None) or []
        at = index - 1 if isinstance(index, int) else -1
        text = words[at][0] if 0 <= at < len(words) else None
        return (text,) if isinstance(text, str) else ()

    # -- names ----------------------------------------------------------------------------------

    def _name(
        self, module: Module, name: str, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[str, ...]:
        if name == "__file__":
            return (module.path,)
        head, _, last = name.rpartition(".")
        if last == "parent" and head:
            return tuple(map(posixpath.dirname, self._name(module, head, block, line, frame, depth + 1)))
        key = (module.path, name, block, line)
        if key in self._busy or depth > _DEPTH:
            return ()
        self._busy.add(key)
        try:
            return self._bound(module, name, block, line, frame, depth)
        finally:
            self._busy.discard(key)

    def _bound(
        self, module: Module, name: str, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[str, ...]:
        head, _, last = name.rpartition(".")
        options = self.context.options
        near = options.near(last, module)[:4] if head and last in options.table and HOLDERS.search(head) else []
        passed = _unique(text for option in near for text in self._passed(option))
        if passed:
            return passed
        parts: list[str] = []
        for home, bind in self.context.bindings(module, name, block, line)[:_MOST]:
            parts += self._texts(home, bind.value, bind.block, bind.line, frame, depth)
        if near and not any(parts):
            return _unique(text for option in near for text in self.option(option, depth))
        return _unique(parts or self._parameter(module, name, block, frame, depth))

    def _parameter(self, module: Module, name: str, block: int, frame: PathFrame | None, depth: int) -> Iterable[str]:
        function = takes(module, name, block)
        if not function:
            return
        missing = True
        for home, value, at, around in self.arguments(module, function, name, frame):
            if value is not None:
                missing = False
                yield from self._texts(home, value, at.block, at.line, around, depth)
        record = module.blocks[function]
        position = record.params.index(name) - (len(record.params) - len(record.defaults))
        if missing and position >= 0:
            yield from self._texts(module, record.defaults[position], record.parent, record.line, None, depth)

    def arguments(
        self, module: Module, function: int, name: str, frame: PathFrame | None
    ) -> list[tuple[Module, Value | None, Call, PathFrame | None]]:
        """The arguments for a parameter in the calls of a function; only in the call of `frame`, if given."""
        called = scope_at(self.context, module, function)
        if frame is not None and frame.home is module and frame.function == function:
            call = frame.caller.code.calls[frame.index]
            shift = implicit_arguments(called, frame.caller, frame.index)
            params = module.blocks[function].params
            value = argument(call, name, params.index(name) - shift if name in params else -1)
            return [(frame.caller, value, call, frame.outer)]
        if name not in module.blocks[function].params:
            sites = [(home, home.code.calls[index]) for home, index in callers(called)[:_CALLERS]]
            return [(home, argument(call, name, -1), call, None) for home, call in sites if self._counts(home)]
        return [
            (home, value, home.code.calls[index], None)
            for (home, index), value in passed(called, name)
            if self._counts(home)
        ]

    def _counts(self, home: Module) -> bool:
        return self.modules is None or home.path in self.modules

    def option(self, option: Option, depth: int = 0) -> tuple[str, ...]:
        """The text of an option: the passed value, else its default, else what other starts pass."""
        passed = self._passed(option)
        if passed:
            return passed
        call = option.call
        found = self._texts(option.module, option.value, call.block, call.line, None, depth)
        if found or self.launch is not None:
            return found
        starts = self.context.options.passed.starts(option.module.path, option.module.path)
        found = _unique(text for one in starts for flag in option.flags if (text := one.options.get(flag)) is not None)
        return found if len(found) == 1 else ()

    def _passed(self, option: Option) -> tuple[str, ...]:
        """The value that the launcher passes for an option; positional options take its arguments in order. An empty
        text means that the caller must supply it."""
        if self.launch is None:
            return ()
        if option.flags:
            partly, passed = self.launch.fact.attrs.get("partly") or {}, self.launch.options
            return tuple(passed[flag] or partly.get(flag, UNKNOWN) for flag in option.flags if flag in passed)[:1]
        names = self.context.options.by_module.get(option.module.path, {})
        bare = [one for options in names.values() for one in options if not one.flags]
        words = self.launch.fact.attrs.get("words") or []
        at = next((at for at, one in enumerate(bare) if one is option), len(words))
        text = words[at][0] if at < len(words) else None
        return (text,) if isinstance(text, str) else ()

    # -- calls ----------------------------------------------------------------------------------

    def _result(self, module: Module, index: int, frame: PathFrame | None, depth: int) -> tuple[str, ...]:
        call = module.code.calls[index]
        last = module.callee_name(index)

        def texts(value: Value) -> tuple[str, ...]:
            return self._texts(module, value, call.block, call.line, frame, depth)

        receiver = receiver_of(call)
        if last in ("join", "joinpath"):
            parts = [texts(one) for one in call.args]
            return _joined("/", parts if last == "join" or receiver is None else [texts(receiver), *parts])
        if last == "dirname" and call.args:
            return tuple(posixpath.dirname(text) for text in texts(call.args[0]))
        if last in ("getcwd", "cwd", "curdir"):
            return (".",)
        if last == "split" and receiver is not None and call.args:
            return _unique(part.strip() for text in texts(receiver) for part in text.split(","))
        if last == "format" and receiver is not None:
            arguments = [texts(one) for one in call.args]
            return _unique(
                text
                for template in texts(receiver)
                for text in _filled(_TEMPLATE, template, arguments, dict(call.keywords))
            )
        if last in _SAME:
            found = texts(call.args[0]) if call.args else ()
            return found or (texts(receiver) if receiver is not None else ())
        if last in ("get", "getenv") and len(call.args) > 1:
            return texts(call.args[1])
        return self._returned(module, index, frame, depth) or _named(text for one in call.args for text in texts(one))

    def _returned(self, module: Module, index: int, frame: PathFrame | None, depth: int) -> tuple[str, ...]:
        target = self.context.names.function(self.context.names.of_call(module, index))
        if target is None or target[0].blocks[target[1]].kind == "class":
            return ()
        home, function = target
        inner = PathFrame(home, function, module, index, frame)
        return _named(
            text
            for returned in home.returns.get(function, ())[:_MOST]
            for text in self._texts(home, returned.value, returned.block, returned.line + 1, inner, depth)
        )


def _joined(between: str, parts: list[tuple[str, ...]]) -> tuple[str, ...]:
    """All combinations of alternatives; a part without alternatives makes the result empty."""
    found: list[str] = []
    for chosen in product(*[part or (UNKNOWN,) for part in parts[:16]]):
        found.append(posixpath.join(*chosen) if between and chosen else "".join(chosen))
        if len(found) >= _MOST:
            break
    return _unique(text for text in found if len(text) <= _LONG)


def _filled(
    placeholder: object, template: str, values: list[tuple[str, ...]], keywords: dict[str, Value] | None = None
) -> tuple[str, ...]:
    """A template with its placeholders filled in order; unresolved named placeholders become ``*``."""
    pieces = _PERCENT.split(template) if placeholder is _PERCENT else _TEMPLATE.split(template)
    if len(pieces) - 1 != len(values) or keywords:
        return (UNKNOWN.join(pieces),)
    parts: list[tuple[str, ...]] = [(pieces[0],)]
    for text, piece in zip(values, pieces[1:], strict=True):
        parts += [text, (piece,)]
    return _joined("", parts)


def _named(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that end like names of configuration files."""
    return _unique(text for text in texts if _ENDING.search(text))


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))[:_MOST]

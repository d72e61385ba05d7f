"""Evaluates expressions that name files to texts, with ``*`` for unknown parts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from itertools import product

from npulint.commands.training_config.followed import Followed, option_default, passing_at
from npulint.core.lazy_regex import lazy_compile
from npulint.model.launches.options import HOLDERS, Option
from npulint.model.launches.project_launches import Launch
from npulint.model.running.conditions import holds
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker

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


Texts = tuple[str, ...]


class Paths:
    """Evaluates texts under one start of a program (None: with default options). `modules` are the paths of the modules
    whose calls count; None for all."""

    def __init__(self, context: Context, launch: Launch | None = None, modules: frozenset[str] | None = None) -> None:
        self.context = context
        self.launch = launch
        self.modules = modules
        self._steps = 0

    def of(self, here: Followed) -> Texts:
        """The possible texts of an expression; empty when nothing is known."""
        self._steps = 0
        return tuple(text for text in _texts(here, self) if text.strip("*/"))

    def evaluated(self, here: Followed) -> Texts:
        """The possible texts of an expression that is not being evaluated yet."""
        self._steps += 1
        expr = here.expr
        if self._steps > _STEPS:
            return ()
        if expr.is_literal:
            return (expr.literal,) if isinstance(expr.literal, str) else ()
        if expr.written:
            return self._name(here)
        if expr.call is not None:
            return self._result(expr.call, here)
        return self._any(expr.items[:_MOST], here) if expr.is_display else self._operation(here)

    def _all(self, parts: Iterable[Expr], here: Followed) -> list[Texts]:
        """The texts of each of several expressions."""
        return [_texts(here.to(part), self) for part in parts]

    def _any(self, parts: Iterable[Expr], here: Followed) -> Texts:
        """The texts of an expression that may be any of several."""
        return _unique(text for texts in self._all(parts, here) for text in texts)

    def _operation(self, here: Followed) -> Texts:
        operator, operands, attribute = here.expr.operator, here.expr.operands(), here.expr.attribute
        if operator in ("+", "join", "/"):
            return _joined(operator if operator == "/" else "", self._all(operands, here))
        if operator == "iter":
            return self._any(operands[:1], here)
        if operator == "if":
            test = holds(operands[0])
            return self._any(operands[1:] if test is None else operands[1:2] if test else operands[2:], here)
        if operator == "or":
            return tuple(filter(None, self._any(operands, here)))
        if operator == "%" and operands[0].is_literal:
            arguments = operands[1].items if operands[1].is_display else operands[1:]
            return _filled(_PERCENT, str(operands[0].literal), self._all(arguments, here))
        if attribute is not None and attribute[1] == "parent":
            return tuple(map(posixpath.dirname, self._any(operands[:1], here)))
        if operator == "[]" and operands[0].written and operands[1].is_literal:
            return self._item(operands[0], operands[1].literal, here)
        return ()

    def _item(self, holder: Expr, key: object, here: Followed) -> Texts:
        """``sys.argv[1]``, ``kwargs["path"]``, ``args["path"]``."""
        if holder.written == "sys.argv":
            return self._word(key)
        if holder.written == "sys.path":
            return (posixpath.dirname(self.launch.entry) if self.launch is not None else holder.module.folder,)
        if not isinstance(key, str):
            return ()
        function = holder.scope.function
        if function is not None and f"**{holder.written}" in function.parameters:
            return _unique(text for argument in self.arguments(function, key, here) for text in _texts(argument, self))
        return self._name(here.to(holder.scope.named(f"{holder.written}.{key}", holder.line)))

    def _word(self, index: object) -> Texts:
        """A word of the command line, by its number."""
        words = self.launch.fact.record.words if self.launch else ()
        at = index - 1 if isinstance(index, int) else -1
        return (words[at].text,) if 0 <= at < len(words) else ()

    # -- names ----------------------------------------------------------------------------------

    def _name(self, here: Followed) -> Texts:
        expr = here.expr
        head, _, last = expr.written.rpartition(".")
        if expr.written == "__file__":
            return (expr.module.path,)
        if last == "parent" and head:
            return tuple(map(posixpath.dirname, self._any([expr.scope.named(head, expr.line)], here)))
        options = self.context.options
        near = options.near(last, expr.module)[:4] if head and last in options.table and HOLDERS.search(head) else []
        passed = _unique(text for option in near for text in self._passed(option))
        if passed:
            return passed
        texts = [text for bind in expr.assignments[:_MOST] for text in _texts(here.to(bind.value), self)]
        if near and not any(texts):
            return _unique(text for option in near for text in self.option(option))
        return _unique(texts or self._parameter(here))

    def _parameter(self, here: Followed) -> Iterable[str]:
        function = here.expr.parameter_of
        if function is None:
            return ()
        passed = self.arguments(function, here.expr.written, here)
        default = function.default(here.expr.written)
        if not passed and default is not None:
            passed = [Followed(default)]
        return (text for followed in passed for text in _texts(followed, self))

    def arguments(self, function: Scope, name: str, here: Followed) -> list[Followed]:
        """What is passed for a parameter by the call through which the function was entered, else by all its calls."""
        followed = here.caller(function)
        sites = [site for site in function.callers[:_CALLERS] if self.modules is None or site.path in self.modules]
        calls = [followed] if followed is not None else [(passing_at(function, site), ()) for site in sites]
        passed = ((passing.argument(name), outer) for passing, outer in calls)
        return [Followed(value, outer) for value, outer in passed if value is not None]

    def option(self, option: Option) -> Texts:
        """The text of an option: the passed value, else its default, else what other starts pass."""
        texts = self._passed(option) or _texts(Followed(option_default(self.context, option)), self)
        if texts or self.launch is not None:
            return texts
        starts = self.context.options.passed.starts(option.module.path, option.module.path)
        texts = _unique(
            text for start in starts for flag in option.flags if (text := start.options.get(flag)) is not None
        )
        return texts if len(texts) == 1 else ()

    def _passed(self, option: Option) -> Texts:
        """The value that the launcher passes for an option; positional options take its arguments in order. An empty
        text means that the caller must supply it."""
        if self.launch is None:
            return ()
        if option.flags:
            partly, passed = self.launch.fact.record.partly, self.launch.options
            return tuple(passed[flag] or partly.get(flag, UNKNOWN) for flag in option.flags if flag in passed)[:1]
        names = self.context.options.by_module.get(option.module.path, {})
        bare = [candidate for options in names.values() for candidate in options if not candidate.flags]
        return self._word(next((at for at, candidate in enumerate(bare, 1) if candidate is option), 0))

    # -- calls ----------------------------------------------------------------------------------

    def _result(self, site: CallSite, here: Followed) -> Texts:
        here = here.to(site.result)
        last, args, receiver = site.last, site.args, site.receiver
        on = [] if receiver is None else [receiver]
        if last in ("join", "joinpath"):
            return _joined("/", self._all(args if last == "join" else [*on, *args], here))
        if last == "dirname" and args:
            return tuple(map(posixpath.dirname, self._any(args[:1], here)))
        if last in ("getcwd", "cwd", "curdir"):
            return (".",)
        if last == "split" and on and args:
            return _unique(part.strip() for text in self._any(on, here) for part in text.split(","))
        if last == "format" and on:
            texts = self._all(args, here)
            named = bool(site.record.keywords)
            return _unique(t for template in self._any(on, here) for t in _filled(_TEMPLATE, template, texts, named))
        if last in _SAME:
            return self._any(args[:1], here) or self._any(on, here)
        if last in ("get", "getenv") and len(args) > 1:
            return self._any(args[1:2], here)
        return self._returned(site, here) or _named(text for texts in self._all(args, here) for text in texts)

    def _returned(self, site: CallSite, here: Followed) -> Texts:
        target = site.target
        if target is None or target.kind == "class" or any(call.function is target for call in here.calls):
            return ()
        passing = passing_at(target, site)
        inside = [here.entered(expr, passing) for expr in target.returns[:_MOST]]
        return _named(text for followed in inside for text in _texts(followed, self))


@walker(_DEPTH, tuple)
def _texts(here: Followed, paths: Paths) -> Texts:
    """The possible texts of an expression; none where it is nested too deeply or depends on itself."""
    return paths.evaluated(here)


def _joined(between: str, parts: list[Texts]) -> Texts:
    """All combinations of alternatives; a part without alternatives makes the result empty."""
    texts: list[str] = []
    for chosen in product(*[part or (UNKNOWN,) for part in parts[:16]]):
        texts.append(posixpath.join(*chosen) if between and chosen else "".join(chosen))
        if len(texts) >= _MOST:
            break
    return _unique(text for text in texts if len(text) <= _LONG)


def _filled(placeholder: object, template: str, values: list[Texts], named: bool = False) -> Texts:
    """A template with its placeholders filled in order; unresolved named placeholders become ``*``."""
    pieces = _PERCENT.split(template) if placeholder is _PERCENT else _TEMPLATE.split(template)
    if len(pieces) - 1 != len(values) or named:
        return (UNKNOWN.join(pieces),)
    parts: list[Texts] = [(pieces[0],)]
    for text, piece in zip(values, pieces[1:], strict=True):
        parts += [text, (piece,)]
    return _joined("", parts)


def _named(texts: Iterable[str]) -> Texts:
    """The texts that end like names of configuration files."""
    return _unique(text for text in texts if _ENDING.search(text))


def _unique(texts: Iterable[str]) -> Texts:
    return tuple(dict.fromkeys(texts))[:_MOST]

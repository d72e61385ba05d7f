"""The first grammar: programs of one to four modules over the statements of the language and the standard library."""

from __future__ import annotations

from typing import NamedTuple

from tests.oracle.grammars.definitions import Definitions
from tests.oracle.grammars.made import Written
from tests.oracle.grammars.scopes import MAYBE, NUMBER, NUMBERS, STEMS, TABLE, TEXT, WORDS, Class, Draw, Function, Scope
from tests.oracle.grammars.statements import Lines, indented

IMPORTS = [
    f"import {name}" for name in ("argparse", "contextlib", "copy", "dataclasses", "functools", "os", "random", "sys")
]
ERROR = ["class RunError(Exception):", "    pass"]
MODULES = ("core", "models", "utils")


class _Counts(NamedTuple):
    """How many functions and so on there are, before a module is written."""

    functions: int
    classes: int
    managers: int
    generators: int
    factories: int
    registries: set[str]


class PlainWriter(Definitions):
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        super().__init__(Draw(seed))
        self.files: dict[str, str] = {}
        self._core = Scope()

    def written(self) -> Written:
        """The program."""
        self.unknown = self.draw.pick((0.3, 0.6, 1.0))
        scope = Scope()
        lines = [*IMPORTS]
        modules = MODULES[: self.draw.pick((0, 0, 1, 1, 2, 2, 3))]
        for name in modules:
            lines += self._module(name, scope)
        lines += ERROR if not modules else ["from core import RunError"]
        lines += self._definitions(scope, self.draw.between(2, 3) if modules else self.draw.between(4, 6))
        words: list[str] = []
        if self.draw.chance(0.6):
            more, words = self._options(scope)
            lines += more
        lines += [line for kind in (NUMBER, NUMBER, TEXT, MAYBE) for line in self.new_name(scope, kind)]
        lines += self.block(scope, self.draw.between(3, 7))
        lines += self._main(scope) if self.draw.chance(0.5) else self.block(scope, self.draw.between(6, 12))
        lines += self.calls_of_all(scope)
        lines += self._ending(scope)
        self.files["train.py"] = text_of(lines)
        return self._started(words)

    def _started(self, words: list[str]) -> Written:
        start = " ".join(["python train.py", *words])
        if words and self.draw.chance(0.3):
            given = [word if word.startswith("--") else '"$1"' for word in words]
            self.files["run.sh"] = f"python train.py {' '.join(given)}\n"
            return Written(self.files, None, tuple(("run.sh", (word,)) for word in ("2", "11", "0")))
        return Written(self.files, start)

    # -- modules

    def _module(self, name: str, scope: Scope) -> Lines:
        """Write a module, and import it; what it has can be used in the scope. Returns the lines that import it."""
        own, before = Scope(), self._counts()
        lines = [*IMPORTS, *(ERROR if name == "core" else ["from core import RunError"])]
        if name != "core" and self.draw.chance(0.5):
            lines += ["import core"]
            own.kinds.update(
                {f"core.{each}": kind for each, kind in self._core.kinds.items() if kind in (NUMBER, TABLE)}
            )
        lines += self._state(own)
        lines += self._definitions(own, self.draw.between(1, 3))
        lines += self._setter(own)
        if name == "core":
            self._core = own
        self.files[f"{name}.py"] = text_of(lines)
        return self._imported(name, own, scope, before)

    def _counts(self) -> _Counts:
        return _Counts(
            len(self.functions),
            len(self.classes),
            len(self.managers),
            len(self.generators),
            len(self.factories),
            set(self.registries),
        )

    def _imported(self, name: str, own: Scope, scope: Scope, before: _Counts) -> Lines:
        prefix, line = self.draw.pick(
            (
                *[(f"{name}.", f"import {name}")] * 2,
                (f"{name}_module.", f"import {name} as {name}_module"),
                *[("", f"from {name} import NAMES")] * 2,
                ("", f"from {name} import *"),
            )
        )
        names = [each for each in own.kinds if each.isidentifier()]
        more = [each.partition("(")[0] for each in self.generators[before.generators :]]
        more += [each.partition("(")[0] for each, _ in self.managers[before.managers :]]
        scope.kinds.update({f"{prefix}{each}": own.kinds[each] for each in names})
        self._rename(prefix, before)
        return [line.replace("NAMES", ", ".join([*names, *more]))]

    def _rename(self, prefix: str, before: _Counts) -> None:
        """Let what was defined since be called with a prefix."""
        for function in self.functions[before.functions :]:
            function.name = f"{prefix}{function.name}"
        for cls in self.classes[before.classes :]:
            cls.name = f"{prefix}{cls.name}"
        for calls, count in ((self.generators, before.generators), (self.factories, before.factories)):
            calls[count:] = [f"{prefix}{call}" for call in calls[count:]]
        self.managers[before.managers :] = [(f"{prefix}{call}", g) for call, g in self.managers[before.managers :]]
        for each in sorted(set(self.registries) - before.registries):
            self.registries[f"{prefix}{each}"] = self.registries.pop(each)

    def _state(self, scope: Scope) -> Lines:
        """Names of a module."""
        lines: Lines = []
        for kind in (NUMBER, TABLE, self.draw.pick((NUMBERS, TABLE))):
            name = self.draw.fresh("STATE")
            keys = self.draw.some(STEMS[:7], 2)
            value = {
                NUMBER: self.literal(),
                NUMBERS: "[1, 2, 3]",
                TABLE: f'{{"{keys[0]}": 1, "{keys[1]}": {self.literal()}}}',
            }[kind]
            scope.kinds[name] = kind
            lines.append(f"{name} = {value}")
        return lines

    def _setter(self, scope: Scope) -> Lines:
        """A function that binds a name of its module again."""
        names = [name for name in scope.of(NUMBER) if name.isidentifier()]
        name, setter = self.draw.pick(names), self.draw.fresh("set_state")
        self.functions.append(Function(setter, [NUMBER], ["a"], 1))
        scope.kinds[setter] = "defined"
        return [f"def {setter}(a):", f"    global {name}", f"    {name} = a", f"    return {name} + 1"]

    def _definitions(self, scope: Scope, count: int) -> Lines:
        makers = (
            *[self.function_of_numbers] * 4,
            *[self.taker] * 3,
            *[self.a_class] * 3,
            *[self.generator] * 2,
            *[self.manager] * 2,
            self.decorators,
            self.registry,
            self.starred,
            self.recursive,
            self.collector,
            self.factory,
        )
        if not scope.of(TABLE):
            return [*self._state(scope), *self._definitions(scope, count)]
        return [line for _ in range(count) for line in self.draw.pick(makers)(scope)]

    # -- the main module

    def _options(self, scope: Scope) -> tuple[Lines, list[str]]:
        """A parser of options; its lines, and words for it."""
        lines, words, kinds = ["parser = argparse.ArgumentParser()"], [], {}
        for name in self.draw.some(STEMS, self.draw.between(1, 3)):
            kind = self.draw.pick(("int", "float", "int"))
            lines.append(f'parser.add_argument("--{name}", type={kind}, default={self.draw.between(0, 9)})')
            kinds[name] = NUMBER
            if self.draw.chance(0.5):
                words += [f"--{name}", str(self.draw.between(0, 9))]
        if self.draw.chance(0.5):
            lines.append('parser.add_argument("--mode", choices=["train", "eval"], default="train")')
            kinds["mode"] = "text"
        if self.draw.chance(0.5):
            lines.append('parser.add_argument("--amp", action="store_true")')
            kinds["amp"] = "flag"
            words += ["--amp"] if self.draw.chance(0.4) else []
        lines.append("args = parser.parse_args()")
        scope.objects["args"] = Class("args", kinds)
        return lines, words

    def _main(self, scope: Scope) -> Lines:
        body = scope.inner(is_function=True)
        lines = [line for kind in (NUMBER, NUMBERS) for line in self.new_name(body, kind)]
        lines += self.block(body, self.draw.between(6, 12))
        lines += self._ending(body)
        guard = ['if __name__ == "__main__":', "    main()"] if self.draw.chance(0.8) else ["main()"]
        return ["def main():", *indented(lines), *guard]

    def calls_of_all(self, scope: Scope) -> Lines:
        """Calls of functions that may never have been called."""
        lines = []
        names = scope.all_kinds()
        for function in self.functions:
            can_be = function.name in names and all(
                kind == NUMBER or self.places(scope, kind) for kind in function.kinds
            )
            if can_be and self.draw.chance(0.6):
                call = f"{function.name}({self.arguments(function, scope)})"
                lines += self._used(scope, call, function.gives == NUMBER, function.may_raise)
        for name, cls in scope.all_objects().items():
            for method in cls.methods:
                if self.draw.chance(0.4):
                    call = f"{name}.{method.name}({', '.join(self.number(scope, 0) for _ in range(method.parameters))})"
                    lines += self._used(scope, call, method.gives, method.may_raise)
        return lines

    def _ending(self, scope: Scope) -> Lines:
        lines = [f"reveal_value({self.shown(scope)})" for _ in range(self.draw.between(3, 6))]
        if self.draw.chance(0.1):
            lines += [f"if {self.flag(scope)}:", f"    sys.exit({self.draw.pick((0, 3))})", "reveal_runs()"]
        return lines


def text_of(lines: Lines) -> str:
    """Lines as the text of a file."""
    return "\n".join(lines) + "\n"


__all__ = ["WORDS", "PlainWriter", "text_of"]

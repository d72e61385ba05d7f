"""Expressions of the grammars: each production gives a text, or None where it does not apply."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.grammars.scopes import (
    FLAG,
    FUNCTION,
    ITERATOR,
    MAYBE,
    NESTED,
    NUMBER,
    NUMBERS,
    SET,
    STEMS,
    TABLE,
    TEXT,
    VARIABLES,
    WORDS,
    Class,
    Draw,
    Function,
    Scope,
)

Production = Callable[[Scope, int], str | None]


class Expressions:
    """Writes expressions over the names of a scope. Functions may be called while `calls` is positive."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.registries: dict[str, list[str]] = {}  # dicts of functions, with their keys
        self.factories: list[str] = []  # functions that give a function with a state
        self.calls = 1
        self.unknown = 1.0  # how often conditions are over what is not decided
        self._numbers: list[Production] = [
            *[self._literal] * 2,
            *[self._number_name] * 6,
            *[self._attribute] * 4,
            *[self._of_table] * 4,
            *[self._of_list] * 3,
            *[self._of_text] * 1,
            *[self._of_maybe] * 2,
            *[self._arithmetic] * 5,
            *[self._conditional] * 2,
            *[self._call] * 4,
            *[self._method_call] * 3,
            *[self._called_name] * 2,
            *[self._built_in] * 2,
            *[self._registered] * 2,
            *[self._first_of] * 1,
            *[self._next_of] * 1,
            *[self._of_nested] * 1,
            *[self._of_special] * 3,
            *[self._environment_number] * 1,
        ]
        self._flags: list[Production] = [
            *[self._compared] * 6,
            *[self._flag_name] * 3,
            *[self._text_test] * 3,
            *[self._is_none] * 2,
            *[self._has_key] * 2,
            *[self._combined] * 2,
            *[self._environment] * 4,
            *[self._random] * 1,
            *[self._type_test] * 1,
            *[self._any_of] * 1,
            *[self._identity] * 1,
            *[self._in_set] * 1,
            *[self._equal_objects] * 1,
        ]
        self._texts: list[Production] = [
            self._word,
            self._text_name,
            self._text_name,
            self._formatted,
            self._changed_text,
        ]

    def _first(self, productions: list[Production], scope: Scope, depth: int, fallback: str) -> str:
        for _ in range(5):
            text = self.draw.pick(productions)(scope, depth)
            if text is not None:
                return text
        return fallback

    def value(self, kind: str, scope: Scope, depth: int = 1) -> str:
        """An expression of a kind."""
        makers = {
            NUMBER: self.number,
            TEXT: self.text,
            FLAG: self.flag,
            NUMBERS: self.numbers,
            TABLE: self.table,
            MAYBE: self.maybe,
            FUNCTION: self.function,
            SET: self.words,
            NESTED: self.nested,
            ITERATOR: self.iterator,
        }
        return makers[kind](scope, depth)

    # -- numbers

    def number(self, scope: Scope, depth: int = 2) -> str:
        """A number."""
        return self._first(self._numbers, scope, depth, self.literal())

    def literal(self) -> str:
        """A constant number."""
        return str(self.draw.pick((0, 1, 2, 3, 4, 5, 7, 8, 10, 16, 0.5, 0.25, -1)))

    def _literal(self, scope: Scope, depth: int) -> str | None:
        return self.literal()

    def _number_name(self, scope: Scope, depth: int) -> str | None:
        names = scope.of(NUMBER)
        return self.draw.pick(names) if names else None

    def attributes(self, scope: Scope, kind: str) -> list[str]:
        """The attributes of this kind of the objects at hand."""
        return [
            f"{name}.{attribute}"
            for name, cls in scope.all_objects().items()
            for attribute, each in cls.kinds.items()
            if each == kind
        ]

    def _attribute(self, scope: Scope, depth: int) -> str | None:
        places = self.attributes(scope, NUMBER)
        return self.draw.pick(places) if places else None

    def places(self, scope: Scope, kind: str) -> list[str]:
        """Names and attributes of a kind."""
        return [*scope.of(kind), *self.attributes(scope, kind)]

    def _of_table(self, scope: Scope, depth: int) -> str | None:
        tables = self.places(scope, TABLE)
        if not tables:
            return None
        table, key = self.draw.pick(tables), self.draw.pick(STEMS[:7])
        forms = [f'{table}.get("{key}", {self.literal()})', f"len({table})", f"sum({table}.values())"]
        return self.draw.pick([forms[0], forms[0], *forms])

    def _of_list(self, scope: Scope, depth: int) -> str | None:
        lists = self.places(scope, NUMBERS)
        if not lists:
            return None
        items = self.draw.pick(lists)
        at = self.draw.pick((0, -1, 1))
        guard = f"len({items}) > 1" if at == 1 else items
        return self.draw.pick(
            (f"len({items})", f"sum({items})", f"({items}[{at}] if {guard} else 0)", f"max({items}, default=0)")
        )

    def _of_text(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, TEXT)
        if not names:
            return None
        return self.draw.pick((f"len({self.draw.pick(names)})", f'{self.draw.pick(names)}.count("a")'))

    def _of_maybe(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, MAYBE)
        if not names:
            return None
        name = self.draw.pick(names)
        return self.draw.pick(
            (f"({name} or {self.literal()})", f"({name} if {name} is not None else {self.literal()})")
        )

    def _arithmetic(self, scope: Scope, depth: int) -> str | None:
        if depth <= 0:
            return None
        left, right = self.number(scope, depth - 1), self.number(scope, depth - 1)
        forms = (f"({left} + {right})", f"({left} - {right})", f"({left} * 2)", f"({left} // 2)", f"({left} % 3)")
        return self.draw.pick((*forms, f"(-{left})", f"(0.5 * {right})"))

    def _conditional(self, scope: Scope, depth: int) -> str | None:
        if depth <= 0:
            return None
        return f"({self.number(scope, 0)} if {self.flag(scope, 0)} else {self.number(scope, 0)})"

    def _built_in(self, scope: Scope, depth: int) -> str | None:
        if depth <= 0:
            return None
        a, b = self.number(scope, 0), self.number(scope, 0)
        return self.draw.pick(
            (f"max({a}, {b})", f"min({a}, {b})", f"abs({a})", f"int({a})", f"round({a}, 1)", f"sum(({a}, {b}))")
        )

    def _first_of(self, scope: Scope, depth: int) -> str | None:
        lists = scope.of(NUMBERS)
        if not lists or depth <= 0:
            return None
        item = self.draw.fresh("x")
        return f"next(({item} for {item} in {self.draw.pick(lists)} if {item} > {self.literal()}), {self.literal()})"

    def _next_of(self, scope: Scope, depth: int) -> str | None:
        names = scope.of(ITERATOR)
        return f"next({self.draw.pick(names)}, {self.literal()})" if names and depth > 0 else None

    def _of_nested(self, scope: Scope, depth: int) -> str | None:
        names = scope.of(NESTED)
        if not names:
            return None
        name, key = self.draw.pick(names), self.draw.pick(STEMS[:5])
        return self.draw.pick(
            (f"len({name})", f'sum({name}.get("{key}", ()))', f"sum(len(v) for v in {name}.values())")
        )

    def _in_set(self, scope: Scope, depth: int) -> str | None:
        names = scope.of(SET)
        if not names:
            return None
        name = self.draw.pick(names)
        return self.draw.pick((f"{self.text(scope, 0)} in {name}", f"len({name}) > 2", f'{name} <= {{"adam", "sgd"}}'))

    def _of_special(self, scope: Scope, depth: int) -> str | None:
        if depth <= 0 or self.calls <= 0:
            return None
        forms = {"call": "{}({})", "len": "len({})", "iter": "sum({})"}
        choices = [
            forms[special].format(name, self.number(scope, 0))
            for name, cls in scope.all_objects().items()
            for special in sorted(cls.special & set(forms))
        ]
        return self.draw.pick(choices) if choices else None

    def _equal_objects(self, scope: Scope, depth: int) -> str | None:
        objects = scope.all_objects()
        names = [name for name, cls in objects.items() if "eq" in cls.special]
        if not names or self.calls <= 0:
            return None
        name = self.draw.pick(names)
        same = [each for each, cls in objects.items() if cls is objects[name]]
        return f"{name} {self.draw.pick(('==', '!='))} {self.draw.pick(same)}"

    def _environment_text(self, scope: Scope, depth: int) -> str | None:
        return f'os.environ.get("TAG", "{self.draw.pick(WORDS)}")' if self.draw.chance(self.unknown) else None

    def _environment_number(self, scope: Scope, depth: int) -> str | None:
        if not self.draw.chance(0.4 * self.unknown):
            return None
        return self.draw.pick(('int(os.environ.get("RANK", "0"))', 'len(os.environ.get("TAG", ""))'))

    # -- calls

    def arguments(self, function: Function, scope: Scope) -> str:
        """The arguments of a call, some of them by name, some of those that can be omitted omitted."""
        count = self.draw.between(function.needed, len(function.kinds))
        values = [self.value(kind, scope, 0) for kind in function.kinds[:count]]
        if set(function.kinds) == {NUMBER} and self.draw.chance(0.12):
            given = "".join(f"{name!r}: {text}, " for name, text in zip(function.names, values, strict=False))
            return self.draw.pick((f"*[{', '.join(values)}]", f"**{{{given}}}"))
        named = count if self.draw.chance(0.6) else self.draw.between(0, count)
        parts = [text if at < named else f"{function.names[at]}={text}" for at, text in enumerate(values)]
        return ", ".join(parts)

    def usable(self, scope: Scope, gives: str = NUMBER) -> list[Function]:
        """The functions that can be called here and do not raise."""
        names = scope.all_kinds()
        return [each for each in self.functions if each.name in names and each.gives == gives and not each.may_raise]

    def _call(self, scope: Scope, depth: int) -> str | None:
        functions = self.usable(scope)
        if not functions or depth <= 0 or self.calls <= 0:
            return None
        function = self.draw.pick(functions)
        return f"{function.name}({self.arguments(function, scope)})"

    def _method_call(self, scope: Scope, depth: int) -> str | None:
        calls = [
            (name, method)
            for name, cls in scope.all_objects().items()
            for method in cls.methods
            if method.gives and not method.may_raise
        ]
        if not calls or depth <= 0 or self.calls <= 0:
            return None
        name, method = self.draw.pick(calls)
        return f"{name}.{method.name}({', '.join(self.number(scope, 0) for _ in range(method.parameters))})"

    def _called_name(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, FUNCTION)
        if not names or depth <= 0 or self.calls <= 0:
            return None
        return f"{self.draw.pick(names)}({self.number(scope, 0)})"

    def _registered(self, scope: Scope, depth: int) -> str | None:
        registries = [name for name in self.registries if name in scope.all_kinds()]
        if not registries or depth <= 0 or self.calls <= 0:
            return None
        name = self.draw.pick(registries)
        keys = self.registries[name]
        if self.draw.chance(0.3):
            default = f'{name}["{keys[0]}"]'
            return f"{name}.get({self.text(scope, 0)}, {default})({self.number(scope, 0)})"
        return f'{name}["{self.draw.pick(keys)}"]({self.number(scope, 0)})'

    # -- conditions

    def flag(self, scope: Scope, depth: int = 1) -> str:
        """A condition."""
        return self._first(self._flags, scope, depth, self.draw.pick(("True", "False")))

    def _compared(self, scope: Scope, depth: int) -> str | None:
        left = self.number(scope, 0)
        if self.draw.chance(0.15):
            return f"{self.draw.pick((0, 1, 2))} <= {left} < {self.draw.pick((3, 5, 9))}"
        return f"{left} {self.draw.pick(('>', '<', '>=', '<=', '==', '!='))} {self.number(scope, 0)}"

    def _flag_name(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, FLAG)
        return self.draw.pick(("", "not ")) + self.draw.pick(names) if names else None

    def _text_test(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, TEXT)
        if not names:
            return None
        name, word = self.draw.pick(names), self.draw.pick(WORDS)
        other = self.draw.pick(WORDS)
        return self.draw.pick(
            (f'{name} == "{word}"', f'{name} in ("{word}", "{other}")', f'{name}.startswith("{word[0]}")')
        )

    def _is_none(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, MAYBE)
        if not names:
            return None
        return f"{self.draw.pick(names)} {self.draw.pick(('is None', 'is not None'))}"

    def _has_key(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, TABLE)
        return f'"{self.draw.pick(STEMS[:7])}" in {self.draw.pick(names)}' if names else None

    def _combined(self, scope: Scope, depth: int) -> str | None:
        if depth <= 0:
            return None
        left, right = self.flag(scope, 0), self.flag(scope, 0)
        return self.draw.pick((f"({left}) and ({right})", f"({left}) or ({right})", f"not ({left})"))

    def _environment(self, scope: Scope, depth: int) -> str | None:
        if not self.draw.chance(self.unknown):
            return None
        name = self.draw.pick(VARIABLES)
        forms = (f'os.environ.get("{name}")', f'"{name}" in os.environ', f'os.environ.get("{name}", "0") == "1"')
        return self.draw.pick(forms)

    def _random(self, scope: Scope, depth: int) -> str | None:
        return "random.random() < 0.5" if self.draw.chance(self.unknown) else None

    def _type_test(self, scope: Scope, depth: int) -> str | None:
        return f"isinstance({self.number(scope, 0)}, {self.draw.pick(('int', 'float', '(int, bool)'))})"

    def _any_of(self, scope: Scope, depth: int) -> str | None:
        lists = scope.of(NUMBERS)
        if not lists or depth <= 0:
            return None
        return f"{self.draw.pick(('any', 'all'))}(x > {self.literal()} for x in {self.draw.pick(lists)})"

    def _identity(self, scope: Scope, depth: int) -> str | None:
        names = [*scope.all_objects(), *scope.of(TABLE), *scope.of(NUMBERS)]
        return " is ".join(self.draw.some(names, 2)) if len(names) > 1 else None

    # -- other kinds

    def text(self, scope: Scope, depth: int = 1) -> str:
        """A string."""
        return self._first(self._texts, scope, depth, f'"{self.draw.pick(WORDS)}"')

    def _word(self, scope: Scope, depth: int) -> str | None:
        return f'"{self.draw.pick(WORDS)}"'

    def _text_name(self, scope: Scope, depth: int) -> str | None:
        names = self.places(scope, TEXT)
        return self.draw.pick(names) if names else None

    def _formatted(self, scope: Scope, depth: int) -> str | None:
        names = [*scope.of(TEXT), *scope.of(NUMBER)]
        if not names or depth <= 0:
            return None
        return self.draw.pick(
            (f'f"{{{self.draw.pick(names)}}}_{self.draw.pick(WORDS)}"', f"str({self.draw.pick(names)})")
        )

    def _changed_text(self, scope: Scope, depth: int) -> str | None:
        names = scope.of(TEXT)
        if not names or depth <= 0:
            return None
        name = self.draw.pick(names)
        changes = (".upper()", "[:3]", ".replace(chr(97), chr(98))", ".split(chr(95))[0]", "[::-1]")
        return f"{name}{self.draw.pick(changes)}"

    def numbers(self, scope: Scope, depth: int = 1) -> str:
        """A list of numbers."""
        names = self.places(scope, NUMBERS)
        if names and self.draw.chance(0.3):
            return self.draw.pick(names)
        if names and self.draw.chance(0.3):
            return self.draw.pick(
                ("list({})", "{}[1:]", "sorted({})", "{} + [1]", "[x * 2 for x in {} if x != 1]")
            ).format(self.draw.pick(names))
        return f"[{', '.join(self.number(scope, 0) for _ in range(self.draw.between(0, 3)))}]"

    def table(self, scope: Scope, depth: int = 1) -> str:
        """A dict of numbers."""
        names = self.places(scope, TABLE)
        if names and self.draw.chance(0.3):
            return self.draw.pick(names)
        if names and self.draw.chance(0.4):
            form = self.draw.pick(
                ("dict({})", "{}.copy()", "{{**{}}}", "{{k: v for k, v in {}.items() if v}}", "dict({}, dim=3)")
            )
            return form.format(self.draw.pick(names))
        keys = self.draw.some(STEMS[:7], self.draw.between(1, 4))
        return "{" + ", ".join(f'"{key}": {self.number(scope, 0)}' for key in keys) + "}"

    def maybe(self, scope: Scope, depth: int = 1) -> str:
        """A number or None."""
        names = self.places(scope, MAYBE)
        if names and self.draw.chance(0.3):
            return self.draw.pick(names)
        number = self.number(scope, 0)
        return self.draw.pick(("None", number, f"({number} if {self.flag(scope, 0)} else None)"))

    def function(self, scope: Scope, depth: int = 1) -> str:
        """A function of one number."""
        names = self.places(scope, FUNCTION)
        if names and self.draw.chance(0.4):
            return self.draw.pick(names)
        factories = [each for each in self.factories if each in scope.all_kinds()]
        if factories and self.draw.chance(0.5):
            return f"{self.draw.pick(factories)}({self.number(scope, 0)})"
        inner = scope.inner(is_function=True)
        inner.kinds["z"] = NUMBER
        calls, self.calls = self.calls, 0
        body = self.number(inner, 1)
        self.calls = calls
        captured = self.draw.pick(scope.of(NUMBER)) if scope.of(NUMBER) and self.draw.chance(0.3) else ""
        return f"(lambda z, k={captured}: z + k)" if captured else f"(lambda z: {body})"

    def words(self, scope: Scope, depth: int = 1) -> str:
        """A set of strings."""
        names = scope.of(SET)
        if names and self.draw.chance(0.4):
            return self.draw.pick(("{}", "set({})", '{} | {{"adam"}}', '{} - {{"sgd"}}')).format(self.draw.pick(names))
        return f"{{{', '.join(self.text(scope, 0) for _ in range(self.draw.between(1, 3)))}}}"

    def nested(self, scope: Scope, depth: int = 1) -> str:
        """A dict of lists."""
        names = scope.of(NESTED)
        if names and self.draw.chance(0.4):
            return self.draw.pick(("{}", "dict({})", "copy.deepcopy({})")).format(self.draw.pick(names))
        keys = self.draw.some(STEMS[:5], self.draw.between(0, 2))
        return "{" + ", ".join(f'"{key}": {self.numbers(scope, 0)}' for key in keys) + "}"

    def iterator(self, scope: Scope, depth: int = 1) -> str:
        """An iterator of numbers."""
        source = self.numbers(scope, 0)
        return self.draw.pick(
            (f"iter({source})", f"(x + 1 for x in {source})", f"map(abs, {source})", f"iter({source}[::-1])")
        )

"""Definitions of the grammars: functions, classes, generators, context managers and registries."""

from __future__ import annotations

from tests.oracle.grammars.flow import Flow
from tests.oracle.grammars.scopes import (
    FLAG,
    FUNCTION,
    MAYBE,
    NUMBER,
    NUMBERS,
    STEMS,
    TABLE,
    TEXT,
    WORDS,
    Class,
    Function,
    Method,
    Scope,
)
from tests.oracle.grammars.statements import Lines, indented

TAKER_FORMS = (
    ("table", ['t["{a}"] = n']),
    ("table", ["t.update({a}=n)", 't["{b}"] = t.get("{b}", 0) + 1']),
    ("table", ['if "{a}" in t:', '    t["{a}"] += n', "else:", '    t["{b}"] = n']),
    ("table", ["t = dict(t, {a}=n)", 't["{b}"] = n']),
    ("table", ["for key in list(t):", "    t[key] += n"]),
    ("table", ['t.setdefault("{a}", n)', "u = t", 'u["{b}"] = t["{a}"]']),
    ("table", ["if n > {c}:", "    t.clear()", "    return", 't["{a}"] = n']),
    ("numbers", ["t.append(n)"]),
    ("numbers", ["t[:] = [x + n for x in t]"]),
    ("numbers", ["t += [n]", "t = [n]", "t.append(1)"]),
    ("numbers", ["if len(t) > {d}:", "    t.pop(0)", "t.append(n)"]),
    ("numbers", ["while len(t) > {d}:", "    t.pop()", "t.insert(0, n)"]),
)

DECORATORS = {
    "twice": [
        "def twice(f):",
        "    def wrapped(*args, **kw):",
        "        return f(*args, **kw) * 2",
        "    return wrapped",
    ],
    "kept": ["kept = functools.lru_cache(maxsize=None)"],
    "plus": [
        "def plus(k=1):",
        "    def around(f):",
        "        @functools.wraps(f)",
        "        def wrapped(*args, **kw):",
        "            return f(*args, **kw) + k",
        "        return wrapped",
        "    return around",
    ],
}


class Definitions(Flow):
    """Writes definitions, each with the lines that define it."""

    _of_dict = False  # whether the class that is being written extends dict

    # -- functions

    def function_of_numbers(self, scope: Scope) -> Lines:
        """A function that takes and gives numbers."""
        name = self.draw.fresh(self.draw.pick(("scaled", "rate", "size", "mixed")))
        names = ["a", "b", "c"][: self.draw.between(1, 3)]
        needed = self.draw.between(1, len(names))
        inner = scope.inner(is_function=True)
        inner.kinds.update(dict.fromkeys(names, NUMBER))
        parameters = [each if at < needed else f"{each}={self.literal()}" for at, each in enumerate(names)]
        body = self._body(inner, 2)
        may_raise = self.draw.chance(0.2)
        if may_raise:
            body.insert(0, f"if {self.flag(inner)}:")
            body.insert(1, f'    raise RunError("{self.draw.pick(WORDS)}")')
        decorator = [] if may_raise else self._decorator(scope)
        self.functions.append(Function(name, [NUMBER] * len(names), names, needed, NUMBER, may_raise))
        scope.kinds[name] = "defined"
        return [*decorator, f"def {name}({', '.join(parameters)}):", *indented(body)]

    def _decorator(self, scope: Scope) -> Lines:
        names = [name for name in DECORATORS if name in scope.all_kinds()]
        if not names or self.draw.chance(0.6):
            return []
        name = self.draw.pick(names)
        return [f"@{name}({self.literal()})" if name == "plus" else f"@{name}"]

    def _body(self, inner: Scope, most: int) -> Lines:
        """The lines of a function that gives a number."""
        calls, self.calls = self.calls, 1
        lines = self.block(inner, self.draw.between(0, most), 2)
        lines = [] if lines == ["pass"] else lines
        if self.draw.chance(0.3):
            lines += [f"if {self.flag(inner)}:", f"    return {self.number(inner, 1)}"]
        lines.append(f"return {self.number(inner)}")
        self.calls = calls
        return lines

    def decorators(self, scope: Scope) -> Lines:
        """A decorator."""
        name = self.draw.pick(list(DECORATORS))
        if name in scope.all_kinds():
            return []
        scope.kinds[name] = "defined"
        return DECORATORS[name]

    def taker(self, scope: Scope) -> Lines:
        """A function that may change what it is given."""
        name = self.draw.fresh(self.draw.pick(("apply", "override", "tune")))
        kind, form = self.draw.pick(TAKER_FORMS)
        a, b = self.draw.some(STEMS[:7], 2)
        words = {"a": a, "b": b, "c": self.draw.between(0, 5), "d": self.draw.between(1, 3)}
        lines = [line.format(**words) for line in form]
        may_raise = self.draw.chance(0.25)
        if may_raise:
            at = self.draw.pick([0, len(lines)])
            test = f"if n > {self.draw.between(0, 5)}:" if self.draw.chance(0.5) else f"if {self.flag(Scope(), 0)}:"
            lines[at:at] = [test, "    raise RunError(n)"]
        if self.probes and self.draw.chance(0.4):
            lines.append(self.draw.pick(("reveal_runs()", "reveal_value(t)", "reveal_value(n)")))
        kinds = [TABLE if kind == "table" else NUMBERS, NUMBER]
        needed = 1 if self.draw.chance(0.3) else 2
        self.functions.append(Function(name, kinds, ["t", "n"], needed, "", may_raise))
        scope.kinds[name] = "defined"
        default = "=1" if needed == 1 else ""
        return [f"def {name}(t, n{default}):", *indented(lines)]

    def starred(self, scope: Scope) -> Lines:
        """A function that takes any number of arguments."""
        name = self.draw.fresh("gathered")
        scope.kinds[name] = "defined"
        a, b = self.draw.some(STEMS[:7], 2)
        self.functions.append(Function(name, [NUMBER, NUMBER], [a, b], 0))
        return [
            f"def {name}(*numbers, {a}={self.literal()}, **options):",
            f"    total = sum(numbers) + {a}",
            "    for key in sorted(options):",
            "        total = total * 2 + options[key]",
            *indented(
                [f"options.update({b}=0)", "reveal_value(options)"] if self.probes and self.draw.chance(0.4) else []
            ),
            f"    return total - len({self.draw.pick(('numbers', 'options'))})",
        ]

    def recursive(self, scope: Scope) -> Lines:
        """A function that calls itself a few times."""
        name = self.draw.fresh("repeated")
        scope.kinds[name] = "defined"
        inner = scope.inner(is_function=True)
        inner.kinds.update({"n": NUMBER, "acc": NUMBER})
        self.functions.append(Function(name, [NUMBER], ["n"], 1))
        return [
            f"def {name}(n, acc=0):",
            f"    if n <= 0 or n > {self.draw.between(4, 6)}:",
            f"        return acc + {self.literal()}",
            *indented(self.block(inner, self.draw.between(0, 1), 1)),
            f"    return {name}(n - 1, acc + {self.draw.pick(('n', '1', 'acc'))})",
        ]

    def collector(self, scope: Scope) -> Lines:
        """A function whose default argument keeps what it was given."""
        name = self.draw.fresh("collected")
        scope.kinds[name] = "defined"
        self.functions.append(Function(name, [NUMBER], ["a"], 1))
        return [
            f"def {name}(a, seen=[]):",
            "    seen.append(a)",
            f"    return {self.draw.pick(('len(seen)', 'sum(seen)', 'seen[0]'))}",
        ]

    def generator(self, scope: Scope) -> Lines:
        """A generator of a few numbers."""
        name = self.draw.fresh("series")
        inner = scope.inner(is_function=True)
        inner.kinds.update({"n": NUMBER, "at": NUMBER})
        self.generators.append(f"{name}({self.draw.between(1, 3)})")
        calls, self.calls = self.calls, 0
        lines = [
            f"def {name}(n):",
            "    for at in range(n):",
            *indented(self.block(inner, self.draw.between(0, 1), 1), 2),
        ]
        lines.append(f"        yield {self.number(inner, 1)}")
        if self.draw.chance(0.4):
            lines += [f"    if {self.flag(inner)}:", f"        yield {self.number(inner, 1)}"]
        self.calls = calls
        return lines

    def manager(self, scope: Scope) -> Lines:
        """A context manager that changes a state of the module, and may restore it."""
        states = [name for name in scope.kinds if scope.kinds[name] == TABLE and name.isidentifier()]
        if not states:
            return []
        state, key = self.draw.pick(states), self.draw.pick(STEMS[:7])
        name = self.draw.fresh("scoped")
        if self.draw.chance(0.5):
            self.managers.append((f"{name}({{}})", True))
            body = [f'before = {state}.get("{key}", 0)', f'{state}["{key}"] = n']
            after = [f'{state}["{key}"] = before']
            inner = ["yield before", *after]
            if self.draw.chance(0.6):
                inner = ["try:", "    yield before", "finally:", *indented(after)]
            return ["@contextlib.contextmanager", f"def {name}(n):", *indented([*body, *inner])]
        self.managers.append((f"{name}({{}})", self.draw.chance(0.5)))
        hides = self.draw.pick(
            ("True", "False", "None", "kind is RunError", "self.n > 3", f'bool({state}.get("{key}"))')
        )
        return [
            f"class {name}:",
            "    def __init__(self, n):",
            "        self.n = n",
            "    def __enter__(self):",
            f'        {state}["{key}"] = self.n',
            "        return self.n",
            "    def __exit__(self, kind, error, trace):",
            f'        {state}["{key}"] = {state}.get("{key}", 0) + 1',
            f"        return {hides}",
        ]

    def registry(self, scope: Scope) -> Lines:
        """A dict of functions, filled by a decorator."""
        name = self.draw.fresh("REGISTRY")
        keys = self.draw.some(WORDS[:6], 2)
        lines = [f"{name} = {{}}"]
        lines += [
            f"def add_{name}(key):",
            "    def add(f):",
            f"        {name}[key] = f",
            "        return f",
            "    return add",
        ]
        for key in keys:
            inner = scope.inner(is_function=True)
            inner.kinds["a"] = NUMBER
            calls, self.calls = self.calls, 0
            lines += [f'@add_{name}("{key}")', f"def {self.draw.fresh('built')}(a):"]
            lines += indented(self.block(inner, self.draw.between(0, 1), 1))
            lines.append(f"    return {self.number(inner, 1)}")
            self.calls = calls
        self.registries[name] = keys
        scope.kinds[name] = "defined"
        return lines

    # -- classes

    def a_class(self, scope: Scope) -> Lines:
        """A class, and perhaps one that extends it."""
        name = self.draw.fresh(self.draw.pick(("Net", "Config", "Trainer")))
        kinds = dict.fromkeys(self.draw.some(STEMS, self.draw.between(2, 3)), NUMBER)
        extra = {"mode": TEXT, "best": MAYBE, "sizes": NUMBERS, "table": TABLE, "on": FLAG, "hook": FUNCTION}
        for attribute in self.draw.some(list(extra), self.draw.between(0, 3)):
            kinds[attribute] = extra[attribute]
        options = [attribute for attribute, kind in kinds.items() if kind in (NUMBER, TEXT, MAYBE)]
        cls = Class(name, kinds, [], options)
        others = [each for each in self.classes if each.name in scope.kinds]
        form = self.draw.pick((self._plain_class, self._plain_class, self._data_class, self._dict_class))
        self._of_dict = form == self._dict_class
        if form == self._plain_class and others and self.draw.chance(0.6):
            cls.children["part"] = self.draw.pick(others)
        lines = form(scope, cls)
        lines += self._methods(scope, cls)
        self.classes.append(cls)
        scope.kinds[name] = "defined"
        if form == self._plain_class and self.draw.chance(0.5):
            lines += self._extending(scope, cls)
        return lines

    def _constant(self, kind: str) -> str:
        constants = {
            NUMBER: self.literal(),
            TEXT: f'"{self.draw.pick(WORDS)}"',
            MAYBE: self.draw.pick(("None", "1")),
            FLAG: self.draw.pick(("True", "False")),
            NUMBERS: self.draw.pick(("[]", "[1, 2]")),
            TABLE: self.draw.pick(("{}", '{"lr": 1}')),
            FUNCTION: "(lambda z: z + 1)",
        }
        return constants[kind]

    def _plain_class(self, scope: Scope, cls: Class) -> Lines:
        lines = [f"class {cls.name}:"]
        shared = [attribute for attribute in cls.kinds if attribute not in cls.options]
        own = [attribute for attribute in shared if self.draw.chance(0.6)]
        for attribute in shared:
            if attribute not in own and cls.kinds[attribute] != FUNCTION:
                lines.append(f"    {attribute} = {self._constant(cls.kinds[attribute])}")
                cls.shared.append(attribute)
            elif attribute not in own:
                own.append(attribute)
        parameters = ", ".join(f"{option}={self._constant(cls.kinds[option])}" for option in cls.options)
        lines += [f"    def __init__(self, {parameters}):"]
        lines += [f"        self.{option} = {option}" for option in cls.options]
        lines += [f"        self.{attribute} = {self._constant(cls.kinds[attribute])}" for attribute in own]
        lines += [f"        self.{attribute} = {child.name}()" for attribute, child in cls.children.items()]
        return lines

    def _data_class(self, scope: Scope, cls: Class) -> Lines:
        lines = ["@dataclasses.dataclass", f"class {cls.name}:"]
        for attribute, kind in cls.kinds.items():
            value = self._constant(kind)
            if kind in (NUMBERS, TABLE, FUNCTION):
                value = f"dataclasses.field(default_factory=lambda: {value})"
            lines.append(f"    {attribute}: object = {value}")
        if self.draw.chance(0.4):
            number = next(attribute for attribute, kind in cls.kinds.items() if kind == NUMBER)
            lines += ["    def __post_init__(self):", f"        self.{number} += 1"]
        return lines

    def _dict_class(self, scope: Scope, cls: Class) -> Lines:
        lines = [f"class {cls.name}(dict):", "    def __getattr__(self, name):", "        if name in self:"]
        lines += ["            return self[name]", "        raise AttributeError(name)"]
        lines += ["    def __setattr__(self, name, value):", "        self[name] = value"]
        lines += ["    def __init__(self, **given):", "        super().__init__(given)"]
        for attribute, kind in cls.kinds.items():
            lines.append(f'        self.setdefault("{attribute}", {self._constant(kind)})')
        return lines

    def _methods(self, scope: Scope, cls: Class) -> Lines:
        """Methods; those that are known to be there when they are written can be called by others."""
        lines: Lines = []
        for word, gives in (("advance", False), ("report", True), ("check", True))[: self.draw.between(1, 3)]:
            inner = scope.inner(is_function=True)
            inner.objects["self"] = Class(
                "self", cls.kinds, [each for each in cls.methods if not each.may_raise], [], cls.children
            )
            parameters = self.draw.between(0, 1)
            if parameters:
                inner.kinds["n"] = NUMBER
            may_raise = self.draw.chance(0.15)
            calls, self.calls = self.calls, int(self.draw.chance(0.5))
            body = self.block(inner, self.draw.between(1, 2), 1)
            body = [f"if {self.flag(inner)}:", "    raise RunError(self)", *body] if may_raise else body
            body += [f"return {self.number(inner, 1)}"] if gives or "return" in " ".join(body) else []
            self.calls = calls
            lines += [f"    def {word}(self{', n' * parameters}):", *indented(body, 2)]
            cls.methods.append(Method(word, parameters, gives, may_raise))
        return lines if self._of_dict else [*lines, *self._special_methods(cls)]

    def _special_methods(self, cls: Class) -> Lines:
        """Special methods, some of which change the object."""
        a, b = ([attribute for attribute, kind in cls.kinds.items() if kind == NUMBER] * 2)[:2]
        forms = {
            "call": ["def __call__(self, n):", f"    self.{a} += 1", f"    return self.{b} + n"],
            "len": ["def __len__(self):", f"    return int(abs(self.{a})) % 5"],
            "iter": ["def __iter__(self):", f"    yield self.{a}", f"    self.{b} += 1", f"    yield self.{b}"],
            "eq": [
                "def __eq__(self, other):",
                f"    return isinstance(other, type(self)) and self.{a} == other.{a}",
                "__hash__ = None",
            ],
        }
        lines: Lines = []
        for name in self.draw.some(list(forms), self.draw.pick((0, 0, 1, 2))):
            cls.special.add(name)
            lines += indented(forms[name])
        return lines

    def factory(self, scope: Scope) -> Lines:
        """A function that gives a function with a state."""
        name = self.draw.fresh("made")
        scope.kinds[name] = "defined"
        self.factories.append(name)
        state = self.draw.pick((["total = start"], ["total = start", "start = 100"]))
        change = self.draw.pick(("total += z", "total = z", "total = total * 2 + z"))
        return [
            f"def {name}(start):",
            *indented(state),
            "    def changed(z):",
            "        nonlocal total",
            f"        {change}",
            f"        return total{self.draw.pick((' + start', ''))}",
            "    return changed",
        ]

    def _extending(self, scope: Scope, base: Class) -> Lines:
        name = self.draw.fresh("Own")
        lines = [f"class {name}({base.name}):"]
        number = next(attribute for attribute, kind in base.kinds.items() if kind == NUMBER)
        if self.draw.chance(0.5):
            lines += [
                "    def __init__(self, **given):",
                "        super().__init__(**given)",
                f"        self.{number} += 1",
            ]
        for method in base.methods:
            if method.gives and self.draw.chance(0.6):
                parameters = ", n" * method.parameters
                call = f"super().{method.name}({'n' * method.parameters})"
                body = self.draw.pick(
                    (f"return {call} + 1", f"return self.{number}", f"return {call} if self.{number} else 0")
                )
                lines += [f"    def {method.name}(self{parameters}):", f"        {body}"]
        if len(lines) == 1:
            lines.append(f"    extra = {self.literal()}")
        self.classes.append(
            Class(name, dict(base.kinds), base.methods, base.options, base.children, base.shared, base.special)
        )
        scope.kinds[name] = "defined"
        return lines

"""Statements that decide what is executed: branches, loops, exceptions, functions within functions."""

from __future__ import annotations

from tests.oracle.grammars.scopes import FUNCTION, MAYBE, NUMBER, NUMBERS, STEMS, TABLE, TEXT, WORDS, Draw, Scope
from tests.oracle.grammars.statements import Lines, Statements, indented


class Flow(Statements):
    """Writes all statements."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.loops = 0
        self.managers: list[tuple[str, bool]] = []  # context managers: a call of each, and whether it gives a number
        self.generators: list[str] = []  # calls of generators of numbers
        self._compound = [
            *[self._if] * 6,
            *[self._for] * 5,
            *[self._while] * 2,
            *[self._try] * 4,
            *[self._try_finally] * 2,
            *[self._match] * 2,
            *[self._with] * 2,
            *[self._closure] * 2,
            *[self._leave] * 3,
            *[self._comprehended] * 2,
            *[self._narrowed] * 2,
        ]

    # -- branches

    def _if(self, scope: Scope, depth: int) -> Lines | None:
        lines = [f"if {self.flag(scope)}:", *self.inner_block(scope, depth)]
        if self.draw.chance(0.25):
            lines += [f"elif {self.flag(scope)}:", *self.inner_block(scope, depth)]
        if self.draw.chance(0.5):
            lines += ["else:", *self.inner_block(scope, depth)]
        if self.draw.chance(0.2):  # a name that every branch binds
            name = self.draw.fresh(self.draw.pick(STEMS))
            test = self.flag(scope)
            lines += [
                f"if {test}:",
                f"    {name} = {self.number(scope)}",
                "else:",
                f"    {name} = {self.number(scope)}",
            ]
            scope.kinds[name] = NUMBER
        return lines

    def _narrowed(self, scope: Scope, depth: int) -> Lines | None:
        names = [name for name in scope.of(MAYBE) if name.isidentifier()]
        if names and self.draw.chance(0.5):
            name = self.draw.pick(names)
            inner = scope.inner()
            inner.kinds[name] = NUMBER
            body = [*self.block(inner, 1, depth - 1), f"reveal_value({name})" if self.probes else "pass"]
            return [f"if {name} is not None:", *indented(body)]
        texts = [name for name in scope.of(TEXT) if name.isidentifier()]
        if not texts or not self.probes:
            return None
        name = self.draw.pick(texts)
        return [
            f'if {name} != "{self.draw.pick(WORDS)}" and {name} < "m":',
            *self.inner_block(scope, depth, most=2),
            f"    reveal_value({name})",
        ]

    def _match(self, scope: Scope, depth: int) -> Lines | None:
        kind = self.draw.pick((TEXT, NUMBER, NUMBERS))
        places = self.places(scope, kind)
        if not places:
            return None
        lines = [f"match {self.draw.pick(places)}:"]
        for word in self.draw.some(WORDS, 2):
            inner, item = scope.inner(), self.draw.fresh("m")
            if kind == TEXT:
                case = f'case "{word}" | "{self.draw.pick(WORDS)}":'
            elif kind == NUMBER:
                case = self.draw.pick((f"case {abs(float(self.literal()))}:", "case int():", "case float():"))
            else:
                case = self.draw.pick(
                    (f"case [{item}]:", f"case [{item}, _, *_]:", f"case [*_, {item}] if {item} > 1:")
                )
                inner.kinds[item] = NUMBER
            lines += [f"    {case}", *indented(self.block(inner, self.draw.between(1, 2), depth - 1), 2)]
        if self.draw.chance(0.6):
            lines += ["    case _:", *indented(self.inner_block(scope, depth, most=2))]
        return lines

    # -- loops

    def _for(self, scope: Scope, depth: int) -> Lines | None:
        if self.loops > 1:
            return None
        inner, item = scope.inner(in_loop=True), self.draw.fresh("i")
        inner.kinds[item] = NUMBER
        header = self._header(scope, inner, item)
        self.loops += 1
        calls, self.calls = self.calls, self.calls - (self.loops > 1)
        lines = [header, *indented(self.block(inner, self.draw.between(1, 3), depth - 1))]
        self.loops -= 1
        self.calls = calls
        if self.draw.chance(0.2):
            lines += ["else:", *self.inner_block(scope, depth, most=2)]
        return lines

    def _header(self, scope: Scope, inner: Scope, item: str) -> str:
        lists, tables = scope.of(NUMBERS), scope.of(TABLE)
        key = self.draw.fresh("k")
        choices = [
            f"for {item} in range({self.draw.between(0, 4)}):",
            f"for {item} in ({self.number(scope, 0)}, {self.number(scope, 0)}):",
            f"for {key}, {item} in enumerate(({self.literal()}, {self.literal()})):",
        ]
        if self.draw.chance(self.unknown):
            choices.append(f'for {item} in range(int(os.environ.get("RANK", "1"))):')
        if lists:
            choices.append(f"for {item} in {self.draw.pick(lists)}[:4]:")
            choices.append(f"for {item}, {key} in zip({self.draw.pick(lists)}, (1, 2, 3)):")
        if tables:
            choices.append(f"for {key}, {item} in sorted({self.draw.pick(tables)}.items()):")
            choices.append(f"for {key}, {item} in list({self.draw.pick(tables)}.items()):")
        if self.generators and self.calls > 0:
            choices.append(f"for {item} in {self.draw.pick(self.generators)}:")
        header = self.draw.pick(choices)
        if key in header:
            inner.kinds[key] = TEXT if "items()" in header else NUMBER
        return header

    def _while(self, scope: Scope, depth: int) -> Lines | None:
        if self.loops:
            return None
        name = self.draw.fresh("n")
        inner = scope.inner(in_loop=True)
        limit = self.draw.between(1, 4)
        test = f"{name} < {limit}" if self.draw.chance(0.6) else f"{name} < {limit} and {self.flag(scope, 0)}"
        self.loops += 1
        inner_lines = self.block(inner, self.draw.between(1, 2), depth - 1)
        self.loops -= 1
        if self.draw.chance(0.3):
            lines = [
                f"{name} = 0",
                "while True:",
                f"    {name} += 1",
                f"    if {name} >= {limit} or {self.flag(scope, 0)}:",
            ]
            lines += ["        break", *indented(inner_lines)]
        else:
            lines = [f"{name} = 0", f"while {test}:", f"    {name} += 1", *indented(inner_lines)]
        scope.kinds[self.draw.fresh("count")] = NUMBER
        return [*lines, f"{list(scope.kinds)[-1]} = {name}"]

    def _leave(self, scope: Scope, depth: int) -> Lines | None:
        if scope.in_loop and self.draw.chance(0.7):
            return [
                f"if {self.flag(scope)}:",
                *self.inner_block(scope, 1, most=1),
                f"    {self.draw.pick(('break', 'continue'))}",
            ]
        if not scope.in_function:
            return None
        return [f"if {self.flag(scope)}:", *self.inner_block(scope, 1, most=1), f"    return {self.number(scope, 1)}"]

    def _comprehended(self, scope: Scope, depth: int) -> Lines | None:
        lists, tables = self.places(scope, NUMBERS), self.places(scope, TABLE)
        inner = scope.inner()
        inner.kinds["x"] = NUMBER
        calls, self.calls = self.calls, 0
        if tables and self.draw.chance(0.4):
            name, kind = self.draw.fresh("table"), TABLE
            value = (
                f"{{k: {self.number(inner, 1)} for k, x in {self.draw.pick(tables)}.items() if {self.flag(inner, 0)}}}"
            )
        else:
            name, kind = self.draw.fresh("numbers"), NUMBERS
            source = self.draw.pick(lists) if lists and self.draw.chance(0.6) else f"range({self.draw.between(0, 4)})"
            value = f"[{self.number(inner, 1)} for x in {source} if {self.flag(inner, 0)}]"
        self.calls = calls
        scope.kinds[name] = kind
        return [f"{name} = {value}"]

    # -- exceptions

    def _risky(self, scope: Scope) -> tuple[str, str]:
        """An expression that may raise, and the class of that exception."""
        choices = [
            (f"int({self.text(scope)})", "ValueError"),
            (f"10 // int({self.number(scope, 0)})", "ZeroDivisionError"),
        ]
        if self.places(scope, TABLE):
            choices.append((f'{self.draw.pick(self.places(scope, TABLE))}["{self.draw.pick(STEMS[:7])}"]', "KeyError"))
        if self.places(scope, NUMBERS):
            choices.append((f"{self.draw.pick(self.places(scope, NUMBERS))}[{self.draw.between(0, 2)}]", "IndexError"))
        if self.places(scope, MAYBE):
            choices.append((f"{self.draw.pick(self.places(scope, MAYBE))} + 1", "TypeError"))
        return self.draw.pick(choices)

    def _try(self, scope: Scope, depth: int) -> Lines | None:
        text, error = self._risky(scope)
        name = self.draw.fresh("got")
        wider = {
            "KeyError": "LookupError",
            "IndexError": "(IndexError, KeyError)",
            "ZeroDivisionError": "ArithmeticError",
        }
        caught = self.draw.pick((error, error, wider.get(error, "Exception")))
        lines = [
            "try:",
            *self.inner_block(scope, depth, most=1),
            f"    {name} = {text}",
            *self.inner_block(scope, depth, most=1),
        ]
        lines += [f"except {caught}:", f"    {name} = {self.number(scope, 1)}", *self.inner_block(scope, depth, most=2)]
        if self.draw.chance(0.3):
            lines += ["else:", *self.inner_block(scope, depth, most=1)]
        if self.draw.chance(0.3):
            lines += ["finally:", *self.inner_block(scope, 1, most=1)]
        scope.kinds[name] = NUMBER
        return lines

    def _try_finally(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.bindable(NUMBER)
        if not names:
            return None
        name = self.draw.pick(names)
        kept = self.draw.fresh("kept")
        body = ["try:", f"    {name} = {self.number(scope, 1)}", *self.inner_block(scope, depth, most=2)]
        if self.draw.chance(0.6):
            body += [f"    if {self.flag(scope)}:", f'        raise RunError("{self.draw.pick(WORDS)}")']
            body += [f"    {name} += 1"]
        restore = f"    {name} = {kept}" if self.draw.chance(0.5) else f"    {name} += 1"
        lines = ["try:", f"    {kept} = {name}", *indented(body), "    finally:", f"    {restore}"]
        handler = self.statement(scope.inner(), 0) or ["pass"]
        return [*lines, "except RunError as error:", *indented(handler)]

    # -- with

    def _with(self, scope: Scope, depth: int) -> Lines | None:
        if not self.managers or self.calls <= 0:
            return None
        call, gives = self.draw.pick(self.managers)
        inner, name = scope.inner(), self.draw.fresh("w")
        bound = gives and self.draw.chance(0.6)
        if bound:
            inner.kinds[name] = NUMBER
        body = self.block(inner, self.draw.between(1, 2), depth - 1)
        if self.draw.chance(0.3):
            body += [f"if {self.flag(scope)}:", "    raise RunError(3)"]
        target = f" as {name}" if bound else ""
        return [
            "try:",
            f"    with {call.format(self.number(scope, 0))}{target}:",
            *indented(body, 2),
            "except RunError:",
            *self.inner_block(scope, 1, most=1),
        ]

    # -- functions within functions

    def _closure(self, scope: Scope, depth: int) -> Lines | None:
        if scope.in_loop:
            return None
        name = self.draw.fresh("inner")
        inner = scope.inner(is_function=True)
        inner.kinds["q"] = NUMBER
        lines = [f"def {name}(q):"]
        outer = [each for each in scope.bindable(NUMBER) if each.isidentifier() and each != "q"]
        if outer and self.draw.chance(0.6):
            shared = self.draw.pick(outer)
            lines += [f"    {'nonlocal' if scope.in_function else 'global'} {shared}", f"    {shared} += q"]
        calls, self.calls = self.calls, 0
        lines += indented(self.block(inner, self.draw.between(0, 2), depth - 1))
        lines.append(f"    return {self.number(inner, 1)}")
        self.calls = calls
        scope.kinds[name] = FUNCTION
        return lines

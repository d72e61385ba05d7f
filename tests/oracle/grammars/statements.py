"""Statements of the grammars: each production gives lines, or None where it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.oracle.grammars.expressions import Expressions
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
    WORDS,
    Draw,
    Scope,
)

Lines = list[str]
Production = Callable[[Scope, int], Lines | None]


def indented(lines: Sequence[str], levels: int = 1) -> Lines:
    """Lines of a block."""
    return [f"{'    ' * levels}{line}" for line in lines]


class Statements(Expressions):
    """Writes statements that change the state of a scope, and probes."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.probes = True  # whether probes may be written
        self._simple: list[Production] = [
            *[self._new] * 5,
            *[self._again] * 5,
            *[self._set_attribute] * 4,
            *[self._set_key] * 3,
            *[self._change_table] * 4,
            *[self._change_list] * 5,
            *[self._alias] * 3,
            *[self._several] * 2,
            *[self._new_object] * 3,
            *[self._call_method] * 4,
            *[self._call_taker] * 4,
            *[self._object_list] * 2,
            *[self._set_child] * 2,
            *[self._drop_attribute] * 1,
            *[self._change_set] * 1,
            *[self._change_nested] * 2,
            *[self._function_name] * 1,
            *[self._delete] * 1,
            *[self._set_by_name] * 1,
            *[self._registration] * 1,
            *[self._probe] * 7,
        ]
        self._compound: list[Production] = []

    # -- blocks

    def block(self, scope: Scope, count: int, depth: int = 2) -> Lines:
        """Statements, at least one line."""
        lines: Lines = []
        for _ in range(count):
            lines += self.statement(scope, depth)
        return lines or ["pass"]

    def statement(self, scope: Scope, depth: int) -> Lines:
        """One statement."""
        for _ in range(8):
            from_compound = self._compound and depth > 0 and self.draw.chance(0.4)
            lines = self.draw.pick(self._compound if from_compound else self._simple)(scope, depth)
            if lines is not None:
                return lines
        return []

    def inner_block(self, scope: Scope, depth: int, *, in_loop: bool = False, most: int = 3) -> Lines:
        """The lines of a block within a statement."""
        return indented(self.block(scope.inner(in_loop=in_loop), self.draw.between(1, most), depth - 1))

    # -- names

    def _new(self, scope: Scope, depth: int) -> Lines | None:
        kinds = (
            NUMBER,
            NUMBER,
            NUMBER,
            TEXT,
            FLAG,
            NUMBERS,
            NUMBERS,
            TABLE,
            TABLE,
            MAYBE,
            MAYBE,
            SET,
            NESTED,
            ITERATOR,
        )
        return self.new_name(scope, self.draw.pick(kinds))

    def new_name(self, scope: Scope, kind: str) -> Lines:
        """A new name of a kind."""
        value = self.value(kind, scope)
        if kind == FLAG:
            value = f"bool({value})"
        name = self.draw.fresh(self.draw.pick(STEMS) if kind == NUMBER else kind)
        scope.kinds[name] = kind
        return [f"{name} = {value}"]

    def _again(self, scope: Scope, depth: int) -> Lines | None:
        kind = self.draw.pick((NUMBER, NUMBER, NUMBER, TEXT, NUMBERS, TABLE, MAYBE, MAYBE))
        names = scope.bindable(kind)
        if not names:
            return None
        name = self.draw.pick(names)
        if kind == NUMBER and self.draw.chance(0.5):
            return [f"{name} {self.draw.pick(('+=', '-=', '+='))} {self.number(scope, 1)}"]
        if kind == TEXT and self.draw.chance(0.4):
            return [f'{name} += "{self.draw.pick(("x", "_a", ""))}"']
        if kind == NUMBERS and self.draw.chance(0.5):
            return [f"{name} += [{self.number(scope, 0)}]"]
        if kind == MAYBE and self.draw.chance(0.4):
            return [f"if {name} is None:", f"    {name} = {self.number(scope, 1)}"]
        return [f"{name} = {self.value(kind, scope)}"]

    def _several(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.bindable(NUMBER)
        if len(names) > 1 and self.draw.chance(0.5):
            a, b = self.draw.some(names, 2)
            return [f"{a}, {b} = {b}, {self.draw.pick((a, self.number(scope, 0)))}"]
        lists = scope.of(NUMBERS)
        if not lists:
            return None
        first, rest = self.draw.fresh("first"), self.draw.fresh("rest")
        line = f"{first}, *{rest} = {self.draw.pick(lists)} or [{self.literal()}]"
        scope.kinds.update({first: NUMBER, rest: NUMBERS})
        return [line]

    def _delete(self, scope: Scope, depth: int) -> Lines | None:
        names = [name for name in scope.kinds if scope.kinds[name] == NUMBER and name.isidentifier()]
        if scope.in_loop or not names or scope.is_function:
            return None
        name = self.draw.pick(names)
        test = self.flag(scope)
        return [
            f"if {test}:",
            f"    del {name}",
            "try:",
            f"    {name} += 1",
            "except NameError:",
            f"    {name} = {self.literal()}",
        ]

    def _function_name(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.bindable(FUNCTION)
        if names and self.draw.chance(0.5):
            return [f"{self.draw.pick(names)} = {self.function(scope)}"]
        value = self.function(scope)
        usable = [each.name for each in self.usable(scope) if each.kinds == [NUMBER]]
        if usable and self.draw.chance(0.5):
            value = self.draw.pick(usable)
        name = self.draw.fresh("call")
        scope.kinds[name] = FUNCTION
        return [f"{name} = {value}"]

    def _alias(self, scope: Scope, depth: int) -> Lines | None:
        kind = self.draw.pick((NUMBERS, TABLE, "object", "object"))
        if kind == "object":
            objects = scope.all_objects()
            if not objects:
                return None
            source = self.draw.pick(list(objects))
            others = [name for name, cls in objects.items() if cls is objects[source] and name != source]
            name = self.draw.fresh("same")
            value = source
            if others and self.draw.chance(0.4):
                value = f"{source} if {self.flag(scope)} else {self.draw.pick(others)}"
            scope.objects[name] = objects[source]
            return [f"{name} = {value}"]
        places = self.places(scope, kind)
        if not places:
            return None
        value = self.draw.pick(places)
        if len(places) > 1 and self.draw.chance(0.4):
            value = f"{value} if {self.flag(scope)} else {self.draw.pick(places)}"
        name = self.draw.fresh("view")
        scope.kinds[name] = kind
        return [f"{name} = {value}"]

    # -- containers

    def _set_key(self, scope: Scope, depth: int) -> Lines | None:
        tables = self.places(scope, TABLE)
        if not tables:
            return None
        key = f'"{self.draw.pick(STEMS[:7])}"' if self.draw.chance(0.75) else self.text(scope)
        return [f"{self.draw.pick(tables)}[{key}] = {self.number(scope)}"]

    def _change_table(self, scope: Scope, depth: int) -> Lines | None:
        tables = self.places(scope, TABLE)
        if not tables:
            return None
        table, other = self.draw.pick(tables), self.draw.pick(tables)
        key, more = self.draw.some(STEMS[:7], 2)
        forms = (
            f"{table}.update({key}={self.number(scope, 1)}, {more}={self.number(scope, 0)})",
            f'{table}.update({{"{key}": {self.number(scope, 1)}}})',
            f"{table}.update({other})",
            f'{table}.setdefault("{key}", {self.number(scope, 1)})',
            f'{table}.pop("{key}", None)',
            f'{table}["{key}"] = {table}.get("{key}", 0) + {self.number(scope, 0)}',
            f'{table}["{key}"] = {table}.pop("{more}", {self.literal()})',
        )
        return [self.draw.pick(forms)]

    def _change_list(self, scope: Scope, depth: int) -> Lines | None:
        lists = self.places(scope, NUMBERS)
        if not lists:
            return None
        items, other, number = self.draw.pick(lists), self.draw.pick(lists), self.number(scope, 1)
        forms = (
            [f"{items}.append({number})"],
            [f"{items}.append({number})"],
            [f"{items}.insert(0, {number})"],
            [f"{items}.extend({other}[:2])"],
            [f"if {items}:", f"    {items}.pop({self.draw.pick(('', '0', '-1'))})"],
            [f"if {items}:", f"    {items}[{self.draw.pick((0, -1))}] = {number}"],
            [f"{items}[:1] = [{number}]"],
            [f"{items}.sort({self.draw.pick(('', 'reverse=True', 'key=lambda x: -x'))})"],
            [f"{items}.reverse()"],
            [f"del {items}[2:]"],
            [f"if {items}:", f'    {items}[int(os.environ.get("RANK", "0")) % len({items})] = {number}'],
        )
        return self.draw.pick(forms)

    # -- objects

    def _set_attribute(self, scope: Scope, depth: int) -> Lines | None:
        kind = self.draw.pick((NUMBER, NUMBER, NUMBER, TEXT, MAYBE, NUMBERS, TABLE, FUNCTION))
        places = self.attributes(scope, kind)
        if not places:
            return None
        place = self.draw.pick(places)
        if kind == NUMBER and self.draw.chance(0.4):
            return [f"{place} {self.draw.pick(('+=', '-='))} {self.number(scope, 1)}"]
        return [f"{place} = {self.value(kind, scope)}"]

    def _set_by_name(self, scope: Scope, depth: int) -> Lines | None:
        objects = scope.all_objects()
        if not objects:
            return None
        name = self.draw.pick(list(objects))
        numbers = [attribute for attribute, kind in objects[name].kinds.items() if kind == NUMBER]
        if not numbers:
            return None
        a, b = self.draw.pick(numbers), self.draw.pick(numbers)
        number = self.number(scope, 1)
        return self.draw.pick(
            (
                [f'setattr({name}, "{a}", {number})'],
                [f'setattr({name}, "{a}" if {self.flag(scope)} else "{b}", {number})'],
                [f"vars({name}).update({a}={number})"],
                [f'for word in ("{a}", "{b}"):', f"    setattr({name}, word, getattr({name}, word) + 1)"],
            )
        )

    def _new_object(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.all_kinds()
        classes = [cls for cls in self.classes if cls.name in names]
        if not classes:
            return None
        cls = self.draw.pick(classes)
        options = self.draw.some(cls.options, self.draw.between(0, len(cls.options)))
        arguments = ", ".join(f"{option}={self.value(cls.kinds[option], scope, 1)}" for option in options)
        same = [name for name, each in scope.objects.items() if each is cls and name.isidentifier()]
        name = self.draw.pick(same) if same and self.draw.chance(0.2) else self.draw.fresh("model")
        scope.objects[name] = cls
        return [f"{name} = {cls.name}({arguments})"]

    def _call_method(self, scope: Scope, depth: int) -> Lines | None:
        calls = [(name, method) for name, cls in scope.all_objects().items() for method in cls.methods]
        if not calls or self.calls <= 0:
            return None
        name, method = self.draw.pick(calls)
        call = f"{name}.{method.name}({', '.join(self.number(scope, 1) for _ in range(method.parameters))})"
        return self._used(scope, call, method.gives, method.may_raise)

    def _used(self, scope: Scope, call: str, gives: bool, may_raise: bool) -> Lines:
        """A call whose result may be kept; where it may raise, the exception is caught."""
        names = scope.bindable(NUMBER)
        keep = f"{self.draw.pick(names)} = " if gives and names and self.draw.chance(0.6) else ""
        if not may_raise:
            return [f"{keep}{call}"]
        error = self.draw.pick(("RunError", "Exception", "RunError as error"))
        handler = self.statement(scope.inner(), 0) or ["pass"]
        return ["try:", f"    {keep}{call}", f"except {error}:", *indented(handler)]

    def _call_taker(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.all_kinds()
        functions = [each for each in self.functions if each.name in names and (each.may_raise or each.gives != NUMBER)]
        functions = [
            each for each in functions if all(kind == NUMBER or self.places(scope, kind) for kind in each.kinds)
        ]
        if not functions or self.calls <= 0:
            return None
        function = self.draw.pick(functions)
        call = f"{function.name}({self.arguments(function, scope)})"
        return self._used(scope, call, function.gives == NUMBER, function.may_raise)

    def _set_child(self, scope: Scope, depth: int) -> Lines | None:
        objects = scope.all_objects()
        places = [
            (f"{name}.{child}", kind) for name, cls in scope.objects.items() for child, kind in cls.children.items()
        ]
        if not places:
            return None
        place, kind = self.draw.pick(places)
        same = [name for name, cls in objects.items() if cls is kind and name != place]
        if not same:
            return None
        if self.draw.chance(0.3):
            return [f"if {self.flag(scope)}:", f"    {place} = {self.draw.pick(same)}"]
        return [f"{place} = {self.draw.pick(same)}"]

    def _drop_attribute(self, scope: Scope, depth: int) -> Lines | None:
        choices = [(name, each) for name, cls in scope.all_objects().items() for each in cls.shared]
        if not choices:
            return None
        name, attribute = self.draw.pick(choices)
        return self.draw.pick(
            (
                [f'vars({name}).pop("{attribute}", None)'],
                [f'if "{attribute}" in vars({name}):', f"    del {name}.{attribute}"],
            )
        )

    def _change_set(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.of(SET)
        if not names:
            return None
        name, text = self.draw.pick(names), self.text(scope, 0)
        forms = (f"{name}.add({text})", f"{name}.discard({text})", f"{name}.update(({text}, {text}))")
        return [self.draw.pick(forms)]

    def _change_nested(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.of(NESTED)
        if not names:
            return None
        name, key, number = self.draw.pick(names), self.draw.pick(STEMS[:5]), self.number(scope, 1)
        view = self.draw.fresh("view")
        forms = [
            [f'{name}.setdefault("{key}", []).append({number})'],
            [f'{name}["{key}"] = {self.numbers(scope, 0)}'],
            [f"for {view} in {name}.values():", f"    {view}.append({number})"],
            [f'if "{key}" in {name}:', f'    {name}["{key}"] += [{number}]'],
        ]
        if not scope.in_loop:
            forms.append([f'{view} = {name}.setdefault("{key}", [])', f"{view}.append({number})"])
        lines = self.draw.pick(forms)
        if lines[0].startswith(view):
            scope.kinds[view] = NUMBERS
        return lines

    def _object_list(self, scope: Scope, depth: int) -> Lines | None:
        groups = scope.all_groups()
        objects = scope.all_objects()
        if groups and self.draw.chance(0.6):
            name = self.draw.pick(list(groups))
            cls = groups[name]
            same = [each for each, kind in objects.items() if kind is cls]
            numbers = [attribute for attribute, kind in cls.kinds.items() if kind == NUMBER]
            if same and self.draw.chance(0.4):
                return [f"{name}.append({self.draw.pick(same)})"]
            if numbers:
                at = self.draw.pick(numbers)
                item = self.draw.fresh("item")
                return self.draw.pick(
                    (
                        [f"for {item} in {name}:", f"    {item}.{at} += {self.literal()}"],
                        [f"{name}[0].{at} = {self.number(scope, 1)}"],
                        [f"{name}[int({self.flag(scope)}) % len({name})].{at} = {self.number(scope, 0)}"],
                    )
                )
            return None
        if not objects:
            return None
        cls = objects[self.draw.pick(list(objects))]
        same = [each for each, kind in objects.items() if kind is cls]
        name = self.draw.fresh("group")
        scope.groups[name] = cls
        return [f"{name} = [{', '.join(self.draw.some(same, 3))}]"]

    def _registration(self, scope: Scope, depth: int) -> Lines | None:
        registries = [name for name in self.registries if name in scope.all_kinds()]
        if not registries:
            return None
        name = self.draw.pick(registries)
        key = self.draw.pick(self.registries[name])
        return [f'{name}["{key}"] = {self.function(scope)}']

    # -- probes

    def _probe(self, scope: Scope, depth: int) -> Lines | None:
        if not self.probes:
            return None
        return ["reveal_runs()"] if self.draw.chance(0.25) else [f"reveal_value({self.shown(scope)})"]

    def shown(self, scope: Scope) -> str:
        """An expression whose value can be compared."""
        kind = self.draw.pick((NUMBER, NUMBER, NUMBER, NUMBERS, TABLE, TEXT, FLAG, MAYBE, NESTED, SET))
        places = self.places(scope, kind)
        if places and self.draw.chance(0.8):
            return self.draw.pick(places)
        if self.draw.chance(0.3):
            return self.flag(scope)
        tables = self.places(scope, TABLE)
        if tables and self.draw.chance(0.3):
            return f"list({self.draw.pick(tables)})"
        return self.number(scope)


__all__ = ["FUNCTION", "WORDS", "Lines", "Statements", "indented"]

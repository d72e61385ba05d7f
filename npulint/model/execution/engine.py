"""The machine with all that it knows: classes, modules, libraries, and one start of a program."""

from __future__ import annotations

import ast
import builtins
import functools
import posixpath
from collections.abc import Callable, Sequence

from npulint.model.abstract_values.heap import Key, value_of_key
from npulint.model.abstract_values.library_names import is_class_name, is_known_base
from npulint.model.abstract_values.paths import path_value, relative_path
from npulint.model.abstract_values.value import (
    ABSENT,
    ABSENT_VALUE,
    NONE,
    UNKNOWN,
    Const,
    Obj,
    Value,
    const,
    joined,
    unknown,
)
from npulint.model.execution import (
    attributes,
    calls,
    classes,
    comprehensions,
    expressions,
    files,
    items,
    modules,
    names,
    path_objects,
    records,
    statements,
    texts,
    unsure,
)
from npulint.model.execution.exceptions import is_exception
from npulint.model.execution.kinds import KINDS
from npulint.model.execution.library import options, process, standard
from npulint.model.execution.library.containers import METHODS, fromkeys
from npulint.model.execution.machine import Arguments, Dead, Exhausted, Frame, Machine, Outcome
from npulint.model.execution.probes import Shown
from npulint.model.execution.scopes import MODULE
from npulint.model.execution.sources import ModuleData, Sources

_KINDS = {
    "list": "list",
    "tuple": "tuple",
    "dict": "dict",
    "set": "set",
    "function": "function",
    "class": "type",
    "module": "module",
    "path": "str",
    "generator": "generator",
}


class Engine(Machine):
    """Executes one start of a program of a project.

    `working_folder` is that folder below the project's root ("" for the root itself), `environment` the variables
    that the start sets."""

    def __init__(
        self,
        sources: Sources,
        environment: dict[str, str] | None = None,
        working_folder: str = "",
        recursive: frozenset[ast.AST] = frozenset(),
    ) -> None:
        super().__init__(sources, environment or {}, working_folder)
        self.kinds = KINDS
        self.heap.has_own_equality = self._has_own_equality
        self.heap.on_escape = lambda value: self.unseen("", [value])
        self.recursive = recursive
        self.handed_over: set[Obj] = set()  # classes of which unseen code has got instances

    # -- what the other modules do

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        return expressions.evaluate(self, node)

    def execute(self, body: Sequence[ast.stmt]) -> None:
        """Execute statements."""
        statements.execute(self, body)

    def call(self, callee: Value, arguments: Arguments, site: ast.AST | None = None) -> Value:
        """What a call gives."""
        return calls.call(self, callee, arguments, site)

    def iterate(self, source: Value, consume: Callable[[Value], object]) -> None:
        """Hand over the items of an iterable."""
        items.iterate(self, source, consume)

    def await_value(self, value: Value) -> Value:
        """What ``await value`` gives."""
        return calls.awaited(self, value)

    def attribute(self, holder: Value, name: str) -> Value:
        """The value of ``holder.name``."""
        return attributes.get(self, holder, name)

    def augmented(self, op: ast.operator, left: Value, right: Value, site: ast.AST) -> Value:
        """The value of ``left op= right``."""
        return expressions.augmented(self, op, left, right, site)

    def run_generator_expression(self, frame: Frame) -> None:
        """Execute a generator expression."""
        comprehensions.run_generator_expression(self, frame)

    def instantiate(self, cls: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
        """What a call of a class gives."""
        return classes.instantiate(self, cls, arguments, site)

    def new_instance(self, cls: Obj, arguments: Arguments, site: ast.AST | None) -> Obj:
        """A new instance."""
        return classes.new_instance(self, cls, arguments, site)

    def value_of_key(self, key: Key) -> Value:
        """The value that a key is."""
        return value_of_key(key, self.heap)

    def outcome(self, value: Value) -> Outcome:
        """The current state with a value."""
        return Outcome(self.store.captured(), value)

    @property
    def path(self) -> str:
        """The file of the code that is executed."""
        data = self.frame.module.data
        return data.path if isinstance(data, ModuleData) else ""

    def cell_of_name(self, name: str) -> tuple[Obj, object, Value] | None:
        """The cell that a name is read from."""
        home = names.home_of(self.frame, name)
        owner = self.frame.module if home is None else home.locals
        value = self.heap.get(owner, name)
        return None if value.single is ABSENT or (home is not None and home.scope.is_class) else (owner, name, value)

    def reveal(self, place: tuple[str, int], value: Value) -> None:
        """Note the value of a probe."""
        self.visit(place)
        self.probes.see(place, Shown.of(self.heap, value))

    def endless(self) -> None:
        """Note that the program may go on here for ever."""
        self.end(False, at_once=True)

    def exit_at_once(self, code: Value) -> None:
        """End the program without cleaning up."""
        constant = code.single
        self.end(not isinstance(constant, Const) or constant.value in (0, None), at_once=True)
        raise Dead

    def call_back(self, function: Obj) -> None:
        """Let unknown code call a function of the program at any time from here on."""
        unsure.call_back(self, function)

    # -- classes

    def mro(self, cls: Obj) -> tuple[Obj, ...]:
        """A class and its bases in the order in which attributes are looked up."""
        bases = _LIBRARY_BASES.get(cls.name) if cls.kind == "symbol" else None
        if bases is not None:
            inner = [cls, *(base for name in bases for base in self.mro(self.heap.symbol(name)))]
            return tuple(dict.fromkeys(inner))
        objs = classes.mro(self, cls)
        if len(objs) == 1 and cls.kind == "symbol" and cls.name.startswith("builtins."):
            kind = getattr(builtins, cls.name.removeprefix("builtins."), None)
            if isinstance(kind, type):
                return tuple(self.heap.symbol(f"builtins.{base.__name__}") for base in kind.__mro__)
        return objs

    def class_attribute(self, obj: Obj, name: str) -> Value | None:
        """A special method that the program defines for an instance, bound to it; None if it does not."""
        if obj.cls is None:
            return None
        if name == "__eq__" and obj.cls not in self.enums and records.fields_of(self, obj) is not None:
            record = records.fields_of(self, obj)
            own = attributes.class_attribute(self, obj.cls, name)
            is_generated = next((b for b in self.mro(obj.cls) if b in self.compared_by_fields), None)
            home_of_own = own[1] if own[1] is not None and own[1].kind == "class" else None
            bases = self.mro(obj.cls)
            comes_first = home_of_own is None or (
                is_generated is not None and bases.index(is_generated) < bases.index(home_of_own)
            )
            if record is not None and record.kind == "dataclass" and is_generated is not None and comes_first:
                return Value((self.heap.make("equality", data=obj),))
        value, home = attributes.class_attribute(self, obj.cls, name)
        if home is None or home.kind == "symbol":
            return None
        bound = attributes.bind(self, value.without(ABSENT), obj, home)
        return joined([bound, UNKNOWN]) if value.may_be_absent else bound

    def number_or_text(self, alternative: Const | Obj) -> Const | Obj:
        """The constant that an instance of a class extending a number or text counts as; others as they are."""
        if not isinstance(alternative, Obj) or alternative.cls is None or alternative.items is None:
            return alternative
        is_flag = alternative.cls in self.enums and records.is_flag(self.enums[alternative.cls][0])
        return alternative if is_flag else items.builtin_part(alternative)

    def own_methods(self, obj: Obj) -> list[Value]:
        """The methods that the program defines for an instance which is given to unseen code, each once."""
        assert obj.cls is not None
        if obj.cls in self.handed_over:
            return []
        self.handed_over.add(obj.cls)
        names = {name for base in self.mro(obj.cls) if base.kind == "class" for name in self.heap.layout_of(base).keys}
        methods = [self.class_attribute(obj, name) for name in sorted(map(str, names)) if name != "__init__"]
        functions = [method for method in methods if method is not None]
        return [
            function
            for function in functions
            if any(isinstance(p, Obj) and p.kind == "method" for p in function.alternatives)
        ]

    def _has_own_equality(self, obj: Obj) -> bool:
        if obj.cls is None or obj.cls.kind != "class" or obj.cls in self.enums:
            return obj.cls is not None and obj.cls.kind == "symbol" and obj.cls.name != "builtins.object"
        return records.fields_of(self, obj) is not None or self.class_attribute(obj, "__eq__") is not None

    def extends_unseen(self, obj: Obj) -> bool:
        """Whether an instance may have attributes that are not seen."""
        return obj.cls is None or self.class_extends_unseen(obj.cls)

    def class_extends_unseen(self, cls: Obj) -> bool:
        """Whether a class may have attributes that are not seen."""
        return any(base in self.open_classes for base in self.mro(cls)) or classes.extends_unseen(self, cls)

    def unseen_base(self, obj: Obj) -> str:
        """The name of the first base of an instance's class that is not seen."""
        assert obj.cls is not None
        bases = [base.name for base in self.mro(obj.cls) if base.kind == "symbol" and not is_known_base(base.name)]
        return bases[0] if bases else obj.name

    def is_unseen(self, name: str) -> bool:
        """Whether the attributes of a library's class are not known."""
        return not is_known_base(name)

    def is_subclass(self, cls: Obj | None, kind: Obj) -> bool | None:
        """Whether a class extends another; None if that is not known."""
        if cls is None:
            return None
        if cls is kind or kind.name == "builtins.object":
            return True
        if kind.kind == "class" and any(base.name in ("typing.Protocol", "abc.ABC") for base in self.mro(kind)):
            return True if kind in self.mro(cls) else None  # classes may be registered, or have what it takes
        if cls.name.startswith("<") or kind in self.abstract_classes:
            return True if kind in self.mro(cls) else None
        bases = self.mro(cls)
        if kind in bases:
            return True
        if kind.kind == "symbol":
            special = _abstract(kind.name, bases)
            if special is not None:
                return special
        unseen = any(base.kind == "symbol" and not is_known_base(base.name) for base in bases)
        if (cls.kind == "class" and cls.data.is_open) or (unseen and kind.kind == "symbol"):
            return None
        is_known = kind.kind == "class" or is_class_name(kind.name) or is_exception(kind.name)
        return False if is_known else None

    def is_instance(self, alternative: Const | Obj, kind: Obj) -> bool | None:
        """Whether an alternative is an instance of a class; None if that is not known."""
        return self.is_subclass(self.type_of(alternative), kind)

    def type_of(self, alternative: Const | Obj) -> Obj:
        """The class of an alternative."""
        if isinstance(alternative, Const):
            return self.heap.symbol(f"builtins.{type(alternative.value).__name__}")
        if alternative.kind == "instance" and alternative.cls is not None:
            return alternative.cls
        if alternative.kind in ("dict", "set") and alternative.name and not alternative.name.startswith("<"):
            return self.heap.symbol(
                "builtins.frozenset" if alternative.kind == "set" else f"collections.{alternative.name}"
            )
        if alternative.kind == "class" and alternative.data.is_open:
            return self.heap.symbol("<class>")
        return self.heap.symbol(
            f"builtins.{_KINDS[alternative.kind]}" if alternative.kind in _KINDS else f"<{alternative.kind}>"
        )

    def is_frozen(self, obj: Obj, name: str) -> bool:
        """Whether an attribute of an instance cannot be set."""
        record = records.fields_of(self, obj)
        if record is None or record.kind != "namedtuple":
            return record is not None and record.is_frozen
        return any(field.name == name for field in record.fields) or (obj.cls in self.records and obj.cls is not None)

    def enum_members(self, cls: Obj) -> list[Value]:
        """The members of an enumeration."""
        return records.enum_members(self, cls)

    def class_member(self, cls: Obj, name: str) -> Value | None:
        """What Python generates for a class; None for other names."""
        if cls in self.enums:
            members = self.enums[cls][1]
            if name == "__members__":
                return self.heap.mapping(members.items())
            return members.get(name)
        record = self.records.get(cls)
        if record is not None:
            if name == "_fields":
                return self.heap.sequence("tuple", [const(field.name) for field in record.fields])
            if name == "__dataclass_fields__":
                return self.heap.mapping([(field.name, UNKNOWN) for field in record.fields])
            if record.kind == "namedtuple" and name in ("_make", "_field_defaults", "_field_types"):
                return UNKNOWN
        if name == "__annotations__":
            return self.heap.mapping([(key, UNKNOWN) for key, _ in self.annotations.get(cls, ())])
        return None

    def instance_member(self, obj: Obj, name: str) -> Value | None:
        """What Python generates for an instance; None for other names."""
        record = records.fields_of(self, obj)
        if record is not None and record.kind == "namedtuple" and name in ("_replace", "_asdict", "_fields"):
            if name == "_fields":
                return self.heap.sequence("tuple", [const(field.name) for field in record.fields])
            return Value((self.heap.make("record_method", name, data=obj),))
        if obj.cls is not None and self.is_exception_class(obj.cls):
            return self._exception_attribute(obj, name)
        if name in (
            "__init__",
            "__setattr__",
            "__getattribute__",
            "__str__",
            "__repr__",
            "__eq__",
            "__hash__",
            "__doc__",
            "__module__",
        ):
            return Value((self.heap.make("slot", name, data=obj),)) if name in ("__setattr__", "__init__") else UNKNOWN
        return None

    def _exception_attribute(self, obj: Obj, name: str) -> Value | None:
        """An attribute that exceptions of Python itself have."""
        args = self.heap.get(obj, "args").single
        content = self.heap.items_of(args).items if isinstance(args, Obj) else None
        if name in ("code", "value"):
            owner = "SystemExit" if name == "code" else "StopIteration"
            if self.is_subclass(obj.cls, self.heap.symbol(f"builtins.{owner}")) is not True:
                return None
            if content is None or len(content) > 1:
                return UNKNOWN
            return content[0] if content else NONE
        return UNKNOWN if name in _EXCEPTION_ATTRIBUTES else None

    def is_exception_class(self, cls: Obj) -> bool:
        """Whether a class is one of exceptions."""
        return self.is_subclass(cls, self.heap.symbol("builtins.BaseException")) is True

    def super_member(self, obj: Obj, name: str) -> Value | None:
        """What ``super().name`` is of built-in classes."""
        _, instance = obj.data
        if name in (
            "__init__",
            "__setattr__",
            "__new__",
            "__init_subclass__",
            "__getattribute__",
            "__delattr__",
            "__set_name__",
            "__enter__",
            "__exit__",
            "__post_init__",
        ):
            return Value((self.heap.make("slot", name, data=instance),))
        if instance.items is not None:
            held = instance.items.single
            if isinstance(held, (Const, Obj)):
                value = attributes.attribute_of(self, held, name)
                if value.single is not ABSENT:
                    return value
        if instance.kind == "instance" and self.extends_unseen(instance):
            return unknown(f"{self.unseen_base(instance)}().{name}")
        return None

    def class_setter(self, cls: Obj, name: str, value: Value) -> bool:
        """Whether setting an attribute of a class was done otherwise."""
        if cls in self.enums:
            if name in self.enums[cls][1]:
                self.throw_new("AttributeError", f"cannot reassign member '{name}'")
            self.open_classes.add(cls)
        return False

    def namespace(self, obj: Obj) -> Obj:
        """The dict of the attributes of an object."""
        view = self.heap.make("dict", "<namespace>")
        view.store = obj.store
        return view

    def plain_text(self, obj: Obj) -> str | None:
        """Whether the text of an instance is that of the constant that it is."""
        held = items.builtin_part(obj)
        if obj.cls in self.enums or not isinstance(held, Const):
            return None
        return str(held.value)

    # -- modules

    def search_path(self) -> list[str]:
        """The folders that modules are found in, below the project's root."""
        content = self.heap.get(self.heap.symbol("sys"), "path").single
        values = self.heap.items_of(content).items if isinstance(content, Obj) else None
        folders = [relative_path(value, self.working_folder) for value in values or ()]
        return list(dict.fromkeys(folder for folder in folders if folder is not None))

    def searches_elsewhere(self) -> bool:
        """Whether modules may also be found in folders that are not known."""
        content = self.heap.get(self.heap.symbol("sys"), "path").single
        values = self.heap.items_of(content).items if isinstance(content, Obj) else None
        return values is None or any(not isinstance(value.single, (Const, Obj)) for value in values)

    def file_text(self, path: str) -> Value:
        """The value of ``__file__``."""
        return path_value(self.heap, path.rstrip("/"))

    def submodule(self, module: Obj, name: str) -> Value | None:
        """A submodule that was imported; attributes of packages are set when it is."""
        return None

    def replaced_module(self, dotted: str) -> Value | None:
        """A module that the program has put into ``sys.modules``."""
        content = self.store.read(self.heap.symbol("sys.modules"), dotted)
        if not isinstance(content, Value) or content.single is ABSENT:
            return None
        if content.may_be_absent:
            raise Exhausted
        return content

    def import_module(self, name: str) -> Value:
        """What ``importlib.import_module(name)`` gives."""
        return modules.imported(self, name)

    def reload_module(self, module: Obj) -> None:
        """Execute a module again."""
        modules.execute_module(self, module, module.data.name)

    def is_missing(self, name: str) -> bool:
        """Whether a library is surely not installed."""
        return False

    def is_installed(self, name: str) -> bool:
        """Whether a library is surely installed."""
        return False

    def star_of_library(self, name: str) -> None:
        """``from library import *`` binds names that are not known."""
        self.may_throw("ImportError")
        self.heap.set_any(self.frame.module, UNKNOWN)

    # -- libraries

    def library_attribute(self, name: str, member: str) -> Value:
        """What a module or class of a library has by a name."""
        full = f"{name}.{member}"
        if full in standard.CONSTANTS:
            return const(standard.CONSTANTS[full])
        if full == "sys.modules" or full == process.ENVIRONMENT:
            return Value((self.heap.symbol(full),))
        if member in ("__name__", "__qualname__"):
            return UNKNOWN if name.startswith("<") or not is_class_name(name) else const(name.rpartition(".")[2])
        if full == "builtins.object.__dict__":
            return self.heap.mapping((key, UNKNOWN) for key in vars(object))
        if name.startswith("builtins.") and not is_class_name(name):
            return ABSENT_VALUE
        if name == standard.LOGGER and full not in standard.READING:
            return unknown(full)
        if not (full in standard.STANDARD or full in process.LIBRARY or is_class_name(full)):
            self.may_throw("AttributeError", "ImportError")
        return Value((self.heap.symbol(full),))

    def library_member(self, cls: str, name: str) -> Value:
        """What a library's class has by a name, where that is known."""
        kind = cls.rpartition(".")[2]
        kind = {"OrderedDict": "dict", "defaultdict": "dict"}.get(kind, kind)
        if kind in METHODS and name in METHODS[kind] and cls.partition(".")[0] in ("builtins", "collections"):
            return Value((self.heap.symbol(f"builtins.{kind}.{name}"),))
        return ABSENT_VALUE

    def is_function_symbol(self, name: str) -> bool:
        """Whether a symbol is a method of a built-in class, which is bound to an instance."""
        parts = name.split(".")
        return len(parts) == 3 and parts[0] == "builtins" and (parts[1] in METHODS or parts[1] in texts.METHODS)

    def has_method(self, type_name: str, name: str) -> bool:
        """Whether a built-in type has a method."""
        return hasattr(getattr(builtins, type_name.removeprefix("builtins."), None), name)

    def call_library(self, name: str, arguments: Arguments, site: ast.AST | None) -> Value:
        """What a function or class of a library gives."""
        function = process.LIBRARY.get(name) or standard.STANDARD.get(name)
        if function is not None and not arguments.is_exact and name not in _ACCEPT_ANY:
            return self.unseen(f"{name}()", arguments.all())
        if function is not None:
            try:
                return function(self, arguments, site)
            except IndexError:
                self.throw_new("TypeError", f"{name}() takes another number of arguments")
        maker = _MAKERS.get(name)
        if maker is not None:
            return maker(self, arguments, site)
        self._note_effects(name)
        if name in standard.QUIET or (name in standard.READING and self._is_plain_data(arguments.all())):
            self.may_throw()
            return unknown(f"{name}()", standard.HINTS.get(name, ""))
        if self.is_function_symbol(name):
            _, kind, method = name.split(".")
            return self._unbound_method(kind, method, arguments, site)
        if name.startswith("builtins.") and is_exception(name):
            if arguments.keywords:
                return self.unseen(f"{name}()", arguments.all())
            return self.exception(name.removeprefix("builtins."), arguments.positional)
        if name == "object.__setattr__" or name == "builtins.object.__setattr__":
            return _object_setattr(self, arguments)
        if name == "builtins.object.__new__":
            return self._object_new(arguments)
        return self.unseen(f"{name}()", arguments.all())

    def _note_effects(self, name: str) -> None:
        """Note what a function that is not modelled may do beside what it is given."""
        if name.startswith(_CHANGE_FILES):
            files.note_changes(self)
        if name in _LOSE_TRACK or name.startswith(
            (
                "unittest.",
                "pytest.",
                "atexit.",
                "runpy.",
                "pkgutil.",
                "importlib.util.module_",
                "importlib.util.spec_",
                "importlib.machinery.",
                "mock.",
                "signal.",
                "sys.modules.",
            )
        ):
            self.lost = True

    def _is_plain_data(self, values: Sequence[Value]) -> bool:
        """Whether nothing among these values has code of the program that is called where they are read."""
        reachable = self.heap.reachable(values)
        return not any(
            obj.kind in ("function", "method", "partial", "class", "generator")
            or (obj.cls is not None and any(self.class_attribute(obj, name) for name in _CALLED_BY_READING))
            for obj in reachable
        )

    def _object_new(self, arguments: Arguments) -> Value:
        cls = arguments.positional[0].single if arguments.positional else None
        if isinstance(cls, Obj) and cls.kind == "class":
            return Value((classes.new_instance(self, cls, Arguments(arguments.positional[1:]), None),))
        return UNKNOWN

    def call_library_values(self, name: str, values: Sequence[Value]) -> Value:
        """What a function of a library gives for these arguments."""
        return self.call_library(name, Arguments(list(values)), None)

    def _unbound_method(self, kind: str, method: str, arguments: Arguments, site: ast.AST | None) -> Value:
        if kind == "dict" and method == "fromkeys":
            return fromkeys(self, arguments, site)
        if not arguments.positional:
            self.throw_new("TypeError", f"{method} needs an argument")
        receiver = arguments.positional[0]
        rest = Arguments(arguments.positional[1:], arguments.keywords, arguments.rest, arguments.options)
        return items.each(
            self,
            receiver,
            lambda alternative: self.call_built_in(
                f"builtins.{kind}.{method}", Value((items.builtin_part(alternative),)), rest, site
            ),
            lambda: self.unseen(f"{kind}.{method}()", arguments.all()),
        )

    def call_built_in(self, name: str, receiver: Value, arguments: Arguments, site: ast.AST | None) -> Value:
        """What a method of a built-in type gives."""
        _, kind, method = name.split(".", 2)
        obj = receiver.single
        if isinstance(obj, Obj) and obj.kind in METHODS:
            implementation = METHODS[obj.kind].get(method)
            if implementation is None:
                return self.unseen(f"{name}()", [receiver, *arguments.all()])
            if not arguments.is_exact and method not in ("update", "__init__"):
                return self.unseen(f"{name}()", [receiver, *arguments.all()])
            try:
                return implementation(self, obj, arguments, site)
            except IndexError:
                self.throw_new("TypeError", f"{method}() takes another number of arguments")
        if kind in texts.METHODS and method in texts.METHODS[kind] and arguments.is_exact:
            if method == "join":
                return _join(self, receiver, arguments)
            if method in ("format", "format_map") and isinstance(obj, Const):
                return _format(self, receiver, arguments)
            return texts.call_method(self, kind, method, receiver, arguments.positional, arguments.keywords)
        self.may_throw()
        return UNKNOWN

    def call_unseen_instance(self, obj: Obj, arguments: Arguments) -> Value:
        """What an instance gives when it is called whose class extends one of a library (``forward`` of a module)."""
        forward = self.class_attribute(obj, "forward")
        if forward is not None:
            return self.call(forward, arguments)
        return self.unseen(f"{obj.name}()()", arguments.all())

    def option_names(self, parser: Obj) -> list[str]:
        """The names that a parser may set, where its options are not known."""
        return []

    def parse_yaml(self, text: str) -> tuple[object] | None:
        """The plain value of a YAML text; None if it cannot be read."""
        return None

    # -- the start

    def start(
        self,
        script: str,
        words: Sequence[str | None] | None,
        module_name: str = "",
        named: str | None = "",
        search: Sequence[str] = (),
    ) -> None:
        """Execute a script, or a module by its name, with these command line arguments (None: any; of one: any text).
        `named` is the script as the command line has it (empty: as from the working folder; None: not known), `search`
        are the folders of PYTHONPATH below the project's root."""
        folder = self.working_folder if module_name else posixpath.dirname(script)
        symbol = self.heap.symbol("sys")
        paths = [path_value(self.heap, path) for path in dict.fromkeys((folder, *search))]
        self.heap.set(symbol, "path", self.heap.sequence("list", paths))
        self.heap.set(symbol, "argv", self._argv(script, words, None if module_name else named))
        module = Obj("module", self.store.new_serial(), "__main__", data=ModuleData(script, "__main__", False))
        self.heap.set(module, "__package__", const(module_name.rpartition(".")[0]) if module_name else NONE)
        try:
            if module_name:
                package = module_name.rpartition(".")[0]
                if package:
                    modules.load(self, package)
            self._execute_main(module, script)
            for function in list(self.called_back):  # it may be called in the end
                unsure.execute(self, functools.partial(unsure.run, self, function))
            self.end(True)
        except Dead:
            pass

    def _argv(self, script: str, words: Sequence[str | None] | None, named: str | None) -> Value:
        if words is None:
            return self.heap.sequence_of_any("list", unknown("sys.argv", "str"))
        values = [unknown("sys.argv", "str") if word is None else const(word) for word in words]
        written = posixpath.relpath(script, self.working_folder or ".") if named == "" else named
        first = unknown("__file__", "str") if written is None else const(written)
        return self.heap.sequence("list", [first, *values])

    def _execute_main(self, module: Obj, script: str) -> None:
        tree = self.sources.tree(script) if self.sources.exists(script) else None
        if tree is None:
            raise Exhausted
        self.store.write(module, "<loaded>", const(True))
        self.heap.set(module, "__name__", const("__main__"))
        self.heap.set(module, "__file__", self.file_text(script))
        self.heap.set(module, "__doc__", UNKNOWN)
        self.heap.put(self.heap.symbol("sys.modules"), "__main__", Value((module,)))
        self.frame = Frame(module, MODULE, module, None)
        self.execute(tree.body)


_MAKERS = {
    "argparse.ArgumentParser": options.make_parser,
    **dict.fromkeys(options.ADD_OTHERS, options.add_others),
    **dict.fromkeys(
        ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"), path_objects.make_path
    ),
}
"""What takes arguments of which not all are known."""
_LIBRARY_BASES = {
    "enum.Enum": ("builtins.object",),
    "enum.IntEnum": ("builtins.int", "enum.Enum"),
    "enum.StrEnum": ("builtins.str", "enum.Enum"),
    "enum.Flag": ("enum.Enum",),
    "enum.IntFlag": ("builtins.int", "enum.Flag"),
    "typing.NamedTuple": ("builtins.tuple",),
    "collections.OrderedDict": ("builtins.dict",),
    "collections.defaultdict": ("builtins.dict",),
    "json.JSONDecodeError": ("builtins.ValueError",),
    "dataclasses.FrozenInstanceError": ("builtins.AttributeError",),
}
"""The bases of classes of libraries of which instances are made here."""
_CHANGE_FILES = ("os.", "shutil.", "subprocess.", "codecs.", "io.", "tempfile.", "zipfile.", "tarfile.")
_LOSE_TRACK = frozenset(
    (
        "os.abort os.kill os.execv os.execve os.execvp os.execvpe os.execl os.execle os.execlp os.fork"
        " gc.get_objects gc.get_referrers sys.settrace sys.setprofile"
    ).split()
)
"""Functions after which nothing is certain: the program may end, or its objects may be changed from anywhere."""
_CALLED_BY_READING = frozenset(
    (
        "__str__ __repr__ __format__ __getstate__ __setstate__ __reduce__ __reduce_ex__ __new__ __getnewargs__ write"
    ).split()
)
"""Methods that may be called where an object is written as a text or copy, or read again."""
_ACCEPT_ANY = frozenset(("builtins.dict", "collections.OrderedDict", "types.SimpleNamespace", "argparse.Namespace"))
"""Functions that take arguments of which not all are known."""
_EXCEPTION_ATTRIBUTES = frozenset(
    (
        "with_traceback add_note __traceback__ __cause__ __context__ __suppress_context__ __notes__ errno "
        "strerror filename filename2 msg lineno offset text name path obj start end reason encoding object "
        "__init__ __str__ __repr__ __class__ __doc__ __eq__ __hash__ "
    ).split()
)
_ABSTRACT = {
    "collections.abc.Mapping": ("builtins.dict",),
    "collections.abc.MutableMapping": ("builtins.dict",),
    "typing.Mapping": ("builtins.dict",),
    "collections.abc.Sequence": ("builtins.list", "builtins.tuple", "builtins.str", "builtins.range", "builtins.bytes"),
    "collections.abc.Iterable": (
        "builtins.list",
        "builtins.tuple",
        "builtins.str",
        "builtins.dict",
        "builtins.set",
        "builtins.range",
    ),
    "numbers.Number": ("builtins.int", "builtins.float", "builtins.complex"),
    "numbers.Real": ("builtins.int", "builtins.float"),
    "numbers.Integral": ("builtins.int",),
}


def _abstract(name: str, bases: Sequence[Obj]) -> bool | None:
    accepted = _ABSTRACT.get(name)
    if accepted is None:
        return None
    if any(base.name in accepted for base in bases):
        return True
    return None


def _object_setattr(m: Machine, arguments: Arguments) -> Value:
    holder, name, value = arguments.positional[:3]
    text = texts.known_text(name)
    for alternative in holder.alternatives:
        if isinstance(alternative, Obj):
            if text is None:
                m.heap.set_any(alternative, value)
            else:
                m.heap.set(alternative, text, value)
    return NONE


def _join(m: Machine, receiver: Value, arguments: Arguments) -> Value:
    content = items.listed(m, arguments.positional[0])
    if content.items is None:
        m.may_throw()
        return unknown("", "str")
    given = m.heap.sequence("list", content.items)
    return texts.call_method(m, "str", "join", receiver, [given], {})


def _format(m: Machine, receiver: Value, arguments: Arguments) -> Value:
    return texts.call_method(m, "str", "format", receiver, arguments.positional, arguments.keywords)

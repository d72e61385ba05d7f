"""Data files that the code of a project loads: YAML, JSON and TOML as the dicts, lists and scalars of a program."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import UNKNOWN, Const, SequenceDisplay, Table, Value
from npulint.facts.model import FileFacts
from npulint.model.code.module import Module
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, call_at, scope_at
from npulint.model.values.file_paths import FilePath, possible_paths, written_paths
from npulint.model.values.loaded import FileText, softened
from npulint.model.values.walker import walker
from npulint.read.configuration import KIND, ConfigLeaf, configuration_leaves
from npulint.read.source import DecodedSource, decode

_LOADERS = lazy_compile(
    r"(?:^|\.)(?:yaml|json|simplejson|ujson|json5|commentjson|hjson|toml|tomllib|tomli|rtoml|pytoml|OmegaConf"
    r"|YAML\(\)|mmcv|mmengine)\.(?:\w+_)?loads?$"
)
_MAKERS = frozenset(("from_yaml", "fromYAML", "from_json", "fromJSON", "from_toml", "fromTOML"))
_WRITTEN = ("load", "loads", "safe_load", "full_load", "unsafe_load", "round_trip_load", *_MAKERS)
_OPENING = frozenset(("open", "read", "read_text", "read_bytes", "GFile", "FastGFile", "Open", "StringIO", "BytesIO"))
_STREAMS = ("stream", "fp", "f", "s", "file_", "filename", "file", "doc")
_DEVICE = lazy_compile(r"(?:cuda|npu)(?::\d+)?|nccl|hccl")
_MAY_NAME = lazy_compile(rb"cuda|npu|[nh]ccl")
_MOST = 4000  # values of a file; those with more are records
_FILES = 8  # that one call may load
_DEPTH = 6
_DEEP = 12  # folders around a module


class DataFiles:
    """What the data files of a project hold, parsed when a call is asked that loads one."""

    def __init__(self, context: Context, files: Iterable[FileFacts]) -> None:
        self._context = context
        self._files = {posixpath.normpath(file.path): file for file in files if file.kind in ("data", KIND)}
        self._by_name: dict[str, list[str]] = {}
        for path in self._files:
            self._by_name.setdefault(posixpath.basename(path), []).append(path)
        self._held: dict[str, Value] = {}
        self._busy: set[tuple[str, int]] = set()

    @property
    def are_loaded(self) -> bool:
        """Whether some code may load one of them."""
        modules = self._context.project.modules.values() if self._files else ()
        return any(
            _imports_hydra(module)
            or any(self._loads(call_at(self._context, module, i)) for i in module.calls_of(*_WRITTEN))
            for module in modules
        )

    @property
    def are_known(self) -> bool:
        """Whether the program gets something from one of them of which it is known what it is."""
        for module in self._context.project.modules.values():
            if any(self.load(module, index) for index in module.calls_of(*_WRITTEN)):
                return True
            functions = module.blocks_by_kind["function"] if _imports_hydra(module) else []
            if any(self.composed(module, block) for block in functions):
                return True
        return False

    @property
    def may_name_devices(self) -> bool:
        """Whether one of them may hold a text for a device or a backend."""
        return any(
            any(isinstance(fact, ConfigLeaf) and _is_device(fact.value) for fact in file.facts)
            if file.kind == KIND
            else _MAY_NAME.search(file.content)
            for file in self._files.values()
        )

    def load(self, module: Module, index: int) -> list[Value]:
        """What a call gives that loads files of the project; empty for all other calls, and where it is not known which
        files these are."""
        if module.callee_name(index) not in _WRITTEN or (module.path, index) in self._busy:
            return []
        site = call_at(self._context, module, index)
        if not self._loads(site):
            return []
        stream = _stream(site)
        self._busy.add((module.path, index))
        try:
            paths = [] if stream is None else _sources(stream)
        finally:
            self._busy.discard((module.path, index))
        files = [(path, self._file(path, module)) for path in dict.fromkeys(paths)]
        if not 0 < len(files) <= _FILES or not all(file for _, file in files):
            return []
        written = written_paths(self._context)
        return [
            value if path.sure and path.text not in written else softened(value)
            for path, file in files
            if (value := self._value(file)) is not None
        ]

    def composed(self, module: Module, function: int) -> Value | None:
        """What hydra passes to a function that it decorates, if the command line changes nothing."""
        if module.blocks[function].kind != "function" or not _imports_hydra(module):
            return None
        decorators = (decorator.call for decorator in scope_at(self._context, module, function).decorators)
        site = next(
            (decorator for decorator in decorators if decorator is not None and decorator.name == "hydra.main"), None
        )
        if site is None:
            return None
        given = (site.argument("config_path", 0), site.argument("config_name", 1))
        folder, name = ("" if expr is None else expr.text for expr in given)
        value = self._configuration(posixpath.join(module.folder or ".", folder, name)) if name else None
        return softened(value) if isinstance(value, Table) else None

    def _configuration(self, path: str) -> Value | None:
        """A configuration of hydra with the groups in its list of defaults."""
        path = posixpath.normpath(path)
        file = next((path + end for end in ("", ".yaml", ".yml") if path + end in self._files), "")
        value = self._value(file) if file else None
        defaults = _entry(value, "defaults")
        groups: dict[Value, Value] = {}
        for table in defaults.items if isinstance(defaults, SequenceDisplay) else ():
            for key, option in zip(table.keys, table.values, strict=True) if isinstance(table, Table) else ():
                if isinstance(key, Const) and isinstance(option, Const):
                    name = posixpath.join(posixpath.dirname(file), str(key.value), f"{option.value}.yaml")
                    part = self._value(name) if name in self._files else None
                    groups.update({key: part} if part is not None else {})
        if not groups or not isinstance(value, Table):
            return value
        own = {key: held for key, held in zip(value.keys, value.values, strict=True) if key is not None}
        merged = {**groups, **own}
        return Table(tuple(merged), tuple(merged.values()))

    def under(self, keys: tuple[str, ...]) -> list[Value]:
        """The texts for a device or a backend that files have under these keys."""
        values = self._values_with_devices()
        for key in keys:
            values = [_entry(value, key) for value in values]
        return [value for value in values if isinstance(value, FileText)]

    def held_as(self, key: str) -> list[Value]:
        """The texts for a device or a backend that files have under this key at any depth."""
        return [text for value in self._values_with_devices() for text in _under_any(value, key)]

    def _values_with_devices(self) -> list[Value | None]:
        """What the files hold that may name a device or a backend."""
        files = self._files.items()
        return [self._value(path) for path, file in files if file.kind == KIND or _MAY_NAME.search(file.content)]

    @staticmethod
    def _loads(site: CallSite) -> bool:
        return site.last in _MAKERS or bool(_LOADERS.search(site.name))

    def _file(self, path: FilePath, module: Module) -> str:
        """The file of the project that a path means; empty if none, or one of several."""
        text = posixpath.normpath(path.text)
        if path.anchored:
            return text if text in self._files else ""
        if text.startswith(("/", "~")) or "$" in text:
            return ""
        wholes = {posixpath.normpath(posixpath.join(folder, text)) for folder in self._folders(module)}
        fitting = sorted(wholes & self._files.keys())
        tail = "/" + "/".join(part for part in text.split("/") if part != "..")
        if not fitting and tail.count("/") > 1:  # the working directory is another folder of the project
            fitting = [
                candidate
                for candidate in self._by_name.get(posixpath.basename(text), ())
                if f"/{candidate}".endswith(tail)
            ]
        return fitting[0] if len(fitting) == 1 else ""

    def _folders(self, module: Module) -> list[str]:
        """Where a program may run: the folder of a module, and those around it."""
        root = posixpath.normpath(self._context.project.root or ".")
        folders = [root]
        folder = posixpath.normpath(module.folder or ".")
        while folder not in (root, ".", "/", "") and len(folders) < _DEEP:
            folders.append(folder)
            folder = posixpath.dirname(folder)
        return folders

    def _value(self, path: str) -> Value | None:
        if path not in self._held:
            self._held[path] = _parsed(self._files[path])
        value = self._held[path]
        return None if value == UNKNOWN else value


def _imports_hydra(module: Module) -> bool:
    return any(import_record.module.partition(".")[0] == "hydra" for import_record in module.code.imports)


def _stream(site: CallSite) -> Expr | None:
    """What a call loads: a path, an open file, a text."""
    named = site.keywords
    return site.args[0] if site.args else next((named[name] for name in _STREAMS if name in named), None)


@walker(depth=_DEPTH, otherwise=list)
def _sources(value: Expr) -> list[FilePath]:
    """The files that an open file, or a text, may be of; empty when one of them is not known."""
    call = value.call
    if call is not None and (call.last in _OPENING or call.name == "open"):
        mode = call.argument("mode", 1)
        if mode is not None and isinstance(mode.single, str) and mode.single.startswith(("w", "a", "x")):
            return []
        opened = call.receiver if call.last.startswith("read") or (call.last == "open" and not _takes(call)) else None
        named = call.args[0] if call.args and opened is None else call.keywords.get("file")
        source = opened if opened is not None else named
        return [] if source is None else _sources(source)
    file_paths = possible_paths(value)
    if file_paths:
        return file_paths
    behind = [_sources(expr) for expr in value.sources]
    return [path for paths in behind for path in paths] if all(behind) else []


def _takes(call: CallSite) -> bool:
    """Whether an ``open`` is a function that takes a path, not the method of one."""
    return call.receiver is None or call.name in ("io.open", "codecs.open", "gzip.open", "os.open")


def _parsed(file: FileFacts) -> Value:
    """What a file holds; `UNKNOWN` where it cannot be read."""
    if file.kind == KIND:
        leaves = [fact for fact in file.facts if isinstance(fact, ConfigLeaf)]
    else:
        source = decode(file.content, file.path, False)
        leaves = configuration_leaves(source.text, file.path) if isinstance(source, DecodedSource) else []
    if not 0 < len(leaves) <= _MOST:
        return UNKNOWN
    root: dict[str, object] = {}
    for leaf in leaves:
        here = root
        for key in leaf.key[:-1]:
            inner = here.setdefault(key, {})
            if not isinstance(inner, dict):
                return UNKNOWN
            here = inner
        here[leaf.key[-1]] = _scalar(leaf, file.path) if not isinstance(leaf.value, dict) else None
    return _value(root)


def _scalar(leaf: ConfigLeaf, path: str) -> object:
    """The value of a leaf; with its place if it may name a device or a backend."""
    if isinstance(leaf.value, str) and _is_device(leaf.value):
        return FileText(leaf.value, False, path, leaf.span)
    return leaf.value


def _is_device(value: object) -> bool:
    return isinstance(value, str) and _DEVICE.fullmatch(value) is not None


def _entry(holder: Value | None, key: str) -> Value | None:
    pairs = zip(holder.keys, holder.values, strict=True) if isinstance(holder, Table) else ()
    return next((value for name, value in pairs if isinstance(name, Const) and name.value == key), None)


def _under_any(holder: Value | None, key: str) -> list[FileText]:
    """The texts that a value of a file has under a key, at any depth."""
    file_texts: list[FileText] = []
    waiting = [holder]
    while waiting:
        table = waiting.pop()
        for name, value in zip(table.keys, table.values, strict=True) if isinstance(table, Table) else ():
            if isinstance(value, FileText) and isinstance(name, Const) and name.value == key:
                file_texts.append(value)
            waiting.append(value)
    return file_texts


def _value(held: object) -> Value:
    if isinstance(held, FileText):
        return held
    if isinstance(held, dict):
        if all(key == str(number) for number, key in enumerate(held)):
            return SequenceDisplay(tuple(_value(inner) for inner in held.values()))
        return Table(tuple(Const(key) for key in held), tuple(_value(inner) for inner in held.values()))
    if isinstance(held, tuple):
        return SequenceDisplay(tuple(_value(inner) for inner in held))
    return Const(held) if held is None or isinstance(held, str | int | float) else UNKNOWN

"""A project: the modules below one root, and the resolution of imports between them."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import count

import msgspec

from npulint.facts.code import Import
from npulint.facts.model import FileFacts
from npulint.model.code.module import Module

# Copies of the precision tool (precision_tool of Ascend/tools) in a project, recognized by what they contain: they
# are often renamed, or a single file of them is copied.

TOOL = "precision_tool"
_MAKES_CONFIG = "session_dump_config"
# What else the module tf_config defines, in the order of its releases.
_BESIDE = frozenset(
    """estimator_dump_config sess_dump estimator_dump update_custom_op npu_device_dump_config _is_dump _is_overflow
    _is_fusion_off _is_fusion_switch _set_dump_graph_flags _unset_dump_graph_flags""".split()
)
_AT_LEAST = 2  # of these names: one may be that of a helper of the project
_CLASSES = {"PrecisionTfSession": "tf_session", "TfAdapter": "lib.adapter.tf_adapter"}
_SETTINGS = frozenset(
    """PRECISION_TOOL_DUMP_FLAG PRECISION_TOOL_OVERFLOW_FLAG NPU_OVERFLOW_DUMP_DIR DEFAULT_NPU_DUMP_DIR
    TF_DEBUG_DUMP_DIR DEFAULT_NPU_GRAPH_DIR DEFAULT_OP_DEBUG_DIR DUMP_FILES_OVERFLOW DUMP_FILES_NPU
    DUMP_GE_GRAPH_VALUE DUMP_GRAPH_LEVEL_VALUE""".split()
)
_BELOW = ("lib",)  # the folder of the tool that no other package has in this place
_SCRIPTS = frozenset(("cli", "caffe_dump", "config", "tensorflow_dump", "tf_config", "tf_session"))


def tool_copies(modules: Iterable[Module]) -> dict[str, str]:
    """The paths of the modules that are copied from the precision tool, with their names there
    (``precision_tool.tf_config``)."""
    listed = list(modules)
    own = {module.path: name for module in listed if (name := _own_name(module))}
    folders = {posixpath.dirname(path) for path, name in own.items() if name == "tf_config"}
    copies = {path: f"{TOOL}.{name}" for path, name in own.items() if name == "tf_config" or _is_near(path, folders)}
    copied_folders = {
        folder for folder in folders if any(_is_part(module.path, folder, deep=True) for module in listed)
    }
    for module in listed if copied_folders else ():
        for folder in copied_folders:
            if _is_part(module.path, folder, deep=False):
                relative = posixpath.relpath(module.path, folder or ".").removesuffix(".py")
                dotted = relative.replace("/", ".").removesuffix("__init__").rstrip(".")
                copies.setdefault(module.path, f"{TOOL}.{dotted}".rstrip("."))
    return copies


def _own_name(module: Module) -> str:
    """The module of the tool that a module defines the same names as; empty if there is none."""
    names = module.names.get(0)
    if not names:
        return ""
    if module.definition(0, _MAKES_CONFIG) >= 0:
        defined = [name for name in _BESIDE.intersection(names) if module.definition(0, name) >= 0]
        return "tf_config" if len(defined) >= _AT_LEAST else ""
    if len(_SETTINGS.intersection(names)) > _AT_LEAST:
        return "config"
    return next(
        (name for class_name, name in _CLASSES.items() if class_name in names and _has_methods(module, class_name)), ""
    )


def _has_methods(module: Module, name: str) -> bool:
    """Whether a class is the one of the tool: there are other classes of these names."""
    block = module.definition(0, name)
    methods = module.names.get(block, {}) if block >= 0 else {}
    return name != "TfAdapter" or _MAKES_CONFIG in methods


def _is_near(path: str, folders: set[str]) -> bool:
    """Whether a file is in the folder of one of the modules that make configurations, or below it."""
    return any(not folder or path.startswith(f"{folder}/") for folder in folders)


def _is_part(path: str, folder: str, deep: bool) -> bool:
    """Whether a file is one of a whole copy of the tool in a folder; `deep`: one that shows that the copy is whole."""
    if folder and not path.startswith(f"{folder}/"):
        return False
    inner = path[len(folder) :].lstrip("/").removesuffix(".py")
    if deep:
        return inner == f"lib/{TOOL}"
    return inner.startswith(tuple(f"{below}/" for below in _BELOW)) or inner in _SCRIPTS or inner == "__init__"


# Names that always mean the installed package, even if there is a folder of that name.
_FOREIGN = frozenset(
    "tensorflow torch numpy keras horovod npu_bridge npu_device torch_npu apex tf_slim precision_tool "
    "tfdbg_ascend os sys re json math time argparse "
    "logging random collections functools itertools typing absl six scipy cv2 PIL sklearn pandas matplotlib".split()
)


_LOADED_AT_START = frozenset(  # before any script, besides those of `_FOREIGN`
    "abc builtins codecs encodings genericpath io marshal ntpath posixpath site stat zipimport".split()
)
_GENERATIONS = count(1)  # of projects in this process
_FEW = 8  # changed modules; with more, the names of all are looked up anew


class Project:
    """All files of one project root. `modules` maps a path to its module, but for those of a copied tool, which is as
    foreign as an installed one; other files stay in `files`."""

    def __init__(self, root: str, files: Iterable[FileFacts]) -> None:
        self.root = root
        self.files = [_own(file) for file in files]
        self.modules: dict[str, Module] = {}
        self._suffixes: dict[str, list[Module]] = {}
        self._memo: dict[tuple[str, str, int], Module | None] = {}
        self._uses: dict[str, dict[str, None]] = {}
        self._imported: dict[tuple[str, str, str, int], list[Module]] = {}
        self._named_after: set[str] = set()
        for file in self.files:
            if file.code is not None:
                self._add(file)
        self._copies = tool_copies(self.modules.values())
        self._copied = {path: self.modules.pop(path) for path in self._copies}
        self._own_names = self._names_of_package()
        self._keep_names()

    def in_project(self, path: str) -> str:
        """A path of the project below its root."""
        return path if self.root in ("", ".") else path.removeprefix(f"{self.root}/")

    def _add(self, file: FileFacts) -> None:
        relative = posixpath.relpath(file.path, self.root) if self.root not in ("", ".") else file.path
        parts = relative.rsplit(".", 1)[0].split("/")
        if parts[-1] == "__init__" and len(parts) > 1:
            parts.pop()
        module = Module.of(file, ".".join(parts))
        self.modules[file.path] = module
        self._named_after.update(_named_after(file))
        for start in range(len(parts)):
            self._suffixes.setdefault(".".join(parts[start:]), []).append(module)

    def _keep_names(self) -> None:
        """Let modules keep what their names mean where an editor has changed others only: if the project before had the
        same modules, and they import none that has changed, themselves or through others."""
        generation = next(_GENERATIONS)
        formers = {path: module.former for path, module in self.modules.items() if module.former is not None}
        latest = max((former.generation for former in formers.values()), default=0)
        layout = frozenset((path, module.name, path in self._named_after) for path, module in self.modules.items())
        same = {
            path: former for path, former in formers.items() if former.generation == latest and former.layout == layout
        }
        for module in self.modules.values():
            module.former, module.generation, module.layout = None, generation, layout
        changed = self.modules.keys() - same.keys()
        if len(changed) <= _FEW:
            affected = self._importing(changed)
            for path, former in same.items():
                if path not in affected:
                    self.modules[path].keep_names(former)

    def _importing(self, changed: Set[str]) -> set[str]:
        """Some modules with all that import them, also through others or as a part of a package."""
        segments = {part for path in changed for part in self.modules[path].name.split(".")}
        queue = [
            path
            for path, module in self.modules.items()
            if path in changed
            or any(not r.name and r.module.partition(".")[0] in segments for r in module.code.imports)
        ]
        importing = set(queue)
        while queue:
            more = [path for path in self.users.get(queue.pop(), ()) if path not in importing]
            importing.update(more)
            queue += more
        return importing

    def find(self, dotted: str, importer: Module, level: int = 0) -> Module | None:
        """The module of this project that ``import dotted`` in `importer` resolves to; None if there is none."""
        module = self._resolved(dotted, importer, level)
        return None if module is None or module.path in self._copies else module

    def source(self, record: Import, importer: Module) -> Module | None:
        """The module of this project that ``from module import name`` in `importer` takes the name from. Where a
        package is empty and has a module of its own name, that is meant: its folder is in the import path."""
        module = self.find(record.module, importer, record.level) if record.module or record.level else None
        if module is None or record.level or not record.name or not _is_empty_package(module):
            return module
        if self.find(f"{record.module}.{record.name}", importer) is not None:
            return module
        last = record.module.rpartition(".")[2]
        return self.modules.get(posixpath.join(posixpath.dirname(module.path), f"{last}.py"), module)

    def foreign_name(self, dotted: str, importer: Module, level: int = 0) -> str:
        """The name under which a module from outside is known: that of the tool for one of a copied tool, or a member
        of it; empty where a relative import names another one."""
        head, _, last = dotted.rpartition(".")
        for name, member in ((dotted, ""), (head, last)) if self._copies else ():
            module = self._resolved(name, importer, level) if name or level else None
            if module is not None and module.path in self._copies:
                return f"{self._copies[module.path]}.{member}".rstrip(".")
        if TOOL in dotted:  # in a folder of the project that is not among the files
            segments = dotted.split(".")
            return ".".join(segments[segments.index(TOOL) :]) if TOOL in segments else "" if level else dotted
        return "" if level else dotted

    def _names_of_package(self) -> frozenset[str]:
        """The names by which modules import the package that the project's folder is: all that they import of it is
        there. With an ``__init__.py`` the folder may be called otherwise."""
        top = {module.name.partition(".")[0] for module in self.modules.values()}
        folder = posixpath.basename(self.root)
        members: dict[str, set[str]] = {}
        for module in self.modules.values():
            for record in module.code.imports:
                head, _, rest = record.module.partition(".")
                named = head == folder or "__init__" in top
                if named and not record.level and (rest or record.name) and head not in top and head not in _FOREIGN:
                    members.setdefault(head, set()).add(rest.partition(".")[0] or record.name)
        return frozenset([head for head, imported in members.items() if imported <= top])

    def _resolved(self, dotted: str, importer: Module, level: int) -> Module | None:
        if not level and dotted not in self._suffixes:
            head, _, rest = dotted.partition(".")
            if head not in self._own_names:
                return None
            return next((module for module in self._suffixes.get(rest, ()) if module.name == rest), None)
        key = (importer.folder, dotted, level)
        if key not in self._memo:
            self._memo[key] = self._find(dotted, importer.folder, level)
        return self._memo[key]

    def named(self, dotted: str) -> Sequence[Module]:
        """The modules whose dotted names end in `dotted`."""
        return self._suffixes.get(dotted, ())

    def _find(self, dotted: str, folder: str, level: int) -> Module | None:
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            base = posixpath.join(folder, *dotted.split(".")) if dotted else folder
            paths = (f"{base}.py", posixpath.join(base, "__init__.py"))
            at_paths = (self.modules.get(path) or self._copied.get(path) for path in paths)
            return next(filter(None, at_paths), None)
        if not dotted:
            return None
        if dotted.split(".", 1)[0] in _FOREIGN:
            return self._of_same_package(dotted, folder)
        candidates = self._suffixes.get(dotted, ())
        best, score = None, -1
        for module in candidates:
            base = self._base(module, dotted)
            if "." not in dotted and (self._is_foreign(module.path) or self._is_standard(dotted, base, folder)):
                continue
            near = _nearness(base, folder)
            if near > score:
                best, score = module, near
        return best

    def _of_same_package(self, dotted: str, folder: str) -> Module | None:
        """The module of the package that an importing file in a folder belongs to itself: the files of a folder that is
        called as an installed package mean each other by its name."""
        package, _, rest = dotted.partition(".")
        before, _, _ = f"/{folder}/".rpartition(f"/{package}/")
        if not rest or f"/{package}/" not in f"/{folder}/":
            return None
        base = posixpath.join(before.lstrip("/"), package, *rest.split("."))
        return self.modules.get(f"{base}.py") or self.modules.get(f"{base}/__init__.py")

    def _is_foreign(self, path: str) -> bool:
        """Whether the name of a module means an installed package, as the module imports this name itself. A package
        may do so, unless it is part of another one."""
        folder = posixpath.dirname(path)
        if path not in self._named_after:
            return False
        return not path.endswith("__init__.py") or f"{posixpath.dirname(folder)}/__init__.py" in self.modules

    def _is_standard(self, name: str, base: str, folder: str) -> bool:
        """Whether a name means a module of the standard library, although a folder has a file of this name: only the
        folder of a script comes before it in the import path, and nothing before what is loaded at the start."""
        if name not in sys.stdlib_module_names:
            return False
        beside = folder == base or not base or folder.startswith(f"{base}/")
        return name in _LOADED_AT_START or not beside or posixpath.join(base, "__init__.py") in self.modules

    def _base(self, module: Module, dotted: str) -> str:
        """The folder that must be in the import path for `dotted` to resolve to `module`."""
        path = module.path.rsplit(".", 1)[0]
        if path.endswith("/__init__"):
            path = path[: -len("/__init__")]
        return path[: -len(dotted)].rstrip("/")

    def imported(self, module: Module, record: Import) -> list[Module]:
        """The project modules that one import statement loads: the packages around what it names, then that."""
        key = (module.path, record.module, record.name, record.level)
        modules = self._imported.get(key)
        if modules is None:
            modules = self._loaded(module, record)
            packages = dict.fromkeys(path for loaded in modules for path in _packages(loaded.path, module.path))
            around = [self.modules[path] for path in reversed(packages) if path in self.modules]
            modules = self._imported[key] = list(dict.fromkeys([*around, *modules]))
        return modules

    def _loaded(self, module: Module, record: Import) -> list[Module]:
        modules = []
        base = self.source(record, module)
        if base is not None:
            modules.append(base)
        if record.name and record.name != "*":
            dotted = f"{record.module}.{record.name}" if record.module else record.name
            inner = self.find(dotted, module, record.level)
            if inner is not None:
                modules.append(inner)
        return modules

    def uses(self, path: str) -> dict[str, None]:
        """The paths of the modules that the imports of a module load."""
        used = self._uses.get(path)
        if used is None:
            module = self.modules[path]
            loaded = (target for record in module.code.imports for target in self.imported(module, record))
            used = self._uses[path] = dict.fromkeys(target.path for target in loaded)
        return used

    def reached_from(self, path: str) -> list[str]:
        """The paths of the modules that a module loads, directly or through others; itself first."""
        seen, queue = {path: None}, [path]
        while queue:
            more = [use for use in self.uses(queue.pop()) if use not in seen]
            seen.update(dict.fromkeys(more))
            queue += more
        return list(seen)

    @cached_property
    def users(self) -> dict[str, list[str]]:
        """From each path to the modules that import it."""
        users: dict[str, list[str]] = {}
        for path in self.modules:
            for target in self.uses(path):
                users.setdefault(target, []).append(path)
        return users

    @cached_property
    def imported_paths(self) -> frozenset[str]:
        """The paths of the modules that other modules import."""
        return frozenset([path for path, users in self.users.items() if users != [path]])

    def below(self, prefix: str, importer: Module) -> list[Module]:
        """The modules with names below `prefix` (a computed import), in the package of that name nearest to
        `importer`."""
        by_base: dict[str, list[Module]] = {}
        for module in self.modules.values():
            base, separator, _ = f".{module.name}.".partition(f".{prefix}.")
            if separator:
                by_base.setdefault(base, []).append(module)
        here = f"/{importer.name}".replace(".", "/")
        shared = {b: len(posixpath.commonpath([here, f"/{b}".replace(".", "/")])) for b in by_base}
        return by_base[max(by_base, key=lambda b: (shared[b], -len(b)))] if by_base else []


def _packages(path: str, importer: str) -> Iterator[str]:
    """The files of the packages around a module, but for those around its importer, which have been executed before."""
    folder = posixpath.dirname(path)
    while folder and not importer.startswith(f"{folder}/"):
        yield f"{folder}/__init__.py"
        folder = posixpath.dirname(folder)


def _is_empty_package(module: Module) -> bool:
    code = module.code
    bare = not (code.imports or code.assignments or code.calls or len(code.blocks) > 1)
    return bare and posixpath.basename(module.path) == "__init__.py"


def _own(file: FileFacts) -> FileFacts:
    """The file with its own copies of facts: a project adds attributes to them, and a file may be assembled again."""
    if not file.facts:
        return file
    return msgspec.structs.replace(file, facts=[fact.copy() for fact in file.facts])


def _named_after(file: FileFacts) -> Iterator[str]:
    """The paths of the modules, of this file and of the package around it, that have the name of an installed package
    which the file imports: ``integrations/deepspeed.py``."""
    folder, _, name = file.path.rpartition("/")
    name, package = name.removesuffix(".py"), folder.rpartition("/")[2]
    for import_record in file.code.imports if file.code is not None else ():
        if import_record.level:
            continue
        if import_record.module.partition(".")[0] == name:
            yield file.path
        elif import_record.module == package and not import_record.name:
            yield f"{folder}/__init__.py"


def _nearness(base: str, folder: str) -> int:
    """The sort key of an import path by its distance from the importing folder; at equal distance, one that contains
    the folder wins."""
    shared = len(posixpath.commonpath([base, folder])) if base and folder else 0
    return shared * 2 + (not base or folder == base or folder.startswith(f"{base}/"))

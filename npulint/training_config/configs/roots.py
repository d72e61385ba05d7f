"""Traces a settings object back to the configuration file it was loaded from and the keys within that file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from npulint.assemble.context import Context
from npulint.assemble.launches.project_launches import Launch
from npulint.assemble.module import Module
from npulint.facts.calls import receiver_of
from npulint.facts.code import Assignment, Call, CallResult, Const, Op, Ref, Value
from npulint.lazy_regex import lazy_compile
from npulint.training_config.configs.config_merges import ConfigMerge, ConfigMerges
from npulint.training_config.configs.files import ConfigFiles
from npulint.training_config.configs.paths import PathFrame, Paths, takes

_DEPTH = 20
_STEPS = 3000  # values visited per query
_MOST = 8

# Functions that read a file: full names or, for methods of unknown objects, last names.
_READS = lazy_compile(
    r"(?:^|\.)(?:yaml|json|simplejson|ujson|hjson|json5|commentjson|toml|tomllib|tomli|OmegaConf|YAML\(\)|anyconfig|mmcv"
    r"|mmengine|fileio)\.\w*load\w*$"
)
READERS = frozenset(
    """fromfile from_json_file from_yaml_file from_yaml from_file parse_json_file parse_yaml_file from_json
    get_configs_from_pipeline_file parse_config_file parse_config_files_and_bindings get_config_from_json""".split()
)
_FILE = frozenset(
    """f fp file filename file_name path stream s fname json_file yaml_file config_file cfg_filename config_path
    config_files pipeline_config_path args_file""".split()
)
# Calls that return an object with the same settings as their argument.
_WRAPS = lazy_compile(
    r"(?i)(?:dict|edict|namespace|munch\w*|box|dotmap|config|cfg|cfgnode|cn|c?params|parameters|args|bunch|struct|node"
    r"|objectview|create|merge|copy|deepcopy|clone|to_dict|as_dict|asdict|vars|todict|to_container|dotdict|hparams"
    r"|attrdict|dict2obj|obj|items|iteritems|unwrap|iter|from_dict|settings|options|opts?)$"
)
_TAKES = frozenset(("get", "pop", "setdefault", "getint", "getfloat", "getboolean", "getattr"))

_PARSES = frozenset(("parse_args", "parse_known_args", "parse_intermixed_args"))

Root = tuple[str, tuple[str, ...]]
"""The path of a configuration file, and the keys that lead to an object in it."""


class Roots:
    """Traces settings objects to files, under one start (None: default options) and within some modules."""

    def __init__(
        self, context: Context, files: ConfigFiles, launch: Launch | None, modules: frozenset[str] | None
    ) -> None:
        self._context = context
        self._files = files
        self.paths = Paths(context, launch, modules)
        self._launch = launch
        self._busy: set[object] = set()
        self._known: dict[object, tuple[Root, ...]] = {}
        self._steps = 0
        self.defaults: set[Root] = set()  # files that parsers of options read their defaults from
        self.merges = ConfigMerges(context, self.paths)

    # -- files ----------------------------------------------------------------------------------

    def loaded(self, module: Module, index: int, frame: PathFrame | None = None) -> tuple[str, ...]:
        """The paths of the configuration files that a call reads."""
        call = module.code.calls[index]
        arguments = [*call.args[:2], *(value for name, value in call.keywords if name in _FILE)]
        found: list[str] = []
        for value in arguments:
            for text in self.paths.of(module, value, call.block, call.line, frame):
                path = self._files.find(text, self.folders(module))
                if path:
                    found.append(path)
            if found:
                break
        return tuple(dict.fromkeys(found))[:_MOST]

    def folders(self, module: Module) -> list[str]:
        """Where a program may run: the folders of its launcher, its script and the module, and the project root."""
        found = []
        if self._launch is not None:
            launcher = posixpath.dirname(self._launch.fact.path)
            folder = str(self._launch.fact.attrs.get("folder") or "")
            if folder and "*" not in folder:
                found.append(posixpath.normpath(posixpath.join(launcher, folder)))
            found += [posixpath.dirname(self._launch.entry), launcher, posixpath.dirname(launcher)]
        root = self._context.project.root
        return list(dict.fromkeys((*found, module.folder, "" if root == "." else root)))

    def reads(self, module: Module, index: int) -> bool:
        """Whether a call reads a configuration file and returns its contents."""
        last = module.callee_name(index)
        if last == "fromfile" and self._context.names.of_call(module, index).startswith(("numpy.", "np.")):
            return False
        return last in READERS or ("load" in last and bool(_READS.search(self._context.names.of_call(module, index))))

    def hydra(self, module: Module, function: int) -> tuple[str, ...]:
        """The configuration file that hydra passes to a decorated function."""
        for decorator in module.blocks[function].decorators:
            if isinstance(decorator, CallResult) and module.callee_name(decorator.call) in (
                "main",
                "hydra_main",
                "hydra_runner",
            ):
                call = module.code.calls[decorator.call]
                keywords = dict(call.keywords)
                name = self._text(module, keywords.get("config_name"), call)
                folder = self._text(module, keywords.get("config_path", call.args[0] if call.args else None), call)
                name = (self._option("config_name") or self._option("cn") or name).removesuffix(".yaml")
                folder = self._option("config_path") or self._option("cp") or folder
                path = posixpath.normpath(posixpath.join(module.folder, folder, f"{name}.yaml")) if name else folder
                found = self._files.find(path, self.folders(module)) if path else ""
                return (found,) if found else ()
        return ()

    def _text(self, module: Module, value: Value | None, call: Call) -> str:
        texts = self.paths.of(module, value, call.block, call.line) if value is not None else ()
        return texts[0] if len(texts) == 1 and "*" not in texts[0] else ""

    def _option(self, name: str) -> str:
        return (self._launch.options.get(name) if self._launch is not None else None) or ""

    # -- objects --------------------------------------------------------------------------------

    def of(self, module: Module, value: Value, block: int, line: int) -> tuple[Root, ...]:
        """The files and keys that a settings object may come from; empty if none."""
        key = (module.path, value, block, line)
        known = self._known.get(key)
        if known is None:
            self._steps = 0
            known = self._known[key] = self._of(module, value, block, line, None, 0)
        return known

    def _of(
        self, module: Module, value: Value, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[Root, ...]:
        self._steps += 1
        if depth > _DEPTH or self._steps > _STEPS:
            return ()
        if isinstance(value, Ref):
            return self._of_name(module, value.name, block, line, frame, depth + 1)
        if isinstance(value, CallResult):
            return self._of_call(module, value.call, frame, depth + 1)
        if not isinstance(value, Op) or not value.operands:
            return ()
        if value.op in ("[]", ".") and len(value.operands) > 1:
            key = value.operands[1]
            bases = self._of(module, value.operands[0], block, line, frame, depth + 1)
            return self._inside(bases, key.value) if isinstance(key, Const) else ()
        if value.op in ("or", "if", "iter", "star", "|"):
            parts = value.operands[1:] if value.op == "if" else value.operands
            return _unique(root for one in parts for root in self._of(module, one, block, line, frame, depth + 1))
        return ()

    def _inside(self, roots: tuple[Root, ...], key: object) -> tuple[Root, ...]:
        """The roots of an element; for a parser with several classes, the roots of all of them."""
        found = []
        for path, keys in roots:
            inner = (*keys, str(key))
            whole = not keys and isinstance(key, int) and not isinstance(key, bool)
            found.append((path, keys) if whole and not self._has(path, inner) else (path, inner))
        return tuple(found)

    def _has(self, path: str, keys: tuple[str, ...]) -> bool:
        return any(one.key[: len(keys)] == keys for one in self._files.values(path))

    def _of_name(
        self, module: Module, name: str, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[Root, ...]:
        key = (module.path, name, block, line, id(frame) if frame else 0)
        if key in self._busy:
            return ()
        self._busy.add(key)
        try:
            found = self._of_whole(module, name, block, line, frame, depth)
            head, _, last = name.rpartition(".")
            if not found and head:
                found = self._of_name(module, head, block, line, frame, depth + 1)
                found = found if last == "__dict__" else self._inside(found, last)
            return found
        finally:
            self._busy.discard(key)

    def _of_whole(
        self, module: Module, name: str, block: int, line: int, frame: PathFrame | None, depth: int
    ) -> tuple[Root, ...]:
        """The roots of a name: what is assigned to it, merged into it, or passed for it."""
        found: list[Root] = []
        bound = self._context.bindings(module, name, block, line)
        for home, bind in bound[:_MOST]:
            found += self._of(home, bind.value, bind.block, bind.line, frame, depth)
            found += self._of_merged(home, bind, depth)
        if not found:
            found += self._of_parameter(module, name, block, frame, depth)
        return _unique(found)

    def _of_parameter(
        self, module: Module, name: str, block: int, frame: PathFrame | None, depth: int
    ) -> tuple[Root, ...]:
        function = takes(module, name, block)
        if not function:
            return ()
        paths = self.hydra(module, function) if name == module.blocks[function].params[0] else ()
        found: list[Root] = [(path, ()) for path in paths]
        for home, value, at, outer in self.paths.arguments(module, function, name, frame)[:64]:
            if value is not None:
                found += self._of(home, value, at.block, at.line, outer, depth)
        return _unique(found)

    # -- calls ----------------------------------------------------------------------------------

    def _of_call(self, module: Module, index: int, frame: PathFrame | None, depth: int) -> tuple[Root, ...]:
        call = module.code.calls[index]
        if self.reads(module, index):
            paths = self.loaded(module, index, frame)
            if paths:
                return tuple((path, ()) for path in paths)
        last = module.callee_name(index)
        receiver = receiver_of(call)
        if last in _PARSES and receiver is not None:
            found = self._of(module, receiver, call.block, call.line, frame, depth)
            self.defaults.update(found)
            return found
        if last in _TAKES:
            return self._taken(module, call, receiver, frame, depth)
        found = self._returned(module, index, frame, depth)
        if found or not _WRAPS.search(last):
            return found
        operands = [
            *call.args[:4],
            *(value for name, value in call.keywords if name in ("**", "d", "dictionary", "params")),
        ]
        for value in (*operands, *([receiver] if receiver is not None else [])):
            found = self._of(module, value, call.block, call.line, frame, depth)
            if found:
                return found
        return ()

    def _taken(
        self, module: Module, call: Call, receiver: Value | None, frame: PathFrame | None, depth: int
    ) -> tuple[Root, ...]:
        """``cfg.get("lr", 0.1)``, ``getattr(cfg, "lr", 0.1)``, and ``parser.getfloat("train", "lr")``."""
        args = call.args
        if receiver is None:
            receiver, args = (args[0] if args else None), args[1:]
        if receiver is None or not args or not isinstance(args[0], Const):
            return ()
        bases = self._of(module, receiver, call.block, call.line, frame, depth)
        found = self._inside(bases, args[0].value)
        if len(args) > 1 and isinstance(args[1], Const) and any(self._has(*root) for root in found):
            deeper = self._inside(found, args[1].value)
            found = deeper if any(self._has(*root) for root in deeper) else found
        return found

    def _returned(self, module: Module, index: int, frame: PathFrame | None, depth: int) -> tuple[Root, ...]:
        """The roots of the result of a project function; for a project class, what is merged into its instances."""
        target = self._context.names.function(self._context.names.of_call(module, index))
        if target is None:
            return ()
        home, function = target
        if home.blocks[function].kind == "class":
            function = home.definition(function, "__init__")
            if function < 0:
                return ()
            inner = PathFrame(home, function, module, index, frame)
            record = home.blocks[function]
            me = Ref(record.params[0]) if record.params else Ref("self")
            return _unique(
                root for one in self.merges.of_self(home, function, me.name) for root in self._from(one, inner, depth)
            )
        inner = PathFrame(home, function, module, index, frame)
        return _unique(
            root
            for returned in home.returns.get(function, ())[:_MOST]
            for root in self._of(home, returned.value, returned.block, returned.line + 1, inner, depth)
        )

    # -- merges ---------------------------------------------------------------------------------

    def _of_merged(self, home: Module, bind: Assignment, depth: int) -> list[Root]:
        found: list[Root] = []
        for merge in self.merges.into(home, bind):
            found += self._from(merge, None, depth + 1)
        return found

    def _from(self, merge: ConfigMerge, frame: PathFrame | None, depth: int) -> tuple[Root, ...]:
        if id(merge) in self._busy:
            return ()
        self._busy.add(id(merge))
        try:
            if merge.value is None:
                return tuple((path, ()) for path in self.loaded(merge.module, merge.reader, frame))
            return self._of(merge.module, merge.value, merge.block, merge.line, frame, depth + 1)
        finally:
            self._busy.discard(id(merge))


def _unique(roots: Iterable[Root]) -> tuple[Root, ...]:
    return tuple(dict.fromkeys(roots))[:_MOST]

"""Traces a settings object back to the configuration file it was loaded from and the keys within that file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from npulint.commands.training_config.configs.config_merges import ConfigMerge, ConfigMerges
from npulint.commands.training_config.configs.files import ConfigFiles
from npulint.commands.training_config.configs.paths import Paths
from npulint.commands.training_config.followed import Calls, Followed, passing_at
from npulint.core.lazy_regex import lazy_compile
from npulint.model.code.module import Module
from npulint.model.launches.project_launches import Launch
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker

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
_PASSED_ON = frozenset(("**", "d", "dictionary", "params"))
_TAKES = frozenset(("get", "pop", "setdefault", "getint", "getfloat", "getboolean", "getattr"))
_HYDRA = frozenset(("main", "hydra_main", "hydra_runner"))
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
        self._known: dict[Expr, tuple[Root, ...]] = {}
        self._steps = 0
        self.defaults: set[Root] = set()  # files that parsers of options read their defaults from
        self.merges = ConfigMerges(context, self.paths)

    # -- files ----------------------------------------------------------------------------------

    def loaded(self, site: CallSite, calls: Calls = ()) -> tuple[str, ...]:
        """The paths of the configuration files that a call reads."""
        named = [site.expr(value) for name, value in site.record.keywords if name in _FILE]
        for value in (*site.args[:2], *named):
            texts = self.paths.of(Followed(value, calls))
            paths = [path for text in texts if (path := self._files.find(text, self.folders(site.module)))]
            if paths:
                return tuple(dict.fromkeys(paths))[:_MOST]
        return ()

    def folders(self, module: Module) -> list[str]:
        """Where a program may run: the folders of its launcher, its script and the module, and the project root."""
        folders = []
        if self._launch is not None:
            launcher = posixpath.dirname(self._launch.fact.path)
            folder = self._launch.fact.record.folder
            if folder and "*" not in folder:
                folders.append(posixpath.normpath(posixpath.join(launcher, folder)))
            folders += [posixpath.dirname(self._launch.entry), launcher, posixpath.dirname(launcher)]
        root = self._context.project.root
        return list(dict.fromkeys((*folders, module.folder, "" if root == "." else root)))

    def reads(self, site: CallSite) -> bool:
        """Whether a call reads a configuration file and returns its contents."""
        last = site.last
        if last == "fromfile" and site.name.startswith(("numpy.", "np.")):
            return False
        return last in READERS or ("load" in last and bool(_READS.search(site.name)))

    def hydra(self, function: Scope) -> tuple[str, ...]:
        """The configuration file that hydra passes to a decorated function."""
        site = next(
            (
                decorator.call
                for decorator in function.decorators
                if decorator.call is not None and decorator.call.last in _HYDRA
            ),
            None,
        )
        if site is None:
            return ()
        name = self._text(site.argument("config_name"))
        folder = self._text(site.argument("config_path", 0))
        name = (self._option("config_name") or self._option("cn") or name).removesuffix(".yaml")
        folder = self._option("config_path") or self._option("cp") or folder
        path = posixpath.normpath(posixpath.join(site.module.folder, folder, f"{name}.yaml")) if name else folder
        file = self._files.find(path, self.folders(site.module)) if path else ""
        return (file,) if file else ()

    def _text(self, value: Expr | None) -> str:
        texts = self.paths.of(Followed(value)) if value is not None else ()
        return texts[0] if len(texts) == 1 and "*" not in texts[0] else ""

    def _option(self, name: str) -> str:
        return (self._launch.options.get(name) if self._launch is not None else None) or ""

    # -- objects --------------------------------------------------------------------------------

    def of(self, expr: Expr) -> tuple[Root, ...]:
        """The files and keys that a settings object may come from; empty if none."""
        roots = self._known.get(expr)
        if roots is None:
            self._steps = 0
            roots = self._known[expr] = _roots(Followed(expr), self)
        return roots

    def evaluated(self, here: Followed) -> tuple[Root, ...]:
        """The roots of an expression that is not being evaluated yet."""
        self._steps += 1
        expr = here.expr
        subscript = expr.subscript
        if self._steps > _STEPS:
            return ()
        if expr.written:
            return self._of_name(here)
        if expr.call is not None:
            return self._of_call(expr.call, here)
        if subscript is not None:
            key = subscript[1]
            return self._inside(_roots(here.to(subscript[0]), self), key.literal) if key.is_literal else ()
        if expr.attribute is not None:
            return self._inside(_roots(here.to(expr.attribute[0]), self), expr.attribute[1])
        return self._any(expr.alternatives or expr.operands("iter", "star", "|"), here)

    def _any(self, parts: Iterable[Expr], here: Followed) -> tuple[Root, ...]:
        return _unique(root for part in parts for root in _roots(here.to(part), self))

    def _inside(self, roots: tuple[Root, ...], key: object) -> tuple[Root, ...]:
        """The roots of an element; for a parser with several classes, the roots of all of them."""
        inner_roots = []
        for path, keys in roots:
            inner = (*keys, str(key))
            is_document = not keys and isinstance(key, int) and not isinstance(key, bool)
            inner_roots.append((path, keys) if is_document and not self._has(path, inner) else (path, inner))
        return tuple(inner_roots)

    def _has(self, path: str, keys: tuple[str, ...]) -> bool:
        return any(config_value.key[: len(keys)] == keys for config_value in self._files.values(path))

    def _of_name(self, here: Followed) -> tuple[Root, ...]:
        """The roots of a name: what is assigned to it, merged into it, passed for it; else those in its object."""
        expr, assigned = here.expr, list[Root]()
        for bind in expr.assignments[:_MOST]:
            assigned += _roots(here.to(bind.value), self)
            assigned += [root for merge in self.merges.into(bind) for root in self._from(merge)]
        roots = _unique(assigned or self._of_parameter(here))
        head, _, last = expr.written.rpartition(".")
        if roots or not head:
            return roots
        roots = _roots(here.to(expr.scope.named(head, expr.line)), self)
        return roots if last == "__dict__" else self._inside(roots, last)

    def _of_parameter(self, here: Followed) -> Iterable[Root]:
        name, function = here.expr.written, here.expr.parameter_of
        if function is None:
            return ()
        paths = self.hydra(function) if name == function.parameters[0] else ()
        passed = self.paths.arguments(function, name, here)
        return (*((path, ()) for path in paths), *(root for followed in passed for root in _roots(followed, self)))

    # -- calls ----------------------------------------------------------------------------------

    def _of_call(self, site: CallSite, here: Followed) -> tuple[Root, ...]:
        here = here.to(site.result)
        paths = self.loaded(site, here.calls) if self.reads(site) else ()
        if paths:
            return tuple((path, ()) for path in paths)
        last, receiver = site.last, site.receiver
        if last in _PARSES and receiver is not None:
            call = _roots(here.to(receiver), self)
            self.defaults.update(call)
            return call
        if last in _TAKES:
            return self._taken(site, here)
        call = self._returned(site, here)
        if call or not _WRAPS.search(last):
            return call
        named = [site.expr(value) for name, value in site.record.keywords if name in _PASSED_ON]
        operands = [*site.args[:4], *named, *([receiver] if receiver is not None else [])]
        return next(filter(None, (_roots(here.to(operand), self) for operand in operands)), ())

    def _taken(self, site: CallSite, here: Followed) -> tuple[Root, ...]:
        """``cfg.get("lr", 0.1)``, ``getattr(cfg, "lr", 0.1)``, and ``parser.getfloat("train", "lr")``."""
        holder, *args = site.args if site.receiver is None else (site.receiver, *site.args)
        if not args or not args[0].is_literal:
            return ()
        roots = self._inside(_roots(here.to(holder), self), args[0].literal)
        if len(args) > 1 and args[1].is_literal and any(self._has(*root) for root in roots):
            deeper = self._inside(roots, args[1].literal)
            roots = deeper if any(self._has(*root) for root in deeper) else roots
        return roots

    def _returned(self, site: CallSite, here: Followed) -> tuple[Root, ...]:
        """The roots of the result of a project function; for a project class, what is merged into its instances."""
        target = site.target
        function = target.called_block if target is not None else None
        if target is None or function is None:
            return ()
        passing = passing_at(function, site)
        if target.kind == "class":
            calls = (*here.calls, passing)
            return _unique(
                root for config_merge in self.merges.of_self(function) for root in self._from(config_merge, calls)
            )
        inside = [here.entered(expr, passing) for expr in target.returns[:_MOST]]
        return _unique(root for followed in inside for root in _roots(followed, self))

    def _from(self, merge: ConfigMerge, calls: Calls = ()) -> tuple[Root, ...]:
        """The roots of what is merged into an object."""
        if merge.reader is not None:
            return tuple((path, ()) for path in self.loaded(merge.reader, calls))
        return _roots(Followed(merge.value, calls), self) if merge.value is not None else ()


@walker(_DEPTH, tuple)
def _roots(here: Followed, roots: Roots) -> tuple[Root, ...]:
    """The roots of an expression; none where it is nested too deeply or depends on itself."""
    return roots.evaluated(here)


def _unique(roots: Iterable[Root]) -> tuple[Root, ...]:
    return tuple(dict.fromkeys(roots))[:_MOST]

"""The modules of an adapter, with the names that the declared release gives them, or the newest, and no others."""

import importlib
import importlib.abc
import importlib.util
import sys

from npulint_adapter.options import ABSENT, table

_TABLE = table("npu_symbols.json")
_BRIDGE = {
    "npu_bridge": "package",
    "npu_bridge.estimator.npu.keras_to_npu": "keras",
    "npu_bridge.estimator.npu.npu_callbacks": "keras",
    "npu_bridge.estimator.npu.npu_config": "configs",
    "npu_bridge.estimator.npu.npu_convert_dropout": "keras_dropout",
    "npu_bridge.estimator.npu.npu_estimator": "estimators",
    "npu_bridge.estimator.npu.npu_hook": "hooks",
    "npu_bridge.estimator.npu.npu_loss_scale_manager": "loss_scale",
    "npu_bridge.estimator.npu.npu_loss_scale_optimizer": "loss_scale",
    "npu_bridge.estimator.npu.npu_optimizer": "optimizers",
    "npu_bridge.estimator.npu.npu_plugin": "plugin",
    "npu_bridge.estimator.npu.npu_rnn": "recurrent",
    "npu_bridge.estimator.npu.npu_dynamic_rnn": "recurrent",
    "npu_bridge.estimator.npu.npu_scope": "scopes",
    "npu_bridge.estimator.npu.npu_strategy": "keras",
    "npu_bridge.estimator.npu.util": "util",
    "npu_bridge.estimator.npu_aicore_ops": "aicore_ops",
    "npu_bridge.estimator.npu_ops": "ops",
    "npu_bridge.estimator.npu_unary_ops": "aicore_ops",
    "npu_bridge.hccl.hccl_ops": "collectives",
    "npu_bridge.npu_init": "init",
    "npu_bridge.profiler.profiler": "plugin",
    "npu_bridge.scoped_graph_manager.scoped_graph_manager": "plugin",
}


def is_absent(module, name, until):
    """Whether a module does not have a name in the declared release, or in the newest if none is declared."""
    if ABSENT is None:
        return bool(until)
    return name in ABSENT["symbols"].get(module, ())


def _placeholder(module, name):
    """A class for what the fake does not do: it can be imported, and whoever uses it is told."""

    class NotSimulated:
        def __init__(self, *args, **kwargs):
            raise NotImplementedError(f"the fake adapter does not simulate {module}.{name}")

    NotSimulated.__name__ = name
    return NotSimulated


class Adapter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The modules below `root`. `done_by` names, for those that the fake simulates, the module of `here` that does it;
    `spelled` gives for a module the names that it has in the table."""

    def __init__(self, root, here, done_by, spelled=lambda module: [module]):
        self._root = root
        self._here = here
        self._done_by = done_by
        self._spelled = spelled
        own = [name for name in _TABLE if name.split(".")[0] == root] + list(done_by)
        self._modules = set(own)
        self._packages = {root}
        for name in own:
            while "." in name:
                name = name.rpartition(".")[0]
                self._packages.add(name)

    def names(self):
        """The modules that it has."""
        return frozenset(self._modules)

    def packages(self):
        """Those that have others below them."""
        return frozenset(self._packages)

    def fill(self, namespace, module):
        """Put the names of a module into its namespace."""
        for listed in self._spelled(module):
            done = self._done(self._done_by[listed]) if listed in self._done_by else None
            for name, (own, _, until) in _TABLE.get(listed, {}).items():
                if is_absent(listed, name, until) or name in namespace:
                    continue
                if hasattr(done, name):
                    namespace[name] = getattr(done, name)
                else:
                    other = self._elsewhere(name) if own != "yes" else None
                    namespace[name] = _placeholder(module, name) if other is None else other

    def install(self):
        """Make the modules importable."""
        if not any(isinstance(finder, Adapter) and finder._root == self._root for finder in sys.meta_path):
            sys.meta_path.append(self)

    def find_spec(self, fullname, path=None, target=None):
        """The module, if the release has it."""
        if not fullname.startswith(self._root + "."):
            return None
        listed = self._spelled(fullname)
        if not any(
            (spelling in self._modules or spelling in self._packages) and _current(spelling) for spelling in listed
        ):
            return None
        is_package = any(spelling in self._packages for spelling in [fullname, *listed])
        return importlib.util.spec_from_loader(fullname, self, is_package=is_package)

    def create_module(self, spec):
        """The usual module."""
        return None

    def exec_module(self, module):
        """Give it its names."""
        self.fill(vars(module), module.__name__)

    def _done(self, part):
        """The module of the fake that has the names of one of the adapter; None where this TensorFlow lacks what it is
        made of."""
        try:
            return importlib.import_module(self._here + part)
        except ImportError as error:
            if (error.name or "").startswith("npulint"):
                raise
            return None

    def _elsewhere(self, name):
        """What another module of the adapter, or of the fake, calls so."""
        for module in _TABLE:
            if module.startswith(self._root) and module.rpartition(".")[2] == name and module != self._root:
                return importlib.import_module(module)
        for part in sorted(set(self._done_by.values()) - {"init"}):
            namespace = self._done(part)
            if hasattr(namespace, name):
                return getattr(namespace, name)
        return None


def _current(module):
    """Whether the release has a module; of one that is gone all names are."""
    names = _TABLE.get(module, {})
    return not names or any(not is_absent(module, name, until) for name, (_, _, until) in names.items())


bridge = Adapter("npu_bridge", "npulint_adapter.", _BRIDGE)

"""The modules of the adapter, with the names that the newest release gives them and no others."""

import importlib
import importlib.abc
import importlib.util
import sys

from npulint_adapter.options import table

_TABLE = table("npu_symbols.json")
_ROOT = "npu_bridge"
_HERE = "npulint_adapter."
_DONE_BY = {
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
_PACKAGES = {name.rpartition(".")[0] for name in _TABLE if name.startswith(_ROOT)} | {"npu_bridge.estimator"}


def _placeholder(module, name):
    """A class for what the fake does not do: it can be imported, and whoever uses it is told."""

    class NotSimulated:
        def __init__(self, *args, **kwargs):
            raise NotImplementedError(f"the fake adapter does not simulate {module}.{name}")

    NotSimulated.__name__ = name
    return NotSimulated


def fill(namespace, module):
    """Put the names of a module into its namespace."""
    done = importlib.import_module(_HERE + _DONE_BY[module]) if module in _DONE_BY else None
    for name, (own, _, until) in _TABLE.get(module, {}).items():
        if until or name in namespace:
            continue
        if hasattr(done, name):
            namespace[name] = getattr(done, name)
        else:
            namespace[name] = (_elsewhere(name) if own != "yes" else None) or _placeholder(module, name)


def _elsewhere(name):
    """What another module of the adapter, or of this package, calls so."""
    for module in _TABLE:
        if module.startswith(_ROOT) and module.rpartition(".")[2] == name:
            return importlib.import_module(module)
    for part in sorted(set(_DONE_BY.values()) - {"init"}):
        found = importlib.import_module(_HERE + part)
        if hasattr(found, name):
            return getattr(found, name)
    return None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules below ``npu_bridge``."""

    def find_spec(self, fullname, path=None, target=None):
        inside = fullname.startswith(_ROOT + ".") and (fullname in _TABLE or fullname in _PACKAGES)
        if not inside or not _current(fullname):
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=fullname in _PACKAGES)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        fill(vars(module), module.__name__)


def _current(module):
    """Whether the newest release has a module; of one that is gone all names are."""
    names = _TABLE.get(module, {})
    return not names or any(not until for _, _, until in names.values())


def install():
    """Make the modules importable."""
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        sys.meta_path.append(_Finder())

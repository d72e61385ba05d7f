"""The modules of ``npu_device``: its own, and a copy of ``npu_bridge`` below ``npu_device.compat.v1``."""

from npulint_adapter.modules import Adapter, bridge

_API = "npu_device._api"
_COPY = "npu_device.compat.v1"
_DONE_BY = {
    "npu_device": "device",
    "npu_device.npu_device": "device",
    "npu_device._api.compat": "compat",
    "npu_device._api.compat.v1": "compat",
    "npu_device.compat.utils": "compat",
    "npu_device._api.configs": "npu_options",
    "npu_device._api.configs.experimental": "npu_options",
    "npu_device.configs.aoe_config": "npu_options",
    "npu_device.configs.dump_config": "npu_options",
    "npu_device.configs.experimental_config": "npu_options",
    "npu_device.configs.npu_config": "npu_options",
    "npu_device.configs.npu_run_context_option": "npu_options",
    "npu_device.configs.profiling_config": "npu_options",
    "npu_device.configs.option_base": "npu_options",
    "npu_device._api.distribute": "distribute",
    "npu_device.distribute.hccl": "distribute",
    "npu_device.distribute.hccl_ops": "collective_ops",
    "npu_device.distribute.npu_callbacks": "distribute",
    "npu_device.distribute.weight_update_grouping": "distribute",
    "npu_device._api.ops": "operators",
    "npu_device.ops.train_ops": "operators",
    "npu_device._api.train.optimizer": "loss_scale",
    "npu_device.train.optimizer.npu_loss_scale_optimizer": "loss_scale",
    "npu_device.utils.scope": "scopes",
}


def _spelled(module):
    """The names of a module in the table."""
    if module == _COPY or module.startswith(_COPY + "."):
        own = _API + module[len("npu_device") :]
        return [own, "npu_bridge" + module[len(_COPY) :]]
    rest = module[len("npu_device") :]
    return [module, _API + rest] if rest and not module.startswith(_API) else [module]


class _Device(Adapter):
    """``npu_device``, whose copy of ``npu_bridge`` is done by the fake of that."""

    def __init__(self):
        super().__init__("npu_device", "npulint_device.", _DONE_BY, _spelled)
        self._modules |= {_API} | set(bridge.names())
        self._packages |= set(bridge.packages())

    def fill(self, namespace, module):
        """Put the names of a module into its namespace."""
        super().fill(namespace, module)
        if module.startswith(_COPY):
            bridge.fill(namespace, "npu_bridge" + module[len(_COPY) :])

    def find_spec(self, fullname, path=None, target=None):
        """The module, if the release has it."""
        spec = super().find_spec(fullname, path, target)
        if spec is not None and fullname == _COPY:
            bridge.install()  # what its modules import of each other
        return spec


adapter = _Device()

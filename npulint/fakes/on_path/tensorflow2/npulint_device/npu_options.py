"""``npu_device.global_options()``: the options of the adapter, which refuse what the real ones refuse."""

import npulint_record as record
from npulint_adapter import options

_CLASSES = {
    "": "NpuConfig",
    "aoe_config": "NpuAoeConfig",
    "dump_config": "NpuDumpConfig",
    "experimental": "NpuExperimentalConfig",
    "experimental.graph_memory_optimize_config": "GraphMemoryOptimizeConfig",
    "experimental.logical_device_deploy_config": "LogicalDeviceDeployConfig",
    "experimental.model_deploy_config": "ModelDeployConfig",
    "experimental.multi_branches_config": "NpuMultiBranchesConfig",
    "memory_config": "MemoryConfig",
    "profiling_config": "NpuProfilingConfig",
}
_WORDS = {"True": True, "False": False}
opened = []
"""Not empty once the device is open."""


class OptionValue:
    """An option with its value."""

    def __init__(self, default, optional):
        self._default = default
        self._optional = optional
        self._value = default

    @property
    def default(self):
        return self._default

    @property
    def optional(self):
        return self._optional

    @property
    def value(self):
        if self._value is None:
            return None
        return {True: "1", False: "0"}[self._value] if isinstance(self._value, bool) else str(self._value)

    @value.setter
    def value(self, value):
        if isinstance(self._optional, (tuple, list)) and value not in self._optional:
            if self._default is not None and not isinstance(value, type(self._default)):
                raise TypeError(f"Expected {type(self._default).__name__}, got {type(value).__name__}")
            raise ValueError(f"'{value}' not in optional list {self._optional}")
        self._value = value


class DeprecatedValue(OptionValue):
    """An option that will be removed."""

    def __init__(self, optional, *, replacement=None):
        super().__init__(None, optional)
        self.replacement = replacement


class NpuBaseConfig:
    """Options and groups of options. `_group` is the name of this one."""

    _group = ""

    def __init__(self):
        members = _members(self._group)
        vars(self).update(members)
        vars(self)["_fixed_attrs"] = list(members)

    def __setattr__(self, key, value):
        fixed = vars(self).get("_fixed_attrs", ())
        if key not in fixed:
            raise ValueError(f"{type(self).__name__} has no option {key}, all options {fixed}")
        if opened:
            record.remark("option_late", key)
        option = vars(self)[key]
        if isinstance(option, OptionValue):
            use = _uses(self._group)[key]["uses"]["npu_options"]
            try:
                option.value = value
                if not use.get("listed"):
                    options.check(key, value, use)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{key}: {error}") from None
        else:
            vars(self)[key] = value

    def as_dict(self):
        """The options that have values."""
        values = {}
        for key in vars(self)["_fixed_attrs"]:
            option = vars(self)[key]
            if isinstance(option, NpuBaseConfig):
                values.update(option.as_dict())
            elif option.value is not None:
                values[key] = option.value
        return values


def _uses(group):
    """The options of a group by their last name."""
    named = {}
    for name, option in options.by_name("npu_options").items():
        before, _, last = name.rpartition(".")
        if before == group:
            named[last] = option
    return named


def _members(group):
    """The options and the groups of a group."""
    members = {}
    for last, option in _uses(group).items():
        use = option["uses"]["npu_options"]
        made = DeprecatedValue(_values(use)) if option["status"] == "deprecated" else None
        members[last] = made or OptionValue(_typed(use), _values(use))
    for name, made in CLASSES.items():
        before, _, last = name.rpartition(".")
        if last and before == group and any(dotted.startswith(name + ".") for dotted in options.by_name("npu_options")):
            members[last] = made()
    return members


def _values(use):
    return use["values"] if use.get("listed") else None


def _typed(use):
    """The default, as the values are."""
    text = use.get("default")
    if text is None:
        return None
    if use["type"] == "int" or (text.lstrip("-").isdigit() and use["type"] == "any"):
        return int(text)
    return _WORDS.get(text, text)


CLASSES = {}
for _group, _name in _CLASSES.items():
    CLASSES[_group] = type(_name, (NpuBaseConfig,), {"_group": _group, "__doc__": "A group of options."})
globals().update({made.__name__: made for made in CLASSES.values()})


class NpuRunContextOptions(NpuBaseConfig):
    """The options of a part of the program."""

    def __init__(self):
        vars(self)["experimental"] = CLASSES["experimental"]()
        vars(self)["_fixed_attrs"] = ["experimental"]


run_context_options = NpuRunContextOptions
_global = []


def global_options():
    """The options of the device, to be set before it is opened."""
    if not _global:
        _global.append(CLASSES[""]())
    return _global[0]

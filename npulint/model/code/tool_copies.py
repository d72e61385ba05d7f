"""Copies of the precision tool (precision_tool of Ascend/tools) in a project, recognized by what they contain: they are
often renamed, or a single file of them is copied."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from npulint.model.code.module import Module

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
    known = list(modules)
    own = {module.path: name for module in known if (name := _own_name(module))}
    folders = {posixpath.dirname(path) for path, name in own.items() if name == "tf_config"}
    copies = {path: f"{TOOL}.{name}" for path, name in own.items() if name == "tf_config" or _is_near(path, folders)}
    whole = {folder for folder in folders if any(_is_part(one.path, folder, deep=True) for one in known)}
    for module in known if whole else ():
        for folder in whole:
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
    return next((name for one, name in _CLASSES.items() if one in names and _has_methods(module, one)), "")


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
    return inner.startswith(tuple(f"{one}/" for one in _BELOW)) or inner in _SCRIPTS or inner == "__init__"

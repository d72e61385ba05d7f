"""The profilers of torch_npu: that of PyTorch under their names, which collects nothing of the NPU."""

from __future__ import annotations

import enum
import importlib
import types
from typing import Any


class ProfilerLevel(enum.Enum):
    """How much is collected."""

    Level_none = "Level_none"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class AiCMetrics(enum.Enum):
    """What is counted of the AI Core."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    ResourceConflictRatio = "ResourceConflictRatio"
    MemoryUB = "MemoryUB"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "AiCoreNone"


class ExportType(enum.Enum):
    """How results are written."""

    Text = "Text"
    Db = "Db"


class Options:
    """``_ExperimentalConfig``: takes its options."""

    def __init__(self, **options: Any) -> None:
        self.options = options


class Profile:
    """``torch_npu.utils.profiler.Profile`` of older releases: profiles some steps, here none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes any options."""

    def start(self) -> None:
        """Does nothing."""

    def end(self) -> None:
        """Does nothing."""


def members() -> dict[str, Any]:
    """The members of ``torch_npu.profiler``."""
    stock: Any = importlib.import_module("torch.profiler")
    names = "schedule tensorboard_trace_handler ProfilerAction".split()
    activity = types.SimpleNamespace(CPU=stock.ProfilerActivity.CPU, NPU=stock.ProfilerActivity.CPU)

    class profile(stock.profile):
        """Without the options that PyTorch does not have."""

        def __init__(self, *args: Any, experimental_config: Any = None, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    enumerations = {enumeration.__name__: enumeration for enumeration in (ProfilerLevel, AiCMetrics, ExportType)}
    unchanged = {name: getattr(stock, name) for name in names}
    return {
        **unchanged,
        **enumerations,
        "profile": profile,
        "ProfilerActivity": activity,
        "_ExperimentalConfig": Options,
    }

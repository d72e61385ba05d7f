"""What programs find on an NPU server: the answers of functions that query the machine, and missing programs."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.data import lazy_table
from npulint.data.libraries import library
from npulint.facts.code import Scalar
from npulint.facts.values import NO, NONE, NOTHING, PossibleValues

_GPU_PROGRAMS = frozenset(("nvidia-smi", "nvcc", "nvidia-settings", "rocm-smi", "rocminfo"))
_NPU_PROGRAMS = frozenset(("npu-smi", "msprof", "atc"))
_NPU_MODULES = frozenset(("torch", "torch_npu", "acl"))
_OTHER_BACKENDS = frozenset("torch_xla intel_extension_for_pytorch habana_frameworks torch_mlu torch_musa".split())

_AVAILABLE = lazy_compile(r"_?is_(\w+)_available\(\)")

_answers = lazy_table("npu_server.json", dict[str, list[Scalar]])


def answer(name: str, transferred: bool) -> PossibleValues:
    """The value of an attribute (``torch.version.cuda``) or of what a function gives (``torch.cuda.is_available()``),
    by its canonical name (``*.name()``: a project's own helper whose name is a convention); `transferred`:
    transfer_to_npu has replaced the functions of CUDA. Nothing if unknown."""
    table = _answers()
    last = name.rpartition(".")[2]
    values = table.get(name) or table.get(f"{name.partition('.')[0]}.*.{last}")
    if values is None:
        return _availability(last)
    return NOTHING if transferred and len(values) < 2 else PossibleValues((values[-1 if transferred else 0],), True)


def _availability(helper: str) -> PossibleValues:
    """What a helper for one library (``is_bitsandbytes_available()``) gives: no, if that cannot be imported."""
    named = _AVAILABLE.fullmatch(helper)
    return NO if named is not None and importable(named[1]) is False else NOTHING


def importable(module: str) -> bool | None:
    """Whether a module can be imported on an NPU server; None if that depends on what is installed."""
    if module.partition(".")[0] in _NPU_MODULES:
        return True
    if module.partition(".")[0] in _OTHER_BACKENDS:
        return False
    entry = library(module)
    return False if entry is not None and entry.works == "no" and not entry.loads else None


def found_program(name: str) -> PossibleValues:
    """What ``shutil.which`` gives: None for programs of GPUs, a path for those of NPUs."""
    if name in _GPU_PROGRAMS:
        return NONE
    return PossibleValues((f"/usr/local/bin/{name}",), True) if name in _NPU_PROGRAMS else NOTHING

"""The release of PyTorch that a project pins."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import FileFacts

_PIN = lazy_compile(r"^(?:={1,3}|~=)?(\d+\.\d+(?:\.\d+)*)")
_WHEEL = lazy_compile(r"^(torch(?:-npu)?)-(\d+-\d+(?:-\d+)?)(?:-|$)")
_FIRST = (2, 1)  # older pins without torch_npu belong to the GPU environment


def torch_release(files: Iterable[FileFacts]) -> str:
    """The release (``2.1.0``) from the pin of torch_npu, else of torch; empty if there is none or if several differ."""
    files = list(files)
    releases: dict[str, set[str]] = {"torch-npu": set(), "torch": set()}
    for file in files:
        for fact in file.facts:
            if fact.kind == "dependency":
                name, version = _pinned(fact.name, str(fact.get("version") or ""))
                if version and name in releases:
                    releases[name].add(version)
    for name in ("torch-npu", "torch"):
        if len({_parts(version) for version in releases[name]}) == 1:
            version = min(releases[name])
            return version if name == "torch-npu" or _parts(version) >= _FIRST or _on_npu(files) else ""
        if releases[name]:
            return ""
    return ""


def _pinned(name: str, version: str) -> tuple[str, str]:
    """The package and release of one requirement, also if it names a wheel file."""
    wheel = _WHEEL.match(name)
    if wheel:
        return wheel[1], wheel[2].replace("-", ".")
    pin = _PIN.match(version)
    return name, pin[1] if pin and "," not in version else ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _on_npu(files: list[FileFacts]) -> bool:
    """Whether anything imports the NPU backend."""
    return any(
        record.module.startswith(("torch_npu", "torch.npu"))
        for file in files
        if file.code is not None
        for record in file.code.imports
    )

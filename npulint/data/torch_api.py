"""PyTorch APIs that have no NPU kernel or that the documentation of torch_npu lists as unsupported."""

from __future__ import annotations

from functools import cache, lru_cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import lazy_table
from npulint.data.releases import Release, torch_releases

_STATES = {"n": "no", "p": "partial", "y": "yes", "-": "unknown", "": "unknown"}
# Certainly a tensor: the result of a torch function, through methods and tuple elements.
# An object of a module class.
_MODULE = lazy_compile(r"^torch\.nn\.(?!(?:parameter\.)?Parameter\(\)$)(?:[a-z_]\w*\.)*[A-Z]\w*\(\)$")
_TENSOR = lazy_compile(
    r"^torch\.(?!load\b|device\b|finfo\b|iinfo\b|compile\b|typename\b|hub\b)"
    r"(?:(?:(?:nn\.functional|linalg|fft|special|Tensor)\.)?[a-z]\w*\(\)|nn\.(?:parameter\.)?Parameter\(\))"
    r"(?:\[\])?(?:\.[a-z]\w*\(\)(?:\[\])?)*$"
)


class TorchApi(msgspec.Struct, frozen=True, array_like=True):
    """One API. `states` has a letter per listed release: n(o), p(artial), y(es), - (not listed). `kernel` is npu, cpu
    (fallback), backward_cpu, no_gradient (the kernel has none), none (an error on the device) or host (no operator);
    from release `since` on it is npu. `method`: also a tensor method, whose name is unique to tensors (any) or not
    (known). `ops` are the operators that fall back, `instead` is the replacement."""

    states: str
    kernel: str
    since: str
    method: str
    group: str
    ops: str
    instead: str


_table = lazy_table("torch_api.json", dict[str, TorchApi])


@lru_cache(maxsize=1 << 15)
def find(name: str) -> tuple[str, TorchApi] | None:
    """The public name and the record of a canonical callee, including tensor methods; None if unrecorded."""
    base, _, last = name.rpartition(".")
    if name.startswith("torch.") and "(" not in name:
        api = _table().get(name)
        if api is None and base.startswith("torch.distributions."):
            name = f"torch.distributions.{last}"
            api = _table().get(name)
        if api is not None:
            return name, api
    if _MODULE.match(base):
        name = f"torch.nn.Module.{last}"
        return (name, _table()[name]) if name in _table() else None
    api = _methods().get(last)
    if api is None or not base:
        return None
    sure = base == "torch.Tensor" or _TENSOR.match(base)
    unknown = base.startswith("?") or (":" in base and base.endswith((")", "]")))
    return (f"torch.Tensor.{last}", api) if sure or (unknown and api.method == "any") else None


def support(api: TorchApi, release: str) -> str:
    """Documented support in a release of PyTorch: ``no``, ``partial``, ``yes`` or ``unknown``. Between two listed
    releases both must agree on no; without a release, all from 2.6 on."""
    if not api.states:
        return "unknown"
    listed = torch_releases("interfaces")
    version = _parts(release)
    if not version or version < listed[0]:
        latest = set(api.states[1:])
        return "partial" if api.states[-1] == "n" and not latest <= {"n", "-"} else _STATES[api.states[-1]]
    at = max(index for index, minor in enumerate(listed) if minor <= version[:2])
    letters = {api.states[at]}
    if listed[at] != version[:2] and at + 1 < len(listed):
        letters.add(api.states[at + 1])
    if letters == {"n"}:
        return "no"
    return _STATES[(letters - {"n"}).pop()] if len(letters) == 1 else "partial"


def kernel(api: TorchApi, release: str) -> str:
    """The kernel of an API in a release of PyTorch; ``unknown`` if it depends on an unknown release."""
    if not api.since:
        return api.kernel
    version = _parts(release)
    if not version:
        return "unknown"
    return "npu" if version >= _parts(api.since) else api.kernel


def refused(api: TorchApi) -> str:
    """The releases documented as unsupported, such as ``2.1-2.6, 2.8``."""
    releases = _spelled()
    runs: list[tuple[int, int]] = []
    for index, letter in enumerate(api.states):
        if letter == "n":
            runs.append((runs.pop()[0] if runs and runs[-1][1] == index - 1 else index, index))
    return ", ".join(releases[a] if a == b else f"{releases[a]}-{releases[b]}" for a, b in runs)


def added(api: TorchApi) -> str:
    """The first release in which it runs on the NPU or is listed as supported; empty if none."""
    kept = len(api.states.rstrip("py"))
    return api.since or (_spelled()[kept] if 0 < kept < len(api.states) else "")


@cache
def known_last_segments() -> frozenset[str]:
    """The last segments of all recorded names, for a quick test."""
    return frozenset({name.rpartition(".")[2] for name in _table()} | set(_methods()))


def _parts(release: str) -> Release:
    return tuple(int(part) for part in release.split(".")[:2] if part.isdigit())


@cache
def _methods() -> dict[str, TorchApi]:
    """Tensor methods by name, including in-place variants."""
    methods = {}
    for name, api in _table().items():
        if api.method:
            last = name.rpartition(".")[2]
            methods[last] = api
            methods.setdefault(last if last.endswith("_") else f"{last}_", api)
    return methods


@cache
def _spelled() -> list[str]:
    """The releases with a list of APIs, in the order of the letters of `Api.states`."""
    return [".".join(map(str, release)) for release in torch_releases("interfaces")]

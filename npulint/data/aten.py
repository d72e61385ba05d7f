"""How a PyTorch operator runs on the NPU, by release: by a kernel, by other operators, or on the CPU."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import chips, lazy_table
from npulint.data.releases import torch_releases

FALLS = frozenset(("cpu", "cpu_out"))
"""Verdicts for operators that run on the CPU."""

_LEADING = lazy_compile(r"(\d+)\.(\d+)")
_FINE = ("npu", "npu_out", "generic", "decomposes")
_BAD = ("cpu", "cpu_out", "error")
_OUT = lazy_compile(  # overloads that write into output tensors
    r"(?:^|_)out\d?$|^out_|^(?:L|Q|U|X|a|OutTensor|OutScalar_(?:Other|Self)|dim_(?:max|min|values)|eigenvalues|eigvals|"
    r"grad_input|inverse|output|result|sign|values|values_stable)$"
)
_NAMED = lazy_compile(r"(?i)dimname|^names")  # overloads for named tensors, which do not occur in graphs
_PARTS = frozenset("_operator builtins math operator torch prim prims higher_order c10d _c10d_functional".split())
_LAYOUTS = frozenset("quantized _quantized sparse mkldnn mkldnn_prepacked prepacked onednn xnnpack".split())
_METHODS = frozenset(("cpu", "cuda", "tensor", "as_tensor"))  # of TorchScript
_PLUGGED = frozenset(
    "nms roi_align _roi_align_backward roi_pool _roi_pool_backward deform_conv2d _deform_conv2d_backward".split()
)
_LIMIT_950 = "950"

Release = tuple[int, int]
VerdictWord = Literal["npu", "npu_out", "decomposes", "generic", "cpu", "cpu_out", "error", "custom", "unknown"]


class Verdict(msgspec.Struct, frozen=True):
    """How one operator runs.

    `word`: npu (a kernel), npu_out (by its out variant), decomposes or generic (composed of other operators), cpu,
    cpu_out (CPU fallback, reported under the name `via`), error (there is no CPU kernel either, or the chip cannot run
    the one there is), custom (of a library with its own kernels) or unknown. `kernels`: acl_op, op_api, own (torch_npu
    itself) and sparse. `reaches` are CPU operators that a composite calls, `backward` those that only its gradient
    calls; both apply under the condition `when` (argument and value), if any. `notes` are conditions under which the
    kernel itself computes on the CPU (always, acl_path, before_a2, large_scale, no_aclnn, old_cann, chip, float64,
    correction), or no_gradient: it has none. `needs` names a package that provides a kernel when installed. `certain`
    is false if overloads differ, `exact` if the requested release is the one whose dispatcher is recorded."""

    word: VerdictWord
    via: str = ""
    kernels: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()
    backward: tuple[str, ...] = ()
    when: str = ""
    notes: tuple[str, ...] = ()
    needs: str = ""
    certain: bool = True
    exact: bool = True


class _Op(msgspec.Struct, frozen=True, array_like=True):
    """One overload: its class in the dispatcher (c composite, g generic, s structured, k kernel, m no CPU kernel,
    empty: not in the recorded dispatcher), its kernels and notes as indices into the lists, and its callees."""

    kind: str
    kernels: int = 0
    notes: int = 0
    calls: str = ""


class _Table(msgspec.Struct, frozen=True):
    kernels: list[str]
    notes: list[str]
    ops: dict[str, dict[str, dict[str, _Op]]]
    reaches: dict[str, tuple[str, str, str]]
    instead: dict[str, str]


_table = lazy_table("aten.json", _Table)


def verdict(op: str, release: str, chip: str = "") -> Verdict:
    """How an operator (``aten.add.Tensor``; ``aten.add`` if the overload is unknown) runs with a release of PyTorch
    (``2.7.1``; empty: the newest) on a chip (``910A``; empty: any)."""
    return _verdict(op, nearest(release), chip.upper().removeprefix("ASCEND"))


def instead(op: str) -> str:
    """A Python replacement for an operator (``aten.huber_loss``); empty if there is none."""
    return _table().instead.get(op.removeprefix("aten.").partition(".")[0], "")


def nearest(release: str) -> Release:
    """The recorded release closest to the requested one."""
    match = _LEADING.search(release)
    oldest, *_, newest = torch_releases("kernels")
    return newest if match is None else max(oldest, min(newest, (int(match[1]), int(match[2]))))


def is_recorded(release: str) -> bool:
    """Whether a release of PyTorch (empty: the newest) is not outside of the recorded ones."""
    match = _LEADING.search(release)
    return match is None or nearest(release) == (int(match[1]), int(match[2]))


@lru_cache(maxsize=1 << 14)
def _verdict(op: str, release: Release, chip: str) -> Verdict:
    namespace, _, rest = op.partition(".")
    base, _, overload = rest.partition(".")
    overloads = _table().ops.get(namespace, {}).get(base)
    if overloads is not None:
        overload = "" if overload == "default" else overload
        record = overloads.get(overload)
        if record is not None and (overload or rest != base or len(overloads) == 1):
            return _of(namespace, base, record, release, chip)
        return (
            _united([_of(namespace, base, op_record, release, chip) for op_record in _likely(overloads)])
            if rest == base
            else _NONE
        )
    if namespace == "torchvision":
        return Verdict("cpu", needs="torchvision_npu" if base in _PLUGGED else "")
    if namespace in _PARTS or (namespace == "aten" and base in _METHODS):
        return Verdict("generic")
    if namespace == "aten" or namespace in _LAYOUTS:
        return _NONE
    return Verdict("npu" if namespace == "npu" else "custom")


def plugin_operators() -> frozenset[str]:
    """The names of the operators that torch_npu adds (``npu_fusion_attention``), in any recorded release."""
    return frozenset(_table().ops.get("npu", ()))


def known(op: str) -> bool:
    """Whether there is such an operator, with any overload; TorchScript has list and number functions with similar
    names (``aten.len``)."""
    namespace, _, rest = op.partition(".")
    base = rest.partition(".")[0]
    return base in _table().ops.get(namespace, {}) or namespace != "aten" or base in _METHODS


_NONE = Verdict("unknown", certain=False)


def _likely(overloads: dict[str, _Op]) -> list[_Op]:
    """The overloads that a call without ``out`` and dimension names may mean; all if there is no other."""
    plain = [op for name, op in overloads.items() if not _OUT.search(name) and not _NAMED.search(name)]
    return plain or list(overloads.values())


def _united(verdicts: list[Verdict]) -> Verdict:
    """The verdict on which all overloads agree, at least in whether the NPU computes it; else unknown."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    words = {op_verdict.word for op_verdict in verdicts}
    for scale in (_FINE, _BAD):
        if words <= set(scale):
            chosen = next(op_verdict for word in scale for op_verdict in verdicts if op_verdict.word == word)
            agreed = {(op_verdict.reaches, op_verdict.backward) for op_verdict in verdicts}
            loose = chosen if len(agreed) == 1 else msgspec.structs.replace(chosen, reaches=(), backward=())
            return msgspec.structs.replace(loose, certain=len(words) == 1)
    return _NONE


def _of(namespace: str, base: str, op: _Op, release: Release, chip: str) -> Verdict:
    forward, backward, when = _table().reaches.get(base.removesuffix("_") or base, ("", "", ""))
    after = _falling(backward.split(), release) if namespace == "aten" else ()
    kernels = _kernels(op, release)
    word: VerdictWord
    if kernels:
        word = "error" if kernels == ("acl_op",) and chip.startswith(_LIMIT_950) else "npu"
        return Verdict(word, kernels=kernels, backward=after, notes=_notes(op, chip))
    exact = release in torch_releases("dispatcher")
    if op.kind == "s":
        out = _called(base, op)
        word = "npu_out" if _kernels(_find(out), release) else "cpu_out"
        return Verdict(word, out, _kernels(_find(out), release), backward=after, exact=exact)
    if op.kind in ("c", "g"):
        reached = _falling([*forward.split(), *([_called(base, op)] if op.calls else [])], release)
        word = "decomposes" if op.kind == "c" else "generic"
        return Verdict(word, reaches=reached, backward=after, when=when, exact=exact)
    if not op.kind:  # not in the recorded dispatcher: a kernel of other releases
        return Verdict("unknown", exact=False)
    return Verdict("cpu" if op.kind == "k" else "error", backward=after, exact=exact)


def _falling(names: Iterable[str], release: Release) -> tuple[str, ...]:
    """The overloads that run on the CPU."""
    falling = []
    for name in dict.fromkeys(names):
        op = _find(name)
        if op.kind == "s" and not _kernels(op, release):
            op = _find(_called(name.partition(".")[0], op))
        if op.kind == "k" and not _kernels(op, release):
            falling.append(name)
    return tuple(falling)


def _called(base: str, op: _Op) -> str:
    """The callee of a structured operator or a wrapper: ``.out`` is a variant of the operator itself."""
    return base + op.calls if op.calls.startswith(".") else op.calls


def _find(name: str) -> _Op:
    base, _, overload = name.partition(".")
    return _table().ops["aten"].get(base, {}).get(overload, _Op(""))


def _kernels(op: _Op, release: Release) -> tuple[str, ...]:
    return next((kinds for first, last, kinds in _spans()[op.kernels] if first <= release <= last), ())


def _notes(op: _Op, chip: str) -> tuple[str, ...]:
    """The conditions that may hold on a chip: those of old chips end with the second generation, where aclnn is the
    default."""
    words = _table().notes[op.notes].split()
    if chip and chips.chip(chip) not in chips.OLD_CHIPS and not chip.startswith("310"):
        words = [word for word in words if word not in ("before_a2", "acl_path")]
    return tuple(words)


@cache
def _spans() -> list[list[tuple[Release, Release, tuple[str, ...]]]]:
    """(first release, last release, kernels) by index in the table; ``2.7-`` ends with the newest."""
    return [[_span(part) for part in text.split(";") if part] for text in _table().kernels]


def _span(text: str) -> tuple[Release, Release, tuple[str, ...]]:
    releases, _, kinds = text.partition(":")
    first, dash, last = releases.partition("-")
    return nearest(first), nearest(last if dash else first), tuple(kinds.replace("both", "acl_op+op_api").split("+"))

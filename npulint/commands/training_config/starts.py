"""Starts: which launchers represent the training of a program, and which launchers of two programs correspond."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.model.launches.project_launches import Launch
from npulint.model.values.context import Context

FULL, PLAIN, SHORT, OTHER = range(4)
"""The purpose of a start: full training, unspecified, performance test, no training."""

_PARTS = lazy_compile(r"[^a-z0-9]+|(?<=[a-z])(?=\d)")
_FULL = frozenset(("full", "accuracy", "acc", "convergence"))
_SHORT = frozenset("performance perf testcase benchmark bench smoke debug demo quick profiling profile ci fps".split())
_OTHER = frozenset(
    "eval evaluate evaluation val infer inference predict prediction test tests testing export convert pb om freeze "
    "deploy preprocess prepare download visualize demo".split()
)
_NO_TRAINING = frozenset(
    "evaluate eval e eval_only test_only only_test only_eval evaluation test test_mode validate infer inference "
    "predict export export_onnx".split()
)
_MODES = frozenset(("mode", "phase", "action", "task", "job", "run_mode", "job_type", "command", "cmd", "stage"))
_NO_TRAINING_MODES = frozenset("eval evaluate evaluation val validation test infer inference predict export".split())
_YES = frozenset(("true", "1", "yes", "t", "y"))
_DEVICES = lazy_compile(r"(?:^|_)(\d+)(?:p|x\d+|gpus?|npus?|cards?|devices?)(?:_|$)", re.IGNORECASE)
_MANY = lazy_compile(r"cluster|multi|distribut|(?:^|_)(?:dist|ddp|mpi|horovod|nodes?)(?:_|$)", re.IGNORECASE)
_PLATFORM = lazy_compile(
    r"npu|ascend|davinci|gpu|cuda|nvidia|tpu|910[ab]?|310p?|v100|a100|for|pytorch|tensorflow|torch|tf"
)
_MANY_LAUNCHERS = frozenset(("mpirun", "mpiexec", "horovodrun", "torchrun", "torch.distributed.launch", "deepspeed"))
_SEVERAL = 2
_ALIKE = 0.6


def start_of(context: Context, entry: str, migrated: bool = True) -> list[Launch]:
    """The starts of the script at `entry`, most representative first: in a migrated project NPU launchers before
    others, full training before performance tests before evaluation, single device before several."""
    launches: dict[object, Launch] = {}
    for launch in context.options.passed.launches.by_entry.get(entry, ()):
        passed = tuple(sorted(launch.options.items(), key=lambda item: item[0]))
        launches.setdefault((launch.fact.path, passed), launch)
    return sorted(launches.values(), key=lambda launch: _preference(launch, migrated))


def trained_scripts(context: Context) -> frozenset[str]:
    """The scripts that launchers certainly start for training."""
    by_entry = context.options.passed.launches.by_entry
    return frozenset(entry for entry, all_of in by_entry.items() if any(launch.sure for launch in _training(all_of)))


def paired_starts(
    reference: Context, reference_entry: str, migrated: Context, migrated_entry: str
) -> list[tuple[Launch | None, Launch | None]]:
    """The starts of a program and of its counterpart to compare, most representative pair first; at least one.
    Launchers of the same name correspond, else the most similar ones, else the preferred ones; a side without a
    training launcher is compared without one (None). A full training that only the migrated side has is compared too.
    """
    left = _training(start_of(reference, reference_entry, False))
    right = _training(start_of(migrated, migrated_entry))
    if not left or not right:
        return [(left[0] if left else None, right[0] if right else None)]
    same = _same(left, right)
    if same:
        pairs = [(launch, other) for launch, other in sorted(same, key=lambda pair: _preference(pair[1], True))]
        return [*_new(left, right, pairs), *pairs]
    return [*(_alike(left, right) or [(left[0], right[0])])]


def _new(
    left: Sequence[Launch], right: Sequence[Launch], pairs: Sequence[tuple[Launch, Launch]]
) -> list[tuple[Launch | None, Launch | None]]:
    """The preferred migrated start if it is not paired yet, with the reference start that passes most of the same
    options, else with the reference without a launcher."""
    first = right[0]
    if any(other is first for _, other in pairs) or _preference(first, True)[:2] >= _preference(pairs[0][1], True)[:2]:
        return []
    like = left[_closest(left, first)]
    common = like.options.items() & first.options.items()
    return [(like if len(common) >= _SEVERAL and 2 * len(common) >= len(like.options) else None, first)]


def purpose(launch: Launch) -> int:
    """The purpose of a start, by its launcher's name and options: `FULL`, `PLAIN`, `SHORT` or `OTHER`."""
    if _evaluates(launch):
        return OTHER
    words = set(_words(launch.fact.path))
    if "train" in words or "training" in words:
        words -= _OTHER
    return FULL if words & _FULL else OTHER if words & _OTHER else SHORT if words & _SHORT else PLAIN


def devices(launch: Launch) -> int:
    """The number of devices of a start, by its launcher's name and distributed launcher."""
    name = posixpath.basename(launch.fact.path).rpartition(".")[0].lower()
    count = _DEVICES.search(name)
    if count:
        return int(count.group(1)[:4])
    rounds = launch.fact.record.rounds
    many = _MANY.search(name) or launch.fact.launcher in _MANY_LAUNCHERS
    return _SEVERAL if many or rounds > 1 else 1


def _evaluates(launch: Launch) -> bool:
    for name, text in launch.options.items():
        value = (text or "").lower()
        if (name in _NO_TRAINING and value in _YES) or (name in _MODES and value in _NO_TRAINING_MODES):
            return True
    trains = launch.options.get("do_train", launch.options.get("is_train", launch.options.get("train")))
    return (trains or "").lower() in ("false", "0", "no")


def _preference(launch: Launch, migrated: bool) -> tuple[int, int, bool, int, bool, str, int]:
    device = {"npu": 0, "gpu": 2}.get(launch.target, 1) if migrated else 0
    count = devices(launch)
    guarded = launch.fact.guarded
    place = (launch.fact.path, launch.fact.span.line)
    return purpose(launch), device, not launch.sure, count, guarded, *place


def _training(launches: Sequence[Launch]) -> list[Launch]:
    return [launch for launch in launches if purpose(launch) != OTHER]


def plain_stem(path: str) -> str:
    """The name of a file without extension and without words for the device: ``train`` of ``train_npu.py``."""
    return " ".join(word for word in _words(path) if not _PLATFORM.fullmatch(word))


def _words(path: str) -> list[str]:
    name = posixpath.basename(path).rpartition(".")[0].lower()
    return [word for word in _PARTS.split(name) if word]


def _same(left: Sequence[Launch], right: Sequence[Launch]) -> list[tuple[Launch, Launch]]:
    """Launchers of the same name; full names take precedence."""
    pairs: list[tuple[Launch, Launch]] = []
    for name_of in (
        lambda launch: posixpath.basename(launch.fact.path).lower(),
        lambda launch: plain_stem(launch.fact.path),
    ):
        taken = {id(launch) for pair in pairs for launch in pair}
        waiting: dict[str, list[Launch]] = {}
        for launch in left:
            if id(launch) not in taken:
                waiting.setdefault(name_of(launch), []).append(launch)
        for launch in right:
            same = waiting.get(name_of(launch)) if id(launch) not in taken else None
            if same:
                pairs.append((same.pop(_closest(same, launch)), launch))
    return pairs


def _closest(launches: Sequence[Launch], other: Launch) -> int:
    """The index of the start that passes most of the options of another one."""
    scores = [len(launch.options.items() & other.options.items()) for launch in launches]
    return scores.index(max(scores))


def _alike(left: Sequence[Launch], right: Sequence[Launch]) -> list[tuple[Launch, Launch]]:
    """The two launchers with the most similar names, among those of the same purpose and number of devices."""
    from difflib import SequenceMatcher  # imported on demand: rarely needed

    best, score = None, _ALIKE
    for launch in left:
        for other in right:
            if purpose(launch) == purpose(other) and devices(launch) == devices(other):
                ratio = SequenceMatcher(
                    None, plain_stem(launch.fact.path), plain_stem(other.fact.path), autojunk=False
                ).ratio()
                if ratio > score:
                    best, score = (launch, other), ratio
    return [best] if best else []

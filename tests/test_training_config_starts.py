"""How programs are started: which launcher tells most, and which launchers of two sides belong together."""

from __future__ import annotations

import pytest

from npulint.commands.training_config.starts import FULL, OTHER, PLAIN, SHORT, devices, paired_starts, purpose, start_of
from npulint.model.values.context import Context
from tests.provenance_support import Started

_SCRIPT = "import argparse\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--lr')\np.parse_args()\n"
_NPU = "export ASCEND_DEVICE_ID=0\n"


def _context(launchers: dict[str, str], entry: str = "train.py") -> Context:
    return Started({entry: _SCRIPT, **launchers}, entry).context


def _names(context: Context, migrated: bool = True) -> list[str]:
    return [launch.fact.path for launch in start_of(context, "train.py", migrated)]


def test_a_full_training_on_one_npu_comes_first() -> None:
    run = "python ../train.py --lr 1\n"
    context = _context(
        {
            "test/train_full_8p.sh": _NPU + run,
            "test/train_performance_1p.sh": _NPU + run,
            "test/train_eval_1p.sh": _NPU + "python ../train.py --evaluate\n",
            "test/train_full_1p.sh": _NPU + run,
            "scripts/run_gpu.sh": "export CUDA_VISIBLE_DEVICES=0\n" + run,
            "scripts/run.sh": run,
        }
    )
    assert _names(context) == [
        "test/train_full_1p.sh",
        "test/train_full_8p.sh",
        "scripts/run.sh",
        "scripts/run_gpu.sh",
        "test/train_performance_1p.sh",
        "test/train_eval_1p.sh",
    ]


def test_devices_do_not_matter_on_a_reference() -> None:
    run = "python ../train.py --lr 1\n"
    launchers = {"a/run_gpu.sh": "export CUDA_VISIBLE_DEVICES=0\n" + run, "b/run_npu.sh": _NPU + run}
    assert _names(_context(launchers), migrated=False) == ["a/run_gpu.sh", "b/run_npu.sh"]
    assert _names(_context(launchers), migrated=True) == ["b/run_npu.sh", "a/run_gpu.sh"]


@pytest.mark.parametrize(
    ("name", "options", "meant", "count"),
    [
        ("train_full_1p.sh", "--lr 1", FULL, 1),
        ("train_performance_8p.sh", "--lr 1", SHORT, 8),
        ("run.sh", "--lr 1", PLAIN, 1),
        ("run_cluster.sh", "--lr 1", PLAIN, 2),
        ("train_8gpu.sh", "--lr 1", PLAIN, 8),
        ("eval.sh", "--lr 1", OTHER, 1),
        ("test_train.sh", "--lr 1", PLAIN, 1),
        ("run.sh", "--mode=eval", OTHER, 1),
        ("run.sh", "--mode=train", PLAIN, 1),
        ("run.sh", "--do_train=False --do_eval=True", OTHER, 1),
        ("train_full_1p.sh", "--evaluate", OTHER, 1),
    ],
)
def test_what_a_start_is_for(name: str, options: str, meant: int, count: int) -> None:
    (launch,) = start_of(_context({name: f"python train.py {options}\n"}), "train.py")
    assert (purpose(launch), devices(launch)) == (meant, count)


def test_the_same_start_in_both_branches_is_one() -> None:
    text = "if [ $1 ]; then\n python train.py --lr 1\nelse\n python train.py --lr 1 > log\nfi\n"
    assert _names(_context({"run.sh": text})) == ["run.sh"]


def _paired(reference: dict[str, str], migrated: dict[str, str]) -> list[tuple[str | None, str | None]]:
    one, other = _context(reference), _context(migrated, "run_npu.py")
    pairs = paired_starts(one, "train.py", other, "run_npu.py")
    return [(left.fact.path if left else None, right.fact.path if right else None) for left, right in pairs]


_OLD = "python train.py --lr 1\n"
_NEW = "export ASCEND_DEVICE_ID=0\npython run_npu.py --lr 1\n"


@pytest.mark.parametrize(
    ("reference", "migrated", "pairs"),
    [
        ({}, {}, [(None, None)]),
        ({}, {"train_full_1p.sh": _NEW, "train_performance_1p.sh": _NEW}, [(None, "train_full_1p.sh")]),
        ({"run.sh": _OLD}, {}, [("run.sh", None)]),
        ({"eval.sh": _OLD}, {"train_full_1p.sh": _NEW}, [(None, "train_full_1p.sh")]),
        ({"run.sh": _OLD}, {"train_full_1p.sh": _NEW}, [("run.sh", "train_full_1p.sh")]),
        (
            {"train_full_1p.sh": _OLD, "train_full_8p.sh": _OLD, "other.sh": _OLD},
            {"t/train_full_8p.sh": _NEW, "t/train_full_1p.sh": _NEW},
            [("train_full_1p.sh", "t/train_full_1p.sh"), ("train_full_8p.sh", "t/train_full_8p.sh")],
        ),
        (
            {"run_pretrain_gpu.sh": _OLD},
            {"run_pretrain_npu.sh": _NEW},
            [("run_pretrain_gpu.sh", "run_pretrain_npu.sh")],
        ),
        (
            {"run_squad.sh": _OLD, "run_mnli.sh": _OLD},
            {"run_mnli_base.sh": _NEW},
            [("run_mnli.sh", "run_mnli_base.sh")],
        ),
    ],
)
def test_launchers_that_belong_together(
    reference: dict[str, str], migrated: dict[str, str], pairs: list[tuple[str | None, str | None]]
) -> None:
    migrated = {
        name: text.replace("python run_npu.py", f"python {'../' * name.count('/')}run_npu.py")
        for name, text in migrated.items()
    }
    assert _paired(reference, migrated) == pairs

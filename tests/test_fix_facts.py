"""What facts of launchers, lists and requirements tell a fix: the value that is meant, the list in use, the build."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.data.environment import variable
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.facts.model import Fact
from npulint.read.files import LoadedFile, read


def found(files: dict[str, str], kind: str) -> list[Fact]:
    """The facts of a kind in a project, by place."""
    loaded = [
        LoadedFile(SourceFile(path, kinds_of(path)[-1], path, "", 0), text.encode()) for path, text in files.items()
    ]
    facts: dict[int, Fact] = {}
    for program in assemble("", [read(one) for one in loaded]):
        facts.update({id(fact): fact for fact in program.index.of_kind(kind)})
    return sorted(facts.values(), key=lambda fact: (fact.path, fact.span))


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("TASK_QUEUE_ENABLE", "true", "1"),
        ("TASK_QUEUE_ENABLE", "OFF", "0"),
        ("TASK_QUEUE_ENABLE", "3", ""),
        ("TASK_QUEUE_ENABLE", "", ""),
        ("ACL_OP_COMPILER_CACHE_MODE", "Enable", "enable"),
        ("ASCEND_RT_VISIBLE_DEVICES", "0, 1, 2", "0,1,2"),
        ("ASCEND_RT_VISIBLE_DEVICES", "1,0", ""),
        ("ASCEND_RT_VISIBLE_DEVICES", "0,1,", ""),
        ("ASCEND_RT_VISIBLE_DEVICES", "-1", ""),
        ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:true", "expandable_segments:True"),
        ("PYTORCH_NPU_ALLOC_CONF", "expandable_segment:True", "expandable_segments:True"),
        ("PYTORCH_NPU_ALLOC_CONF", "backend:native,max_split_size_mb:64", "max_split_size_mb:64"),
        ("PYTORCH_NPU_ALLOC_CONF", "release_lock_on_cudamalloc:True", "release_lock_on_npumalloc:True"),
        ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:true,max_split_size_mb:64", ""),
        ("PYTORCH_NPU_ALLOC_CONF", "some_other_thing:1", ""),
        ("HCCL_CONNECT_TIMEOUT", "600s", ""),
    ],
)
def test_a_wrong_value_means_one_legal_value_or_none(name: str, value: str, meant: str) -> None:
    known = variable(name)
    assert known is not None
    assert known.likely(value) == meant
    assert not meant or known.accepts(meant)


def test_the_likely_value_is_told() -> None:
    files = {"train.py": "import torch_npu\n", "run.sh": "export TASK_QUEUE_ENABLE=on HCCL_ALGO=x\npython3 train.py\n"}
    assert [fact.get("likely") for fact in found(files, "environment")] == ["1", "-"]


def test_cuda_variables_are_measured_by_what_the_npu_takes() -> None:
    text = "export CUDA_VISIBLE_DEVICES={} PYTORCH_CUDA_ALLOC_CONF={}\npython3 train.py\n"
    for ids, setting, wanted in (
        ("0,1", "max_split_size_mb:64", ["yes", "none"]),
        ("1,0", "backend:native", ["no", "unknown-key"]),
    ):
        files = {"train.py": "import torch\n", "run.sh": text.format(ids, setting)}
        devices, allocator = found(files, "environment")
        assert [devices.get("value_ok"), allocator.get("problem")] == wanted


@pytest.mark.parametrize(
    ("value", "used"),
    [
        ("'a/one.json'", ["yes", "no"]),
        ("os.path.join(here, 'one.json')", ["several", "several"]),
        ("'other.json'", ["no", "no"]),
    ],
)
def test_the_list_in_use_is_known(value: str, used: list[str]) -> None:
    script = f"from npu_bridge.npu_init import *\nc = NPURunConfig(precision_mode='x', modify_mixlist={value})\n"
    entries = '{"black-list": {}}'
    files = {"train.py": script, "a/one.json": entries, "a/two.json": entries}
    assert [fact.get("used") for fact in found(files, "mixlist_file")] == used
    del files["a/two.json"]
    alone = "no" if used == ["no", "no"] else "yes"
    assert [fact.get("used") for fact in found(files, "mixlist_file")] == [alone]


def test_builds_and_wheels_are_told_apart() -> None:
    text = (
        "torch==1.8.0+cu111,<2\nnumpy==1.0\n"
        "-f https://download.pytorch.org/whl/cu111/a.html\n"
        "https://download.pytorch.org/whl/cu111/torch-1.8.0%2Bcu111-cp38-linux_x86_64.whl\n"
    )
    files = {"train.py": "import torch\n", "requirements.txt": text}
    builds = {fact.name: fact.get("build") for fact in found(files, "dependency")}
    assert (builds["torch"], builds["numpy"]) == ("cu111", "")
    assert [fact.get("wheel") for fact in found(files, "package_index")] == ["no", "yes"]


def test_the_option_that_torchrun_dropped_is_seen() -> None:
    line = "python3 -m torch.distributed.launch {}--nproc_per_node=8 train.py\n"
    for option, wanted in (("", "no"), ("--use_env ", "yes"), ("--use-env ", "yes")):
        files = {"train.py": "import torch\n", "run.sh": line.format(option)}
        assert [fact.get("use_env") for fact in found(files, "launch")] == [wanted]

"""Environment variables: how they are written, which values they take, and what is said of them together."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.data.environment import allocator_problem, nearest, variable
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.facts.model import Fact
from npulint.read.files import LoadedFile, read

START = "python3 train.py\n"
TRAIN = "import torch\nimport torch_npu\n"


def found(files: dict[str, str | bytes], kind: str = "environment") -> list[Fact]:
    """The facts of a kind in a project, by place."""
    given = {"train.py": TRAIN, **files}
    loaded = [
        LoadedFile(SourceFile(path, kinds_of(path)[0], path, "", 0), text if isinstance(text, bytes) else text.encode())
        for path, text in given.items()
    ]
    facts: dict[int, Fact] = {}
    for program in assemble("", [read(one) for one in loaded]):
        facts.update({id(fact): fact for fact in program.index.of_kind(kind)})
    return sorted(facts.values(), key=lambda fact: (fact.path, fact.span))


def values(files: dict[str, str | bytes]) -> dict[str, object]:
    return {fact.name: getattr(fact.get("value"), "single", fact.get("value")) for fact in found(files)}


# -- how a variable is set


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("export A_B=1 C_D=2", {"A_B": "1", "C_D": "2"}, id="two in one export"),
        pytest.param("env A_B=1 python3 train.py", {"A_B": "1"}, id="env in front of a command"),
        pytest.param("A_B=1 python3 train.py", {"A_B": "1"}, id="an assignment in front of a command"),
        pytest.param("nohup env A_B=1 python3 train.py &", {"A_B": "1"}, id="env behind nohup"),
        pytest.param("declare -x A_B=1", {"A_B": "1"}, id="declare -x"),
        pytest.param("declare A_B=1", {}, id="declare alone exports nothing"),
        pytest.param("A_B=1\nexport A_B", {"A_B": "1"}, id="assigned first, exported later"),
        pytest.param("A_B=1", {}, id="an assignment exports nothing"),
        pytest.param("export A_B='1'  # one", {"A_B": "1"}, id="quotes and a comment"),
        pytest.param("export A_B=${X:-1}", {"A_B": "1"}, id="the default of a parameter"),
        pytest.param("export A_B=$X", {"A_B": None}, id="a value of the caller's"),
        pytest.param("export A_B=1; export C_D=2", {"A_B": "1", "C_D": "2"}, id="two on one line"),
        pytest.param("(export A_B=1; echo $A_B)", {"A_B": "1"}, id="in a subshell"),
        pytest.param("echo 'export A_B=1'", {}, id="in a text"),
    ],
)
def test_shell_spellings_are_told_apart(text: str, expected: dict[str, str | None]) -> None:
    assert values({"run.sh": text + "\n"}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("ENV A_B=1", {"A_B": "1"}, id="with an equals sign"),
        pytest.param("ENV A_B 1", {"A_B": "1"}, id="with a blank"),
        pytest.param("ENV A_B=1 \\\n    C_D=2", {"A_B": "1", "C_D": "2"}, id="over two lines"),
    ],
)
def test_dockerfiles_set_variables(text: str, expected: dict[str, str]) -> None:
    assert values({"Dockerfile": f"FROM ubuntu\n{text}\n"}) == expected


@pytest.mark.parametrize(
    "line",
    ['os.environ["A_B"] = "1"', 'os.environ.setdefault("A_B", "1")', 'os.putenv("A_B", "1")', 'environ["A_B"] = "1"'],
)
def test_python_sets_variables(line: str) -> None:
    text = f"import os\nimport torch\nfrom os import environ\n\n{line}\n"
    assert values({"train.py": text}) == {"A_B": "1"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("export A_B = 1\n", ["spaced-assignment A_B"], id="export with blanks"),
        pytest.param("export A_B =1\n", ["spaced-assignment A_B"], id="a blank before the sign"),
        pytest.param("RANK_SIZE = 8\n", ["spaced-assignment RANK_SIZE"], id="no export, blanks"),
        pytest.param('[ "$A" = 8 ]\ntest A = B\n', [], id="tests compare with blanks"),
        pytest.param("[[ A == 8 ]]\n", [], id="double brackets"),
        pytest.param("git = status\n", [], id="a command in small letters is a command"),
        pytest.param("HCCL_BUFFSIZE=200\n" + START, ["not-exported HCCL_BUFFSIZE"], id="set, but not exported"),
        pytest.param("HCCL_BUFFSIZE=200\nexport HCCL_BUFFSIZE\n" + START, [], id="exported in the next line"),
        pytest.param("set -a\nHCCL_BUFFSIZE=200\n" + START, [], id="all are exported"),
        pytest.param("HCCL_BUFFSIZE=200\n" + START + "echo $HCCL_BUFFSIZE\n", [], id="the script needs it itself"),
        pytest.param("HCCL_BUFFSIZE=200 " + START, [], id="in front of the command"),
        pytest.param("batch_size=8\nRANK_SIZE=8\n" + START, [], id="the script's own variables"),
        pytest.param("HCCL_BUFFSIZE=200\n", [], id="a script that starts nothing is sourced by others"),
    ],
)
def test_mistakes_in_scripts(text: str, expected: list[str]) -> None:
    problems = found({"run.sh": text}, "shell_problem")
    assert [f"{fact.name} {fact.get('variable')}" for fact in problems] == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"#!/bin/bash\r\nexport A_B=1\r\n", ["crlf-line-ends"], id="every line ends in CR LF"),
        pytest.param(b"#!/bin/bash\nexport A_B=1\n", [], id="plain line ends"),
        pytest.param(b"export A_B=1\r\nexport C_D=2\n", [], id="mixed line ends are not told"),
    ],
)
def test_windows_line_ends(data: bytes, expected: list[str]) -> None:
    assert [fact.name for fact in found({"run.sh": data}, "shell_problem")] == expected


def test_windows_line_ends_are_no_part_of_a_value() -> None:
    assert values({"run.sh": b"export A_B=1\r\nexport C_D=two\r\n"}) == {"A_B": "1", "C_D": "two"}


# -- values


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("TASK_QUEUE_ENABLE", "0 1 2", "3 true on -1"),
        ("INF_NAN_MODE_ENABLE", "0 1", "2 False"),
        ("ASCEND_GLOBAL_LOG_LEVEL", "0 1 2 3 4", "5 error INFO"),
        ("HCCL_CONNECT_TIMEOUT", "120 600 7200", "119 7201 600s -1"),
        ("HCCL_EXEC_TIMEOUT", "0 1836 17340", "-1 ten"),
        ("HCCL_BUFFSIZE", "1 200", "0 200M"),
        ("HCCL_RDMA_TC", "0 132 252", "133 256"),
        ("HCCL_RDMA_SL", "0 7", "8"),
        ("HCCL_IF_BASE_PORT", "1024 60000 65520", "1023 65521"),
        ("HCCL_ALGO", "level0:NA;level1:ring level0:NA;level1:H-D_R;level2:NHR", "ring level0:ring"),
        ("HCCL_DETERMINISTIC", "true false strict TRUE", "1 yes"),
        ("HCCL_OP_EXPANSION_MODE", "AI_CPU AIV HOST", "AICPU"),
        ("ASCEND_RT_VISIBLE_DEVICES", "0 0,1,2,3 4,7", "1,0 0,1, 0-3 0;1 npu:0"),
        ("STREAMS_PER_DEVICE", "8 32", "16"),
        ("TORCH_TRANSFER_TO_NPU", "0 1", "true"),
        ("ACL_OP_COMPILER_CACHE_MODE", "enable disable force", "on"),
        ("TORCHINDUCTOR_NPU_BACKEND", "default mlir dvm ascendc", "triton"),
        ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True max_split_size_mb:64,garbage_collection_threshold:0.6",
         "expandable_segments:true max_split_size_mb:20 garbage_collection_threshold:1.5 base_addr_aligned_kb:32"),
        ("TORCH_NPU_LEGACY_IMPL_LIST", "randomness", "Randomness,x"),
    ],
)  # fmt: skip
def test_values_are_held_against_the_table(name: str, good: str, bad: str) -> None:
    known = variable(name)
    assert known is not None
    assert [value for value in good.split() if not known.accepts(value)] == []
    assert [value for value in bad.split() if known.accepts(value)] == []


def test_blanks_between_devices_are_wrong() -> None:
    known = variable("ASCEND_RT_VISIBLE_DEVICES")
    assert known is not None and not known.accepts("0, 1, 2") and known.accepts("")


@pytest.mark.parametrize(
    ("conf", "problem", "detail"),
    [
        ("expandable_segments:True", "none", ""),
        ("max_split_size_mb:128,expandable_segments:True", "exclusive", "max_split_size_mb"),
        ("expandable_segments:True, garbage_collection_threshold:0.9", "exclusive", "garbage_collection_threshold"),
        ("expandable_segments:False,max_split_size_mb:128", "none", ""),
        ("backend:native", "unknown-key", "backend"),
        ("max_split_size_mb:10", "bad-value", "max_split_size_mb:10"),
        ("roundup_power2_divisions:[256:1,512:2]", "none", ""),
        ("", "none", ""),
    ],
)
def test_allocator_configurations(conf: str, problem: str, detail: str) -> None:
    assert allocator_problem(conf) == (problem, detail)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("HCCL_WHITE_LIST_DISABLE", "HCCL_WHITELIST_DISABLE"),
        ("HCCL_CONNECT_TIME_OUT", "HCCL_CONNECT_TIMEOUT"),
        ("ASCEND_GLOABL_LOG_LEVEL", "ASCEND_GLOBAL_LOG_LEVEL"),
        ("ASCEND_RT_VISIBLE_DEVICE", "ASCEND_RT_VISIBLE_DEVICES"),
        ("TASK_QUEUE_ENABLED", "TASK_QUEUE_ENABLE"),
        ("hccl_connect_timeout", "HCCL_CONNECT_TIMEOUT"),
        ("PYTORCH_NPU_ALLOC_CONFIG", "PYTORCH_NPU_ALLOC_CONF"),
        ("HCCL_CONNECT_TIMEOUT", ""),
        ("ASCEND_VERSION", ""),
        ("ASCEND_VISIBLE_DEVICES", ""),
        ("ASCEND_MY_DATA", ""),
        ("HCCL_IF", ""),
        ("NPU_COUNT", ""),
        ("MY_TASK_QUEUE_ENABLE", ""),
    ],
)
def test_misspelt_names_have_a_nearest_one(written: str, meant: str) -> None:
    assert nearest(written) == meant


# -- together


def said(files: dict[str, str | bytes], name: str, *attributes: str) -> list[object]:
    (fact,) = [fact for fact in found(files) if fact.name == name]
    return [fact.get(attribute) for attribute in attributes]


@pytest.mark.parametrize(
    ("files", "name", "clash"),
    [
        pytest.param(
            {"run.sh": "export HCCL_EVENT_TIMEOUT=1800 HCCL_EXEC_TIMEOUT=1800\n"},
            "HCCL_EVENT_TIMEOUT", "HCCL_EXEC_TIMEOUT=1800", id="the event timeout is no longer than the other",
        ),
        pytest.param(
            {"run.sh": "export HCCL_EVENT_TIMEOUT=1868 HCCL_EXEC_TIMEOUT=1800\n"},
            "HCCL_EVENT_TIMEOUT", "-", id="the event timeout is longer",
        ),
        pytest.param(
            {"run.sh": "export HCCL_EVENT_TIMEOUT=0 HCCL_EXEC_TIMEOUT=1800\n"},
            "HCCL_EVENT_TIMEOUT", "-", id="zero waits for ever",
        ),
        pytest.param(
            {"run.sh": "source env.sh\nexport PER_STREAM_QUEUE=1\n", "env.sh": "export TASK_QUEUE_ENABLE=0\n"},
            "PER_STREAM_QUEUE", "TASK_QUEUE_ENABLE=0", id="the other is set by a script that is sourced",
        ),
        pytest.param(
            {"run.sh": "bash env.sh\nexport PER_STREAM_QUEUE=1\n", "env.sh": "export TASK_QUEUE_ENABLE=0\n"},
            "PER_STREAM_QUEUE", "-", id="what a script of its own sets is lost",
        ),
        pytest.param(
            {"a.sh": "export PER_STREAM_QUEUE=1\n", "b.sh": "export TASK_QUEUE_ENABLE=0\n"},
            "PER_STREAM_QUEUE", "-", id="scripts that have nothing to do with each other",
        ),
        pytest.param(
            {"run.sh": "if [ $1 ]; then export TASK_QUEUE_ENABLE=0; fi\nexport PER_STREAM_QUEUE=1\n"},
            "PER_STREAM_QUEUE", "-", id="set under a condition",
        ),
        pytest.param(
            {"train.py": 'import os\nos.environ["HCCL_INTRA_ROCE_ENABLE"] = "1"\n'
                         'os.environ["HCCL_INTRA_PCIE_ENABLE"] = "1"\nimport torch\n'},
            "HCCL_INTRA_ROCE_ENABLE", "HCCL_INTRA_PCIE_ENABLE=1", id="both in Python",
        ),
    ],
)  # fmt: skip
def test_variables_that_exclude_each_other(files: dict[str, str | bytes], name: str, clash: str) -> None:
    assert said(files, name, "clash") == [clash]


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("export HCCL_WHITELIST_DISABLE=0\n", "HCCL_WHITELIST_FILE"),
        ("export HCCL_WHITELIST_DISABLE=1\n", "-"),
        ("export HCCL_WHITELIST_DISABLE=0 HCCL_WHITELIST_FILE=$1\n", "-"),
    ],
)
def test_variables_that_need_another(text: str, lacks: str) -> None:
    assert said({"run.sh": text}, "HCCL_WHITELIST_DISABLE", "lacks") == [lacks]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("import os\nimport torch\nos.environ['TORCH_TRANSFER_TO_NPU'] = '1'\n", "no", id="after"),
        pytest.param("import os\nos.environ['TORCH_TRANSFER_TO_NPU'] = '1'\nimport torch\n", "yes", id="before"),
        pytest.param(
            "import os\nimport torch.nn as nn\ndef f():\n    os.environ['TORCH_TRANSFER_TO_NPU'] = '1'\nf()\n",
            "no", id="in a function of a module that imports torch",
        ),
        pytest.param(
            "import os\ndef f():\n    os.environ['TORCH_TRANSFER_TO_NPU'] = '1'\n    import torch\nf()\n",
            "yes", id="before an import in the same function",
        ),
    ],
)  # fmt: skip
def test_variables_are_set_in_time(text: str, answer: str) -> None:
    assert said({"train.py": text, "run.sh": START}, "TORCH_TRANSFER_TO_NPU", "in_time") == [answer]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("export TORCH_NPU_LOGS=+memory\n", "TORCH_NPU_LOGS", ["debug", "yes", "yes"]),
        ("export OOM_SNAPSHOT_ENABLE=0\n", "OOM_SNAPSHOT_ENABLE", ["debug", "no", "yes"]),
        ("export GE_PROFILING_TO_STD_OUT=$1\n", "GE_PROFILING_TO_STD_OUT", ["debug", "unknown", "unknown"]),
        ("export PTCOPY_ENABLE=1\n", "PTCOPY_ENABLE", ["obsolete", "no", "yes"]),
        ("export TASK_QUEUE_ENABLE=7\n", "TASK_QUEUE_ENABLE", ["active", "no", "no"]),
        ("export NOBODYS_VARIABLE=7\n", "NOBODYS_VARIABLE", ["unknown", None, None]),
    ],
)
def test_states_and_values(text: str, name: str, expected: list[object]) -> None:
    assert said({"run.sh": text}, name, "status", "left_on", "value_ok") == expected


@pytest.mark.parametrize(
    ("files", "own"),
    [
        ({"run.sh": "export HCCL_WHITE_LIST_DISABLE=1\n"}, "no"),
        ({"run.sh": "export HCCL_WHITE_LIST_DISABLE=1\necho ${HCCL_WHITE_LIST_DISABLE}\n"}, "yes"),
        ({"run.sh": "export HCCL_WHITE_LIST_DISABLE=1\n",
          "train.py": "import os\nimport torch\nos.getenv('HCCL_WHITE_LIST_DISABLE')\n"}, "yes"),
    ],
)  # fmt: skip
def test_variables_that_the_project_reads_itself(files: dict[str, str | bytes], own: str) -> None:
    assert said(files, "HCCL_WHITE_LIST_DISABLE", "own") == [own]


@pytest.mark.parametrize(
    ("line", "port"),
    [
        ("torchrun --master_port 80002 train.py", "80002"),
        ("python3 -m torch.distributed.launch --master-port=29500 train.py", "29500"),
        ("torchrun --rdzv_endpoint=127.0.0.1:29400 train.py", "29400"),
        ("python3 train.py --dist-url tcp://127.0.0.1:50000", "50000"),
        ("python3 train.py --steps 80000", "-"),
        ("torchrun --master_port $PORT train.py", "-"),
    ],
)
def test_ports_of_launches(line: str, port: str) -> None:
    (launch,) = found({"run.sh": line + "\n"}, "launch")
    assert launch.get("port") == port


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("source /usr/local/Ascend/ascend-toolkit/set_env.sh\n" + START, "yes"),
        (". ./env_npu.sh\n" + START, "yes"),
        ("export ASCEND_OPP_PATH=/opt\n" + START, "yes"),
        ("bash download.sh\n" + START, "no"),
        (START, "no"),
    ],
)
def test_the_toolkit_is_set_up(text: str, answer: str) -> None:
    launches = [fact for fact in found({"run.sh": text}, "launch") if fact.name == "train.py"]
    assert [fact.get("prepared") for fact in launches] == [answer]


_RANKS = "export RANK_SIZE={size}\nfor i in {{0..7}}\ndo\n    export RANK_ID=$i\n    " + START + "done\n"


@pytest.mark.parametrize(
    ("text", "size", "short"),
    [
        (_RANKS.format(size=8), "8", "-"),
        (_RANKS.format(size=16), "16", "-"),
        (_RANKS.format(size=1), "1", "8"),
        (_RANKS.format(size="$1"), "-", "-"),
        (_RANKS.format(size=1).replace("RANK_ID", "SEED"), "1", "-"),
        ("export CM_WORKER_SIZE=2\n" + START, "2", "-"),
    ],
)
def test_processes_that_a_loop_starts(text: str, size: str, short: str) -> None:
    (launch,) = found({"run.sh": text}, "launch")
    assert (launch.get("size"), launch.get("short")) == (size, short)


def test_variables_that_are_set_along() -> None:
    files: dict[str, str | bytes] = {
        "env.sh": "export RANK_TABLE_FILE=$PWD/8p.json JOB_ID=\n",
        "run.sh": 'source env.sh\nif [ "$1" ]; then\n    export A=1\nfi\nexport B=$2 RANK_ID=0\n' + START,
        "other.sh": "export C=1\n",
    }
    assert said(files, "RANK_ID", "along") == ["B RANK_TABLE_FILE"]


@pytest.mark.parametrize(
    "read", ["print(os.environ['FAST_MODE'])", "x = int(os.environ['FAST_MODE'])", "if 'FAST_MODE' in os.environ: pass"]
)
def test_variables_that_are_read_by_their_key(read: str) -> None:
    files: dict[str, str | bytes] = {"run.sh": "export FAST_MODE=1\n", "train.py": f"import os\nimport torch\n{read}\n"}
    assert said(files, "FAST_MODE", "own") == ["yes"]


@pytest.mark.parametrize(
    ("text", "image", "cuda"),
    [
        ("FROM tensorflow/tensorflow:2.6.0-gpu", "tensorflow/tensorflow:2.6.0-gpu", "yes"),
        ("FROM tensorflow/tensorflow:2.6.0", "tensorflow/tensorflow:2.6.0", "no"),
        (
            "ARG IMAGE=nvcr.io/nvidia/tensorflow:19.12-tf1-py3\nFROM ${IMAGE}",
            "nvcr.io/nvidia/tensorflow:19.12-tf1-py3",
            "yes",
        ),
        ("ARG IMAGE\nFROM ${IMAGE}", "${IMAGE}", "no"),
    ],
)
def test_images_that_a_dockerfile_builds_on(text: str, image: str, cuda: str) -> None:
    (fact,) = found({"Dockerfile": text + "\n", "train.py": "import torch\n"}, "base_image")
    assert (fact.name, fact.get("cuda")) == (image, cuda)

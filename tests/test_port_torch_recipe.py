"""Parts of the PyTorch recipe: optimizers chosen by name, wrappers of apex, bfloat16 behind a version of CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.port.plan import plan_port
from npulint.fix.write import write_all
from npulint.judge.settings import Settings
from tests.port_support import planned, texts

LOOP = """for x in loader:
    optimizer.zero_grad()
    loss = model(x.cuda()).sum()
    loss.backward()
    optimizer.step()
"""
BY_NAME = f"""import torch
from settings import args

model = torch.nn.Linear(4, 2).cuda()
optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=0.1)
{LOOP}"""
FUSED = 'getattr(torch_npu.optim, "NpuFused" + args.optimizer, getattr(torch.optim, args.optimizer))'
APEX = """import torch
from apex import amp
from apex.parallel import DistributedDataParallel as DDP, convert_syncbn_model
from settings import args

torch.cuda.set_device(args.local_rank)
torch.distributed.init_process_group("nccl")
model = convert_syncbn_model(torch.nn.Linear(4, 2).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
model = DDP(model, delay_allreduce=True)
for x in loader:
    loss = model(x.cuda()).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
READY = f"""import torch
import torch.distributed as dist

ready = (
    torch.version.cuda
    and torch.cuda.is_bf16_supported()
    and dist.is_nccl_available()
    and torch.cuda.nccl.version() >= (2, 10)
)
model = torch.nn.Linear(4, 2).cuda()
if ready:
    model = model.bfloat16()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
{LOOP}"""


@pytest.mark.parametrize("style", ["npu", "transfer"])
def test_an_optimizer_chosen_by_name_is_the_fused_one_where_there_is_one(tmp_path: Path, style: str) -> None:
    train = texts(planned(tmp_path, {"train.py": BY_NAME}, style))["train.py"]
    assert f"optimizer = {FUSED}(model.parameters(), lr=0.1)\n" in train and "import torch_npu.optim\n" in train


@pytest.mark.parametrize(
    "change",
    [
        ("lr=0.1)", "**vars(args))"),
        ("lr=0.1)", "lr=0.1, foreach=True)"),
        ("torch.nn.Linear(4, 2)", "torch.nn.Embedding(4, 2, sparse=True)"),
        ("optimizer.step()", "optimizer.step(lambda: loss)"),
    ],
)
def test_it_stays_and_is_listed_where_the_fused_class_may_refuse(tmp_path: Path, change: tuple[str, str]) -> None:
    plan = planned(tmp_path, {"train.py": BY_NAME.replace(*change)}, "npu")
    assert "NpuFused" not in texts(plan)["train.py"]
    assert [one.finding.span.line for one in plan.left if one.finding.name == "optimizer-chosen-by-name"] == [6]


def test_a_class_that_is_handed_out_stays(tmp_path: Path) -> None:
    helper = "from torch import optim\n\n\ndef chosen(name):\n    kind = getattr(optim, name)\n    return kind\n"
    code = BY_NAME.replace("getattr(torch.optim, args.optimizer)", "chosen(args.optimizer)")
    code = code.replace("from settings", "from chosen import chosen\nfrom settings")
    plan = planned(tmp_path, {"chosen.py": helper, "train.py": code}, "npu")
    assert "chosen.py" not in texts(plan) and "NpuFused" not in texts(plan)["train.py"]


def test_with_apex_amp_an_optimizer_chosen_by_name_stays(tmp_path: Path) -> None:
    code = APEX.replace("torch.optim.SGD(", "getattr(torch.optim, args.optimizer)(")
    assert "NpuFused" not in texts(planned(tmp_path, {"train.py": code}, "npu"))["train.py"]


def test_for_gpus_and_npus_an_optimizer_chosen_by_name_is_left(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"train.py": BY_NAME}, "agnostic")
    assert "NpuFused" not in texts(plan)["train.py"]
    assert "optimizer-chosen-by-name" in {one.finding.name for one in plan.left}


@pytest.mark.parametrize("style", ["npu", "transfer", "agnostic"])
def test_wrappers_of_apex_become_those_of_torch(tmp_path: Path, style: str) -> None:
    train = texts(planned(tmp_path, {"train.py": APEX}, style))["train.py"]
    assert "apex.parallel" not in train and "from apex import amp\n" in train
    assert "model = torch.nn.parallel.DistributedDataParallel(model)\n" in train
    assert "model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(" in train
    assert ("combine_grad=True" in train) == (style != "agnostic")


@pytest.mark.parametrize("given", ["gradient_predivide_factor=8.0", "gradient_average=False", "**vars(args)"])
def test_a_wrapper_of_apex_that_changes_gradients_is_left(tmp_path: Path, given: str) -> None:
    plan = planned(tmp_path, {"train.py": APEX.replace("delay_allreduce=True", given)}, "npu")
    assert f"model = DDP(model, {given})\n" in texts(plan)["train.py"]
    assert "apex-distributed" in {one.finding.name for one in plan.left}


@pytest.mark.parametrize("style", ["npu", "transfer"])
def test_bfloat16_no_longer_depends_on_cuda(tmp_path: Path, style: str) -> None:
    plan = planned(tmp_path, {"train.py": READY}, style)
    assert "ready = torch.npu.is_bf16_supported()\n" in texts(plan)["train.py"]


@pytest.mark.parametrize("style", ["npu", "agnostic"])
def test_bfloat16_that_depends_on_more_is_left(tmp_path: Path, style: str) -> None:
    code = READY.replace("torch.version.cuda\n", "wanted(torch)\n    and torch.version.cuda\n")
    plan = planned(tmp_path, {"train.py": code}, style)
    assert "    and torch.version.cuda\n" in texts(plan)["train.py"]
    assert "bfloat16-decided-by-cuda-version" in {one.finding.name for one in plan.left}


@pytest.mark.parametrize("code", [BY_NAME, APEX, READY])
def test_a_second_port_changes_nothing(tmp_path: Path, code: str) -> None:
    write_all(planned(tmp_path, {"train.py": code}, "npu").fixes)
    assert not plan_port(Settings(paths=(str(tmp_path),), cache=False), "npu", ()).files


def test_arguments_of_an_engine_go_with_it(tmp_path: Path) -> None:
    launcher = (
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\\n"
        "    actor_rollout_ref.rollout.name=trtllm \\\n"
        "    +actor_rollout_ref.rollout.engine_kwargs.trtllm.batch_wait_timeout_iters=32 \\\n"
        "    trainer.total_epochs=15\n"
    )
    found = texts(planned(tmp_path, {"run.sh": launcher, "requirements.txt": "vllm-ascend\n"}, "npu"))
    assert found["run.sh"] == (
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\\n"
        "    actor_rollout_ref.rollout.name=vllm \\\n"
        "    trainer.total_epochs=15\n"
    )

"""Numbers of whole projects: what one command announces, another one finds."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from npulint.commands.check.fix_command import apply_fixes
from npulint.commands.check.pipeline import run
from npulint.commands.port.plan import plan_port
from npulint.commands.settings.config import load
from npulint.hosts.cli.port import port_settings
from npulint.judge.effort import estimate
from npulint.judge.evaluate.places import covered, place_of
from npulint.report.fix_summary import findings_fixed
from npulint.report.summary import fixable

ROOT = Path(__file__).resolve().parent.parent
LAUNCHED = {
    "run.sh": "#!/bin/bash\nset -e\nexport CUDA_VISIBLE_DEVICES=0,1\nexport NCCL_DEBUG=INFO\n"
    "FORCE_TORCHRUN=1 llamafactory-cli train sft.yaml\n",
    "sft.yaml": "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\ndo_train: true\nfinetuning_type: lora\n"
    "quantization_bit: 4\noptim: paged_adamw_8bit\nfp16: true\n",
}
TRAIN = """import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler, autocast

torch.cuda.manual_seed_all(1)
dist.init_process_group(backend="nccl")
model = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler()
for x, y in loader:
    with autocast():
        loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    torch.cuda.synchronize()
"""
PROJECTS: dict[str, dict[str, str] | Path] = {
    "a framework's launcher": LAUNCHED,
    "one script": {"train.py": TRAIN},
    "classifier": ROOT / "examples" / "classifier",
    "denoiser": ROOT / "examples" / "denoiser",
}


@pytest.fixture(params=sorted(PROJECTS))
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    files = PROJECTS[request.param]
    folder = tmp_path / "project"
    if isinstance(files, Path):
        shutil.copytree(files, folder)
    else:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "project"


def test_effort_and_the_plan_of_a_port_give_the_same_hours(project: str) -> None:
    settings = replace(port_settings(load([project], {}, {})), cache=False)
    effort, plan = estimate(run(settings)), plan_port(settings, "", [])
    assert plan.effort == effort
    assert effort.hours.likely > 0


def test_the_number_of_fixable_findings_is_the_number_that_is_fixed_or_refused(project: str) -> None:
    settings = replace(load([project], {}, {}), cache=False, unsafe_fixes=True)
    announced = sum(fixable(run(settings).findings).values())
    applied = apply_fixes(settings, True)
    refused = {(refusal.code, refusal.path) for refusal in applied.refused}
    refused -= {(fix.code, fix.path) for fix in applied.fixed}
    assert findings_fixed(applied) <= announced <= findings_fixed(applied) + len(refused)


def test_a_message_counts_the_places_that_the_finding_covers(project: str) -> None:
    for finding in run(replace(load([project], {}, {}), cache=False)).findings:
        number = re.search(r"\((\d+) places? in \d+ files?\)", finding.message)
        if number is not None:
            assert int(number[1]) == finding.places == len(set(map(place_of, covered(finding))))

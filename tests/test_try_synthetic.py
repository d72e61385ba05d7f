"""``npulint try --synthetic``: what is missing is made up, and said; without it, the program ends with advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.fakes.torch.synthetic.absent import says_absent
from npulint.fakes.torch.synthetic.hub_datasets import known
from npulint.fakes.torch.synthetic.hub_models import type_of
from npulint.hosts.cli.main import main
from tests.live_support import installed

_LOOP = """
    loss = net(x).float().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
_TOKENS = (
    """
import numpy as np
import torch
net = torch.nn.Embedding(300, 4).npu()
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(9):
    data = np.memmap("data/train.bin", dtype=np.uint16, mode="r")
    assert open("input.txt").read().strip()
    x = torch.from_numpy(data[:8].astype(np.int64)).npu()
"""
    + _LOOP
)
_PICTURES = (
    """
import torch
import torchvision
from torchvision import transforms
rows = torchvision.datasets.{name}({arguments}, transform=transforms.ToTensor())
net = torch.nn.Linear(rows[0][0].numel(), 2).npu()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x, y in torch.utils.data.DataLoader(rows, 2):
    x = x.flatten(1).npu()
"""
    + _LOOP
)
_LANGUAGE = """
import torch
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("prajjwal1/bert-tiny")
net = AutoModelForSequenceClassification.from_pretrained("prajjwal1/bert-tiny", num_labels=3).npu()
rows = load_dataset("nyu-mll/glue", "mnli", split="train[:50%]")
assert len(rows) > 100 and rows.features["label"].num_classes == 3
opt = torch.optim.SGD(net.parameters(), 0.1)
for row in rows:
    told = tokenizer(row["premise"], row["hypothesis"], return_tensors="pt")
    loss = net(**{name: one.npu() for name, one in told.items()}, labels=torch.tensor([row["label"]]).npu()).loss
    loss.backward()
    opt.step()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_LANG", "en")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))


def tried(text: str, capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code of a program, and all that was said."""
    installed("torch")
    Path("train.py").write_text(text)
    code = main(["try", "--isolated", *words, "train.py"])
    told = capfd.readouterr()
    return code, told.out + told.err


@pytest.mark.nightly
@pytest.mark.slow
def test_missing_files_are_made_up_or_advised(capfd: pytest.CaptureFixture[str]) -> None:
    code, said = tried(_TOKENS, capfd, "--synthetic")
    assert code == 0 and "Ended after 3 steps." in said
    assert "Made up (--synthetic): data/train.bin: 1048576 tokens below 256 (uint16); input.txt: text" in said
    code, said = tried(_TOKENS, capfd)
    assert code == 2 and "`--synthetic` makes them up" in said and "FileNotFoundError" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("CIFAR10", "'data', download=True"),
        ("MNIST", "'data', download=True"),
        ("ImageFolder", "'/data/train'"),
    ],
)
def test_missing_pictures_are_made_up(name: str, arguments: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torchvision")
    code, said = tried(_PICTURES.format(name=name, arguments=arguments), capfd, "--synthetic")
    assert code == 0 and "Ended after 3 steps." in said and f"Made up (--synthetic): {name}:" in said


@pytest.mark.slow
def test_missing_models_are_made_up(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("datasets")
    code, said = tried(_LANGUAGE, capfd, "--synthetic")
    assert code == 0 and "Ended after 3 steps." in said
    for part in (
        "tokenizer prajjwal1/bert-tiny: of single bytes",
        "ForSequenceClassification of 2 layers",
        "glue/mnli",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("name", "config", "column"),
    [
        ("glue", "mrpc", "sentence1"),
        ("nyu-mll/glue", "mnli", "premise"),
        ("wikitext", "wikitext-2-raw-v1", "text"),
        ("uoft-cs/cifar10", "", "img"),
        ("tatsu-lab/alpaca", "", "instruction"),
        ("HuggingFaceH4/ultrachat_200k", "", "messages"),
    ],
)
def test_columns_of_well_known_data_sets(name: str, config: str, column: str) -> None:
    row = known(name, config)
    assert row is not None and column in dict(row[1])


def test_what_is_not_known_is_not_made_up() -> None:
    assert known("someone/private-data", "") is None and known("glue-like", "") is None
    assert type_of("someone/private-model") == "" and type_of("facebook/optics") == ""


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bert-base-uncased", "bert"),
        ("FacebookAI/xlm-roberta-base", "xlm-roberta"),
        ("meta-llama/Llama-2-7b-hf", "llama"),
        ("Qwen/Qwen2.5-0.5B", "qwen2"),
        ("microsoft/deberta-v3-base", "deberta-v2"),
        ("EleutherAI/gpt-neox-20b", "gpt_neox"),
    ],
)
def test_the_kind_of_a_model_is_known_by_its_name(name: str, kind: str) -> None:
    assert type_of(name) == kind


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'train.bin'", True),
        ("RuntimeError: Dataset not found. You can use download=True to download it", True),
        ("OSError: [Errno 101] npulint try: the network is off", True),
        ("ValueError: too many values to unpack", False),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied", False),
    ],
)
def test_errors_that_say_that_data_is_missing(text: str, absent: bool) -> None:
    assert says_absent(text) == absent

"""What dicts are worth after they were changed, as the executions of the project's scripts tell."""

from pathlib import Path

import pytest

from npulint.commands.build import assembled
from npulint.commands.examples import judge
from npulint.discover.files import DiscoverOptions, discover
from npulint.facts.values import PossibleValues
from npulint.judge.catalogue.load import load_catalogue
from npulint.read.files import ReadableFiles, load, read

_SESSION = """\
import tensorflow as tf
from npu_bridge.npu_init import *

OPTIONS = {{"precision_mode": "allow_fp32_to_fp16"}}
{change}
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes({value})
"""
_OPTION = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--mode", default="must_keep_origin_dtype")
OPTIONS.update(precision_mode=parser.parse_args().mode)
"""
_ORIGINAL = "must_keep_origin_dtype"
_DEVICE = """\
import torch
import torch_npu

{written}
model = torch.nn.Linear(8, 2).to({read})
"""


def _codes(source: str) -> set[str]:
    return {finding.code for finding in judge({"train.py": source}, {}, load_catalogue(whole=False))}


def _precision_mode(folder: Path, change: str, value: str) -> PossibleValues:
    (folder / "train.py").write_text(_SESSION.format(change=change, value=value))
    found = discover([str(folder)], DiscoverOptions())
    files = [read(load(file)) for file in found.files]
    programs = assembled(str(folder), files, readable=ReadableFiles(found.files, load)).programs
    settings = [one for program in programs for one in program.index.of_kind("setting") if one.name == "precision_mode"]
    value_of = settings[0].get("value")
    assert isinstance(value_of, PossibleValues)
    return value_of


@pytest.mark.parametrize("value", ['OPTIONS["precision_mode"]', 'OPTIONS.get("precision_mode")'])
@pytest.mark.parametrize(
    "change",
    [
        f'OPTIONS.update(precision_mode="{_ORIGINAL}")',
        f'OPTIONS.update({{"precision_mode": "{_ORIGINAL}"}})',
        f'OTHER = OPTIONS\nOTHER["precision_mode"] = "{_ORIGINAL}"',
        f'def change(options):\n    options["precision_mode"] = "{_ORIGINAL}"\nchange(OPTIONS)',
        f'def change():\n    OPTIONS["precision_mode"] = "{_ORIGINAL}"\nchange()',
        f'OPTIONS.pop("precision_mode")\nOPTIONS.setdefault("precision_mode", "{_ORIGINAL}")',
    ],
)
def test_a_changed_entry_is_worth_what_it_is_changed_to(tmp_path: Path, change: str, value: str) -> None:
    assert _precision_mode(tmp_path, change, value) == PossibleValues((_ORIGINAL,), True)


def test_an_entry_that_is_not_changed_keeps_its_value(tmp_path: Path) -> None:
    value = _precision_mode(tmp_path, 'OPTIONS.update(loss_scale="dynamic")', 'OPTIONS["precision_mode"]')
    assert value == PossibleValues(("allow_fp32_to_fp16",), True)


@pytest.mark.parametrize("value", ['OPTIONS["precision_mode"]', 'OPTIONS.get("precision_mode")'])
def test_an_entry_that_an_option_replaces_is_not_known(tmp_path: Path, value: str) -> None:
    assert not _precision_mode(tmp_path, _OPTION, value).exact


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('CONFIG = {"device": "cuda"}\nCONFIG["device"] = "npu:0"', 'CONFIG["device"]'),
        ('CONFIG = {"device": "cuda"}\nCONFIG.update(device="npu:0")', 'CONFIG["device"]'),
        ('device = "cuda"\ndevice = "npu:0"', "device"),
    ],
)
def test_a_device_that_is_replaced_before_it_is_read_is_no_finding(written: str, read: str) -> None:
    assert "NPU2102" not in _codes(_DEVICE.format(written=written, read=read))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('CONFIG = {"device": "cuda"}\nCONFIG.update(name="npu:0")', 'CONFIG["device"]'),
        ('CONFIG = {"device": "cuda"}\nprint(CONFIG["device"])\nCONFIG.update(device="npu:0")', 'CONFIG["device"]'),
        ('import sys\ndevice = "cuda"\nif len(sys.argv) > 3:\n    device = "npu:0"', "device"),
    ],
)
def test_a_device_that_may_be_read_stays_a_finding(written: str, read: str) -> None:
    assert "NPU2102" in _codes(_DEVICE.format(written=written, read=read))

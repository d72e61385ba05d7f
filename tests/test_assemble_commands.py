"""Commands that Python code starts."""

from __future__ import annotations

import pytest

from tests.support import facts

_COMMANDS = {
    "a text": ('import os\nos.system("nvidia-smi -L")\n', ["nvidia-smi"]),
    "a pipe": ('import os\nos.popen("/usr/bin/nvidia-smi -q | grep Free")\n', ["grep", "nvidia-smi"]),
    "a list": ('import subprocess\nsubprocess.check_output(["nvidia-smi", "-q"])\n', ["nvidia-smi"]),
    "a keyword": ('import subprocess as sp\nsp.run(args="npu-smi info", shell=True)\n', ["npu-smi"]),
    "a constant": ('import os\nCMD = "nvidia-smi"\nos.system(CMD)\n', ["nvidia-smi"]),
    "a computed text": ("import os\nos.system(make())\n", []),
    "an empty list": ("import subprocess\nsubprocess.call([])\n", []),
    "a computed program": ('import subprocess\nsubprocess.call([tool, "-x"])\n', []),
    "no argument": ("import os\nos.system()\n", []),
    "an own function of that name": ('system("nvidia-smi")\n', []),
}


@pytest.mark.parametrize(("text", "names"), _COMMANDS.values(), ids=_COMMANDS.keys())
def test_started_commands(text: str, names: list[str]) -> None:
    found = facts("import tensorflow as tf\n" + text, "command")
    assert sorted(f.name for f in found) == names
    assert all(f.get("via") == "python" for f in found)

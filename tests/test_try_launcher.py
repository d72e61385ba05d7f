"""``npulint try`` names what it takes where it is given another file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from npulint.core.errors import NpulintError
from npulint.hosts.cli.try_program import refuse_other_than_python

_PYTHON = {
    "train.py": "import torch\n",
    "old.py": "print 'Python 2'\n",
    "train": "#!/usr/bin/env python3\nprint(1)\n",
    "tool": "import torch\nprint(1)\n",
}
_OTHER = {  # content, and the program that it starts with the line where it does
    "launch.sh": ("#!/bin/bash\nexport A=1\npython train.py --lr 0.1\n", "line 3", "npulint try train.py"),
    "nodes": ("torchrun --nproc_per_node 2 \\\n  tools/train.py --lr 0.1\n", "line 1", "npulint try tools/train.py"),
    "empty.sh": ("#!/bin/sh\nset -e\n", "", ""),
    "config.yaml": ("a: [1\n", "", ""),
    "computed.sh": ("#!/bin/bash\npython $PROGRAM\n", "", ""),
}


@pytest.mark.parametrize("name", _PYTHON)
def test_python_programs_are_taken(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(_PYTHON[name])
    refuse_other_than_python(str(tmp_path / name), "en")


@pytest.mark.parametrize("name", _OTHER)
def test_other_files_are_refused_with_the_program_that_they_start(name: str, tmp_path: Path) -> None:
    content, line, command = _OTHER[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(NpulintError) as refused:
        refuse_other_than_python(str(tmp_path / name), "en")
    texts = str(refused.value).split("\n")
    assert f"{name} is not a Python program" in texts[0] and len(texts) == 1 + bool(line)
    assert line in texts[-1] and command in texts[-1]


def test_the_command_is_shown_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text(_OTHER["nodes"][0])
    with pytest.raises(NpulintError, match=re.escape("torchrun --nproc_per_node 2 tools/train.py --lr 0.1")):
        refuse_other_than_python(str(tmp_path / "nodes"), "en")

"""A file that both sides of a comparison have is read once."""

from __future__ import annotations

import pytest

from npulint.commands.check.temp_project import materialize
from npulint.commands.compare.compare_inputs import ReadOnce
from npulint.read.files import load, read

TEXTS = {
    "train.py": "import torch\n\nmodel = torch.nn.Linear(3, 2).cuda()  # npulint: ignore\n",
    "run.sh": "export HCCL_CONNECT_TIMEOUT=600\npip install torch==1.11\npython train.py --lr 0.1 > log.txt\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_facts_taken_over_are_those_of_the_file(name: str) -> None:
    files = {f"{side}/{name}": TEXTS[name] for side in ("reference", "migrated")}
    with materialize(files) as (_, found):
        reader = ReadOnce()
        for source in found:
            assert repr(reader.read(source)) == repr(read(load(source), complete=True))
        first, second = (reader.read(source) for source in found)
        assert first.code is second.code
        assert {fact.path for fact in second.facts} <= {found[1].path}


def test_other_content_is_read() -> None:
    files = {"reference/train.py": TEXTS["train.py"], "migrated/train.py": f"{TEXTS['train.py']}x = 1\n"}
    with materialize(files) as (_, found):
        reader = ReadOnce()
        first, second = (reader.read(source) for source in found)
        assert first.code is not second.code

"""Spelling help: shortlists hold what is meant, and nobody waits for thousands of misspelt words."""

from __future__ import annotations

import random

import pytest

from npulint.core import suggest
from npulint.core.suggest import closest_match
from npulint.data.environment import nearest
from npulint.data.ops import near_op
from npulint.data.options import legal_keys, near
from tests.growth import ended_if_stuck
from tests.project_support import Project

_KNOWN = sorted(legal_keys("session_key"))


@pytest.fixture(autouse=True)
def fresh() -> None:
    suggest.renew()


def _slips(word: str, rng: random.Random) -> list[str]:
    """The word without a letter, with one more, with another one, and with two swapped."""
    at = rng.randrange(1, len(word) - 1)
    return [
        word[:at] + word[at + 1 :],
        word[:at] + "q" + word[at:],
        word[:at] + "q" + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    ]


def test_what_is_meant_is_on_the_shortlist() -> None:
    rng = random.Random(7)
    assert len(_KNOWN) > suggest.MOST
    for word in _KNOWN:
        for slip in _slips(word, rng):
            assert word in suggest.similar(slip, _KNOWN), slip


def test_a_shortlist_is_short_and_in_order() -> None:
    found = suggest.similar(_KNOWN[3], _KNOWN)
    assert len(found) <= suggest.MOST
    assert found == sorted(found)
    assert suggest.similar("x", ["b", "a"]) == ["b", "a"]
    assert suggest.similar("", _KNOWN) == [] or len(suggest.similar("", _KNOWN)) <= suggest.MOST


def test_help_ends() -> None:
    assert [closest_match("precison_mode", _KNOWN), near("precison_mode", "session_key")] == ["precision_mode"] * 2
    assert nearest("ASCEND_GLOBAL_LOG_LEVL") == "ASCEND_GLOBAL_LOG_LEVEL"
    assert near_op("ReduecSum") == "ReduceSum"
    for _ in range(suggest.HELPED):
        suggest.may_help()
    assert closest_match("precison_mode", _KNOWN) == nearest("ASCEND_GLOBAL_LOG_LEVL") == ""
    suggest.renew()
    assert closest_match("precison_mode", _KNOWN) == "precision_mode"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.py", "import torch\n" + "".join(f"x = {n}  # npulint: ignore[varible-{n}]\n" for n in range(8000))),
        ("run.sh", "python3 train.py\n" + "".join(f"export ASCEND_GLOBL_LG_{n}=1\n" for n in range(8000))),
    ],
    ids=["comments", "variables"],
)
def test_thousands_of_misspelt_words_do_not_stop_a_run(project: Project, name: str, text: str) -> None:
    project.write({"train.py": "import torch\n", name: text})
    with ended_if_stuck():
        assert project.run("check", "--no-cache", "--exit-zero").code == 0

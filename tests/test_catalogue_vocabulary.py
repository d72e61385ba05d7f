"""The vocabulary and its page say the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from npulint.facts.kinds import FACT_CLASSES
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.queries import OPERATORS, STATES
from npulint.judge.catalogue.vocabulary import fact_kinds
from npulint.judge.catalogue.vocabulary.verbs import PLACEHOLDERS, VERBS
from scripts.fact_pages import page

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "writing-checks.md").read_text(encoding="utf-8")
FACTS = (DOCS / "facts.md").read_text(encoding="utf-8")
_WORD = re.compile(r"`([a-z_0-9]+)`")


def section(heading: str) -> str:
    """What stands below a heading of the page, up to the next one."""
    return re.split(r"\n##+ ", PAGE.partition(f"\n{heading}")[2])[0]


def area(name: str) -> set[str]:
    """The kinds that the page of facts explains below the heading of an area."""
    text = re.split(r"\n##?#? ", FACTS.partition(f"\n### {name}\n")[2])[0]
    return set(re.findall(r"^#### `([a-z0-9_]+)`$", text, re.MULTILINE))


def test_the_generated_part_is_that_of_the_classes() -> None:
    assert page(FACTS) == FACTS, "run python -m scripts.fact_pages"


def test_every_kind_is_documented_once() -> None:
    documented = re.findall(r"^#### `([a-z_0-9]+)`$", FACTS, re.MULTILINE)
    assert sorted(documented) == sorted(fact_kinds())


@pytest.mark.parametrize("kind", sorted(fact_kinds()))
def test_classes_and_their_attributes_are_explained(kind: str) -> None:
    explained = FACTS.partition(f"\n#### `{kind}`\n")[2].partition("\n####")[0].partition("\n###")[0]
    assert re.search(r"^[A-Z].{20,}\.", explained, re.MULTILINE)


def test_every_kind_of_graphs_is_documented() -> None:
    kinds = {kind for kind, classes in FACT_CLASSES.items() if any(issubclass(cls, GraphFact) for cls in classes)}
    assert len(kinds) > 15 and kinds == area("Graphs")


def test_the_attributes_of_a_program_can_be_asked() -> None:
    paragraph = PAGE.partition("`program: any`")[2].partition("##")[0].partition("itself:")[2]
    known = fact_kinds()["program"].attributes
    words = set(_WORD.findall(paragraph)) - known["precision"] - known["migration"]
    assert {"trains", "state", "precision"} <= words <= set(known)


def test_every_condition_is_documented() -> None:
    code = " ".join(re.findall(r"`([^`]+)`", section("### Conditions")))
    assert [word for word in (*OPERATORS, *STATES) if not re.search(rf"\b{word}\b", code)] == []


def test_only_calls_have_arguments() -> None:
    assert all("in_loop" in kind.attributes for kind in fact_kinds().values() if kind.arguments)
    assert not fact_kinds()["import"].arguments


def documented_verbs() -> dict[str, tuple[list[str], str]]:
    """For each verb of the table of fixes the words that it takes, and what is said of it."""
    table = section("### Steps").partition("| verb | words |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.split("\n") if line.startswith("| `")]
    return {_WORD.findall(verb)[0]: (_WORD.findall(words), told) for verb, words, told in rows}


def test_the_table_of_verbs_is_the_set_of_verbs() -> None:
    assert {verb: words for verb, (words, _) in documented_verbs().items()} == {
        name: [*verb.words, *verb.optional] for name, verb in VERBS.items()
    }


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_what_a_word_of_a_verb_can_be_is_documented(verb: str) -> None:
    told = documented_verbs()[verb][1]
    choices = [choice for some in VERBS[verb].choices.values() for choice in some]
    assert [choice for choice in choices if f"`{choice}`" not in told and f": {choice}`" not in told] == []


def test_every_placeholder_is_documented() -> None:
    assert set(re.findall(r"`\$([a-z]+)", section("### Templates"))) == {*PLACEHOLDERS, "arg", "module"}


def test_the_first_example_is_a_check_that_passes(tmp_path: Path) -> None:
    check = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
    path = tmp_path / "checks" / "tensorflow" / "variable-in-the-input.yaml"
    path.parent.mkdir(parents=True)
    taken = {one.code for one in load_catalogue(()).checks}
    free = next(code for n in range(1, 100) if (code := f"NPU11{n:02}") not in taken)
    path.write_text(check.replace("NPU1119", free), encoding="utf-8")
    command = [sys.executable, "-m", "npulint", "test", str(path), "--lang", "en"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 examples" in done.stdout

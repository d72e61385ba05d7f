"""Configurations that extend others, checks ignored per file, severities per check, and the schema of it all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from npulint.commands.settings.config_schema import ADDRESS, schema
from npulint.commands.settings.options import OPTIONS
from scripts.config_schema import FOLDER, documents, written
from tests.project_support import Project

if TYPE_CHECKING:
    from jsonschema import Draft7Validator

TRAIN = """\
    import torch
    import torch_npu

    model = torch.nn.Linear(4, 2).npu()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in torch.utils.data.DataLoader(range(8)):
        loss = model(batch.cuda()).sum()
        loss.backward()
        optimizer.step()
        torch.npu.synchronize()
    """
WAITS, CUDA = "synchronisation-every-step", "cuda-in-training-step"


def validator() -> type[Draft7Validator]:
    """The class that validates; importing it takes seconds, which the collection of all tests would wait for."""
    from jsonschema import Draft7Validator

    return Draft7Validator


@pytest.fixture
def nested(project: Project) -> Project:
    """A repository with a project in a subfolder."""
    (project.folder / ".git").mkdir(exist_ok=True)
    return project.write({"sub/train.py": TRAIN})


def setting(project: Project, key: str, *words: str) -> str:
    """How ``npulint config`` prints a key."""
    rows = project.run("config", *words).out.splitlines()
    return next(row for row in rows if row.removeprefix("# ").startswith(f"{key} = ")).partition("  # ")[0].strip()


def test_own_values_win_tables_merge_and_extending_lists_are_added(nested: Project) -> None:
    nested.write(
        {
            "base.toml": """\
                ignore = ["hygiene"]
                extend-select = ["NPU2"]
                fail-on = "note"
                [target]
                torch = "2.7"
                soc = "910B"
                """,
            "sub/npulint.toml": """\
                extend = "../base.toml"
                ignore = ["precision"]
                extend-select = ["NPU1"]
                [target]
                soc = "910A"
                """,
        }
    )
    assert setting(nested, "ignore", "sub") == 'ignore = ["precision"]'
    assert setting(nested, "extend-select", "sub") == 'extend-select = ["NPU2", "NPU1"]'
    assert setting(nested, "fail-on", "sub") == 'fail-on = "note"'
    assert setting(nested, "target", "sub") == 'target = { torch = "2.7", soc = "910A" }'
    shown = nested.run("config", "sub").out
    assert shown.startswith("# configuration file: sub/npulint.toml, which extends base.toml\n")
    assert "# base.toml:3\n" in shown and "# sub/npulint.toml:2\n" in shown


def test_a_chain_ends_in_pyproject(nested: Project) -> None:
    nested.write(
        {
            "pyproject.toml": '[tool.npulint]\nfail-on = "note"\n',
            "middle.toml": 'extend = "pyproject.toml"\n',
            "sub/npulint.toml": 'extend = "../middle.toml"\n',
        }
    )
    assert setting(nested, "fail-on", "sub") == 'fail-on = "note"'


def test_paths_and_patterns_are_relative_to_their_file(nested: Project) -> None:
    nested.write(
        {
            "base.toml": 'extend-exclude = ["sub/old/"]\nbaseline = "accepted.json"\n',
            "sub/npulint.toml": 'extend = "../base.toml"\nextend-exclude = ["new.py"]\n',
            "sub/old/a.py": TRAIN,
            "sub/new.py": TRAIN,
        }
    )
    assert nested.run("check", "--show-files", "sub").out == "sub/train.py\n"
    assert setting(nested, "baseline", "sub") == 'baseline = "accepted.json"'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param('extend = "npulint.toml"\n', "circle: sub/npulint.toml → sub/npulint.toml", id="itself"),
        pytest.param(
            'extend = "other.toml"\n', "circle: sub/npulint.toml → sub/other.toml → sub/npulint.toml", id="two"
        ),
        pytest.param('extend = "../../elsewhere.toml"\n', "lies outside of the git repository", id="outside"),
        pytest.param('extend = "/etc/hosts"\n', "lies outside of the git repository", id="absolute"),
        pytest.param('extend = "missing.toml"\n', "sub/missing.toml: cannot be read", id="missing"),
        pytest.param("extend = 3\n", "expected a string, got `3`", id="of the wrong type"),
        pytest.param('extend = "../pyproject.toml"\n', "../pyproject.toml has no [tool.npulint] table", id="no table"),
        pytest.param('extnd = "x"\n', "unknown key `extnd`; did you mean `extend`?", id="misspelled"),
    ],
)
def test_mistakes_are_told_with_their_place(nested: Project, text: str, told: str) -> None:
    nested.write(
        {"sub/npulint.toml": text, "sub/other.toml": 'extend = "npulint.toml"\n', "pyproject.toml": "[project]\n"}
    )
    answer = nested.run("check", "sub")
    assert answer.code == 2
    assert answer.err.startswith("error: sub/npulint.toml:1: ") or "sub/other.toml:1: " in answer.err
    assert told.replace("../pyproject", "pyproject") in answer.err


def test_a_mistake_in_an_extended_file_is_told_there(nested: Project) -> None:
    nested.write({"base.toml": "\nfail-on = 1\n", "sub/npulint.toml": 'extend = "../base.toml"\n'})
    assert nested.run("check", "sub").err.startswith("error: base.toml:2: fail-on: ")


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        pytest.param("train.py", False, id="a name"),
        pytest.param("sub/", False, id="a folder"),
        pytest.param("sub/**", False, id="all below a folder"),
        pytest.param("/sub/*.py", False, id="from the root"),
        pytest.param("/train.py", True, id="another place"),
        pytest.param("!train.py", True, id="all other files"),
        pytest.param("!other.py", False, id="all but another"),
    ],
)
def test_checks_are_ignored_in_files(nested: Project, pattern: str, kept: bool) -> None:
    nested.write({"npulint.toml": f'[per-file-ignores]\n"{pattern}" = ["{CUDA}"]\n'})
    names = nested.run("check", "--format", "json", ".").names
    assert (CUDA in names, WAITS in names) == (kept, True)
    again = nested.run("check", "--format", "json", "--isolated", "--per-file-ignores", f"{pattern}=NPU11,{CUDA}")
    assert CUDA in again.names or not kept


def test_ignored_findings_are_not_fixed_and_fail_no_item(nested: Project) -> None:
    words = ("check", "--per-file-ignores", "sub/=functional", "--format", "json")
    before = (nested.folder / "sub/train.py").read_text()
    program = nested.run(*words).document["programs"][0]
    assert CUDA not in {item["check"] for item in program["checklist"] if item["status"] == "failed"}
    nested.run(*words, "--fix", "--unsafe-fixes")
    assert ".cuda()" in before and ".cuda()" in (nested.folder / "sub/train.py").read_text()


def test_a_comment_about_an_ignored_check_is_not_unused(nested: Project) -> None:
    text = TRAIN.replace(".sum()", f".sum()  # npulint: ignore[{CUDA}] here")
    nested.write({"sub/train.py": text})
    answer = nested.run("check", "--format", "json", "--per-file-ignores", f"train.py={CUDA}")
    assert "unused-suppression" not in answer.names


def test_the_severity_of_the_most_specific_word_counts(nested: Project) -> None:
    table = {"functional": "note", CUDA: "warning", "NPU2": "error"}
    nested.write({"npulint.toml": "[severity]\n" + "".join(f'{key} = "{level}"\n' for key, level in table.items())})
    answer = nested.run("check", "--format", "json")
    levels = {one["name"]: one["severity"] for one in answer.findings}
    assert (levels[CUDA], levels[WAITS], answer.code) == ("warning", "error", 1)
    softer = nested.run("check", "--format", "json", "--severity", f"{WAITS}=note", "--severity", f"{CUDA}=note")
    assert {one["severity"] for one in softer.findings if one["name"] in (CUDA, WAITS)} == {"note"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--severity", f"{CUDA}=fatal"), "--severity: `fatal` is not one of note, warning, error"),
        (("--severity", CUDA), f"--severity: `{CUDA}` does not have the form CHECKS=SEVERITY"),
        (("--per-file-ignores", "a.py"), "--per-file-ignores: `a.py` does not have the form PATTERN=CHECKS"),
    ],
)
def test_wrong_values_are_refused(nested: Project, words: tuple[str, ...], told: str) -> None:
    answer = nested.run("check", *words)
    assert (answer.code, told in answer.err) == (2, True)


def test_a_check_that_this_version_lacks_is_a_warning(nested: Project) -> None:
    nested.write({"npulint.toml": '[severity]\nno-such = "note"\n[per-file-ignores]\n"a.py" = ["nor-this"]\n'})
    answer = nested.run("check", "--exit-zero")
    assert answer.code == 0
    assert "`severity` names `no-such`" in answer.err and "`per-file-ignores` names `nor-this`" in answer.err


def test_what_config_prints_is_a_configuration(nested: Project) -> None:
    nested.write({"npulint.toml": '[severity]\nNPU11 = "note"\n[per-file-ignores]\n"a b/*.py" = ["NPU1"]\n'})
    first = nested.run("config").out
    nested.write({"npulint.toml": first})
    assert [row.partition("  # ")[0] for row in nested.run("config").out.splitlines()[1:]] == [
        row.partition("  # ")[0] for row in first.splitlines()[1:]
    ]


@pytest.mark.parametrize("name", sorted(documents()))
def test_the_schema_in_the_repository_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == written(documents()[name])


@pytest.mark.daily
def test_the_schema_knows_every_key_and_is_printed(project: Project) -> None:
    document = json.loads(project.run("config", "--schema").out)
    assert document == schema() and document["$id"] == ADDRESS
    assert set(document["properties"]) == {"extend", *(option.key for option in OPTIONS if option.config)}
    validator().check_schema(document)


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        pytest.param({"extend": "a.toml", "select": ["NPU1"], "severity": {"NPU11": "note"}}, True, id="right"),
        pytest.param({"per-file-ignores": {"a/*": ["NPU1"]}, "budget": {"time": 3}, "fix": True}, True, id="tables"),
        pytest.param({"severity": {"NPU11": "fatal"}}, False, id="unknown severity"),
        pytest.param({"ignre": []}, False, id="unknown key"),
        pytest.param({"target": {"torch": 2.7}}, False, id="version without quotes"),
        pytest.param({"per-file-ignores": {"a/*": "NPU1"}}, False, id="no list"),
        pytest.param({"jobs": -1}, False, id="negative"),
    ],
)
def test_the_schema_accepts_what_npulint_accepts(document: dict[str, object], valid: bool, project: Project) -> None:
    assert validator()(schema()).is_valid(document) is valid
    rows = [f"{key} = {_toml(value)}" for key, value in document.items() if key != "extend"]
    project.write({"npulint.toml": "\n".join(rows)})
    assert (project.run("config").code == 0) is valid


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {_toml(one)}' for key, one in value.items()) + "}"
    return json.dumps(value)

"""``npulint config`` and ``npulint version``."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from npulint import __version__
from npulint.commands.settings.config import defaults
from npulint.commands.settings.options import OPTIONS
from tests.project_support import Project
from tests.surface_support import call


@pytest.fixture(autouse=True)
def here(project: Project) -> Project:
    return project


def told(*words: str, **environ: str) -> dict[str, tuple[str, str]]:
    """Value and origin of every setting."""
    answer = call("config", *words, environ=environ)
    assert (answer.code, answer.err) == (0, "")
    rows = [line.removeprefix("# ").rpartition("  # ") for line in answer.out.splitlines()[1:]]
    cut = [(left.partition(" = "), origin) for left, _, origin in rows]
    return {key: (value.rstrip(), origin) for (key, _, value), origin in cut}


def test_everything_is_told_with_its_default() -> None:
    settings = told()
    assert list(settings) == [option.key for option in OPTIONS if option.config]
    assert {origin for _, origin in settings.values()} == {"default"}
    assert settings["fail-on"] == ('"error"', "default")
    assert settings["min-severity"] == ('"warning"', "default")
    assert '"node_modules"' in settings["exclude"][0]


def test_where_each_comes_from(here: Project) -> None:
    here.write(
        {
            "npulint.toml": 'ignore = ["all"]\n\nfail-on = "note"\nlang = "en"\n[target]\nsoc = "Ascend910B1"\n',
            "npulint-baseline.json": "",
        }
    )
    settings = told("--fail-on", "warning", "--no-cache", "--target", "cann=8.0")
    assert settings["ignore"] == ('["all"]', "npulint.toml:1")
    assert settings["fail-on"] == ('"warning"', "command line")
    assert settings["cache"] == ("false", "command line")
    assert settings["lang"] == ('"en"', "npulint.toml:4")
    assert settings["target"][1] == "command line"
    assert told()["target"] == ('{ soc = "910B" }', "npulint.toml:5")
    assert settings["baseline"] == ('"npulint-baseline.json"', "found automatically")
    assert settings["jobs"] == ("0", "default")


def test_the_configuration_is_that_of_the_path(here: Project) -> None:
    here.write({"a/pyproject.toml": '[tool.npulint]\nselect = ["NPU11"]\n', "a/train.py": ""})
    assert told("a/train.py")["select"] == ('["NPU11"]', "a/pyproject.toml:2")
    assert told()["select"] == ("[]", "default")
    assert told("a", "--isolated")["select"] == ("[]", "default")


def test_the_environment_chooses_the_language() -> None:
    answer = call("config", environ={"NPULINT_LANG": "zh"})
    assert answer.out.startswith("# 没有配置文件\n")
    assert 'lang = "zh"' in answer.out and "# 环境变量\n" in answer.out


def test_it_is_a_configuration_file(here: Project) -> None:
    here.write({"npulint.toml": 'exclude = ["中文", "a\\\\b"]\nstatistics = true\n[target]\ntorch = "2.7"\n'})
    first = call("config").out
    (here.folder / "npulint.toml").write_text(first, encoding="utf-8")
    second = call("config").out
    values = [[line.rpartition("  # ")[0].rstrip() for line in text.splitlines()[1:]] for text in (first, second)]
    assert values[0] == values[1]
    assert len(values[0]) == len(defaults())


def test_a_broken_configuration_is_told_as_in_a_check(here: Project) -> None:
    here.write({"npulint.toml": "fail_on = 1\n"})
    assert call("config").code == 2
    assert call("config").err == call("check").err


def test_names_are_made_harmless(here: Project) -> None:
    (here.folder / "x\x1b[2J").mkdir()
    here.write({"x\x1b[2J/npulint.toml": 'ignore = ["\\u001b[2J"]\n'})
    answer = call("config", "x\x1b[2J")
    assert answer.code == 0
    assert "\x1b" not in answer.out


def test_the_version_alone() -> None:
    assert call("version").out == call("--version").out == f"npulint {__version__}\n"


def test_all_that_a_bug_report_needs(here: Project) -> None:
    here.write({"npulint.toml": ""})
    document = json.loads(call("version", "--verbose").out)
    assert document["npulint"] == __version__
    assert document["python"] == platform.python_version()
    assert document["config"] == "npulint.toml"
    assert document["checks"] > 100
    assert len(document["catalogue"]) == 32
    assert document["libraries"]["msgspec"]
    assert str(here.folder) not in json.dumps(document) and str(Path.home()) not in json.dumps(document)


def test_a_bug_report_is_possible_with_a_broken_configuration(here: Project) -> None:
    here.write({"npulint.toml": "x = ["})
    assert json.loads(call("version", "--verbose").out)["config"] == "broken"


def test_help_of_both() -> None:
    assert "--verbose" in call("version", "--help").out
    assert "--fail-on" in call("config", "--help").out
    assert call("version", "x").code == 2

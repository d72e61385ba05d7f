"""Where configuration comes from, which source wins, and how mistakes are told."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

from npulint.commands.settings.config import defaults, language, load
from npulint.commands.settings.options import OPTIONS
from npulint.core.errors import ConfigError
from npulint.core.texts import table
from npulint.judge.settings import Settings


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def complaint(*paths: str, **words: list[str] | bool) -> str:
    with pytest.raises(ConfigError) as error:
        load(paths, words, {})
    return str(error.value)


def test_without_anything_the_defaults_hold() -> None:
    assert load([], {}, {}) == Settings()


def test_npulint_toml_is_read() -> None:
    write("npulint.toml", 'fail-on = "warning"\njobs = 2\nselect = ["NPU1"]\n[target]\nsoc = "Ascend910B2"\n')
    settings = load(["."], {}, {})
    assert (settings.fail_on, settings.jobs, settings.select) == ("warning", 2, ("NPU1",))
    assert settings.target == {"soc": "910B"}
    assert settings.config == "npulint.toml"


def test_pyproject_is_read_from_its_section() -> None:
    write("pyproject.toml", '[tool.other]\nx = 1\n[tool.npulint]\nlang = "zh"\n')
    assert load(["."], {}, {}).lang == "zh"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[tool.other]\nnpulint = 3\n", id="another section that mentions the name"),
        pytest.param("[project]\nname = 'x'\n", id="no mention at all"),
        pytest.param("this is not TOML [", id="broken, but not ours"),
    ],
)
def test_a_pyproject_without_the_section_is_passed_over(text: str) -> None:
    write("npulint.toml", "jobs = 7\n")
    write("sub/pyproject.toml", text)
    assert load(["sub"], {}, {}).jobs == 7


def test_the_closest_file_wins_and_is_not_merged() -> None:
    write("npulint.toml", "jobs = 7\nstatistics = true\n")
    write("sub/npulint.toml", "jobs = 8\n")
    settings = load(["sub/deep/x.py"], {}, {})
    assert (settings.jobs, settings.statistics) == (8, False)


def test_npulint_toml_wins_over_pyproject_beside_it() -> None:
    write("npulint.toml", "jobs = 7\n")
    write("pyproject.toml", "[tool.npulint]\njobs = 8\n")
    assert load([], {}, {}).jobs == 7


def test_the_search_ends_at_the_repository() -> None:
    write("npulint.toml", "jobs = 7\n")
    write("sub/.git/HEAD", "")
    assert load(["sub"], {}, {}).jobs == 0


def test_the_search_ends_at_the_home_folder() -> None:
    write("npulint.toml", "jobs = 7\n")
    write("home/x.py", "")
    assert load(["home"], {}, {"HOME": os.path.abspath("home")}).jobs == 0


def test_the_command_line_wins_over_the_file() -> None:
    write("npulint.toml", 'fail-on = "warning"\ncache = false\nstatistics = true\n')
    settings = load([], {"fail_on": ["note"], "cache": True, "statistics": False}, {})
    assert (settings.fail_on, settings.cache, settings.statistics) == ("note", True, False)


def test_a_file_can_be_named_and_none_can_be_wanted() -> None:
    write("npulint.toml", "jobs = 7\n")
    write("other/mine.toml", "jobs = 9\n")
    assert load([], {"config": ["other/mine.toml"]}, {}).jobs == 9
    assert load([], {"isolated": True}, {}).jobs == 0
    assert "--isolated" in complaint(config=["other/mine.toml"], isolated=True)


def test_stdin_is_configured_by_its_name() -> None:
    write("sub/npulint.toml", "jobs = 8\n")
    assert load([], {"stdin_filename": ["sub/x.py"]}, {}).jobs == 8


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("selekt = []", "npulint.toml:1: unknown key `selekt`; did you mean `select`?", id="unknown key"),
        pytest.param("min_severity = 'note'", "did you mean `min-severity`?", id="underscore for hyphen"),
        pytest.param(
            "[tool.npulint]\nselect = []",
            "npulint.toml:1: `[tool.npulint]` is the table of pyproject.toml; in this file the keys stand at the top",
            id="the table of another file",
        ),
        pytest.param("[tool.ruff]\nselect = []", "unknown key `tool`", id="a table of another tool"),
        pytest.param("zzzzzz = 1", "npulint.toml:1: unknown key `zzzzzz`", id="a key like nothing"),
        pytest.param(
            f"jobs = {'9' * 5000}", "npulint.toml:1: invalid TOML: Exceeds the limit", id="an integer of 5000 digits"
        ),
        pytest.param("extend-exclude = ['b', 'a/*a*a*a']", "npulint.toml:1: extend-exclude: `a/*a*a*a` has too many"),
        pytest.param(
            "exclude = ['a/**/b/**/c/**/d/**']", "npulint.toml:1: exclude: `a/**/b/**/c/**/d/**` has too many"
        ),
        pytest.param("lang = 'de'", "npulint.toml:1: lang: `de` is not one of auto, en, zh", id="unknown value"),
        pytest.param("\njobs = 'two'", "npulint.toml:2: jobs: expected an integer", id="wrong type"),
        pytest.param("output = ['json=/etc/x']", "unknown key `output`", id="configuration cannot write files"),
        pytest.param("a = 1\nb = = 2", "npulint.toml:2:5: invalid TOML", id="broken TOML has a place"),
        pytest.param("a = [", "npulint.toml:1", id="TOML that ends too early"),
        pytest.param("a = 1\na = 2", "npulint.toml:2", id="a key given twice"),
        pytest.param("a = " + "[" * 100_000, "npulint.toml:1: invalid TOML", id="brackets without end"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, told: str) -> None:
    write("npulint.toml", text)
    assert told in complaint()


def test_all_mistakes_are_told_at_once() -> None:
    write("npulint.toml", "selekt = []\njobs = 'x'\n")
    assert complaint(lang=["xx"]).count("\n") == 2


def test_broken_utf8_is_told_with_its_line() -> None:
    Path("npulint.toml").write_bytes(b"a = 1\nb = '\xff'\n")
    assert "npulint.toml:2" in complaint()


@pytest.mark.skipif(sys.platform == "win32", reason="no FIFO there")
def test_a_fifo_is_no_configuration() -> None:
    os.mkfifo("npulint.toml")
    assert load([], {}, {}).config == ""
    assert "cannot be read" in complaint(config=["npulint.toml"])


def test_a_named_file_that_is_missing_or_huge_is_told() -> None:
    assert "nope.toml: cannot be read" in complaint(config=["nope.toml"])
    Path("npulint.toml").write_bytes(b"#" * 1_000_001)
    assert "too large" in complaint()


def test_check_folders_are_relative_to_the_file() -> None:
    write("sub/npulint.toml", 'checks = ["mine"]\n')
    assert load(["sub"], {}, {}).checks == (os.path.join("sub", "mine"),)
    assert load(["sub"], {"checks": ["mine"]}, {}).checks == ("mine",)


@pytest.mark.parametrize(
    ("pattern", "moved"),
    [
        pytest.param("build", "build", id="a name means any folder"),
        pytest.param("build/", "build/", id="a folder name too"),
        pytest.param("sub/a/*.py", "/a/*.py", id="a path is moved below the base"),
        pytest.param("!sub/a/b", "!/a/b", id="an exception stays one"),
        pytest.param("sub/a/", "/a/", id="a path of a folder stays one"),
    ],
)
def test_patterns_of_the_command_line_mean_the_working_directory(pattern: str, moved: str) -> None:
    write("sub/npulint.toml", "jobs = 1\n")
    settings = load(["sub"], {"extend_exclude": [pattern]}, {})
    assert (settings.base, settings.extend_exclude) == ("sub", (moved,))


@pytest.mark.parametrize(
    ("environ", "wanted", "spoken"),
    [
        pytest.param({}, "auto", "en", id="English when nothing is said"),
        pytest.param({"LANG": "zh_CN.UTF-8"}, "auto", "zh", id="LANG"),
        pytest.param({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "auto", "en", id="LC_ALL before LANG"),
        pytest.param({"NPULINT_LANG": "zh", "LC_ALL": "C"}, "auto", "zh", id="the own variable first"),
        pytest.param({"LANG": "zh_CN"}, "en", "en", id="a wish before the environment"),
        pytest.param({"LANG": ""}, "auto", "en", id="an empty variable says nothing"),
    ],
)
def test_language(environ: dict[str, str], wanted: str, spoken: str) -> None:
    assert language(environ, wanted) == spoken


def test_machines_get_english_unless_a_language_is_asked_for() -> None:
    chinese = {"LANG": "zh_CN.UTF-8"}
    assert load([], {"format": ["json"]}, chinese).lang == "en"
    assert load([], {"format": ["json"], "lang": ["zh"]}, chinese).lang == "zh"
    assert load([], {}, chinese).lang == "zh"


def test_mistakes_are_told_in_the_language_of_the_user() -> None:
    write("npulint.toml", "selekt = []")
    with pytest.raises(ConfigError, match="未知的配置项"):
        load([], {}, {"LANG": "zh_CN"})


def test_every_option_is_a_field_of_settings_with_a_fitting_type() -> None:
    fields = get_type_hints(Settings, localns={"DiscoverOptions": object})
    kinds = {"flag": bool, "number": int, "choice": str, "text": str, "list": tuple[str, ...]}
    for option in OPTIONS:
        if option.name == "isolated":
            continue
        assert option.name in fields
        if option.kind in kinds and option.name != "exclude":
            words = get_args(fields[option.name]) if get_origin(fields[option.name]) is Literal else ()
            fits = set(words) == set(option.choices) if words else fields[option.name] == kinds[option.kind]
            assert fits, option.name


def test_every_setting_can_be_set() -> None:
    fields = {field.name for field in msgspec.structs.fields(Settings)}
    of_compare = {"entries", "all_differences"}  # options of that command alone
    beside = {"paths", "stdin", "base", "supported_ops_within"}
    assert fields - {option.name for option in OPTIONS} == beside | of_compare


def test_flags_are_on_by_default_where_the_table_says_so() -> None:
    blank = Settings()
    for option in OPTIONS:
        if option.kind == "flag" and option.name != "isolated":
            assert getattr(blank, option.name) is option.default_on, option.name


def test_every_option_is_explained_in_both_languages() -> None:
    for option in OPTIONS:
        assert option.help("en"), option.name
        assert f"group.{option.group}" in table("main")
        assert not option.help("zh").isascii(), option.name
    assert defaults()["fail-on"] == "error"

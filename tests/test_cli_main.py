"""The entry: commands, help, mistakes, and everything that can go wrong on the way out."""

from __future__ import annotations

import ast
import io
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from npulint import __main__, __version__
from npulint.commands.settings.options import OPTIONS
from npulint.core.errors import CatalogueError, CatalogueProblem
from npulint.hosts.cli.commands import COMMANDS
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.main import main
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.report.terminal import cells
from tests.surface_support import call, sample

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_alone_it_shows_its_commands(words: tuple[str, ...]) -> None:
    answer = call(*words)
    assert answer.code == 0
    assert all(f"\n  {command.name} " in answer.out for command in COMMANDS)


@pytest.mark.parametrize("word", ["--version", "-V", "version"])
def test_version(word: str) -> None:
    assert call(word).out == f"npulint {__version__}\n"


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_command_explains_itself(command: str, lang: str) -> None:
    answer = call(command, "--help", "--lang", lang)
    assert (answer.code, answer.err) == (0, "")
    usage = {"en": f"usage: npulint {command} [OPTIONS]", "zh": f"用法：npulint {command} [选项]"}
    assert answer.out.startswith(usage[lang])
    assert ("显示帮助" in answer.out) is (lang == "zh")


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_help_keeps_within_the_terminal_in_both_languages(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for command, lang in itertools.product(COMMANDS, ("en", "zh")):
        lines = call(command.name, "--help", "--lang", lang).out.splitlines()
        assert max(cells(line) for line in lines if "{" not in line) <= columns, (command.name, lang)


def test_chinese_help_has_chinese_colons() -> None:
    words = [("--help",), *((command.name, "--help") for command in COMMANDS)]
    texts = [call(*one, "--lang", "zh").out for one in words]
    assert not [line for text in texts for line in text.splitlines() if re.search(r"[\u4e00-\u9fff]:", line)]


def test_mistakes_are_told_in_chinese() -> None:
    assert call("chekc", "--lang=zh").err == "错误：未知命令 `chekc`；是否想写 `check`？\n"
    assert call("explain", "zzz", "--lang=zh").err == "错误：没有名为 `zzz` 的检查\n"


def test_the_help_of_check_names_every_option() -> None:
    text = call("check", "--help").out
    assert all(option.flag in text for option in OPTIONS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param("chekc", "unknown command `chekc`; did you mean `check`?", id="misspelled command"),
        pytest.param("zzz", "unknown command `zzz`\n", id="command like nothing"),
        pytest.param("check --formt x", "unknown option `--formt`; did you mean `--format`?", id="misspelled option"),
        pytest.param("check --formt=x", "unknown option `--formt=x`; did you mean `--format`?", id="with its value"),
        pytest.param("check --sel x", "unknown option `--sel`", id="options are not guessed from beginnings"),
        pytest.param("check --jobs", "--jobs", id="an option without its value"),
        pytest.param("check --format jsn", "--format: `jsn` is not one of text", id="unknown value"),
        pytest.param("check --jobs x --lang=q", "--jobs: ", id="several mistakes"),
        pytest.param("explain", "CODE|NAME is missing", id="a missing word"),
        pytest.param("rules x", "unexpected argument `x`", id="a word too many"),
        pytest.param("facts a b", "unexpected argument `b`", id="a file too many"),
    ],
)
def test_mistakes_are_told_and_end_with_2(words: str, told: str) -> None:
    answer = call(*words.split())
    assert answer.code == 2
    assert told in answer.err
    assert all(line.startswith("error: ") for line in answer.err.splitlines())
    assert answer.out == ""


def test_a_path_in_the_place_of_a_command_is_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert "npulint check train.py" in call("train.py").err


def test_mistakes_are_made_harmless() -> None:
    assert call("\x1b[2J").err == "error: unknown command `\\x1b[2J`\n"


def failing(error: BaseException) -> RunResult:
    raise error


def test_an_interrupt_ends_with_130() -> None:
    answer = call("check", run=lambda settings: failing(KeyboardInterrupt()))
    assert (answer.code, answer.err) == (130, "interrupted\n")


def test_a_bug_does_not_look_like_findings() -> None:
    answer = call("check", run=lambda settings: failing(ZeroDivisionError("x")))
    assert answer.code == 2
    assert "ZeroDivisionError: x" in answer.err and "internal error" in answer.err


def test_a_broken_catalogue_is_told_line_by_line() -> None:
    problems = [CatalogueProblem("b.yaml", 3, 1, "no code"), CatalogueProblem("a.yaml", 1, 1, "no text")]
    answer = call("check", run=lambda settings: failing(CatalogueError(problems)))
    assert (answer.code, answer.err) == (2, "error: a.yaml:1:1: no text\nerror: b.yaml:3:1: no code\n")


class Gone(io.StringIO):
    """A pipe whose reader went away."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_went_away_does_not_change_the_exit_code() -> None:
    host = Host({}, io.StringIO(), Gone(), Gone(), lambda s, p: sample(), lambda p: (), lambda f, t, c: sample())
    assert main(["check"], host) == 1
    assert main(["nonsense"], host) == 2


@pytest.mark.parametrize(("stream", "complaint"), [("stdout", "cannot be written"), ("stderr", ""), ("stdin", "")])
def test_a_stream_that_the_caller_has_closed_is_no_bug(
    stream: str, complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, stream, None)
    words = ["rule", "--help"] if stream != "stdin" else ["check", "-", "--no-cache", "--lang=en"]
    assert main([*words, "--lang=en"]) == (2 if complaint else 0)
    if not complaint:
        getattr(sys, stream).close()
    said = capsys.readouterr().err
    assert complaint in said and "Traceback" not in said


def test_a_pipe_closed_early_leaves_no_traceback(tmp_path: Path) -> None:
    code = "import sys; from npulint.__main__ import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "check", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_a_narrow_encoding_gets_escapes() -> None:
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding="ascii")
    host = Host(
        {"LANG": "zh"},
        io.StringIO(),
        stdout,
        io.StringIO(),
        lambda s, p: sample(),
        lambda p: (),
        lambda f, t, c: sample(),
    )
    assert main(["check", "--format=concise"], host) == 1
    assert b"\\u5171 5" in raw.getvalue()


def test_an_old_interpreter_gets_a_readable_answer() -> None:
    assert __main__.too_old((3, 10)) == ""
    assert __main__.too_old((4, 0)) == ""
    text = __main__.too_old((3, 7))
    assert "needs Python 3.10 or newer; this is Python 3.7." in text and "pipx" in text


@pytest.mark.parametrize("path", ["__main__.py", "__init__.py"])
def test_an_old_interpreter_can_read_the_entry(path: str) -> None:
    text = (ROOT / "npulint" / path).read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 6))
    assert path == "__init__.py" or not [n for n in tree.body if isinstance(n, ast.ImportFrom)]


def test_the_module_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "npulint", "--version"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"npulint {__version__}\n")


HEAVY = tuple("yaml astroid rich tomllib difflib pathspec subprocess multiprocessing asyncio".split())


@pytest.mark.parametrize("words", [["--version"], ["check", "--help"]])
def test_start_up_imports_nothing_heavy(words: list[str]) -> None:
    code = f"import sys; from npulint.hosts.cli.main import main; main({words!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    loaded = set(done.stderr.split())
    assert "npulint.hosts.cli.main" in loaded
    brought = {"subprocess"} if sys.version_info < (3, 11) else set()  # by msgspec's own imports there
    assert loaded.isdisjoint(set(HEAVY) - brought)
    assert ("argparse" in loaded) is (words[0] == "check")


def test_the_defaults_of_a_run_are_those_of_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("check", "--isolated").settings == Settings()


@pytest.mark.parametrize("words", [["--lang", "zh", "rules", "--help"], ["--lang=zh", "rules", "--help"]])
def test_a_language_may_stand_before_the_command(words: list[str]) -> None:
    answer = call(*words)
    assert answer.code == 0 and "用法" in answer.out


def test_a_language_alone_gets_the_overview_in_it() -> None:
    assert "命令" in call("--lang=zh", "--help").out
    assert call("--lang").code == 2

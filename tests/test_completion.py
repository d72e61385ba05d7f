"""Shell completion, asked of the shells themselves."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from npulint.hosts.cli.commands import COMMANDS, SHELLS
from npulint.hosts.cli.completion.model import check_words, verbs
from npulint.judge.settings import FORMATS, TARGET_KEYS
from tests.surface_support import call
from tests.tools import needed

QUIET = 0.3  # seconds without output after which a shell has answered
PATIENCE = 20
PROMPT = "ready> "


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("scripts")
    for shell in SHELLS:
        answer = call("completion", shell)
        assert (answer.code, answer.err) == (0, "")
        (folder / f"npulint.{shell}").write_text(answer.out, encoding="utf-8")
    return {shell: folder / f"npulint.{shell}" for shell in SHELLS}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the shells stand."""
    (tmp_path / "models").mkdir()
    for name in ("train.py", "two words.py", "models/net.py", "report.json"):
        (tmp_path / name).write_text("")
    return tmp_path


def in_bash(script: Path, folder: Path, line: str, breaks: str = " \t\n\"'><=;|&(:") -> list[str]:
    """What bash is offered for the end of a line: COMPREPLY, with the words split as readline splits them."""
    words = [part for word in line.split(" ") for part in (re.findall("=|[^=]+", word) if "=" in breaks else [word])]
    words += [""] if line.endswith(" ") and words[-1] != "" else []
    code = 'COMP_WORDBREAKS=$1; source "$2"; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _npulint; '
    code += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        [needed("bash"), "--norc", "-c", code, "bash", breaks, str(script), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [word for word in done.stdout.split("\n") if word]


def in_fish(script: Path, folder: Path, line: str) -> list[str]:
    """The same of fish, which tells whole words. It also finds what is typed inside of words: those are left out."""
    done = subprocess.run(
        [needed("fish"), "--no-config", "-c", f"source {script}; complete -C$argv[1]", line],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".c"), "XDG_DATA_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    words = [row.split("\t")[0] for row in done.stdout.splitlines()]
    return [word for word in words if word.startswith(line.rpartition(" ")[2])]


class Terminal:
    """A shell that believes that somebody types."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._pid, self._end = pty.fork()
        if self._pid == 0:  # pragma: no cover
            os.chdir(folder)
            environ = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
            os.execve(command[0], command, environ)

    def type(self, text: str) -> str:
        """Type, and read until the shell is quiet."""
        os.write(self._end, text.encode())
        seen, until = b"", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            ready, _, _ = select.select([self._end], [], [], QUIET if seen else 5)
            if not ready:
                break
            seen += os.read(self._end, 65536)
        return seen.decode(errors="replace")

    def execute(self, text: str) -> str:
        """Type a command, and read until the prompt is back."""
        os.write(self._end, text.encode())
        seen, until = b"", time.monotonic() + PATIENCE
        while PROMPT.encode() not in seen.rpartition(b"\n")[2] or b"\n" not in seen:
            assert time.monotonic() < until, seen
            if select.select([self._end], [], [], 1)[0]:
                seen += os.read(self._end, 65536)
        return seen.decode(errors="replace")

    def completed(self, line: str) -> list[str]:
        """The words of `line` after Tab was pressed at its end."""
        self.type(f"{line}\t")
        answer = self.execute("\x01printf '<%s>' \n")
        return re.findall(r"<([^<>%]*)>", answer.rpartition("printf")[2])

    def close(self) -> None:
        os.write(self._end, b"\x03\nexit\n")
        os.close(self._end)
        os.waitpid(self._pid, 0)


VERBS = sorted(command.name for command in COMMANDS)
ENDS = {
    "commands": ("npulint ", VERBS),
    "a command": ("npulint expl", ["explain"]),
    "options": ("npulint check --min-", ["--min-confidence", "--min-severity"]),
    "a flag that is on by default": ("npulint check --no-c", ["--no-cache"]),
    "options of this command only": ("npulint explain --form", []),
    "formats": ("npulint check --format ", sorted(FORMATS)),
    "formats of a list": ("npulint rules --format ", ["json", "text"]),
    "choices": ("npulint check --fail-on n", ["never", "note"]),
    "keys of the target": ("npulint check --target ", sorted(f"{key}=" for key in TARGET_KEYS)),
    "a check": ("npulint explain session-without-npu-c", ["session-without-npu-config"]),
    "a check by its code": ("npulint explain NPU130", [w for w in check_words() if w.startswith("NPU130")]),
    "checks": ("npulint check --select hyg", ["hygiene"]),
    "reports": ("npulint check --output conc", ["concise="]),
    "parts of a project": ("npulint init --with git", ["github", "gitlab"]),
    "shells": ("npulint completion ", sorted(SHELLS)),
    "a free text": ("npulint check --docs-url ", []),
    "a number": ("npulint check --jobs ", []),
    "nothing more": ("npulint rules ", []),
}


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(("line", "offered"), ENDS.values(), ids=ENDS)
def test_what_is_offered(scripts: dict[str, Path], folder: Path, shell: str, line: str, offered: list[str]) -> None:
    ask = in_bash if shell == "bash" else in_fish
    assert sorted(ask(scripts[shell], folder, line)) == offered


JOINED = {
    "a value behind a sign": ("npulint check --fail-on=ne", "--fail-on=", ["never"]),
    "the second of several checks": ("npulint check --ignore all,hyg", "", ["all,hygiene"]),
    "the same behind a sign": ("npulint check --ignore=all,hyg", "--ignore=", ["all,hygiene"]),
    "the second of several parts": ("npulint init --with config,git", "", ["config,github", "config,gitlab"]),
    "a key behind a sign": ("npulint check --target=ca", "--target=", ["cann="]),
    "the file of a report": ("npulint check --output json=rep", "json=", ["report.json"]),
}


@pytest.mark.parametrize(("line", "lead", "offered"), JOINED.values(), ids=JOINED)
def test_words_with_a_sign_in_them(
    scripts: dict[str, Path], folder: Path, line: str, lead: str, offered: list[str]
) -> None:
    whole = [lead + word for word in offered]
    assert in_bash(scripts["bash"], folder, line) == offered  # bash leaves what is before the sign alone
    assert in_bash(scripts["bash"], folder, line, breaks=" \t\n") == whole  # unless it was told otherwise
    assert in_fish(scripts["fish"], folder, line) == whole


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_files_and_folders(scripts: dict[str, Path], folder: Path, shell: str) -> None:
    ask = in_bash if shell == "bash" else in_fish
    assert [name.rstrip("/") for name in ask(scripts[shell], folder, "npulint check m")] == ["models"]
    assert ask(scripts[shell], folder, "npulint facts tr") == ["train.py"]
    assert [name.rstrip("/") for name in ask(scripts[shell], folder, "npulint check --checks m")] == ["models"]
    assert ask(scripts[shell], folder, "npulint check --checks t") == []
    assert ask(scripts[shell], folder, "npulint check --config tr") == ["train.py"]
    assert ask(scripts[shell], folder, "npulint check --supported-ops tr") == ["train.py"]


def test_what_follows_two_dashes_is_no_option(scripts: dict[str, Path], folder: Path) -> None:
    assert in_bash(scripts["bash"], folder, "npulint check -- --form") == []
    assert in_bash(scripts["bash"], folder, "npulint check --format -- tr") == ["train.py"]


TYPED = {
    "a command": ("npulint expl", ["npulint", "explain"]),
    "an option": ("npulint check --min-c", ["npulint", "check", "--min-confidence"]),
    "a choice": ("npulint check --fail-on nev", ["npulint", "check", "--fail-on", "never"]),
    "a choice behind a sign": ("npulint check --fail-on=nev", ["npulint", "check", "--fail-on=never"]),
    "a check": ("npulint explain session-without-npu-c", ["npulint", "explain", "session-without-npu-config"]),
    "checks with a comma": ("npulint check --ignore all,hyg", ["npulint", "check", "--ignore", "all,hygiene"]),
    "a key": ("npulint check --target can", ["npulint", "check", "--target", "cann="]),
    "a file": ("npulint check tra", ["npulint", "check", "train.py"]),
    "a file with a blank": ("npulint check two", ["npulint", "check", "two words.py"]),
    "the file of a report": ("npulint check --output json=repo", ["npulint", "check", "--output", "json=report.json"]),
}


@pytest.mark.nightly
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_tab_writes(scripts: dict[str, Path], folder: Path, shell: str) -> None:
    flags = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}[shell]
    terminal = Terminal([needed(shell), *flags], folder)
    begin = "autoload -U compinit; compinit -u -D; " if shell == "zsh" else ""
    first, last = PROMPT[:3], PROMPT[3:]  # what is typed is shown as well, and must not look like the prompt
    terminal.execute(f"PS1='{first}''{last}'; {begin}source {scripts[shell]}\n")
    try:
        assert {name: terminal.completed(line) for name, (line, _) in TYPED.items()} == {
            name: words for name, (_, words) in TYPED.items()
        }
    finally:
        terminal.close()


def test_powershell_can_parse_its_script(scripts: dict[str, Path]) -> None:
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip("tree_sitter_powershell")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    text = scripts["powershell"].read_bytes()
    assert not parser.parse(text).root_node.has_error
    assert parser.parse(text[:-3]).root_node.has_error


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="PowerShell is not installed")
@pytest.mark.parametrize(("line", "offered"), ENDS.values(), ids=ENDS)
def test_what_powershell_offers(scripts: dict[str, Path], folder: Path, line: str, offered: list[str]) -> None:
    code = f". '{scripts['powershell']}'; (TabExpansion2 '{line}' {len(line)}).CompletionMatches.CompletionText"
    command = ["pwsh", "-NoProfile", "-NonInteractive", "-Command", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    words = [word for word in done.stdout.splitlines() if word.startswith(line.rpartition(" ")[2])]
    if offered:  # where there is no answer, files are offered
        assert sorted(words) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_are_valid(scripts: dict[str, Path], shell: str) -> None:
    done = subprocess.run([needed(shell), "-n", str(scripts[shell])], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_words_of_the_scripts_need_no_quotes(shell: str) -> None:
    for verb in verbs("en"):
        words = [verb.name, *verb.words.words, *(w for flag in verb.flags for w in (flag.name, *flag.value.words))]
        assert [word for word in (*words, *check_words()) if not re.fullmatch(r"[\w.-]+", word)] == []


@pytest.mark.parametrize("shell", SHELLS)
def test_help_may_hold_any_sign_in_both_languages(shell: str) -> None:
    for lang in ("en", "zh"):
        answer = call("completion", shell, "--lang", lang)
        assert answer.code == 0
        if shell != "bash":  # it shows none
            assert ("检查" in answer.out) is (lang == "zh")


def test_a_shell_that_is_not_known_is_a_mistake() -> None:
    answer = call("completion", "bsh")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean `bash`?" in answer.err

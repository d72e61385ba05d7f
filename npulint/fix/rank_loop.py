"""Rewrites an MPI launch in a shell script as one process for each rank of HCCL."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.fix.model import FixRefused
from npulint.fix.script import Script, Statement
from npulint.judge.findings import Edit
from npulint.read.shell.tokens import Word

_LAUNCHERS = frozenset(("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "horovodrun"))
_PYTHON = lazy_compile(r"(?:.*/)?python[\d.]*")
_OTHER_SHELL = lazy_compile(r"#!(?!.*bash)")  # without arrays
_COUNT = lazy_compile(r"\d+|\"?\$(?:\w+|\{\w+\})\"?")
_HERE = lazy_compile(r"(?:localhost|127\.0\.0\.1)(?::\d+)?")
_ASSIGNED = lazy_compile(r"[A-Za-z_]\w*=.*")
_NUMBER_OPTIONS = ("np", "n", "c")
_HOST_OPTIONS = ("h", "host", "hosts")
_OF_GPUS = ("NCCL_", "CUDA_", "HOROVOD_", "OMPI_")
_WITH_VALUES = {  # options that only concern MPI, with the number of their values
    **dict.fromkeys(
        ("allow-run-as-root", "oversubscribe", "tag-output", "nooversubscribe", "report-bindings", "q", "v", "verbose"),
        0,
    ),
    **dict.fromkeys(("bind-to", "map-by", "npernode", "ppr", "rf", "output-filename"), 1),
    **dict.fromkeys(("mca", "gmca"), 2),
}

_TEXT = """\
(
    export RANK_TABLE_FILE=${{RANK_TABLE_FILE:?the path of the rank table is needed}}
    export RANK_SIZE={count}
{exports}    pids=()
    for ((rank = 0; rank < RANK_SIZE; rank++)); do
        RANK_ID=$rank DEVICE_ID=$rank ASCEND_DEVICE_ID=$rank {command} &
        pids+=($!)
    done
    while [ ${{#pids[@]}} -gt 0 ]; do
        for rank in "${{!pids[@]}}"; do
            kill -0 "${{pids[rank]}}" 2> /dev/null && continue
            wait "${{pids[rank]}}" || {{ status=$?; kill "${{pids[@]}}" 2> /dev/null; exit "$status"; }}
            unset "pids[rank]"
        done
        sleep 1
    done
){redirected}"""


def in_ranks(script: Script, number: int) -> list[Edit]:
    """The edits that start a process for each rank of the MPI launch at a word, on the devices from 0 on, wait for
    them, and end the others if one fails. Raises `FixRefused`: ``joined`` (it is part of a larger command), ``shell``
    (it names hosts, or its options are unknown), ``place``."""
    statement = script.statement(number)
    if _OTHER_SHELL.match(script.text):
        raise FixRefused("shell")
    if statement.before not in ("", "\n", "then", "do", "else", ";") or statement.after not in ("", "\n", ";"):
        raise FixRefused("joined")
    if not script.begins_line(script.start(statement.first)):
        raise FixRefused("joined")
    launch = _Launch(script, statement)
    start, end = script.start(statement.first), script.end(statement.last)
    text = _TEXT.format(
        count=launch.count,
        exports="".join(f"    export {export}\n" for export in launch.exports),
        command=script.text[launch.command.start : launch.last.end],
        redirected=script.text[launch.last.end : end],
    )
    indent = script.text[script.line_start(start) : start]
    return [script.edit(start, end, text.replace("\n", f"\n{indent}"))]


def all_in_ranks(script: Script) -> list[Edit]:
    """The edits for all MPI launches of a script; see `in_ranks`."""
    heads = [n for n, token in enumerate(script.tokens) if isinstance(token, Word) and token.literal in _LAUNCHERS]
    return [edit for number in heads for edit in in_ranks(script, number)]


class _Launch:
    """The parts of ``mpirun -np 8 -x A=1 python train.py``: the number of processes, the variables that it sets, and
    the first and last word of the command."""

    def __init__(self, script: Script, statement: Statement) -> None:
        self._text = script.text
        words = list(statement.words[statement.leading :])
        python = next((place for place, word in enumerate(words) if _PYTHON.fullmatch(word.literal or "")), 0)
        if statement.leading or python < 1:
            raise FixRefused("shell")
        self.command, self.last = words[python], words[-1]
        if any(token.start < self.last.start for token in _redirections(script, statement)):
            raise FixRefused("shell")
        self.count = ""
        self.exports: list[str] = []
        self._read(words[1:python])
        if not self.count:
            raise FixRefused("shell")

    def _read(self, words: list[Word]) -> None:
        while words:
            name = (words.pop(0).literal or "").lstrip("-").lower()
            if name in _NUMBER_OPTIONS:
                self.count = self._value(words, _COUNT)
            elif name in _HOST_OPTIONS:
                self._value(words, _HERE)
            elif name == "x":
                self._pass_on(self._value(words))
            elif name in _WITH_VALUES and len(words) >= _WITH_VALUES[name]:
                del words[: _WITH_VALUES[name]]
            else:
                raise FixRefused("shell")

    def _value(self, words: list[Word], shape: re.Pattern[str] | None = None) -> str:
        if not words:
            raise FixRefused("shell")
        word = words.pop(0)
        text = self._text[word.start : word.end]
        if shape is not None and not shape.fullmatch(text):
            raise FixRefused("shell")
        return text

    def _pass_on(self, text: str) -> None:
        """Note a variable that MPI hands to the processes; they inherit one that is only named."""
        if not text.startswith(_OF_GPUS) and _ASSIGNED.fullmatch(text):
            self.exports.append(text)


def _redirections(script: Script, statement: Statement) -> list[Word]:
    """The words of a command that are no arguments: targets of redirections."""
    tokens = script.tokens[statement.first : statement.last + 1]
    return [token for token in tokens if isinstance(token, Word) and token not in statement.words]

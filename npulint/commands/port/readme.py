"""The section of a README that tells how to train on the NPU: added once, where there is a README without one."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from shlex import quote

import msgspec

from npulint.commands.port.model import PlannedEdit, PlannedItem, PlannedStep, PortedProgram
from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say
from npulint.discover.paths import local, shown
from npulint.fix.model import FixRefused
from npulint.fix.source import SourceDocument
from npulint.judge.fix_results import FileChange, FixResult

STEP = "documentation"
_NAME = lazy_compile(r"readme(?:[._-](?:en|zh|cn|zh[_-](?:cn|hans)|en[_-]us))?\.md", re.IGNORECASE)
_NAMES_NPU = lazy_compile(r"(?i)\bNPUs?\b|\bascend\b|昇腾|torch_npu")
_CHINESE = lazy_compile(r"[\u4e00-\u9fff]")
_SETUP = "source /usr/local/Ascend/ascend-toolkit/set_env.sh"
_TORCHRUN = "torchrun --nproc_per_node=8"
_JOINS = lazy_compile(
    rb"environ[^\n]{0,9}[\"']LOCAL_RANK[\"']|init_process_group\((?:backend=)?[\"'\w]+(?:, *init_method=[\"']env://[\"'])?\)"
)
_STARTS = lazy_compile(rb"\bspawn\(|\bMPI\b|environ\[[\"'](?:RANK|WORLD_SIZE)[\"']\] *=[^=]")
_LIMIT = 1 << 20  # bytes; a larger file is no README
_MOST = 4  # commands


def documented(
    folder: str, fixes: FixResult, programs: Sequence[PortedProgram], lang: str
) -> tuple[FixResult, PlannedStep | None]:
    """The fixes with the section in each README of the project at `folder`, and the step; the fixes as they are, and
    None, if there is none to extend, or the port does not bring a PyTorch training to the NPU."""
    commands = _commands(folder, fixes, programs)
    changes = [change for path in _readmes(folder) if commands and (change := _extended(path, commands))]
    if not changes:
        return fixes, None
    edits = tuple(_edit(file_change) for file_change in changes)
    places = tuple((edit.path, edit.line) for edit in edits)
    why = say(lang, "port.readme.why")
    title = say(lang, "port.readme.title")
    item = PlannedItem("", "readme", title, title, why, "", False, places, edits)
    fixes = msgspec.structs.replace(fixes, files=sorted([*fixes.files, *changes], key=lambda file: file.path))
    return fixes, PlannedStep(STEP, (item,), tuple(changes))


def _commands(folder: str, fixes: FixResult, programs: Sequence[PortedProgram]) -> list[str]:
    """How the training is started: by new launchers for the NPU, otherwise by the scripts that train."""
    trained = [
        program.entry for program in programs if program.framework.startswith("torch") and program.status == "trains"
    ]
    launchers = [file.path for file in fixes.files if file.new and file.path.endswith(".sh")]
    if not trained or not fixes.files:
        return []
    named = [f"bash {quote(_inside(folder, path))}" for path in launchers]
    scripts = [f"{_starter(fixes, path)} {quote(_inside(folder, path))}" for path in trained if path.endswith(".py")]
    return named[:_MOST] or ([_SETUP, *scripts[:_MOST]] if scripts else [])


def _starter(fixes: FixResult, entry: str) -> str:
    """What starts a script: torchrun if its program joins processes that torchrun starts, and starts none."""
    paths = {path for program in fixes.result.programs if program.entry == entry for path in program.paths}
    texts = [file.after for file in fixes.files if file.path in paths]
    return _TORCHRUN if any(map(_JOINS.search, texts)) and not any(map(_STARTS.search, texts)) else "python"


def _inside(folder: str, path: str) -> str:
    return posixpath.relpath(path, shown(local(folder)))


def _readmes(folder: str) -> Iterator[str]:
    """The files of a project that its readers see first."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        path = os.path.join(folder, name)
        if _NAME.fullmatch(name) and os.path.isfile(path) and not os.path.islink(path):
            yield local(path)


def _extended(location: str, commands: Sequence[str]) -> FileChange | None:
    """A README with the section at its end; None if it names the NPU already, or is not to be read."""
    try:
        with open(location, "rb") as file:
            before = file.read(_LIMIT + 1)
        document = SourceDocument(shown(location), "other", before)
    except (OSError, FixRefused):
        return None
    text = document.text.text
    if len(before) > _LIMIT or not text.strip() or _NAMES_NPU.search(text):
        return None
    section = "\n".join(_section(text, commands)).replace("\n", document.newline)
    last = before.rstrip(b"\r\n")
    after = last + (document.newline * 2 + section + document.newline).encode()
    return FileChange(shown(location), before, after, False, location)


def _section(text: str, commands: Sequence[str]) -> Iterator[str]:
    """The lines of the section, in the language of the README."""
    lang = "zh" if len(_CHINESE.findall(text)) * 10 > len(text) else "en"
    level = "#" if len(re.findall(r"(?m)^# ", text)) > 1 else "##"
    yield from (f"{level} {say(lang, 'port.readme.head')}", "", say(lang, "port.readme.install"), "", "```sh")
    yield from (*commands, "```", "", say(lang, "port.readme.devices"))


def _edit(change: FileChange) -> PlannedEdit:
    old = change.before.rstrip(b"\r\n")
    added = change.after[len(old) :].decode("utf-8", "replace").splitlines()[1:]
    return PlannedEdit(change.path, old.count(b"\n") + 1, (), tuple(added))

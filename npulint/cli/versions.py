"""``npulint versions``: which releases fit together."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.assemble.versions.specifiers import specifier_of
from npulint.assemble.versions.stacks import COLUMNS, Stack, stacks
from npulint.cli.catalogue import known_options
from npulint.cli.host import Host
from npulint.cli.rules import list_format
from npulint.config import load
from npulint.errors import NpulintError
from npulint.read.requirement import conda_requirement
from npulint.report.step.text import aligned
from npulint.settings import Settings
from npulint.texts import count, say

_SHOWN = 12  # rows
_TITLES = {"torch-npu": "torch_npu", "cann": "CANN", "python": "Python"}


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the releases that fit together and to the given ones; 1 if there are none."""
    shape = list_format(options, lang)
    settings = load([], known_options(options), host.environ)
    lang = settings.language()
    found = fitting(words, settings)
    if shape == "json":
        host.write(msgspec.json.format(msgspec.json.encode([one.releases for one in found]), indent=2).decode() + "\n")
    else:
        host.write(_table(found, lang))
    return 0 if found else 1


def fitting(words: Sequence[str], settings: Settings) -> list[Stack]:
    """The stacks that fit the requirements in `words` and the target. Raises `NpulintError`."""
    lang = settings.language()
    wanted = {name: f"=={text}.*" for name, text in settings.target.items() if name in COLUMNS and name != "cann"}
    wanted |= {"cann": f"=={settings.target['cann']}"} if "cann" in settings.target else {}
    for word in words:
        name, specifier = _requirement(word, lang)
        wanted[name] = specifier
    return list(stacks(wanted))


def _requirement(word: str, lang: str) -> tuple[str, str]:
    """Package and specifier of ``torch==2.7.1``; raises `NpulintError` for another text or an unknown package."""
    found = conda_requirement(word)
    if found is None or found[0] not in COLUMNS or (found[1] and specifier_of(found[1], found[0]) is None):
        raise NpulintError(say(lang, "versions.word", word=word, packages=", ".join(COLUMNS)))
    return found


def release_lines(found: Sequence[Stack], lang: str) -> list[str]:
    """A heading and a line for each stack; a sentence if there is none."""
    if not found:
        return [say(lang, "versions.none")]
    heads = tuple(_TITLES.get(package, package) for package in COLUMNS)
    rows = [tuple(_cell(one.releases[package], package) for package in COLUMNS) for one in found]
    return [line[2:] for line in aligned(heads, rows)]


def _table(found: Sequence[Stack], lang: str) -> str:
    lines = release_lines(found[:_SHOWN], lang)
    if not found:
        return f"{lines[0]}\n"
    more = [count(lang, "versions.more", len(found) - _SHOWN)] if len(found) > _SHOWN else []
    return "\n".join([*lines, *more, "", say(lang, "versions.note"), ""])


def _cell(releases: list[str], package: str) -> str:
    """Releases in a line: consecutive ones of Python as a range, otherwise the newest ones."""
    if package == "python" and len(releases) > 1:
        return f"{releases[0]}-{releases[-1]}"
    return ", ".join(releases[-2:]) or "-"

"""``npulint versions``: which releases fit together."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.commands.settings.config import load
from npulint.core.errors import NpulintError
from npulint.core.texts import count, say
from npulint.hosts.cli.catalogue import known_options
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.rules import list_format
from npulint.judge.settings import Settings
from npulint.read.requirement import conda_requirement
from npulint.recognizers.versions.specifiers import specifier_of
from npulint.recognizers.versions.stacks import BASE, COLUMNS, Stack, Unmatched, stacks, unmatched
from npulint.report.step.tables import aligned

_SHOWN = 12  # rows
_TITLES = {"torch-npu": "torch_npu", "cann": "CANN", "python": "Python"}


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the releases that fit together and to the given ones; 1 if there are none."""
    shape = list_format(options, lang)
    settings = load([], known_options(options), host.environ)
    lang = settings.language()
    fitting_releases = fitting(words, settings)
    if shape == "json":
        rows = [stack.releases for stack in fitting_releases.stacks]
        host.write(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode() + "\n")
        for sentence in _missing(fitting_releases.missing, lang):
            host.warn(sentence)
    else:
        host.write(_table(fitting_releases, lang))
    return 0 if fitting_releases.stacks else 1


class FittingReleases(msgspec.Struct, frozen=True):
    """The stacks that fit some requirements; if there are none, the requirements that no stack fulfils."""

    stacks: list[Stack]
    missing: list[Unmatched] = []


def fitting(words: Sequence[str], settings: Settings) -> FittingReleases:
    """The releases that fit the requirements in `words` and the target. Raises `NpulintError`."""
    lang = settings.language()
    wanted = {name: f"=={text}.*" for name, text in settings.target.items() if name in COLUMNS and name != "cann"}
    wanted |= {"cann": f"=={settings.target['cann']}"} if "cann" in settings.target else {}
    for word in words:
        name, specifier = _requirement(word, lang)
        wanted[name] = specifier
    fitting_stacks = list(stacks(wanted))
    return FittingReleases(fitting_stacks, [] if fitting_stacks else unmatched(wanted))


def _requirement(word: str, lang: str) -> tuple[str, str]:
    """Package and specifier of ``torch==2.7.1``; raises `NpulintError` for another text or an unknown package."""
    requirement = conda_requirement(word)
    if (
        requirement is None
        or requirement[0] not in COLUMNS
        or (requirement[1] and specifier_of(requirement[1], requirement[0]) is None)
    ):
        raise NpulintError(say(lang, "versions.word", word=word, packages=", ".join(COLUMNS)))
    return requirement


def release_lines(fitting_releases: FittingReleases, lang: str, most: int | None = None) -> list[str]:
    """A heading and a line for each stack, at most for `most`; sentences if there is none."""
    if not fitting_releases.stacks:
        return [say(lang, "versions.none"), *_missing(fitting_releases.missing, lang)]
    heads = tuple(_TITLES.get(package, package) for package in COLUMNS)
    rows = [
        tuple(_cell(stack.releases[package], package) for package in COLUMNS)
        for stack in fitting_releases.stacks[:most]
    ]
    return [line[2:] for line in aligned(heads, rows)]


def _missing(some: Sequence[Unmatched], lang: str) -> list[str]:
    """A sentence for each requirement that no stack fulfils, with the recorded releases next to it."""
    sentences = []
    for requirement in some:
        nearest = say(lang, "list.and").join(requirement.nearest)
        key = "versions.unrecorded" if requirement.package == BASE else "versions.without"
        name = _TITLES.get(requirement.package, requirement.package)
        sentences.append(
            count(lang, key, len(requirement.nearest), package=name, version=requirement.version, list=nearest)
        )
    return sentences


def _table(fitting_releases: FittingReleases, lang: str) -> str:
    lines = release_lines(fitting_releases, lang, _SHOWN)
    if not fitting_releases.stacks:
        return "".join(f"{line}\n" for line in lines)
    rest = len(fitting_releases.stacks) - _SHOWN
    more = [count(lang, "versions.more", rest)] if rest > 0 else []
    return "\n".join([*lines, *more, "", say(lang, "versions.note"), ""])


def _cell(releases: list[str], package: str) -> str:
    """Releases in a line: consecutive ones of Python as a range, otherwise the newest ones."""
    if package == "python" and len(releases) > 1:
        return f"{releases[0]}-{releases[-1]}"
    return ", ".join(releases[-2:]) or "-"

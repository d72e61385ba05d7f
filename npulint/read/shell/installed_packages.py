"""What the commands of pip and conda in a shell script install."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact, Span
from npulint.read.packages import Dependency, PackageIndex, PythonVersion, RequirementsFile, Via
from npulint.read.requirement import canonical, conda_requirement, cuda_index, is_wheel, requirement
from npulint.read.shell.tokens import Word
from npulint.read.shell.values import ExpandedArgument

CONDA = frozenset(("conda", "mamba", "micromamba"))
_MOST = 200  # arguments of one command
_INDEXES = frozenset(("-i", "-f", "--index-url", "--extra-index-url", "--find-links", "--index"))
_REQUIREMENTS = frozenset(("-r", "--requirement"))
_WITH_VALUE = _INDEXES | _REQUIREMENTS | {"-c", "--constraint", "-t", "--target", "--timeout", "--trusted-host"}
_CONDA_WITH_VALUE = frozenset(("-n", "--name", "-p", "--prefix", "-c", "--channel", "-f", "--file"))
_WHEEL = lazy_compile(r"(?:.*/)?(?P<name>[A-Za-z0-9][\w.]*)-(?P<version>\d[\w.+!%]*)-[^/]*\.whl")


class InstalledPackages:
    """Makes facts of what is installed in the file at `path`; `place` gives the span of a word."""

    def __init__(self, path: str, via: Via, place: Callable[[Word], Span]) -> None:
        self._path = path
        self._via = via
        self._place = place
        self._step = 0  # the number of the last command that installs

    def by_pip(self, fields: Sequence[ExpandedArgument], guarded: bool) -> Iterator[Fact]:
        """The facts of ``pip install …``; `guarded`: a condition decides whether it runs."""
        if len(fields) < 2 or fields[1].text != "install":
            return
        self._step += 1
        words = fields[2 : 2 + _MOST]
        other_index = any(field.text.partition("=")[0] in _INDEXES for field in words)
        option = ""
        for field in words:
            yield from self._index(field, guarded)
            name, equals, value = field.text.partition("=")
            if name in _REQUIREMENTS and equals:
                yield RequirementsFile(value, self._path, self._place(field.word), self._via, self._step)
            elif option in _REQUIREMENTS and field.known:
                yield RequirementsFile(field.text, self._path, self._place(field.word), self._via, self._step)
            elif option not in _WITH_VALUE and not field.text.startswith("-"):
                yield from self._package(field, other_index)
            option = field.text

    def by_conda(self, fields: Sequence[ExpandedArgument]) -> Iterator[Fact]:
        """The facts of ``conda create …`` and ``conda install …``: the interpreter."""
        if len(fields) < 2 or fields[1].text not in ("create", "install"):
            return
        option = ""
        for field in fields[2 : 2 + _MOST]:
            package = conda_requirement(field.text) if option not in _CONDA_WITH_VALUE and field.known else None
            if package and package[0] == "python" and package[1]:
                yield PythonVersion("python", self._path, self._place(field.word), package[1], self._via)
            option = field.text

    def _index(self, field: ExpandedArgument, guarded: bool) -> Iterator[Fact]:
        index = cuda_index(field.text) if "/cu" in field.text else None
        if index:
            url, cuda, _ = index
            yield PackageIndex(url, self._path, self._place(field.word), cuda, is_wheel(url), self._via, guarded)

    def _package(self, field: ExpandedArgument, other_index: bool) -> Iterator[Fact]:
        text = field.known
        if text is None:
            return
        wheel = _WHEEL.fullmatch(text)
        parsed: tuple[str, str] | None = None
        if wheel:
            parsed = canonical(wheel["name"]), f"=={wheel['version'].replace('%2B', '+')}"
        elif "/" not in text and not text.endswith(".whl"):
            parsed = requirement(text)
        if parsed:
            place = self._place(field.word)
            elsewhere = other_index or bool(wheel)
            yield Dependency(parsed[0], self._path, place, parsed[1], self._via, other_index=elsewhere, step=self._step)

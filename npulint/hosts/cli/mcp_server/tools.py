"""What the tools of the MCP server do: each gives a short answer in English or Chinese, in pages.

All run in the root folder, read inside it only, and raise `NpulintError` for what the agent can correct."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from npulint.commands.settings.config import load
from npulint.core.errors import NpulintError
from npulint.core.texts import count, say
from npulint.hosts.cli.catalogue import built_in, load_all, look_up
from npulint.hosts.cli.compare import compare_settings
from npulint.hosts.cli.port import port_settings
from npulint.hosts.cli.versions import fitting, release_lines
from npulint.judge.findings import RunResult
from npulint.judge.fix_results import FixResult
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.report.agent import AgentRow, described, heading, rows_of
from npulint.report.quoted import PATH, quoted
from npulint.report.rule_pages import page_of, pages_of
from npulint.report.summary import fixable
from npulint.report.terminal import escape_control_chars
from npulint.report.view import ReportView, visible

# The folder that the tools of the MCP server may read and change.


class Root:
    """A folder; no path of a tool leads out of it, by a link neither."""

    def __init__(self, folder: str, lang: str) -> None:
        self.folder = os.path.realpath(folder)
        self._lang = lang

    def inside(self, path: str) -> str:
        """The path relative to the folder, which is the working directory. Raises `NpulintError` for one that is
        outside or does not exist."""
        try:
            real = os.path.realpath(os.path.join(self.folder, path))
        except (OSError, ValueError):
            raise self._refused("mcp.absent", path) from None
        if not self.contains(real):
            raise self._refused("mcp.outside", path)
        if not os.path.exists(real):
            raise self._refused("mcp.absent", path)
        return os.path.relpath(real, self.folder)

    def all_inside(self, paths: Sequence[str]) -> list[str]:
        """The same for several; the folder itself if there are none."""
        return [self.inside(path) for path in paths] or ["."]

    def contains(self, location: str) -> bool:
        """Whether an absolute location, links followed, is the folder or below it."""
        real = os.path.realpath(location)
        return real == self.folder or real.startswith(self.folder.rstrip(os.sep) + os.sep)

    def _refused(self, key: str, path: str) -> NpulintError:
        return NpulintError(say(self._lang, key, path=escape_control_chars(path)[:200]))


# Pages of a long answer.

MOST = 200  # entries of a page

_Unit = TypeVar("_Unit")


def page(
    units: Sequence[_Unit], render: Callable[[Sequence[_Unit]], Iterable[str]], limit: int, cursor: str, lang: str
) -> str:
    """The lines of at most `limit` units from `cursor` on (empty: the beginning), and the cursor of the next page, if
    there is one. Raises `NpulintError` for a cursor that no page has named."""
    first = int(cursor) if cursor.isascii() and cursor.isdigit() and len(cursor) < 9 else -1 if cursor else 0
    if first < 0 or (first and first >= len(units)):
        raise NpulintError(say(lang, "mcp.cursor"))
    last = min(first + max(1, min(limit, MOST)), len(units))
    lines = list(render(units[first:last]))
    if last < len(units):
        lines += ["", say(lang, "mcp.page", first=first + 1, last=last, total=len(units), next=last)]
    return "\n".join(lines)


# Writes the fixes of checks, and says what was fixed.

_LISTED = 50  # fixed places


def fixed_places(settings: Settings, root: Root) -> str:
    """Fix the files of ``settings.paths`` below the root, and list the fixed places, those that were not, and how many
    fixes need review."""
    from npulint.commands.check.fix_command import apply_fixes
    from npulint.commands.check.pipeline import run
    from npulint.fix.write import as_written, remove_left_over, write_all

    def may_change(path: str) -> bool:
        return root.contains(os.path.join(root.folder, path))

    fixes = apply_fixes(settings, settings.unsafe_fixes, may_change=may_change)
    remove_left_over(fixes.folders)
    failed = write_all(fixes)
    if failed:
        fixes = as_written(fixes, failed, run(settings))
    return "\n".join(_told(fixes, settings))


def _told(fixes: FixResult, settings: Settings) -> Iterator[str]:
    from npulint.report.fix_summary import why

    lang = settings.language()
    yield say(lang, "agent.quoted")
    yield count(lang, "mcp.fixed", len(fixes.fixed))
    yield from (f"{fix.code} {fix.name} @ {quoted(fix.path, PATH)}:{fix.line}" for fix in fixes.fixed[:_LISTED])
    if len(fixes.fixed) > _LISTED:
        yield say(lang, "mcp.more", n=len(fixes.fixed) - _LISTED)
    if fixes.refused:
        yield say(lang, "mcp.refused")
    for refusal in fixes.refused[:_LISTED]:
        place = f"{quoted(refusal.path, PATH)}:{refusal.line}"
        yield f"{refusal.code} {refusal.name} @ {place} {quoted(why(refusal, lang))}"
    unsafe = 0 if settings.unsafe_fixes else fixable(fixes.result.findings)["unsafe"]
    if unsafe:
        yield count(lang, "mcp.unsafe", unsafe)
    if fixes.fixed:
        yield say(lang, "agent.verify")


_LOG_NAME = "pasted.log"
_LOG_MOST = 400_000  # characters of a log that is passed as text
_RUN_CHECKS = "NPU5"  # the codes of the family run


class Tools:
    """The tools of one server. `environ` are the environment variables of npulint."""

    def __init__(self, root: Root, environ: Mapping[str, str], lang: str) -> None:
        self.root = root
        self.lang = lang
        self._environ = environ

    def check(
        self,
        paths: Sequence[str],
        select: Sequence[str],
        severity: str,
        target: Mapping[str, str],
        limit: int,
        cur: str,
    ) -> str:
        """The findings of the checks in some files."""
        words = {"select": list(select), "min_severity": [severity]}
        settings = self._settings(self.root.all_inside(paths), words, target)
        from npulint.commands.check.pipeline import run

        return self._report(run(settings), settings, limit, cur)

    def explain(self, code: str, limit: int, cur: str) -> str:
        """The page of a check, in pages of lines."""
        settings = built_in(self._settings([], {}, {}))
        text = page_of(look_up(code, load_all(settings), self.lang), self.lang)
        return page(text.rstrip().split("\n"), lambda some: some, limit, cur, self.lang)

    def port_plan(
        self, project: str, style: str, entry: Sequence[str], target: Mapping[str, str], limit: int, cur: str
    ) -> str:
        """The plan of a port."""
        path = self.root.inside(project)
        if not os.path.isdir(path):
            raise NpulintError(say(self.lang, "port.no-project", path=path))
        settings = port_settings(self._settings([path], {}, target))
        from npulint.commands.port.agent import begun, rendered, units
        from npulint.commands.port.plan import plan_port

        plan = plan_port(settings, style, list(entry), None)
        lines = page(units(plan, self.lang), rendered, limit, cur, self.lang)
        return lines if cur else "\n".join([*begun(plan, self.lang), lines])

    def apply_fix(self, codes: Sequence[str], paths: Sequence[str], unsafe: bool, target: Mapping[str, str]) -> str:
        """Write the fixes of some checks, and name the fixed places."""
        if not any(code.strip() for code in codes):
            raise NpulintError(say(self.lang, "mcp.codes"))
        settings = self._settings(self.root.all_inside(paths), {"select": list(codes)}, target)
        return fixed_places(msgspec.structs.replace(settings, unsafe_fixes=unsafe), self.root)

    def compare(self, reference: str, migrated: str, limit: int, cur: str) -> str:
        """The differences between two projects, and the checklist."""
        before, after = self.root.inside(reference), self.root.inside(migrated)
        settings = compare_settings(self._settings([after], {"reference": [before]}, {}), {}, before)
        from npulint.commands.compare.compare_command import compare

        return self._report(compare(settings, before), settings, limit, cur)

    def versions(self, packages: Sequence[str], limit: int, cur: str) -> str:
        """Releases that fit together, a line each."""
        head, *rows = release_lines(fitting(list(packages), self._settings([], {}, {})), self.lang)
        lines = page(rows, lambda some: some, limit, cur, self.lang)
        return f"{head}\n{lines}"

    def diagnose_log(self, path: str, text: str, limit: int, cur: str) -> str:
        """The causes that a log shows."""
        if bool(path) == bool(text):
            raise NpulintError(say(self.lang, "mcp.one-log"))
        words = {"select": [_RUN_CHECKS], "min_severity": ["warning"]}
        settings = self._settings([self.root.inside(path)] if path else [], words, {})
        if path:
            from npulint.commands.check.pipeline import run

            result = run(settings)
        else:  # a project of its own: the files of the root have nothing to do with it
            from npulint.commands.examples import check_sources
            from npulint.judge.catalogue.load import load_catalogue

            catalogue = load_catalogue(settings.checks, whole=False)
            result = check_sources({_LOG_NAME: text[:_LOG_MOST]}, {}, catalogue, self.lang)
        if not result.findings and not result.unreadable:
            return say(self.lang, "mcp.log.none")
        return self._report(result, settings, limit, cur)

    def _settings(self, paths: Sequence[str], words: Mapping[str, list[str]], target: Mapping[str, str]) -> Settings:
        """The settings of a run in this process, since a server forks no others. Raises `ConfigError`."""
        given = {name: value for name, value in words.items() if value}
        pairs = [f"{key}={value}" for key, value in target.items()]
        given |= {"jobs": ["1"], "lang": [self.lang], **({"target": pairs} if pairs else {})}
        return load(paths, given, self._environ)

    def _report(self, result: RunResult, settings: Settings, limit: int, cur: str) -> str:
        """A page of the findings below the root; the first one begins with the counts."""
        from npulint.fix.code_actions import with_edits

        inside = [
            finding for finding in result.findings if self.root.contains(os.path.join(self.root.folder, finding.path))
        ]
        result = with_edits(msgspec.structs.replace(result, findings=inside), settings)
        view = ReportView(
            lang=self.lang,
            shown_from=settings.shown_from("agent"),
            lines=FileLines(settings.piped(), settings.boundary()),
            page=pages_of(built_in(settings)),
        )

        def rendered(some: Sequence[AgentRow]) -> Iterable[str]:
            return described(some, view)

        lines = page(rows_of(visible(result, view), view, result.programs), rendered, limit, cur, self.lang)
        if cur:
            return "\n".join([say(self.lang, "agent.quoted"), lines])
        return "\n".join([*heading(result, view), lines, say(self.lang, "agent.verify")])

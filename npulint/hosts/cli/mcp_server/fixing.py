"""Writes the fixes of checks, and says what was fixed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from npulint.core.texts import count, say
from npulint.hosts.cli.mcp_server.root import Root
from npulint.judge.fix_results import FixResult
from npulint.judge.settings import Settings
from npulint.report.quoted import PATH, quoted
from npulint.report.summary import fixable

_LISTED = 50  # fixed places


def fixed_places(settings: Settings, root: Root) -> str:
    """Fix the files of ``settings.paths`` below the root, and list the fixed places, those that were not, and how many
    fixes need review."""
    from npulint.commands.check.fix_command import apply_fixes
    from npulint.commands.check.pipeline import run
    from npulint.fix.written import as_written, remove_left_over, write_all

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

"""``npulint check --add-ignore``: suppresses the current findings by comments."""

from __future__ import annotations

from collections.abc import Mapping

from npulint.core.errors import ConfigError
from npulint.core.texts import count, say
from npulint.fix.ignoring import AddedIgnores, add_ignores
from npulint.fix.write import write_all
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.reporting import fruitless, warn_of_nothing
from npulint.judge.findings import Finding
from npulint.judge.fix_results import FixResult, Refusal
from npulint.judge.settings import Settings
from npulint.report.fix_summary import why
from npulint.report.terminal import escape_control_chars, leading
from npulint.report.view import ReportView, visible

_ROUNDS = 5  # a suppressed finding may have stood for others at its place
_LISTED = 10


def run(settings: Settings, host: Host, lang: str) -> int:
    """Write the comments, say how many, and return the exit code: 2 when a file cannot be written or nothing can be
    read, else 0. Findings that the report would not show are not suppressed."""
    lang = settings.language()
    if settings.stdin is not None:
        raise ConfigError([say(lang, "bad.combination", one="-", other="--add-ignore")])
    changed, suppressed, failed = set[str](), 0, dict[str, Refusal]()
    for _ in range(_ROUNDS):
        result = host.watched(host.run, settings, lang)
        findings = visible(result, ReportView(lang=lang, shown_from=settings.shown_from(settings.format)))
        added = add_ignores((finding for finding in findings if finding.path not in failed), settings.paths)
        if not added.files:
            break
        failed |= write_all(FixResult(added.files, [], [], result))
        changed |= {file.path for file in added.files} - failed.keys()
        suppressed += sum(number for path, number in added.suppressed.items() if path not in failed)
    _tell_failed(failed, host, lang)
    if not settings.quiet:
        host.write(_told(suppressed, len(changed), added, lang))
    warn_of_nothing(result, settings, host)
    return 2 if failed or fruitless(result, settings) else 0


def _tell_failed(failed: Mapping[str, Refusal], host: Host, lang: str) -> None:
    """Name each file that was not written."""
    for refusal in failed.values():
        text = say(lang, "fixes.not-written", path=refusal.path, detail=why(refusal, lang))
        host.warn(say(lang, "error", text=text))


def _told(suppressed: int, files: int, added: AddedIgnores, lang: str) -> str:
    """What was written, and which findings cannot be suppressed by a comment."""
    where = count(lang, "fixes.files", files)
    lines = [count(lang, "ignores.added", suppressed, files=where) if suppressed else say(lang, "ignores.none")]
    if added.left:
        lines.append(count(lang, "ignores.left", len(added.left)))
        lines += [_place(finding) for finding in added.left[:_LISTED]]
        if len(added.left) > _LISTED:
            lines.append(f"  {count(lang, 'group.more', len(added.left) - _LISTED)}")
    return "".join(f"{line}\n" for line in lines)


def _place(finding: Finding) -> str:
    return f"  {escape_control_chars(leading(finding.path))}:{finding.span.line}  {finding.name}"

"""``npulint check --fix`` and ``--diff``: applies or shows fixed, then reports what is left."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from npulint.core.errors import ConfigError
from npulint.core.texts import say
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.outputs import STANDARD_OUTPUT
from npulint.hosts.cli.reference import with_comparison
from npulint.hosts.cli.reporting import fruitless, report, reports_to_files, warn_of_nothing
from npulint.judge.fix_results import FixResult, Refusal
from npulint.judge.settings import PEOPLE_FORMATS, Settings
from npulint.report.fix_summary import reason, summary_lines
from npulint.report.summary import fixable
from npulint.report.terminal import Paint, is_terminal, plain_line, wants_color
from npulint.report.view import ReportView

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def fix(settings: Settings, host: Host, lang: str) -> int:
    """Apply or show fixes and return the exit code. Each file is written completely or not at all: 2 when one cannot be
    written, else as for a check of the fixed files. ``--diff`` alone returns 1 when the patch is not empty. When a file
    was not written, the files are checked again, so that the report is about what they contain."""
    _only_one(settings)
    fixed = host.watched(host.fix, settings, lang)
    if settings.diff:
        return _show(fixed, settings, host)
    if settings.stdin is not None:
        return _pass_on(fixed, settings.stdin, settings, host)
    failed = write_files(fixed, host, lang)
    if failed:
        from npulint.fix.write import as_written

        fixed = as_written(fixed, failed, host.watched(host.run, settings, lang))
    _tell_refused(fixed, failed, settings, host)
    result = with_comparison(fixed.result, settings, host)
    if settings.fix_only and settings.format in PEOPLE_FORMATS:
        _tell_fixed(fixed, settings, host)
        code = reports_to_files(result, settings, host, fixed)
    else:
        code = report(result, settings, host, fixed)
    return 2 if failed else exit_code_after(code, bool(fixed.files), settings)


def write_files(fixes: FixResult, host: Host, lang: str) -> dict[str, Refusal]:
    """Write the files of fixes; returns the refusals of those that stay as they were, by path. First removes what
    killed runs have left, and warns of each file that one may have left incomplete."""
    from npulint.fix.write import remove_left_over, write_all

    for file, copy in remove_left_over(fixes.folders):
        host.warn(say(lang, "fixes.interrupted", path=file, copy=copy))
    return write_all(fixes)


def exit_code_after(code: int, changed: bool, settings: Settings) -> int:
    """The exit code after fixes: `code` is that of the report, `changed` says whether files were."""
    if code > 1 or settings.exit_zero:
        return code
    if settings.exit_non_zero_on_fix and changed:
        return 1
    return 0 if settings.fix_only else code


def _tell_fixed(fixed: FixResult, settings: Settings, host: Host) -> None:
    """Print what was fixed, and not what is left."""
    if not settings.quiet:
        color = wants_color(settings.color, host.stdout, host.environ)
        view = ReportView(
            lang=settings.language(),
            color=color,
            verbose=settings.verbose,
            fixes=settings.show_fixes,
            unsafe=settings.unsafe_fixes,
        )
        unsafe = 0 if settings.unsafe_fixes else fixable(fixed.result.findings)["unsafe"]
        host.write("".join(f"{line}\n" for line in summary_lines(fixed, unsafe, view)))


def _only_one(settings: Settings) -> None:
    """Raise `ConfigError` when both the fixed source and a report would go to standard output."""
    if settings.stdin is None or settings.diff:
        return
    twice = [f"{name}={path}" for name, path in settings.output if path in STANDARD_OUTPUT]
    if twice:
        raise ConfigError([say(settings.language(), "bad.combination", one="--fix -", other=f"--output {twice[0]}")])


def _tell_refused(fixed: FixResult, failed: Mapping[str, Refusal], settings: Settings, host: Host) -> None:
    """Name on standard error each file that was not written, and each link with fixes."""
    lang = settings.language()
    for refusal in failed.values():
        text = say(lang, "fixes.not-written", path=refusal.path, detail=reason(refusal, lang))
        host.warn(say(lang, "error", text=text))
    links = {
        path: refusal
        for refusal in fixed.refused
        if refusal.reason == "link"
        for path in refusal.files or (refusal.path,)
    }
    for path in sorted(links.keys() - failed.keys()):
        host.warn(say(lang, "fixes.not-written", path=path, detail=reason(links[path], lang)))


def _pass_on(fixed: FixResult, source: bytes, settings: Settings, host: Host) -> int:
    """Write the source from standard input, fixed or not, to standard output; the report goes elsewhere."""
    after = next((file.after for file in fixed.files if file.path == settings.stdin_filename), source)
    host.put(after)
    settings = msgspec.structs.replace(settings, stdin=after)
    print_reports = reports_to_files if settings.fix_only else report
    code = print_reports(fixed.result, settings, host, fixed)
    return exit_code_after(code, bool(fixed.files), settings)


def _show(fixed: FixResult, settings: Settings, host: Host) -> int:
    """Print the patch to standard output and its summary to standard error."""
    from npulint.fix.diff import unified
    from npulint.report.github import fenced

    patch = unified(fixed.files)
    if settings.format == "github":
        host.put(fenced(patch))
    elif is_terminal(host.stdout):
        host.write(_readable(patch, Paint(wants_color(settings.color, host.stdout, host.environ))))
    else:
        host.put(patch)
    for notice in fixed.result.notices if not settings.quiet else ():
        host.warn(notice)
    view = ReportView(
        lang=settings.language(),
        verbose=settings.verbose,
        fixes=settings.show_fixes,
        unsafe=settings.unsafe_fixes,
        applied=fixed,
        dry=True,
    )
    unsafe = 0 if settings.unsafe_fixes else fixable(fixed.result.findings)["unsafe"]
    if not settings.quiet:
        host.warn("\n".join(summary_lines(fixed, unsafe, view)))
    warn_of_nothing(fixed.result, settings, host)
    if fruitless(fixed.result, settings):
        return 2
    return 1 if fixed.files and not settings.exit_zero else 0


def _readable(patch: bytes, paint: Paint) -> str:
    """The patch with colors and escaped control characters, for a terminal."""
    rows = []
    for line in patch.decode("utf-8", "backslashreplace").split("\n")[:-1]:
        color = _COLORS.get(line[:1], "")
        shown = plain_line(line.replace("\t", "    ").rstrip("\r"))
        rows.append(f"{paint(color, shown) if color else shown}\n")
    return "".join(rows)

"""``npulint check --fix`` and ``--diff``: mend, write or show, then report what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from npulint.cli.host import Host
from npulint.cli.outputs import STANDARD_OUTPUT
from npulint.cli.reference import beside_reference
from npulint.cli.reporting import fruitless, report, warn_of_nothing
from npulint.errors import ConfigError
from npulint.findings import Finding, RunResult
from npulint.fix.model import FileChange, FixResult
from npulint.report.fix_summary import told
from npulint.report.summary import fixable
from npulint.report.terminal import Paint, is_terminal, plain_line, wants_color
from npulint.report.view import ReportView
from npulint.settings import Settings
from npulint.texts import say

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def fix(settings: Settings, host: Host, lang: str) -> int:
    """Mend what can be mended; the exit code. Files are written one by one, each whole or not at all: 2 when one cannot
    be written, else as for any run over what is left. A patch alone gives 1 when there is something in it."""
    _only_one(settings)
    mended = host.watched(host.mend, settings, lang)
    if settings.diff:
        return _show(mended, settings, host)
    if settings.stdin is not None:
        return _pass_on(mended, settings.stdin, settings, host)
    failed = _write(mended.files, host, settings.language())
    kept = [one for one in mended.files if one.path not in failed]
    result = beside_reference(mended.result, settings, host)
    code = report(result, settings, host, msgspec.structs.replace(mended, files=kept))
    return 2 if failed else code


def _only_one(settings: Settings) -> None:
    """Standard output holds a mended source or a report. Raises `ConfigError`."""
    if settings.stdin is None or settings.diff:
        return
    twice = [f"{name}={path}" for name, path in settings.output if path in STANDARD_OUTPUT]
    if twice:
        raise ConfigError([say(settings.language(), "bad.combination", one="--fix -", other=f"--output {twice[0]}")])


def _write(changes: Sequence[FileChange], host: Host, lang: str) -> set[str]:
    """Write the files; the paths of those that cannot be, which stay as they are."""
    from npulint.fix.write import why, write

    failed = set()
    for change in changes:
        try:
            write(change)
        except OSError as error:
            text = say(lang, "fixes.not-written", path=change.path, detail=why(error, lang))
            host.warn(say(lang, "error", text=text))
            failed.add(change.path)
    return failed


def _pass_on(mended: FixResult, source: bytes, settings: Settings, host: Host) -> int:
    """The source from standard input goes on to standard output, mended or not; the report goes elsewhere."""
    after = next((one.after for one in mended.files if one.path == settings.stdin_filename), source)
    host.put(after)
    return report(mended.result, msgspec.structs.replace(settings, stdin=after), host, mended)


def _show(mended: FixResult, settings: Settings, host: Host) -> int:
    """The patch, and on the other stream what is in it."""
    from npulint.fix.diff import unified
    from npulint.report.github import fenced

    patch = unified(mended.files)
    if settings.format == "github":
        host.put(fenced(patch))
    elif is_terminal(host.stdout):
        host.write(_readable(patch, Paint(wants_color(settings.color, host.stdout, host.environ))))
    else:
        host.put(patch)
    for notice in mended.result.notices:
        host.warn(notice)
    view = ReportView(
        lang=settings.language(),
        verbose=settings.verbose,
        fixes=settings.show_fixes,
        unsafe=settings.unsafe_fixes,
        mended=mended,
        dry=True,
    )
    unsafe = 0 if settings.unsafe_fixes else fixable(mended.result.findings)["unsafe"]
    host.warn("\n".join(told(mended, unsafe, view)))
    warn_of_nothing(mended.result, settings, host)
    if fruitless(mended.result, settings):
        return 2
    return 1 if mended.files and not settings.exit_zero else 0


def _readable(patch: bytes, paint: Paint) -> str:
    """The patch for a person at a terminal: nothing in it is obeyed there."""
    rows = []
    for line in patch.decode("utf-8", "backslashreplace").split("\n")[:-1]:
        color = _COLORS.get(line[:1], "")
        shown = plain_line(line.replace("\t", "    ").rstrip("\r"))
        rows.append(f"{paint(color, shown) if color else shown}\n")
    return "".join(rows)


def with_edits(result: RunResult, settings: Settings) -> RunResult:
    """The result with the edits that mend each finding, worked out for the files as they are."""
    from npulint.fix.code_actions import Files, edits_of
    from npulint.fix.model import FixRefused

    files = Files(_reading(settings.piped()))
    found: list[Finding] = []
    for one in result.findings:
        if one.fix.changes:
            try:
                edits = edits_of(one, files, unsafe=True)
            except FixRefused:
                edits = ()
            one = msgspec.structs.replace(one, fix=msgspec.structs.replace(one.fix, edits=edits))
        found.append(one)
    return msgspec.structs.replace(result, findings=found)


def _reading(piped: dict[str, bytes]) -> Callable[[str], bytes | None]:
    from npulint.discover.safe_open import read_regular
    from npulint.read.files import LIMIT

    def bytes_of(path: str) -> bytes | None:
        if path in piped:
            return piped[path]
        try:
            return read_regular(path, LIMIT)
        except (OSError, ValueError):
            return None

    return bytes_of

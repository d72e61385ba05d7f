"""GitHub Actions log: workflow commands that annotate lines, then the text report.

GitHub keeps ten annotations per severity and step and fifty per job, so they are sorted most severe first, and each
check gets one before any gets a second. Omitted ones are counted; the report lists every finding. ``stop-commands``
fences the report, so that no source, path or message in it is executed. The fence token is a digest of the report,
which therefore cannot contain it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from npulint.core.digest import blake2b
from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say
from npulint.judge.findings import CONFIDENCES, SEVERITIES, Finding, RunResult
from npulint.report import text
from npulint.report.terminal import UNSEEN, escape_control_chars, escaped_character
from npulint.report.view import ReportView, in_repository, visible

COMMAND = {"error": "error", "warning": "warning", "note": "notice"}
PER_SEVERITY = 10  # annotations kept per step
LONGEST = 4096  # UTF-16 units of a message; the runner cuts the rest
_CATEGORIES = ("functional", "precision", "performance", "hygiene")
_CONTROL = lazy_compile(f"[\x00-\x1f{UNSEEN}]")


def render(result: RunResult, view: ReportView) -> str:
    """The annotations in a collapsed group, the number of omitted ones, and the text report."""
    findings = visible(result, view)
    chosen = _chosen(findings)
    lines = []
    if chosen:
        lines.append(command("group", count(view.lang, "github.group", len(chosen))))
        lines += [_annotation(finding, view) for finding in chosen]
        lines.append(command("endgroup", ""))
    rest = len(findings) - len(chosen)
    if rest:
        notice = count(view.lang, "github.rest", rest, total=len(findings), limit=PER_SEVERITY)
        lines.append(command("notice", notice, title="npulint"))
    report = text.render(result, msgspec.structs.replace(view, ungrouped=True))
    word = _word(report.encode("utf-8", "surrogatepass"))
    return "".join(f"{line}\n" for line in (*lines, command("stop-commands", word))) + f"{report}::{word}::\n"


def fenced(data: bytes) -> bytes:
    """Bytes for the log whose workflow commands are not executed; a patch stays valid between such lines."""
    word = _word(data)
    return f"{command('stop-commands', word)}\n".encode() + data + f"::{word}::\n".encode() if data else data


def _word(data: bytes) -> str:
    """The token that ends a fence around `data`."""
    return f"npulint-{blake2b(data, digest_size=16).hexdigest()}"


def command(name: str, message: str, /, **properties: str | int) -> str:
    """A workflow command on one line; empty properties are omitted."""
    words = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value != "")
    return f"::{name}{' ' if words else ''}{words}::{_data(message)}"


def _data(value: str) -> str:
    plain = value.encode("utf-8", "backslashreplace").decode()
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _chosen(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that get an annotation, most severe first. One notice is reserved for the number of omitted ones."""
    numbers: Counter[str] = Counter()
    keyed = []
    for place, finding in enumerate(findings):
        weight = (-SEVERITIES.index(finding.severity), numbers[finding.code], *_weight(finding), place)
        numbers[finding.code] += 1
        keyed.append((weight, finding))
    ordered = [finding for _, finding in sorted(keyed, key=lambda pair: pair[0])]
    room = dict.fromkeys(COMMAND, PER_SEVERITY)
    if any(n > PER_SEVERITY for n in Counter(finding.severity for finding in findings).values()):
        room["note"] -= 1
    chosen = []
    for finding in ordered:
        if room[finding.severity]:
            room[finding.severity] -= 1
            chosen.append(finding)
    return chosen


def _weight(finding: Finding) -> tuple[int, int]:
    """Sort key: functional problems before precision before others, highest confidence first."""
    return _CATEGORIES.index(finding.category), -CONFIDENCES.index(finding.confidence)


def _annotation(finding: Finding, view: ReportView) -> str:
    title = escape_control_chars(f"{finding.name} ({finding.code})")
    return command(
        COMMAND[finding.severity],
        _message(finding, view.lang),
        file=_file(finding.path, view.folder),
        **_place(finding),
        title=title,
    )


def _place(finding: Finding) -> dict[str, int]:
    """Line properties, with columns only for a single line, as the runner requires."""
    first = max(1, finding.span.line)
    last = max(first, finding.span.end_line)
    place = {"line": first, "endLine": last}
    if first == last:
        column = max(1, finding.span.column)
        place |= {"col": column, "endColumn": max(column, finding.span.end_column)}
    return place


def _file(path: str, folder: str) -> str:
    """The path from the repository root. The runner drops a leading equals sign; control characters are escaped."""
    path = _CONTROL.sub(escaped_character, path)
    path = in_repository(path, folder)
    return f"./{path}" if path.startswith("=") else path


def _message(finding: Finding, lang: str) -> str:
    lines = [finding.message]
    lines += [f"{say(lang, key)}: {text}" for key, text in (("why", finding.why), ("fix", finding.fix.text)) if text]
    body = "\n".join(escape_control_chars(" ".join(line.split())) for line in lines)
    url = escape_control_chars(finding.url)
    room = LONGEST - _units(url) - 1
    return "\n".join(filter(None, (_cut(body, room), url))) if room > 0 else _cut(body, LONGEST)


def _units(text: str) -> int:
    """The length of a text in UTF-16 units, as the runner counts."""
    return len(text) + sum(char > "\uffff" for char in text)


def _cut(text: str, room: int) -> str:
    """The beginning of a text, at most `room` UTF-16 units."""
    if _units(text) <= room:
        return text
    kept = text[: room - 1]
    while _units(kept) > room - 1:
        kept = kept[: len(kept) - max(1, (_units(kept) - room + 1) // 2)]
    return kept + "…"

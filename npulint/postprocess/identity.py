"""What identifies a finding beyond its place: a fingerprint that survives moved lines, and the page of its check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from npulint.digest import blake2b
from npulint.findings import Finding
from npulint.lazy_regex import lazy_compile
from npulint.source_lines import LineProvider

_STAMP = lazy_compile(r"(?<=PROF_)\d{6}_\d{17}_\w+|\d{4,}")


def identified(findings: Sequence[Finding], lines: LineProvider, page: Callable[[str, str], str]) -> list[Finding]:
    """The findings with fingerprint and address. A fingerprint is made of path, code, the text of the line (or the
    message, where no text is at hand), and how many of the same came before. `findings` are in their final order;
    `page` tells the address for the code and name of a check."""
    seen: Counter[tuple[str, str, str]] = Counter()
    marked = []
    for finding in findings:
        text = line_text(finding, lines) or finding.message
        path = unstamped(finding.path) if finding.artifact_location is not None else finding.path
        identity = (path, finding.code, text)
        fingerprint = _digest(*identity, str(seen[identity]))
        url = page(finding.code, finding.name)
        marked.append(msgspec.structs.replace(finding, fingerprint=fingerprint, url=url))
        seen[identity] += 1
    return marked


def pages(site: str, lang: str, foreign: Sequence[str]) -> Callable[[str, str], str]:
    """The addresses of checks on the documentation `site`; those of the user (`foreign` codes) have none."""
    root = f"{site.rstrip('/')}/{lang}/checks/" if site else ""
    without = frozenset(foreign)
    return lambda code, name: f"{root}{name}/" if root and code not in without else ""


def unstamped(path: str) -> str:
    """The path of an artifact without the times, processes and letters of chance by which profilers name files."""
    return _STAMP.sub("*", path)


def line_text(finding: Finding, lines: LineProvider) -> str:
    """The line where the finding stands, its blanks made even; nothing when there is no such line. In the file of a
    graph all lines are alike, and in an artifact of a run they are others each time: what the finding is about stands
    for them."""
    if finding.subject and finding.path == finding.program:
        return finding.subject
    if finding.artifact_location is not None and finding.path == finding.artifact_location.path:
        return finding.artifact_location.about
    source = lines(finding.path)
    number = finding.span.line
    return " ".join(source[number - 1].split()) if 0 < number <= len(source) else ""


def _digest(*parts: str) -> str:
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=10).hexdigest()

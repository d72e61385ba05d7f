"""Fingerprints, which survive moved lines, and documentation URLs of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from npulint.core.digest import blake2b
from npulint.core.lazy_regex import lazy_compile
from npulint.judge.findings import Finding
from npulint.judge.source_lines import LineProvider

_STAMP = lazy_compile(r"(?<=PROF_)\d{6}_\d{17}_\w+|\d{4,}")


def identified(findings: Sequence[Finding], lines: LineProvider, page: Callable[[str, str], str]) -> list[Finding]:
    """The findings (sorted) with fingerprint and documentation URL. A fingerprint is a digest of path, code, line text
    (or message, without source), and the number of equal ones before. `page` returns the URL for code and name of a
    check."""
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
    """A function to the URL of a check on the documentation `site`; empty for checks of the user (`foreign` codes)."""
    root = f"{site.rstrip('/')}/{lang}/checks/" if site else ""
    without = frozenset(foreign)
    return lambda code, name: f"{root}{name}/" if root and code not in without else ""


def unstamped(path: str) -> str:
    """The path of an artifact without the timestamps, process ids and random parts in file names of profilers."""
    return _STAMP.sub("*", path)


def line_text(finding: Finding, lines: LineProvider) -> str:
    """The text of the finding's line with normalized whitespace; empty if there is none. Findings in graph files and
    run artifacts are identified by what they are about, since lines there are all alike or differ in every run."""
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

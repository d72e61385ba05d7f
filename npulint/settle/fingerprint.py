"""Fingerprints: the identity of a finding that survives inserted and moved lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from npulint.digest import blake2b
from npulint.findings import Finding
from npulint.lines import Lines


def with_fingerprints(findings: Sequence[Finding], lines: Lines) -> list[Finding]:
    """The findings with their fingerprints: path, code, the text of the line (or the message, where no
    text is at hand), and how many of the same came before. `findings` are in their final order."""
    seen: Counter[tuple[str, str, str]] = Counter()
    marked = []
    for finding in findings:
        text = " ".join(_line(lines(finding.path), finding.span.line).split()) or finding.message
        identity = (finding.path, finding.code, text)
        marked.append(msgspec.structs.replace(finding, fingerprint=_digest(*identity, str(seen[identity]))))
        seen[identity] += 1
    return marked


def _line(lines: Sequence[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _digest(*parts: str) -> str:
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=10).hexdigest()

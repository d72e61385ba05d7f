"""Decides which findings are published, and drops outdated ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from npulint.judge.findings import Finding

QUICK = 0.03  # seconds to wait for more edits
PATIENT = 0.1  # the same when runs are slow: an edit during a run makes it begin again
_LONG = 0.3  # seconds from which a run counts as slow


def pause(seconds: float) -> float:
    """The debounce delay in seconds after an edit, when the last run took `seconds`."""
    return QUICK if seconds < _LONG else PATIENT


def shown_elsewhere(
    findings: Mapping[str, Sequence[Finding]], opened: Collection[str], near: Collection[str], scope: str
) -> dict[str, list[Finding]]:
    """The findings to show in files that are not open. With scope ``errors``, the errors in projects of open files,
    because these programs fail for a reason in another file."""
    if scope == "open":
        return {}
    chosen: dict[str, list[Finding]] = {}
    for path, some in findings.items():
        if path in opened or (scope == "errors" and path not in near):
            continue
        kept = [finding for finding in some if scope == "workspace" or finding.severity == "error"]
        if kept:
            chosen[path] = kept
    return chosen


class DiagnosticsPublisher:
    """The published diagnostics by URI, so that only changes are sent."""

    def __init__(self, send: Callable[[str, int | None, list[object]], None]) -> None:
        self._send = send
        self._published: dict[str, tuple[int | None, list[object]]] = {}

    def show(self, uri: str, version: int | None, diagnostics: Iterable[object]) -> None:
        """Publish diagnostics for a URI, unless unchanged or for an older version than published."""
        some = list(diagnostics)
        before = self._published.get(uri)
        if before is not None and before[0] is not None and version is not None and version < before[0]:
            return
        if before == (version, some) or (before is None and not some and version is None):
            return
        if some or version is not None:
            self._published[uri] = (version, some)
        else:
            self._published.pop(uri, None)
        self._send(uri, version, some)

    def forget(self, uri: str) -> None:
        """Clear the diagnostics of a closed document and forget its version."""
        if uri in self._published:
            shown = self._published.pop(uri)[1]
            if shown:
                self._send(uri, None, [])

    def only(self, uris: Collection[str]) -> None:
        """Clear the diagnostics of all other URIs."""
        for uri in [uri for uri in self._published if uri not in uris]:
            self.forget(uri)

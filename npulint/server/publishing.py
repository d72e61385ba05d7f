"""Which findings the editor shows now, and which runs may still say something about a document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from npulint.findings import Finding

QUICK = 0.03  # seconds to wait for more to be typed
PATIENT = 0.5  # the same where a run takes long
_LONG = 0.3  # seconds of a run that people wait for


def pause(seconds: float) -> float:
    """How long to wait after something was typed, when the last run took `seconds`."""
    return QUICK if seconds < _LONG else min(PATIENT, seconds / 2)


def shown_elsewhere(
    findings: Mapping[str, Sequence[Finding]], opened: Collection[str], near: Collection[str], scope: str
) -> dict[str, list[Finding]]:
    """The findings that are shown in files that are not open. By the scope ``errors`` those are the errors of the
    projects of open files: a program is broken there, though its reason stands in another file."""
    if scope == "open":
        return {}
    chosen: dict[str, list[Finding]] = {}
    for path, some in findings.items():
        if path in opened or (scope == "errors" and path not in near):
            continue
        kept = [one for one in some if scope == "workspace" or one.severity == "error"]
        if kept:
            chosen[path] = kept
    return chosen


class Board:
    """What the editor was told, by address, so that it is told again only what is new."""

    def __init__(self, tell: Callable[[str, int | None, list[object]], None]) -> None:
        self._tell = tell
        self._told: dict[str, tuple[int | None, list[object]]] = {}

    def show(self, uri: str, version: int | None, diagnostics: Iterable[object]) -> None:
        """Tell what there is at an address. An answer about an older version than the one told is dropped."""
        some = list(diagnostics)
        before = self._told.get(uri)
        if before is not None and before[0] is not None and version is not None and version < before[0]:
            return
        if before == (version, some) or (before is None and not some and version is None):
            return
        if some or version is not None:
            self._told[uri] = (version, some)
        else:
            self._told.pop(uri, None)
        self._tell(uri, version, some)

    def forget(self, uri: str) -> None:
        """The document was closed: its versions start anew, and nothing is shown."""
        if uri in self._told:
            shown = self._told.pop(uri)[1]
            if shown:
                self._tell(uri, None, [])

    def only(self, uris: Collection[str]) -> None:
        """Take back what is shown at any other address."""
        for uri in [uri for uri in self._told if uri not in uris]:
            self.forget(uri)

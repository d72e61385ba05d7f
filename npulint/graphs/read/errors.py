"""The error of unreadable graphs."""

from __future__ import annotations

_MOST = 500  # characters of a detail: a damaged archive may quote its content


class GraphError(Exception):
    """`reason` is a key of the engine's texts (``not-a-graph``, ``graph-damaged``, ``graph-too-large``); `detail`
    completes the message."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail if len(detail) <= _MOST else f"{detail[:_MOST]}…"

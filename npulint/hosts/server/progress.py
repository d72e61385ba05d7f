"""The progress bar of the first workspace check."""

from __future__ import annotations

from lsprotocol.types import (
    WorkDoneProgressBegin,
    WorkDoneProgressCreateParams,
    WorkDoneProgressEnd,
    WorkDoneProgressReport,
)
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

REFUSED = (JsonRpcException, OSError)
"""Errors of a request to the client: an error response, or a lost connection."""
_TOKEN = "npulint/workspace"


class ProgressBar:
    """A work done progress, shown once per server."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._shown = False

    async def begin(self, title: str) -> None:
        """Request the progress bar; the client may refuse it."""
        try:
            await self._server.window_work_done_progress_create_async(WorkDoneProgressCreateParams(token=_TOKEN))
        except REFUSED:  # the client may refuse
            return
        self._server.work_done_progress.begin(_TOKEN, WorkDoneProgressBegin(title=title, percentage=0))
        self._shown = True

    def report(self, done: int, total: int) -> None:
        """Report the number of finished projects; ends the bar when all are."""
        if not self._shown:
            return
        if done < total:
            report = WorkDoneProgressReport(message=f"{done}/{total}", percentage=100 * done // total)
            self._server.work_done_progress.report(_TOKEN, report)
        else:
            self._shown = False
            self._server.work_done_progress.end(_TOKEN, WorkDoneProgressEnd())

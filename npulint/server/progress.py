"""The bar that the editor shows while a workspace is looked through for the first time."""

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
"""What ends a request to the editor: it answers with an error, or is gone."""
_TOKEN = "npulint/workspace"


class Bar:
    """One bar in the life of a server."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._shown = False

    async def begin(self, title: str) -> None:
        """Ask for the bar; the editor may refuse it."""
        try:
            await self._server.window_work_done_progress_create_async(WorkDoneProgressCreateParams(token=_TOKEN))
        except REFUSED:  # what the editor answers is its own affair
            return
        self._server.work_done_progress.begin(_TOKEN, WorkDoneProgressBegin(title=title, percentage=0))
        self._shown = True

    def report(self, done: int, total: int) -> None:
        """Tell how many of the projects are looked at; the bar goes when all are."""
        if not self._shown:
            return
        if done < total:
            report = WorkDoneProgressReport(message=f"{done}/{total}", percentage=100 * done // total)
            self._server.work_done_progress.report(_TOKEN, report)
        else:
            self._shown = False
            self._server.work_done_progress.end(_TOKEN, WorkDoneProgressEnd())

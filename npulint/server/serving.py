"""Runs the server on standard input and output."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping

from npulint.server.features import register
from npulint.server.server import Pages, Server


def serve(environ: Mapping[str, str], pages: Pages) -> int:
    """Serve until the client disconnects; returns 0 after a regular shutdown, else 1."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints must not corrupt the message stream
    gc.enable()
    server = Server(environ, pages)
    register(server)
    server.start_io(sys.stdin.buffer, out)
    return 0 if server.protocol.ended_well else 1

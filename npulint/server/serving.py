"""Runs the server on the standard streams until the editor is gone."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping

from npulint.server.features import register
from npulint.server.server import Pages, Server


def serve(environ: Mapping[str, str], pages: Pages) -> int:
    """Answer on standard input and output; 0 when the editor asked for the end, 1 when it just went away."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may come between the messages
    gc.enable()
    server = Server(environ, pages)
    register(server)
    server.start_io(sys.stdin.buffer, out)
    return 0 if server.protocol.ended_well else 1

"""``npulint mcp``: npulint's tools for coding agents, over the Model Context Protocol."""

from __future__ import annotations

import importlib.util
import os

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.hosts.cli.host import Host
from npulint.report.terminal import escape_control_chars


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Serve one agent over standard input and output until it disconnects. Raises `NpulintError` without the package
    mcp, or if the root is no folder."""
    if importlib.util.find_spec("mcp") is None:
        raise NpulintError(say(lang, "mcp.missing"))
    folder = _last(options, "root") or "."
    if not os.path.isdir(folder):
        raise NpulintError(say(lang, "mcp.root", path=escape_control_chars(folder)))
    from npulint.hosts.cli.mcp_server.serving import server
    from npulint.hosts.cli.mcp_server.tools import Root, Tools

    spoken = "zh" if _last(options, "lang") == "zh" else "en"  # an agent's language does not depend on the shell
    root = Root(folder, spoken)
    os.chdir(root.folder)  # paths of results are relative to it
    server(Tools(root, host.environ, spoken)).run("stdio")
    return 0


def _last(options: dict[str, list[str] | bool], name: str) -> str:
    values = options.get(name)
    return values[-1] if isinstance(values, list) else ""

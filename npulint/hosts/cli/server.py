"""``npulint server``: the language server for editors."""

from __future__ import annotations

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.hosts.cli.host import Host
from npulint.report.rule_pages import pages_of


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Serve an editor until it disconnects. Raises `NpulintError` when pygls is missing."""
    import importlib.util

    if importlib.util.find_spec("pygls") is None or importlib.util.find_spec("lsprotocol") is None:
        raise NpulintError(say(lang, "server.missing"))
    from npulint.hosts.server.serving import serve

    values = options.get("lang")
    from_editor = {"NPULINT_LANG": values[-1]} if isinstance(values, list) and values[-1] in ("en", "zh") else {}
    return serve({**host.environ, **from_editor}, pages_of)

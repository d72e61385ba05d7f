"""``npulint version``: what a bug report needs, without names of people or folders."""

from __future__ import annotations

import os
import platform
import sys

import msgspec

from npulint import __version__
from npulint.commands.settings.config import load
from npulint.core.errors import ConfigError
from npulint.hosts.cli.host import Host
from npulint.judge.catalogue.load import load_catalogue

_LIBRARIES = ("msgspec", "pathspec", "PyYAML", "pygls")


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the version, or with `verbose` a JSON object about the installation, including a broken configuration.
    Raises `CatalogueError` when the built-in checks cannot be read."""
    if not options.get("verbose"):
        host.write(f"npulint {__version__}\n")
        return 0
    catalogue = load_catalogue(whole=False)
    document = {
        "npulint": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "encoding": sys.getfilesystemencoding(),
        "libraries": {name: _installed(name) for name in _LIBRARIES},
        "checks": len(catalogue.checks),
        "catalogue": catalogue.digest,
        "language": lang,
        "config": _configuration(host),
    }
    host.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
    return 0


def _installed(name: str) -> str:
    """The version of a library; empty when it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _configuration(host: Host) -> str:
    """The name of the configuration file in force here, ``broken`` for an invalid one, empty for none."""
    try:
        return os.path.basename(load([], {}, host.environ).config)
    except ConfigError:
        return "broken"

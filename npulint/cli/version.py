"""``npulint version``: what a bug report needs. Nothing in it names a person or a folder."""

from __future__ import annotations

import os
import platform
import sys

import msgspec

from npulint import __version__
from npulint.catalogue.load import load_catalogue
from npulint.cli.host import Host
from npulint.config import load
from npulint.errors import ConfigError

_LIBRARIES = ("msgspec", "pathspec", "PyYAML", "pygls", "rapidfuzz")


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """The version alone, or with `verbose` a JSON object about the installation. A broken configuration is told in it;
    raises `CatalogueError` when the built-in checks cannot be read."""
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
    """The version of a library, empty when it is not there."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _configuration(host: Host) -> str:
    """The name of the configuration file in force here, ``broken`` when it cannot be used, empty for none."""
    try:
        return os.path.basename(load([], {}, host.environ).config)
    except ConfigError:
        return "broken"

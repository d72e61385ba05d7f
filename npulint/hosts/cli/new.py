"""``npulint new``: creates the skeleton of a check file."""

from __future__ import annotations

from npulint.commands.settings.config import load
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.texts import say
from npulint.hosts.cli.catalogue import known_options
from npulint.hosts.cli.host import Host


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Write ``FAMILY/NAME`` below the first ``--checks`` folder, else below ``checks`` in the working directory."""
    from npulint.judge.catalogue.scaffold import create

    settings = load([], known_options(options), host.environ)
    family, slash, name = words[0].removesuffix(".yaml").rpartition("/")
    if not slash:
        raise ConfigError([say(lang, "new.form")])
    root = settings.checks[0] if settings.checks else "checks"
    try:
        path = create(root, family.removeprefix("checks/"), name)
    except ValueError as error:
        raise ConfigError([str(error)]) from error
    except FileExistsError as error:
        raise NpulintError(say(lang, "exists", path=error.filename or words[0])) from error
    except OSError as error:
        detail = error.strerror or str(error)
        raise NpulintError(say(lang, "output.failed", path=error.filename or words[0], detail=detail)) from error
    host.write(say(lang, "written", path=path) + "\n")
    return 0

"""What the HTML report says about its project: name, commit, date, where its source is shown, and earlier reports."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from urllib.parse import quote

import msgspec

from npulint.core.errors import ConfigError, NpulintError
from npulint.core.texts import say
from npulint.discover.repository import Repository, repository_around
from npulint.discover.safe_open import read_regular
from npulint.hosts.cli.outputs import sources_on_the_web
from npulint.judge.settings import Settings
from npulint.report.history import PastReport, decoded
from npulint.report.view import ProjectStamp, ReportView

_LIMIT = 512 * 1024 * 1024  # bytes of an earlier report
_SCHEMES = (
    "https://",
    "http://",
    "vscode://",
    "vscodium://",
    "vscode-insiders://",
    "cursor://",
    "idea://",
    "pycharm://",
)
_EDITOR = "vscode"
_NONE = "none"


def with_provenance(view: ReportView, settings: Settings, environ: Mapping[str, str]) -> ReportView:
    """The view of an HTML report. Raises `NpulintError` for an earlier report that cannot be read."""
    repository = repository_around(_folder(settings))
    return msgspec.structs.replace(
        view,
        project=_stamp(settings, repository, environ),
        source_url=_source_url(settings, repository, environ),
        history=tuple(_history(settings)),
    )


def _folder(settings: Settings) -> str:
    """The folder of the project: what is checked, or the folder around all of that."""
    places = [os.path.abspath(path) for path in settings.paths or (os.curdir,)]
    try:
        first = os.path.commonpath(places)
    except ValueError:  # on several drives
        first = places[0]
    return first if os.path.isdir(first) else os.path.dirname(first)


def _stamp(settings: Settings, repository: Repository | None, environ: Mapping[str, str]) -> ProjectStamp:
    name = repository.name if repository is not None else os.path.basename(_folder(settings))
    commit = repository.commit if repository is not None else ""
    epoch = environ.get("SOURCE_DATE_EPOCH", "")
    moment = time.gmtime(int(epoch)) if epoch.isascii() and epoch.isdigit() else time.localtime()
    return ProjectStamp(name, commit, time.strftime("%Y-%m-%d %H:%M", moment))


def _source_url(settings: Settings, repository: Repository | None, environ: Mapping[str, str]) -> str:
    given = settings.source_url
    if given == _NONE:
        return ""
    if given == _EDITOR:
        here = quote(os.path.abspath(os.curdir).replace(os.sep, "/"))
        return f"vscode://file/{here.lstrip('/')}/{{path}}:{{line}}"
    if given:
        if "{path}" not in given or not given.startswith(_SCHEMES):
            raise ConfigError([say(settings.language(), "bad.source-url", url=given)])
        return given
    of_server = sources_on_the_web(environ)
    if of_server:
        return of_server.replace("{", "%7B") + "/{path}#L{line}"
    return repository.file_url(os.curdir) if repository is not None else ""


def _history(settings: Settings) -> Iterator[PastReport]:
    for path in settings.history:
        for place in _reports(path):
            label = os.path.splitext(os.path.basename(place))[0]
            try:
                yield decoded(read_regular(place, _LIMIT), label)
            except (OSError, ValueError) as error:
                detail = getattr(error, "strerror", None) or str(error)
                raise NpulintError(say(settings.language(), "history.unread", path=place, detail=detail)) from error


def _reports(path: str) -> list[str]:
    """The reports in a folder, by name, or the path itself."""
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".json")]

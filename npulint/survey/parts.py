"""The files of a survey: parts and reports, each written in one step."""

from __future__ import annotations

import contextlib
import os

import msgspec

from npulint.core.atomic_files import Folder, is_temporary, sweep, temporary
from npulint.discover.safe_open import read_regular
from npulint.report.json import encodable
from npulint.survey.model import FORMAT, Part

PARTS, REPORTS, CLONES = "parts", "reports", "clones"
MARK = "survey.json"
_LIMIT = 1 << 30  # bytes of a part or report


def write_file(path: str, data: bytes) -> None:
    """Write a file in one step: it has its old content or the new one, whatever ends this process."""
    folder, name = os.path.split(path)
    with Folder(folder) as place, temporary(place, name, data, 0o644) as made:
        place.replace(made, name)


def part_path(out: str, identity: str) -> str:
    """The path of a part."""
    return os.path.join(out, PARTS, f"{identity}.json")


def report_path(out: str, identity: str) -> str:
    """The path of the HTML report of a project."""
    return os.path.join(out, REPORTS, f"{identity}.html")


def write_part(out: str, identity: str, part: Part) -> None:
    """Keep the result of a project."""
    try:
        data = msgspec.json.encode(part)
    except UnicodeEncodeError:  # a text of the project has half of a character
        data = msgspec.json.encode(encodable(msgspec.to_builtins(part)))
    write_file(part_path(out, identity), data)


def read_part(out: str, identity: str) -> Part | None:
    """The kept result of a project; None if there is none, or none that this release can read."""
    try:
        part = msgspec.json.decode(read_regular(part_path(out, identity), _LIMIT), type=Part)
    except (OSError, ValueError):
        return None
    return part if part.format == FORMAT else None


def read_report(out: str, identity: str) -> bytes:
    """The HTML report of a project; empty if there is none."""
    try:
        return read_regular(report_path(out, identity), _LIMIT)
    except (OSError, ValueError):
        return b""


def prepare(out: str, restart: bool) -> None:
    """Create the folders of a survey, and remove what killed runs left; with `restart` all that was kept. The mark is
    made first, since whatever is in a folder without it is not of a survey. Raises `OSError`."""
    os.makedirs(out, exist_ok=True)
    sweep(out)
    write_file(os.path.join(out, MARK), msgspec.json.encode({"format": FORMAT}))
    for name in (PARTS, REPORTS):
        folder = os.path.join(out, name)
        os.makedirs(folder, exist_ok=True)
        sweep(folder)
        for file in os.listdir(folder) if restart else ():
            if file.endswith((".json", ".html")):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, file))


def foreign(out: str) -> bool:
    """Whether a path is something else than a new folder, an empty one (but for temporary files of a survey that was
    killed), or that of a survey."""
    if not os.path.lexists(out):
        return False
    if not os.path.isdir(out):
        return True
    return not os.path.isfile(os.path.join(out, MARK)) and not all(map(is_temporary, os.listdir(out)))

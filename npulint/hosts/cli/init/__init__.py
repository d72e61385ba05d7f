"""``npulint init``: adds configuration, CI and hook files for npulint to a project; never changes existing files."""

from __future__ import annotations

import os
from collections.abc import Callable

from npulint.commands.settings.options import InvalidOption, choice
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.texts import say
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.init import origin
from npulint.hosts.cli.init.create import create
from npulint.hosts.cli.init.plan import INSTALLING, PARTS, PlannedFile, plan
from npulint.report.terminal import leading

_CANNOT = 2


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Write the missing files below a folder, or print them as a patch. Returns 2 when one could not be written. Raises
    `ConfigError`, or `NpulintError` when the folder does not exist."""
    folder = words[0] if words else "."
    if not os.path.isdir(folder):
        raise NpulintError(say(lang, "init.no-folder", path=leading(folder)))
    pieces = plan(folder, _requested(options.get("with"), lang), lang)
    if options.get("dry_run"):
        for piece in pieces:
            if piece.why:
                _print_piece(piece, host.warn, lang)
            else:
                host.write(_patch(piece))
        return 0
    done = [_written(folder, piece, host, lang) for piece in pieces]
    _finish(folder, [piece for piece in done if piece is not None], host, lang)
    return _CANNOT if None in done else 0


def _requested(values: list[str] | bool | None, lang: str) -> tuple[str, ...]:
    """The parts named by the option; empty when it is not set. Raises `ConfigError`."""
    if not isinstance(values, list):
        return ()
    words = [word.strip() for text in values for word in text.split(",") if word.strip()]
    problems: list[str] = []
    for word in words:
        try:
            choice(word, PARTS, lang)
        except InvalidOption as refused:
            problems += [f"--with: {text}" for text in refused.texts]
    if not words:
        problems = [f"--with: {say(lang, 'bad.empty')}"]
    if problems:
        raise ConfigError(problems)
    return tuple(dict.fromkeys(words))


def _written(folder: str, piece: PlannedFile, host: Host, lang: str) -> PlannedFile | None:
    """The piece after writing it; None on failure."""
    if not piece.why:
        try:
            create(folder, piece.path, piece.text)
        except FileExistsError:
            piece = piece.kept("exists")
        except OSError as error:
            detail = error.strerror or str(error)
            path = leading(os.path.join(folder, piece.path))
            host.warn(say(lang, "error", text=say(lang, "output.failed", path=path, detail=detail)))
            return None
    _print_piece(piece, lambda text: host.write(f"{text}\n"), lang)
    return piece


def _print_piece(piece: PlannedFile, write: Callable[[str], None], lang: str) -> None:
    """Print one line about a file and, where it exists already, the snippet to add."""
    if not piece.why:
        write(say(lang, "init.written", path=piece.path))
        return
    write(say(lang, f"init.{piece.why}", path=piece.path, n=piece.count))
    if piece.snippet:
        write(f"\n{piece.snippet.rstrip()}\n")


def _patch(piece: PlannedFile) -> str:
    """A new file as a patch for ``git apply``."""
    lines = piece.text.splitlines()
    head = [f"diff --git a/{piece.path} b/{piece.path}", "new file mode 100644", "--- /dev/null"]
    body = [f"+++ b/{piece.path}", f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)]
    return "".join(f"{line}\n" for line in head + body)


def _finish(folder: str, pieces: list[PlannedFile], host: Host, lang: str) -> None:
    """Print the next commands to run."""
    if (
        any(piece.part in INSTALLING and not piece.why for piece in pieces)
        and origin.requirement() == origin.PLACEHOLDER
    ):
        host.write(say(lang, "init.unreleased") + "\n")
    left = [part for part in PARTS if part not in {piece.part for piece in pieces}]
    if left:
        host.write(say(lang, "init.more", parts=",".join(left)) + "\n")
    commands = ["npulint check" if folder == "." else f"npulint check {leading(folder)}"]
    if any(piece.part == "pre-commit" for piece in pieces):
        commands.insert(0, "pre-commit install")
    host.write("\n" + say(lang, "init.next", command=say(lang, "list.and").join(commands)) + "\n")

"""What ``npulint try`` says to a file that is no Python program, such as the launcher of one."""

from __future__ import annotations

import ast
import warnings

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.read.launcher_facts import LaunchFact
from npulint.read.shell_script import read_script
from npulint.report.terminal import escape_control_chars

_SUFFIXES = (".py", ".pyw", ".pyz")
_ARCHIVE = b"PK"  # with which a zip file begins: Python runs those, too
_MOST = 3  # commands that are named
_READ = 1 << 20  # bytes


def refuse_other_than_python(path: str, lang: str) -> None:
    """Raise `NpulintError` for a file that Python cannot run, with the Python programs that it starts if it is a
    launcher."""
    with open(path, "rb") as file:
        content = file.read(_READ)
    if _is_python(path, content):
        return
    lines = [say(lang, "try.no-python", path=escape_control_chars(path))]
    text = content.decode("utf-8", "replace")
    for launch in _launches(text, path)[:_MOST]:
        command, program = (escape_control_chars(shown) for shown in (_command(text, launch), launch.record.path))
        lines.append(say(lang, "try.launcher", line=launch.span.line, command=command, program=program))
    raise NpulintError("\n".join(lines))


def _is_python(path: str, content: bytes) -> bool:
    first = content.partition(b"\n")[0]
    if path.endswith(_SUFFIXES) or content.startswith(_ARCHIVE):
        return True
    if first.startswith(b"#!"):
        return b"python" in first
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _launches(text: str, path: str) -> list[LaunchFact]:
    """The starts of Python programs whose path is known."""
    launches = [fact for fact in read_script(text, path)[0] if isinstance(fact, LaunchFact)]
    return [launch for launch in launches if launch.name.endswith(".py") and "*" not in launch.record.path]


def _command(text: str, launch: LaunchFact) -> str:
    """The line that starts a program, with those that continue it."""
    words: list[str] = []
    for line in text.splitlines()[launch.span.line - 1 :]:
        words.append(line.strip().removesuffix("\\").strip())
        if not line.rstrip().endswith("\\"):
            break
    return " ".join(words)

"""Completion for bash 3.2 (macOS) and later; does not need the package bash-completion."""

from __future__ import annotations

from collections.abc import Iterable

from npulint import __version__
from npulint.hosts.cli.completion.model import CommandSpec, ValueHint
from npulint.hosts.integrations import template


def script(verbs: tuple[CommandSpec, ...], checks: tuple[str, ...]) -> str:
    """The complete script."""
    head = [
        f"# bash completion for npulint {__version__}",
        '# to use it here: eval "$(npulint completion bash)"',
        "",
        f"_npulint_verbs='{' '.join(verb.name for verb in verbs)}'",
        f"_npulint_checks='{' '.join(checks)}'",
        "",
        *_function("_npulint_flags", ((verb.name, " ".join(flag.name for flag in verb.flags)) for verb in verbs), "$1"),
        "",
        *_function("_npulint_value", _values(verbs), "$1 $2"),
    ]
    return "\n".join(head) + "\n\n" + template("completion.bash")


def _function(name: str, rows: Iterable[tuple[str, str]], subject: str) -> list[str]:
    """The lines of a function that prints the row for its arguments."""
    arms = [f'        "{key}") echo "{text}" ;;' for key, text in rows]
    return [f"{name}() {{", f'    case "{subject}" in', *arms, "    esac", "}"]


def _values(verbs: tuple[CommandSpec, ...]) -> Iterable[tuple[str, str]]:
    for verb in verbs:
        for name, value in [("", verb.words), *((flag.name, flag.value) for flag in verb.flags)]:
            if value.kind != "none":
                yield f"{verb.name} {name}", _words(value)


def _words(value: ValueHint) -> str:
    return " ".join([value.kind, *value.words])

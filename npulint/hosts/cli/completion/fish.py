"""Completion for fish 3.0 and later."""

from __future__ import annotations

from npulint import __version__
from npulint.hosts.cli.completion.model import CommandSpec, Flag, ValueHint
from npulint.hosts.integrations import template


def script(verbs: tuple[CommandSpec, ...], checks: tuple[str, ...]) -> str:
    """The complete script."""
    lines = [
        f"# fish completion for npulint {__version__}",
        "# to use it here: npulint completion fish | source",
        "",
        f"set -g __npulint_checks {' '.join(checks)}",
    ]
    rows = [f"complete -c npulint -n __npulint_verb -a {verb.name} -d {_quoted(verb.help)}" for verb in verbs]
    for verb in verbs:
        condition = f"complete -c npulint -n '__npulint_verb {verb.name}'"
        action = _action(verb.words).removeprefix("-x ").removeprefix("-r ")
        if action:
            rows.append(f"{condition} {action}")
        rows += [f"{condition} {_flag(flag)}" for flag in verb.flags]
    return "\n".join(lines) + "\n\n" + template("completion.fish") + "\n".join(rows) + "\n"


def _flag(flag: Flag) -> str:
    action = "" if flag.value.kind == "none" else _action(flag.value) or "-x"
    return " ".join(filter(None, [f"-l {flag.name.removeprefix('--')}", action, f"-d {_quoted(flag.help)}"]))


def _action(value: ValueHint) -> str:
    listed = " ".join(value.words)
    return {
        "words": f"-x -a '{listed}'",
        "list": f"-x -a '(__fish_complete_list , \"printf %s\\\\\\\\n {listed}\")'",
        "keys": f"-x -a '{' '.join(word + '=' for word in value.words)}'",
        "reports": f"-x -a '(__npulint_reports {listed})'",
        "checks": "-x -a '(__fish_complete_list , \"string join \\\\\\\\n -- \\$__npulint_checks\")'",
        "check": "-x -a '$__npulint_checks'",
        "file": "-r -F",
        "folder": "-x -a '(__fish_complete_directories)'",
    }.get(value.kind, "")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

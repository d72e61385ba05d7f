"""Completion for zsh: evaluate it, or save it as ``_npulint`` in a folder of ``fpath``."""

from __future__ import annotations

from npulint import __version__
from npulint.hosts.cli.completion.model import CommandSpec, Flag, ValueHint
from npulint.hosts.integrations import template


def script(verbs: tuple[CommandSpec, ...], checks: tuple[str, ...]) -> str:
    """The complete script."""
    lines = [
        "#compdef npulint",
        f"# zsh completion for npulint {__version__}",
        '# to use it here, after compinit: eval "$(npulint completion zsh)"',
        "",
        f"typeset -ga _npulint_checks=({' '.join(checks)})",
        "",
        "_npulint() {",
        "    local curcontext=$curcontext state line",
        "    typeset -A opt_args",
        "    local -a verbs=(",
        *(f"        {_quoted(verb.name + ':' + verb.help)}" for verb in verbs),
        "    )",
        "    _arguments -C '1: :->verb' '*:: :->rest'",
        "    case $state in",
        "        verb) _describe -t commands 'npulint command' verbs ;;",
        "        rest)",
        "            case $words[1] in",
        *(line for verb in verbs for line in _arm(verb)),
        "            esac",
        "            ;;",
        "    esac",
        "}",
    ]
    return "\n".join(lines) + "\n\n" + template("completion.zsh")


def _arm(verb: CommandSpec) -> list[str]:
    """The `_arguments` specification of one command."""
    specs = [_spec(flag) for flag in verb.flags]
    action = _action(verb.words)
    if action:
        specs.append(f"'*: :{action}'")
    lines = [f"                    {spec} \\" for spec in specs]
    lines[-1] = lines[-1].removesuffix(" \\")
    return [f"                {verb.name})", "                    _arguments -S : \\", *lines, "                    ;;"]


def _spec(flag: Flag) -> str:
    text = flag.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    if flag.value.kind == "none":
        return _quoted(f"{flag.name}[{text}]")
    return _quoted(f"*{flag.name}=[{text}]: :{_action(flag.value) or ' '}")


def _action(value: ValueHint) -> str:
    listed = " ".join(value.words)
    return {
        "words": f"({listed})",
        "list": f"_npulint_some {listed}",
        "keys": f"_npulint_keys {listed}",
        "reports": f"_npulint_reports {listed}",
        "checks": "_npulint_names",
        "check": "_npulint_name",
        "file": "_files",
        "folder": "_files -/",
    }.get(value.kind, "")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"

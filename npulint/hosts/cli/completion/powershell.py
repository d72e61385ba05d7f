"""Completion for PowerShell 5.0 and later."""

from __future__ import annotations

from npulint import __version__
from npulint.hosts.cli.completion.model import CommandSpec, ValueHint
from npulint.hosts.integrations import template


def script(verbs: tuple[CommandSpec, ...], checks: tuple[str, ...]) -> str:
    """The complete script. Where it returns nothing, PowerShell completes files itself."""
    lines = [
        f"# PowerShell completion for npulint {__version__}",
        "# to use it here: npulint completion powershell | Out-String | Invoke-Expression",
        "",
        "$global:npulintVerbs = [ordered]@{",
        *(f"    {_quoted(verb.name)} = {_quoted(verb.help)}" for verb in verbs),
        "}",
        f"$global:npulintChecks = @({', '.join(_quoted(word) for word in checks)})",
        "$global:npulintFlags = @{",
        *(line for verb in verbs for line in _table(verb)),
        "}",
    ]
    return "\n".join(lines) + "\n\n" + template("completion.ps1")


def _table(verb: CommandSpec) -> list[str]:
    rows = [("", verb.words), *((flag.name, flag.value) for flag in verb.flags)]
    entries = [f"        {_quoted(name)} = {_quoted(_entry(value))}" for name, value in rows]
    return [f"    {_quoted(verb.name)} = [ordered]@{{", *entries, "    }"]


def _entry(value: ValueHint) -> str:
    return "" if value.kind == "none" else " ".join([value.kind, *value.words])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

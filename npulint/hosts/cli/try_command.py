"""``npulint try``: runs a program for a few steps under the fakes of its framework. The only command that runs the
user's code."""

from __future__ import annotations

from npulint.commands.settings.config import load
from npulint.hosts.cli import try_program, try_tensorflow
from npulint.hosts.cli.host import Host
from npulint.live.judge import framework_of


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Run the program under the fakes of its framework, report, and return the exit code: 2 if nothing was seen.
    Raises `ConfigError`, or `NpulintError` for a program that cannot be started."""
    near = try_program.near_path(words[0], bool(options.get("module")), lang)
    settings = load([near], options, host.environ)
    given = options.get("framework")
    if isinstance(given, list):
        framework = given[-1]
    else:
        path = try_tensorflow.script_of(words[0], bool(options.get("module")))
        framework = framework_of(path, settings) if path else ""
    command = try_tensorflow.run if framework == "tensorflow" else try_program.run
    return command(words, options, host, near, settings)

"""The shell reader: launchers as facts about environment, commands and the scripts they start."""

from npulint.read.shell.facts import read_shell

__all__ = ["read_shell"]

"""The shell reader: environment variables, commands and started scripts of launchers."""

from npulint.read.shell.facts import read_shell

__all__ = ["read_shell"]

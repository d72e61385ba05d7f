"""Reads shell text: words, commands, control flow, and the programs that a script starts."""

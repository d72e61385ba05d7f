"""Hosts: what npulint runs in: a terminal, an editor, an agent, a linter. They ask the commands; nobody asks them."""

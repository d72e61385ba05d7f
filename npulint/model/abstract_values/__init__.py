"""What expressions may be worth: alternatives and objects with identity, in states that branch and meet.

In comes what an execution reads and writes; out come values that say which alternatives there are, whether there are
others, and through which places they came. `npulint.model.execution` asks; nothing here knows of statements or of a
program."""

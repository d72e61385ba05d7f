"""Judges the answers of the engine by execution: small programs whose probes are compared with what CPython did.

`reveal_value(x)` and `reveal_runs()` in a program are probes. A form (a program that somebody wrote, in `forms/*.txt`) or
a generated program (`grammars`) is executed in processes of its own (`execution`), in each way that its start leaves open.
What the probes saw is its truth (`truth`), which `python -m tests.oracle.record` keeps in `data`; `judging` compares it
with answers.
"""

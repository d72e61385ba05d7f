"""Judges the answers of the engine by execution: small programs whose probes are compared with what CPython did.

`reveal_value(x)` and `reveal_runs()` in a program are probes. A form (written manually, in `forms/*.txt`) or a
generated program (`grammars`) is executed in separate processes (`execution`), in each way that its start leaves open.
What the probes saw is its truth (`truth`), which `python -m tests.oracle.record` keeps in `data`; `judging` compares it
with answers.
"""

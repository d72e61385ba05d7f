"""What configures npulint itself: its files, and the checks that a project brings."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

from npulint.commands.settings.options import OPTIONS
from scripts.fuzzing.example import ROOT, Example, seeds_with
from scripts.fuzzing.lines import NUMBERS, filled
from scripts.fuzzing.mutation import beside, encoded, mutated, nasty, of
from scripts.fuzzing.trees import yaml_texts

_PATTERNS = (
    *(
        "(a+)+$",
        "(a|a)*b",
        ".*" * 8 + "x",
        "a{0,60}" * 30,
        "(?:a?){50}a{50}",
        r"(\w+\s?)*x",
        "(?P<x>a)(?P=x)*",
        "(?<=a+)b",
    ),
    *(
        "[",
        "(",
        "*",
        "a{1,99999999}",
        "(?i)(?m)x",
        "\\",
        "\\8",
        "(?#",
        "[[:alpha:]]",
        "(" * 200 + ")" * 200,
        "",
        "^",
        "$",
    ),
    *("(?(1)a|b)", "\\N{DIGIT ONE}", "\\x", "a" * 9000, "x|" * 3000, "(?>a+)", "a*+", ".{0,1000}{0,1000}", "\ud800"),
)
_TOML = (
    *("[tool.npulint]", "[target]", 'soc = "@"', "jobs = @", "x = @", "exclude = ['@']", 'extend-exclude = ["@", "@"]'),
    *(
        "select = ['@']",
        "ignore = '@'",
        "baseline = '@'",
        "checks = ['@']",
        "reference = '@'",
        "preview = @",
        "format = '@'",
    ),
    *(
        "x = [@",
        "[[target]]",
        "a.b.c = @",
        "'@' = @",
        '"""',
        "x = {y = @}",
        "d = 1979-05-27T@",
        "target = {soc = '@'}",
        "# @",
    ),
)


@functools.cache
def _check_files() -> tuple[tuple[str, bytes], ...]:
    paths = sorted((ROOT / "checks").rglob("*.yaml"))
    return tuple((path.relative_to(ROOT / "checks").as_posix(), path.read_bytes()) for path in paths[::7])


@st.composite
def configurations(draw: st.DrawFn) -> Example:
    """A project with a configuration file of npulint."""
    words = st.one_of(
        NUMBERS, nasty, st.sampled_from(["true", "910B", "error", "npulint.toml", ".", "..", "/", "train.py"])
    )
    keys = tuple(f"{option.key} = @" for option in OPTIONS if option.config)
    lines = [draw(filled(draw(st.sampled_from((*_TOML, *keys, *keys))), words)) for _ in range(draw(st.integers(1, 5)))]
    if draw(st.integers(0, 4)) == 0:
        count = draw(st.sampled_from([50, 3000]))
        lines.append(
            draw(st.sampled_from(["x = " + "[" * count, "a." * count + "b = 1", "ignore = [" + "'x'," * count + "]"]))
        )
    if draw(st.booleans()):
        lines.insert(0, "[tool.npulint]")
    data = encoded("\n".join(lines) + "\n")
    if draw(st.integers(0, 4)) == 0:
        data = draw(mutated(data, data))
    name = draw(st.sampled_from(["npulint.toml", "npulint.toml", "pyproject.toml", "setup.cfg"]))
    baseline = encoded(
        draw(st.sampled_from(['{"version": 1, "findings": [', '{"version": 1, "findings": [{"x": 1}]}', "[]", ""]))
    )
    files = {name: data, **({"npulint-baseline.json": baseline} if draw(st.integers(0, 3)) == 0 else {})}
    return of(beside(files))


@st.composite
def checks(draw: st.DrawFn) -> Example:
    """A project with a folder of checks, which its configuration names."""
    name, data = draw(st.sampled_from(_check_files()))
    _, other = draw(st.sampled_from(_check_files()))
    form = draw(st.integers(0, 4))
    if form == 0:
        data = draw(yaml_texts())
    elif form < 3:
        pattern = draw(st.sampled_from(_PATTERNS)).replace("'", "''")
        where = draw(st.sampled_from(["args: {0: {matches: '@'}}", "where: {name: {matches: '@'}}", "code: '@'"]))
        query = draw(st.sampled_from(["find: {call: any, ", "find: {assignment: any, ", "find: {import: '@', "]))
        line = (query + where + "}").replace("@", pattern)
        kept = [one for one in data.split(b"\n") if not one.startswith(b"find:")]
        data = encoded(line) + b"\n" + b"\n".join(kept)
    else:
        data = draw(mutated(data, other))
    files, source = draw(st.sampled_from(seeds_with(".py")))
    more = f"import torch\nx = torch.load('{'a' * 60}!', '{'a' * 3000}')\n".encode()
    house = {f"house/{name}": data, "npulint.toml": b"checks = ['house']\n", "more.py": more}
    return Example({**files, source: files[source], **house})

"""Python programs: built of what programs for NPUs say, of everything else the language has, and of too much of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from hypothesis import strategies as st

from scripts.fuzzing.example import seeds_with
from scripts.fuzzing.mutation import encoded, mutants, nasty

_IMPORTS = (
    *("import tensorflow as tf", "import tensorflow.compat.v1 as tf", "from npu_bridge.npu_init import *"),
    *(
        "import npu_device",
        "import torch",
        "import torch_npu",
        "from torch import nn",
        "import torch.distributed as dist",
    ),
    *("from torch_npu.contrib import transfer_to_npu", "import deepspeed", "from apex import amp", "import os, sys"),
    *("from transformers import Trainer, TrainingArguments", "from . import helper", "from .helper import *"),
    *("import helper as tf", "from train import x", "import importlib", "from ... import y", "import numpy as np"),
    "from argparse import ArgumentParser",
)
_NAMES = ("x", "y", "loss", "model", "optimizer", "sess", "config", "args", "self", "tf", "torch", "_", "变量", "x1")
_OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "@",
    "**",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "and",
    "or",
    "<",
    "==",
    "is not",
    "in",
)
_CONSTANTS = (
    *(
        "0",
        "1",
        "-1",
        "1.5",
        "1e999",
        "10**400",
        "9" * 4000,
        "0x" + "f" * 300,
        "1j",
        "None",
        "True",
        "...",
        "''",
        "b''",
    ),
    *("'npu:0'", "'cuda'", "f'cuda:{x}'", "'O1'", "'allow_mix_precision'", "r'\\d'", "'\\ud800'", "'\\x00\\x1b[31m'"),
    *("f'{x!r:>{y}}'", "'%s' % x", "'{}'.format(x)", "'a' 'b'", "'''\n\n'''", "()", "[]", "{}", "{1, 2}", "__file__"),
)
_DOTTED = re.compile(rb"\b(?:tf|torch|torch_npu|npu_\w+|dist|nn|np|os|F|deepspeed|transformers)(?:\.\w+)+")
_WORD = re.compile(rb"\b([a-z_]\w{2,30})\s*=[^=]")


@functools.cache
def _vocabulary() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Dotted names and keywords that the seeds use."""
    texts = [files[name] for files, name in seeds_with(".py")]
    dotted = {found.decode() for text in texts for found in _DOTTED.findall(text)}
    words = {found.decode() for text in texts for found in _WORD.findall(text)}
    return tuple(sorted(dotted)), tuple(sorted(words))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """An expression, most of them calls of frameworks."""
    dotted, words = _vocabulary()
    if depth == 0:
        return draw(st.sampled_from((*_NAMES, *_CONSTANTS, draw(st.sampled_from(dotted)))))

    def part() -> str:
        return draw(expressions(draw(st.integers(0, depth - 1))))

    def call() -> str:
        callee = draw(st.sampled_from((draw(st.sampled_from(dotted)), draw(st.sampled_from(_NAMES)), f"({part()})")))
        given = [part() for _ in range(draw(st.integers(0, 2)))]
        named = {draw(st.sampled_from(words)): part() for _ in range(draw(st.integers(0, 2)))}
        keywords = [f"{word}={value}" for word, value in named.items()]
        return f"{callee}({', '.join([*given, *keywords, *draw(st.sampled_from(([], ['*x'], ['**y'])))])})"

    name = draw(st.sampled_from(_NAMES))
    return _drawn(
        draw,
        [
            *(call, call, call),
            lambda: f"{part()} {draw(st.sampled_from(_OPERATORS))} {part()}",
            lambda: f"({part()}).{draw(st.sampled_from(words))}",
            lambda: f"({part()})[{part()}:{part()}]",
            lambda: f"{name}[{part()}, ...]",
            lambda: f"(lambda {name}={part()}, *a, **k: {part()})",
            lambda: f"[{part()} for {name} in {part()} if {part()}]",
            lambda: f"{{{part()}: {part()} for {name}, y in {part()}}}",
            lambda: f"({part()} if {part()} else {part()})",
            lambda: f"({name} := {part()})",
            lambda: f"{{'{draw(st.sampled_from(words))}': {part()}, **{name}}}",
            lambda: f"[*{part()}, {part()}]",
            lambda: f"(not -{part()})",
            lambda: f"(await {part()})",
            lambda: f"(yield {part()})",
            lambda: f"f'{{{name}.{draw(st.sampled_from(words))}}}'",
        ],
    )


@st.composite
def blocks(draw: st.DrawFn, depth: int = 3) -> list[str]:
    """Statements, as lines."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        lines += draw(_statements(depth))
    return lines


@st.composite
def _statements(draw: st.DrawFn, depth: int) -> list[str]:
    def one() -> str:
        return draw(expressions(2))

    name = draw(st.sampled_from(_NAMES))
    plain: list[Callable[[], str]] = [
        *(lambda: f"{name} = {one()}", lambda: f"{name} = {one()}", lambda: one(), lambda: f"{name}.x = y = {one()}"),
        *(lambda: f"{name}, *y = {one()}", lambda: f"{name} += {one()}", lambda: f"{name}[{one()}] = {one()}"),
        *(lambda: f"{name}: {one()} = {one()}", lambda: f"return {one()}", lambda: f"del {name}", lambda: "pass"),
        *(lambda: f"assert {one()}, {one()}", lambda: f"raise {one()} from {one()}", lambda: f"global {name}"),
        *(lambda: draw(st.sampled_from(_IMPORTS)), lambda: "break", lambda: f"nonlocal {name}", lambda: "continue"),
        lambda: f"{one()}  # {draw(nasty)}",
    ]
    heads: list[Callable[[], str]] = [
        *(lambda: f"if {one()}:", lambda: f"for {name} in {one()}:", lambda: f"while {one()}:"),
        *(lambda: f"with {one()} as {name}:", lambda: f"def {name}({name}=1, *args, y: int = {one()}, **kw) -> x:"),
        *(lambda: f"class {name}({one()}, metaclass=x):", lambda: f"async def {name}(a, /, b, *, c):"),
        *(lambda: f"@{one()}\ndef {name}(self, x):", lambda: f"@{name}\nclass {name}(torch.nn.Module):"),
        *(
            lambda: "if __name__ == '__main__':",
            lambda: "def main():",
            lambda: "with tf.Session(config=config) as sess:",
        ),
    ]
    if depth == 0 or draw(st.booleans()):
        return _drawn(draw, plain).split("\n")
    lines = [*_drawn(draw, heads).split("\n"), *_inside(draw(blocks(depth - 1)))]
    tails = ("", "", f"elif {name}:", "else:") if lines[0].startswith("if") else ("", "", "else:")
    if lines[0].startswith(("if", "while", "for")) and (tail := draw(st.sampled_from(tails))):
        lines += [tail, *_inside(draw(blocks(depth - 1)))]
    if draw(st.integers(0, 9)) == 0:
        lines = ["try:", *_inside(lines), f"except ({name}, E) as e:", *_inside(draw(blocks(0)))]
    if draw(st.integers(0, 9)) == 0:
        cases = (f"case [{name}, *_] if {name}:", "case {'a': x, **y}:", "case tf.X(a=1) | None as z:", "case _:")
        lines = [f"match {one()}:", f"    {draw(st.sampled_from(cases))}", *_inside(_inside(lines))]
    return lines


def _drawn(draw: st.DrawFn, forms: list[Callable[[], str]]) -> str:
    form: Callable[[], str] = draw(st.sampled_from(forms))
    return form()


def _inside(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _nested(head: Callable[[int], str], innermost: str, count: int) -> str:
    levels = min(count, 90)  # Python itself refuses more than 100
    return "".join(f"{' ' * level}{head(level)}\n" for level in range(levels)) + " " * levels + innermost + "\n"


BULK: dict[str, Callable[[int, str, str], str]] = {
    "decorators": lambda n, a, b: f"@{a}\n" * n + "def f(x):\n    return x\n",
    "elif": lambda n, a, b: "if x:\n    pass\n" + "".join(f"elif x == {i}:\n    y = {a}\n" for i in range(n)),
    "chained calls": lambda n, a, b: f"x = {b}" + ".map(x)" * n + "\n",
    "chained attributes": lambda n, a, b: "x = tf" + ".a" * n + "\n",
    "chained subscripts": lambda n, a, b: "x = y" + "[0]" * n + "\n",
    "comparisons": lambda n, a, b: "x = " + " < ".join([b] * n) + "\n",
    "concatenations": lambda n, a, b: "x = " + " + ".join(["'a'"] * n) + "\n",
    "adjacent strings": lambda n, a, b: "x = (" + "'a' " * n + ")\n",
    "sum": lambda n, a, b: f"x = {' + '.join([a] * n)}\n",
    "and": lambda n, a, b: f"if {' and '.join([b] * n)}:\n    {a}\n",
    "not": lambda n, a, b: f"x = {'not ' * n}{b}\n",
    "minus": lambda n, a, b: f"x = {'-' * n}1\n",
    "ternary": lambda n, a, b: f"x = {f'{b} if y else ' * n}{a}\n",
    "parentheses": lambda n, a, b: f"x = {'(' * n}{a}{')' * n}\n",
    "brackets": lambda n, a, b: f"x = {'[' * n}{a}{']' * n}\n",
    "calls in calls": lambda n, a, b: f"x = {'f(' * n}{a}{')' * n}\n",
    "lambdas": lambda n, a, b: f"x = {'lambda: ' * n}{a}\n",
    "f-strings": lambda n, a, b: "x = f'" + "{y}" * n + "'\n",
    "rebinding": lambda n, a, b: f"x = {a}\n" + f"x = x.to({b})\n" * n,
    "mutual rebinding": lambda n, a, b: f"x = y = {a}\n" + "x = x + y\ny = x + y\n" * n,
    "list growth": lambda n, a, b: "x = []\n" + f"x = x + [{a}]\n" * n,
    "dict growth": lambda n, a, b: "x = {}\n" + "".join(f"x = {{**x, 'k{i}': {a}}}\n" for i in range(n)),
    "updates": lambda n, a, b: "x = {}\n" + "".join(f"x['k{i}'] = {a}\n" for i in range(n)),
    "appends": lambda n, a, b: "x = []\n" + f"x.append({a})\n" * n + "torch.nn.Sequential(*x)\n",
    "names": lambda n, a, b: "".join(f"name{i} = {a}\n" for i in range(n)),
    "assignment chain": lambda n, a, b: "".join(f"v{i + 1} = v{i}\n" for i in range(n)) + f"v0 = {a}\nf(v{n})\n",
    "targets": lambda n, a, b: "x = " * n + f"{a}\n",
    "tuple targets": lambda n, a, b: ", ".join(f"t{i}" for i in range(n)) + f" = {a}\n",
    "functions": lambda n, a, b: "".join(f"def f{i}(x):\n    return f{i + 1}(x) + {a}\n" for i in range(n)) + "f0(1)\n",
    "many callers": lambda n, a, b: f"def f(x):\n    return {a}\n" + "".join(f"def g{i}(): f({i})\n" for i in range(n)),
    "mutual recursion": lambda n, a, b: (
        "".join(f"def f{i}(x): f{(i * 7 + 1) % n}(f{(i + 3) % n}(x))\n" for i in range(n)) + "f0(1)\n"
    ),
    "call tree": lambda n, a, b: (
        "".join(f"def f{i}(x):\n    f{i + 1}(x); f{i + 1}({a})\n" for i in range(n)) + "f0(1)\n"
    ),
    "classes": lambda n, a, b: "".join(f"class C{i}(C{i + 1}):\n    x = {a}\n" for i in range(n)) + "C0().x\n",
    "circle of classes": lambda n, a, b: (
        "".join(f"class C{i}(C{(i + 1) % n}): pass\n" for i in range(n)) + "C0().x()\n"
    ),
    "methods": lambda n, a, b: "class C:\n" + "".join(f"    def m{i}(self): self.m{i + 1}({a})\n" for i in range(n)),
    "attributes of self": lambda n, a, b: (
        "class C:\n    def __init__(self):\n" + "".join(f"        self.a{i} = self.a{i + 1} = {a}\n" for i in range(n))
    ),
    "nested functions": lambda n, a, b: _nested(lambda i: f"def f{i}(x=f{i - 1}):", a, n),
    "nested if": lambda n, a, b: _nested(lambda i: f"if {b}:", a, n),
    "nested loops": lambda n, a, b: _nested(lambda i: f"for x{i} in range({i}):", a, min(n, 18)),
    "nested with": lambda n, a, b: _nested(lambda i: f"with {b} as w{i}:", a, min(n, 18)),
    "nested try": lambda n, a, b: "".join(f"{' ' * i}try:\n" for i in range(min(n, 18))) + " " * min(n, 18) + "x\n",
    "imports": lambda n, a, b: "".join(f"import tensorflow.m{i} as m{i}\n" for i in range(n)) + f"{a}\n",
    "star imports": lambda n, a, b: "from torch import *\n" * n + f"{a}\n",
    "alias chain": lambda n, a, b: (
        "import torch as m0\n" + "".join(f"m{i + 1} = m{i}\n" for i in range(n)) + f"m{n}.ones(1)\n"
    ),
    "keywords": lambda n, a, b: f"f({', '.join(f'k{i}={a}' for i in range(n))})\n",
    "arguments": lambda n, a, b: f"f({', '.join([a] * n)})\n",
    "parameters": lambda n, a, b: f"def f({', '.join(f'p{i}={b}' for i in range(min(n, 2000)))}): return {a}\n",
    "options": lambda n, a, b: (
        "p = ArgumentParser()\n"
        + "".join(f"p.add_argument('--o{i}', default={b})\n" for i in range(n))
        + "args = p.parse_args()\nf(args.o1)\n"
    ),
    "dictionary": lambda n, a, b: "x = {" + ", ".join(f"'k{i}': {a}" for i in range(n)) + "}\n",
    "list": lambda n, a, b: f"x = [{', '.join([a] * n)}]\n",
    "comprehensions": lambda n, a, b: f"x = {'[' * min(n, 90)}{a}{' for x in y]' * min(n, 90)}\n",
    "for clauses": lambda n, a, b: f"x = [{a}{' for x in y' * min(n, 90)}]\n",
    "exceptions": lambda n, a, b: "try:\n    x\n" + "".join(f"except E{i} as e:\n    {a}\n" for i in range(n)),
    "cases": lambda n, a, b: "match x:\n" + "".join(f"    case {i}:\n        {a}\n" for i in range(n)),
    "returns": lambda n, a, b: "def f(x):\n" + f"    if x: return {a}\n" * n + "f(1)\n",
    "globals": lambda n, a, b: "".join(f"def f{i}():\n    global x\n    x = {a}\n" for i in range(n)),
    "semicolons": lambda n, a, b: "; ".join([f"x = {a}"] * n) + "\n",
    "backslashes": lambda n, a, b: "x = 1" + " + \\\n1" * n + "\n",
    "blank lines": lambda n, a, b: "\n" * n + f"{a}\n",
    "comments": lambda n, a, b: f"{a}  # npulint: ignore[{', '.join(['native-dropout'] * n)}] x\n" * 2,
    "ignore comments": lambda n, a, b: "".join(f"{a}  # npulint: ignore[no-such-check-{i}] x\n" for i in range(n)),
    "noqa": lambda n, a, b: f"{a}  # noqa: {', '.join(f'NPU{i}' for i in range(1000, 1000 + n))}\n",
    "docstring": lambda n, a, b: f'"""{"text " * n}"""\n{a}\n',
    "environment": lambda n, a, b: "import os\n" + "".join(f"os.environ['ASCEND_VAR_{i}'] = {b}\n" for i in range(n)),
    "sessions": lambda n, a, b: "import tensorflow as tf\n" + f"with tf.Session() as s:\n    s.run({b})\n" * n,
    "modules on the device": lambda n, a, b: "import torch\n" + "m = torch.nn.Linear(1, 1).cuda()\n" * n,
    "power": lambda n, a, b: "x = " + "**".join(["9"] * n) + "\ny = 'a' * 10**9 * x\nz = [0] * 10**10\n",
    "shifts": lambda n, a, b: "x = " + " << ".join(["1", *["99999999"] * min(n, 50)]) + "\n",
    "string products": lambda n, a, b: "x = 'ab'" + " * 1000" * n + "\n",
    "ranges": lambda n, a, b: "x = list(range(10**12))\n" + f"for i in range(10**{min(n, 4000)}):\n    {a}\n",
    "doubling": lambda n, a, b: "x = [1, 2]\n" + "x = x + x\n" * n + "y = 'a'\n" + "y = y + y\n" * n,
    "doubling formats": lambda n, a, b: "x = 'a'\n" + "x = f'{x}{x}{x}'\n" * n + "x = '%s%s' % (x, x)\n" * n,
    "doubling lists": lambda n, a, b: "x = [1]\n" + "x = [x, x, x]\n" * n + "f(x)\n",
    "doubling calls": lambda n, a, b: (
        "".join(f"def f{i}(x): return (f{i + 1}(x), f{i + 1}(x))\n" for i in range(n)) + "x = f0(torch.ones(1))\n"
    ),
}
"""Too much of one thing: (how often, an expression, a simple one) to a source."""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program with imports and statements."""
    imports = draw(st.lists(st.sampled_from(_IMPORTS), max_size=4))
    return "\n".join([*imports, *draw(blocks())]) + "\n"


@st.composite
def bulky(draw: st.DrawFn) -> str:
    """A program with too much of one or two things."""
    counts = st.sampled_from([5, 30, 300, 3000])
    simple = st.one_of(st.sampled_from(_NAMES), st.sampled_from(_vocabulary()[0]).map("{}()".format))
    parts = [
        BULK[draw(st.sampled_from(sorted(BULK)))](draw(counts), draw(simple), draw(simple))
        for _ in range(draw(st.integers(1, 2)))
    ]
    return "import torch\nimport tensorflow as tf\n" + "".join(parts)


@st.composite
def projects(draw: st.DrawFn) -> dict[str, bytes]:
    """A project of Python files."""
    form = draw(st.integers(0, 9))
    if form < 4:
        return draw(mutants(".py"))
    texts = st.one_of(programs(), programs(), bulky())
    files = {
        "train.py": encoded(draw(texts)),
        "helper.py": encoded(draw(texts)) if form == 4 else b"def step(x): pass\n",
    }
    if form == 5:
        files["pkg/__init__.py"] = b"from .deep import *\n"
        files["pkg/deep.py"] = encoded(draw(texts))
    return files

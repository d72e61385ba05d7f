"""Structures that are deep or circular cost themselves at most: what stands beside them is judged as without them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from npulint.commands.compare.compare_command import compare_sources
from npulint.commands.examples import check_sources
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import RunResult

GOOD = """import torch
model = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.randn(3, 3).cuda()).sum()
    loss.backward()
    optimizer.step()
"""
HEAD = "import torch\n"


def nested(opening: str, count: int, closing: str, inner: str = "1") -> str:
    return opening * count + inner + closing * count


def indented(line: str, count: int, last: str) -> str:
    return "".join(f"{' ' * level}{line.format(level)}\n" for level in range(count)) + f"{' ' * count}{last}\n"


def circle(count: int, source: str) -> dict[str, str]:
    """Modules, each of which imports the next, the last one the first."""
    return {f"c{i}.py": source.format(own=i, next=(i + 1) % count) for i in range(count)}


def branches(count: int) -> str:
    return "if a == 0:\n  x.cuda()\n" + "".join(f"elif a == {i}:\n  x.cuda({i})\n" for i in range(count))


IMPORTS = HEAD + "from c{next} import f{next}\ndef f{own}(x):\n    return x\n"
CALLS = HEAD + "from c{next} import f{next}\ndef f{own}(x):\n    return f{next}(x.cuda())\n"
STARS = HEAD + "from c{next} import *\ndef f{own}(x):\n    return f{next}(x.cuda())\n"
# Files beside good.py; with a text only, those of x.py.
DEEP: dict[str, Callable[[], dict[str, str] | str]] = {
    "a circle of 500 imports": lambda: circle(500, IMPORTS),
    "a circle of 300 modules that call each other": lambda: circle(300, CALLS),
    "a circle of 300 star imports": lambda: circle(300, STARS),
    "a chain of 300 star imports": lambda: circle(300, STARS) | {"c299.py": "import torch\nx = torch.ones(3).cuda()\n"},
    "a chain of 300 classes": lambda: (
        "class A0(torch.nn.Module):\n  def forward(self, x):\n    return x.cuda()\n"
        + "".join(f"class A{i + 1}(A{i}):\n  pass\n" for i in range(300))
        + "A300()(1)\n"
    ),
    "a with of 1,000 items": lambda: f"with {', '.join(['torch.autocast(1)'] * 1000)}:\n  x.cuda()\n",
    "5,000 parentheses": lambda: f"x = {nested('(', 5000, ')')}\n",
    "150 brackets": lambda: f"x = {nested('[', 150, ']')}\n",
    "3,000 minus signs": lambda: f"x = {nested('-', 3000, '')}\n",
    "500 negations": lambda: f"x = {nested('not ', 500, '', 'a')}\nx.cuda()\n",
    "5,000 calls in a chain": lambda: f"x = a{'.b()' * 5000}\n",
    "900 calls in a chain": lambda: f"x = a{'.cuda()' * 900}\n",
    "900 attributes": lambda: f"x = a{'.b' * 900}.cuda()\n",
    "3,000 branches": lambda: branches(3000),
    "200 branches": lambda: branches(200),
    "5,000 texts in a sum": lambda: f"x = {' + '.join(['1'] * 5000)}\n",
    "90 functions in each other": lambda: indented("def f{}():", 90, "x.cuda()"),
    "90 classes in each other": lambda: indented("class A{}:", 90, "x = y.cuda()"),
    "98 conditions in each other": lambda: indented("if torch.cuda.is_available():", 98, "x.cuda()"),
    "1,000 decorators": lambda: "@torch.no_grad()\n" * 1000 + "def f(x):\n  return x.cuda()\nf(1)\n",
    "300 lambdas": lambda: f"x = {nested('lambda: ', 300, '')}\nx()\n",
    "2,000 functions that call the one before": lambda: (
        "def _f0(x):\n  return x.cuda()\n" + "".join(f"def _f{i + 1}(x):\n  return _f{i}(x)\n" for i in range(2000))
    ),
    "formatted strings": lambda: "x = " + "f'{a}{b:{c}}' " * 2000 + "\n",
    "100,000 brackets of JSON": lambda: {
        "x.json": nested("[", 100_000, "]"),
        "x.py": "import json\nimport torch\nc = json.load(open('x.json'))\ntorch.ones(c['a']).cuda()\n",
    },
    "50,000 brackets of YAML": lambda: {
        "x.yaml": f"a: {nested('[', 50_000, ']')}\n",
        "x.py": "import yaml\nimport torch\nc = yaml.safe_load(open('x.yaml'))\ntorch.ones(c['a']).cuda()\n",
    },
    "5,000 commands in each other": lambda: {"x.sh": f"echo {nested('$(', 5000, ')', 'ls')}\npython good.py\n"},
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def told(result: RunResult, path: str = "good.py") -> list[tuple[str, int, str]]:
    """What is said of a file."""
    return [(found.name, found.span.line, found.message) for found in result.findings if found.path == path]


@pytest.fixture(scope="module")
def alone(catalogue: Catalogue) -> list[tuple[str, int, str]]:
    """What is said of good.py by itself."""
    found = told(check_sources({"good.py": GOOD}, {}, catalogue))
    assert "cuda-not-migrated" in {name for name, _, _ in found}
    return found


@pytest.mark.parametrize("case", DEEP)
def test_a_deep_structure_costs_itself_only(case: str, catalogue: Catalogue, alone: list[tuple[str, int, str]]) -> None:
    made = DEEP[case]()
    files = {"x.py": HEAD + made} if isinstance(made, str) else made
    result = check_sources({**files, "good.py": GOOD}, {}, catalogue)
    assert told(result) == alone
    assert {problem.path for problem in result.unreadable} <= {"x.py"}
    assert "good.py" in {program.entry for program in result.programs}


def test_in_a_circle_of_modules_each_is_judged(catalogue: Catalogue) -> None:
    files = {**circle(300, CALLS), "good.py": GOOD + "from c0 import f0\nf0(model)\n"}
    result = check_sources(files, {}, catalogue)
    assert result.unreadable == []
    places = [path for found in result.findings for path in (found.path, *(one.path for one in found.related))]
    assert set(places) == set(files)


def test_a_circle_beside_compared_programs_does_not_keep_them_apart() -> None:
    port = GOOD.replace("lr=0.1", "lr=0.2")
    files = {f"reference/{name}": text for name, text in {**circle(300, CALLS), "good.py": GOOD}.items()}
    files |= {f"migrated/{name}": text for name, text in {**circle(300, CALLS), "good.py": port}.items()}
    result = compare_sources(files, {}, load_catalogue())
    assert "lr" in str([found.message for found in result.findings])

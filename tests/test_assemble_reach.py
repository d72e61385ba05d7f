"""Reach: what a program runs surely, and what under conditions."""

from __future__ import annotations

import pytest

from npulint.commands.build import assembled
from npulint.model.running.call_graph import possible_calls, sure_calls
from npulint.model.running.reach import Reach
from npulint.model.values.cursors import scope_at
from tests.support import read_sources

_MAIN = "\nif __name__ == '__main__':\n    main()\n"

# What stands in main.py, with what a function `goal` of lib.py is reached: surely, perhaps, or not.
_WAYS = {
    "a call": ("from lib import goal\ndef main():\n    goal()\n", "sure"),
    "a call of a call": ("from lib import goal\ndef f():\n    goal()\ndef main():\n    f()\n", "sure"),
    "under an option": ("from lib import goal\ndef main():\n    if args.x:\n        goal()\n", "perhaps"),
    "under the job of the script": ("from lib import goal\ndef main():\n    if args.train:\n        goal()\n", "sure"),
    "where the server never comes": (
        "from lib import goal\nimport torch_npu\ndef main():\n    if torch.cuda.is_available():\n        goal()\n",
        "no",
    ),
    "only imported": ("from lib import goal\ndef main():\n    pass\n", "no"),
    "handed to a call": ("from lib import goal\ndef main():\n    spawn(goal)\n", "sure"),
    "handed to what keeps it": (
        "from lib import goal\nJOBS = {}\ndef keep(name, func):\n    JOBS[name] = func\ndef main():\n"
        "    keep('a', func=goal)\n",
        "perhaps",
    ),
    "handed to what puts it into a list": (
        "from lib import goal\nJOBS = []\ndef keep(func):\n    JOBS.append(func)\ndef main():\n    keep(goal)\n",
        "perhaps",
    ),
    "handed to what calls it": (
        "from lib import goal\ndef timed(func):\n    func()\ndef main():\n    timed(goal)\n",
        "sure",
    ),
    "handed to what wraps it": (
        "from lib import goal\ndef timed(func):\n    def inner():\n        func()\n    return inner\n"
        "def main():\n    timed(goal)()\n",
        "sure",
    ),
    "handed to what hands it on": (
        "from lib import goal\ndef launch(job):\n    spawn(job)\ndef main():\n    launch(goal)\n",
        "sure",
    ),
    "the default of a parser": (
        "from lib import goal\ndef main():\n    parser.set_defaults(func=goal)\n    parser.parse_args()\n",
        "perhaps",
    ),
    "a command of an application": (
        "from lib import goal\napp = Typer()\n@app.command()\ndef run():\n    goal()\ndef main():\n    app()\n",
        "perhaps",
    ),
    "the main function of an experiment": (
        "from lib import goal\nex = Experiment('x')\n@ex.main\ndef run():\n    goal()\ndef main():\n    ex.run()\n",
        "perhaps",
    ),
    "the function that an experiment runs by itself": (
        "from lib import goal\nfrom sacred import Experiment\nex = Experiment('x')\n@ex.automain\n"
        "def run():\n    goal()\ndef main():\n    pass\n",
        "sure",
    ),
    "decorated by a function of a library": (
        "import lib2\nfrom lib import goal\n@lib2.timed\ndef run():\n    goal()\ndef main():\n    pass\n",
        "no",
    ),
    "looked up": ("from lib import goal\nJOBS = {'a': goal}\ndef main():\n    JOBS[args.x]()\n", "perhaps"),
    "imported in the other branch of a condition": (
        "if args.x:\n    from other import work as go\nelse:\n    from lib import goal as go\ndef main():\n    go()\n",
        "perhaps",
    ),
    "imported in one branch of a condition": (
        "def main():\n    if x:\n        from lib import goal as go\n    else:\n        from lib import other as go\n"
        "    go()\n",
        "perhaps",
    ),
    "imported and called in a branch of its own": (
        "def main():\n    if x:\n        from lib import goal as go\n    else:\n        from lib import other as go\n"
        "        go()\n",
        "no",
    ),
    "imported in a branch for others": (
        "from names import go\ndef main():\n    go()\n",
        "perhaps",
    ),
    "looked up in a module": (
        "import lib\nfrom importlib import import_module\ndef main():\n"
        "    job = getattr(import_module('lib'), args.x)\n    job()\n",
        "perhaps",
    ),
    "a method of a class that is looked up in a module": (
        "import lib\ndef main():\n    kind = getattr(lib, args.x)\n    y = kind()\n    y.work()\n",
        "perhaps",
    ),
    "a method": ("from lib import Thing\ndef main():\n    Thing().work()\n", "sure"),
    "a method of an unknown object": ("from lib import Thing\ndef main():\n    x = Thing()\n    y.work()\n", "sure"),
    "a method that needs more than a call gives": (
        "from lib import Model\ndef main():\n    x = Model()\n    bar.update(1)\n",
        "no",
    ),
    "a method that a call gives enough": (
        "from lib import Model\ndef main():\n    x = Model()\n    bar.update(1)\n    y.update(images, truth)\n",
        "sure",
    ),
    "a method that may get all": (
        "from lib import Model\ndef main():\n    x = Model()\n    y.update(*batch)\n",
        "sure",
    ),
    "a function of a library": (
        "import gradio as gr\nfrom lib import Model\ndef main():\n    x = Model()\n    gr.update(a, b)\n",
        "no",
    ),
    "a method of a class that is never made": ("from lib import Thing\ndef main():\n    y.work()\n", "no"),
    "a method that the framework calls": ("from lib import Net\ndef main():\n    net = Net()\n", "sure"),
    "a method whose name an object of a library has": (
        "from lib import Thing\ndef main():\n    work = wandb.init()\n    thing = Thing()\n    work.finish()\n",
        "no",
    ),
    "a method of an own class that frameworks call of theirs": (
        "from lib import Runner\ndef main():\n    runner = Runner()\n    runner.show()\n",
        "no",
    ),
    "the same of a class that derives from theirs": (
        "from lib import Worker\ndef main():\n    worker = Worker()\n    worker.start()\n",
        "sure",
    ),
    "a method of the base by super": (
        "from lib import Thing\nclass Other(Thing):\n    def work(self):\n        super().work()\n"
        "def main():\n    Other().work()\n",
        "sure",
    ),
    "a method of the base of the base": (
        "from lib import Thing\nclass A(Thing):\n    pass\nclass B(A):\n    def work(self):\n"
        "        super(B, self).work()\ndef main():\n    B().work()\n",
        "sure",
    ),
    "a method that hides that of the base": (
        "from lib import Thing\nclass Other(Thing):\n    def work(self):\n        super().rest()\n"
        "def main():\n    Other().work()\n",
        "no",
    ),
    "a handler of exceptions": (
        "from lib import goal\ndef main():\n    try:\n        f()\n    except OSError:\n        goal()\n",
        "perhaps",
    ),
}
_LIB = """import threading
import torch

def goal():
    pass

def other():
    pass

class Thing:
    def work(self):
        goal()

class Model:
    def update(self, images, truth, rate=0):
        goal()

class Runner:
    def run(self):
        goal()

    def show(self):
        pass

class Worker(threading.Thread):
    def run(self):
        goal()

class Net(torch.nn.Module):
    def forward(self, x):
        goal()
"""


_NAMES = "import torch\nif torch.cuda:\n    from lib import other as go\nelse:\n    from lib import goal as go\n"


@pytest.mark.parametrize(("source", "expected"), _WAYS.values(), ids=_WAYS.keys())
def test_a_function_is_reached(source: str, expected: str) -> None:
    sources = {"main.py": f"import torch\n{source}{_MAIN}", "lib.py": _LIB, "names.py": _NAMES}
    whole = assembled("/p", read_sources(sources))
    goal = scope_at(whole.context, whole.context.project.modules["lib.py"], 0).definition("goal")
    assert goal is not None
    graphs = (sure_calls(whole.context), possible_calls(whole.context))
    found = [Reach(graph, "main.py", sources).reaches({("lib.py", goal.block)}) for graph in graphs]
    assert found == {"sure": [True, True], "perhaps": [False, True], "no": [False, False]}[expected]


def test_what_fails_only_under_an_option_does_not_fail_readiness() -> None:
    from tests.support import programs

    source = (
        "import torch\nimport torch_npu\n\ndef main(args):\n    model = torch.nn.Linear(1, 1).npu()\n{}"
        "    for x in loader:\n        model(x).sum().backward()\n" + _MAIN
    )
    for line, expected in (("    model.cuda()\n", True), ("    if args.gpu_too:\n        model.cuda()\n", False)):
        (program,) = [one for one in programs({"train.py": source.format(line)}) if one.entry]
        (fact,) = program.index.of_kind("cuda")
        assert program.surely_runs(fact) is expected


def test_what_an_import_executes_of_the_packages_around_it_is_reached() -> None:
    sources = {
        "main.py": f"import torch\nfrom package.registry import make\n{_MAIN}    make()\n",
        "package/__init__.py": "from .net import Net\nfrom .registry import register\nregister(Net)\n",
        "package/registry.py": "import torch\nMADE = []\ndef register(cls):\n    MADE.append(cls())\n"
        "def make():\n    return MADE[0]\n",
        "package/net.py": "import torch\nclass Net(torch.nn.Module):\n"
        "    def __init__(self):\n        self.to('cuda')\n",
    }
    whole = assembled("/p", read_sources(sources))
    (program,) = [program for program in whole.programs if program.entry == "main.py"]
    assert [program.how_runs(fact) for fact in program.index.of_kind("cuda")] == ["surely"]


def test_a_package_that_only_imports_functions_does_not_call_them() -> None:
    sources = {
        "main.py": "import torch\nfrom package.part import Net\nnet = Net()\n",
        "package/__init__.py": '"""All names."""\nfrom .run import train\nfrom .part import Net\n',
        "package/run.py": "import torch\n\ndef train():\n    pass\n",
        "package/part.py": "import torch\n\nclass Net(torch.nn.Module):\n    pass\n",
    }
    project = assembled("/p", read_sources(sources))
    train = scope_at(project.context, project.context.project.modules["package/run.py"], 0).definition("train")
    assert train is not None
    reach = Reach(possible_calls(project.context), "main.py", project.context.project.modules)
    assert not reach.reaches({(train.path, train.block)})

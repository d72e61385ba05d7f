"""The second grammar: training programs over stand-ins of torch, of a library for options, and of a configuration."""

from __future__ import annotations

import json

from tests.oracle.grammars.made import Written
from tests.oracle.grammars.plain import ERROR, IMPORTS, PlainWriter, text_of
from tests.oracle.grammars.scopes import FLAG, MAYBE, NUMBER, NUMBERS, TABLE, TEXT, Class, Scope
from tests.oracle.grammars.standins import (
    LOADER,
    LOADERS,
    NN,
    OPTIM,
    OPTION_LIBRARIES,
    SCHEDULER,
    SEQUENTIAL,
    TORCH,
)
from tests.oracle.grammars.statements import Lines, indented


class TrainingWriter(PlainWriter):
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.torch, self.own_options, self.own_loader = self.draw.pick(
            ((True, True, False), (True, False, True), (True, False, False), (False, True, True))
        )
        self.has = {part: self.torch and self.draw.chance(0.4) for part in ("sequential", "scheduler", "loader")}
        self._numbers += [*[self._of_library] * 6]
        self._simple += [*[self._library_call] * 8, *[self._group_change] * 4]
        self._compound += [*[self._epochs] * 3, *[self._best] * 2, *[self._shrinking] * 2, *[self._evaluating] * 2]

    def written(self) -> Written:
        """The program."""
        self.unknown = self.draw.pick((0.2, 0.5, 0.8))
        scope = Scope()
        lines = [*IMPORTS, "import json", *ERROR]
        lines += self._libraries()
        option_lines, words = self._library_options(scope)
        lines += option_lines
        config_lines, more = self._configuration(scope)
        lines += config_lines
        lines += self._definitions(scope, self.draw.between(0, 1))
        lines += self._network(scope) if self.torch else []
        lines += [line for kind in (NUMBER, MAYBE, TEXT, NUMBERS) for line in self.new_name(scope, kind)]
        lines += self.block(scope, self.draw.between(1, 4))
        lines += self._main(scope) if self.draw.chance(0.5) else self.block(scope, self.draw.between(4, 9))
        lines += [*self._ending(scope), *self._ending(scope)]
        self.files["train.py"] = text_of(lines)
        return self._started([*words, *more])

    def _started(self, words: list[str]) -> Written:
        if words and self.draw.chance(0.3):
            given = list(words)
            at = self.draw.between(0, len(words) - 1)
            name, sep, value = words[at].partition("=")
            if sep and value.isdigit():
                given[at] = f'{name}="$1"'
                self.files["run.sh"] = f"python train.py {' '.join(given)}\n"
                return Written(self.files, None, tuple(("run.sh", (word,)) for word in ("2", "11", "0")))
        return Written(self.files, " ".join(["python train.py", *words]))

    # -- the libraries

    def _libraries(self) -> Lines:
        if not self.torch:
            return []
        parts = [NN]
        parts += [SEQUENTIAL] if self.has["sequential"] else []
        optim = [OPTIM, SCHEDULER] if self.has["scheduler"] else [OPTIM]
        data = [LOADER] if self.has["loader"] else []
        core = TORCH.replace("SEED", str(self.draw.between(0, 9)))
        if self.draw.chance(0.5):
            self.files["torch.py"] = core + "".join([*parts, *optim, *data])
            return ["import torch", "from torch import Linear, Module, Optimizer", "from torch import SGD as Sgd, Adam"]
        self.files["torch/__init__.py"] = (
            f"{core}from . import nn\nfrom .nn import *\nfrom .optim import Optimizer, SGD, Adam\n"
        )
        self.files["torch/nn.py"] = "".join([*parts, *data])
        self.files["torch/optim.py"] = "".join(optim)
        if self.has["scheduler"]:
            self.files["torch/__init__.py"] += "from .optim import StepLR\n"
        return [
            "import torch",
            "import torch.optim as optim",
            "from torch.nn import Linear, Module",
            "Sgd, Adam = optim.SGD, optim.Adam",
        ]

    def _library_options(self, scope: Scope) -> tuple[Lines, list[str]]:
        """Options declared with a library of the project; the lines, and words for them."""
        if not self.own_options:
            lines, words = self._options(scope)
            return [*lines[:-1], "args, rest = parser.parse_known_args()"], words
        style = self.draw.pick(list(OPTION_LIBRARIES))
        self.files["optionlib.py"] = OPTION_LIBRARIES[style]
        kinds = {"batch": NUMBER, "rate": NUMBER, "mode": TEXT, "amp": FLAG}
        defaults = {"batch": str(self.draw.between(1, 9)), "rate": "0.5", "mode": '"train"', "amp": "False"}
        types = {"batch": "int", "rate": "float", "mode": "str", "amp": "bool"}
        names = self.draw.some(list(kinds), self.draw.between(2, 4))
        words = [
            f"--{name}={self.draw.between(1, 9)}" for name in names if kinds[name] == NUMBER and self.draw.chance(0.5)
        ]
        words += ["--mode=eval"] if "mode" in names and self.draw.chance(0.4) else []
        words += ["--amp"] if "amp" in names and style != "flags" and self.draw.chance(0.4) else []
        scope.objects["opts"] = Class("opts", {name: kinds[name] for name in names})
        if style == "flags":
            word = {"int": "integer", "float": "float", "str": "string", "bool": "bool"}
            lines = ["import optionlib", "opts = optionlib.FLAGS"]
            lines += [f'optionlib.define_{word[types[name]]}("{name}", {defaults[name]})' for name in names]
            return [*lines, f"opts.{names[0]}", "rest = opts.rest"], words
        if style == "fields":
            lines = ["from optionlib import parse", "@dataclasses.dataclass", "class Options:"]
            lines += [f"    {name}: {types[name]} = {defaults[name]}" for name in names]
            return [*lines, "opts = parse(Options)", "rest = opts.rest"], words
        lines = ["from optionlib import command, option", "@command"]
        lines += [f'@option("{name}", default={defaults[name]}, type={types[name]})' for name in names]
        lines += [
            f"def read({', '.join(names)}, rest):",
            f"    return argparse.Namespace({', '.join(f'{n}={n}' for n in [*names, 'rest'])})",
        ]
        return [*lines, "opts = read()", "rest = opts.rest"], words

    def _configuration(self, scope: Scope) -> tuple[Lines, list[str]]:
        """A configuration, with what the command line overrides."""
        if not self.own_loader:
            return self._inline_configuration(scope), []
        style = self.draw.pick(list(LOADERS))
        self.files["loading.py"] = LOADERS[style]
        base = {"name": "base", "steps": 2, "optim": {"lr": 0.5, "decay": 1}, "model": {"dim": 4, "depth": 2}}
        large = {"name": "large", "steps": 3, "optim": {"lr": 0.25, "decay": 0}, "model": {"dim": 16, "depth": 3}}
        if style == "merged":
            large = {"base": "base.json", "name": "large", "model": {"dim": 16}}
        if style != "classes":
            self.files["base.json"] = json.dumps(base)
            self.files["large.json"] = json.dumps(large)
        name = self.draw.pick(("base.json", "large.json"))
        path = f'"{name}"'
        if self.draw.chance(0.3 * self.unknown):
            path = '"large.json" if os.environ.get("FAST") else "base.json"'
        choices = [
            f"optim.lr={self.draw.between(1, 5)}",
            f"model.dim={self.draw.between(1, 9)}",
            "name=other",
            "steps=3",
        ]
        words = self.draw.some(choices, self.draw.between(0, 2))
        places = {"cfg['name']": TEXT, "cfg['steps']": NUMBER, "cfg['optim']": TABLE, "cfg['model']": TABLE}
        if style == "nodes" and self.draw.chance(0.7):
            places = {place.replace("['", ".").replace("']", ""): kind for place, kind in places.items()}
        scope.kinds.update(places)
        return ["from loading import load", f"cfg = load({path}, rest)"], words

    def _inline_configuration(self, scope: Scope) -> Lines:
        places = {"cfg['name']": TEXT, "cfg['steps']": NUMBER, "cfg['optim']": TABLE, "cfg['model']": TABLE}
        scope.kinds.update(places)
        numbers = [self.number(scope, 0) if self.draw.chance(0.3) else self.literal() for _ in range(2)]
        numbers = [self.literal() if "cfg" in number else number for number in numbers]
        lines = [
            f'cfg = {{"name": "own", "steps": {numbers[0]}, "optim": {{"lr": 0.1}}, "model": {{"dim": {numbers[1]}}}}}'
        ]
        lines += ["for word in rest:", '    key, sep, value = word.partition("=")', "    if key in cfg['optim']:"]
        return [*lines, "        cfg['optim'][key] = float(value)"] if self.draw.chance(0.4) else lines[:1]

    # -- what is built

    def _network(self, scope: Scope) -> Lines:
        lines = ["class Net(Module):", "    def __init__(self, dim, depth=1, scale=2):", "        super().__init__()"]
        lines += [
            "        self.scale = scale",
            f"        self.head = Linear(dim{self.draw.pick(('', ', bias=False'))})",
        ]
        body = "Sequential(Linear(depth), Linear(1))" if self.has["sequential"] else "Linear(depth)"
        if "torch/nn.py" in self.files:
            body = body.replace("Sequential", "torch.nn.Sequential")
        elif self.has["sequential"]:
            body = body.replace("Sequential", "torch.Sequential")
        lines += [f"        self.layers = [{body} for _ in range(2)]"]
        lines += ["    def forward(self, x):", f"        x = self.head(x) {self.draw.pick(('+', '*'))} self.scale"]
        lines += ["        for layer in self.layers:", "            x = layer(x)"] if self.draw.chance(0.5) else []
        lines += ["        return x if self.training else -x"]
        config = next(name for name in scope.kinds if name.startswith("cfg") and "model" in name)
        optim = config.replace("model", "optim")
        build = f"Net({config}.get('dim', 4), {self.number(scope, 0)})"
        if self.draw.chance(0.3):
            build = f"Net(**{config})"
        lines.append(f"model = {build}")
        kinds = {"scale": NUMBER, "training": FLAG}
        scope.objects["model"] = Class(
            "Net", kinds, [], [], {"head": Class("Linear", {"dim": NUMBER, "weight": NUMBER})}
        )
        cls = self.draw.pick(("Sgd", "Adam", f"(Adam if {self.flag(scope)} else Sgd)"))
        groups = self.draw.pick(("[{}]", f"[{{'lr': {self.number(scope, 0)}}}, {{}}]", f"[{optim}]"))
        lines.append(f"optimizer = {cls}({groups}, decay={self.number(scope, 0)})")
        scope.objects["optimizer"] = Class("Optimizer", {"steps": NUMBER})
        scope.kinds.update(
            {"optimizer.param_groups[0]": TABLE, "optimizer.param_groups[-1]": TABLE, "torch.state": TABLE}
        )
        if self.has["scheduler"]:
            lines.append(
                f"scheduler = torch.StepLR(optimizer, {self.draw.between(1, 2)})".replace("torch.", self._home(scope))
            )
            scope.objects["scheduler"] = Class("StepLR", {"epoch": NUMBER, "gamma": NUMBER})
        if self.has["loader"]:
            size, last = self.draw.between(1, 3), self.flag(scope, 0)
            source = "torch.nn" if "torch/nn.py" in self.files else "torch"
            lines.append(f"loader = {source}.DataLoader([1, 2, 3, 4, 5], {size}, bool({last}))")
        return lines

    def _home(self, scope: Scope) -> str:
        return "optim." if "torch/optim.py" in self.files else "torch."

    # -- productions

    def _of_library(self, scope: Scope, depth: int) -> str | None:
        if "model" not in scope.all_objects() or depth <= 0:
            return None
        choices = [
            "model.head.weight",
            "len(model.parameters())",
            'optimizer.param_groups[0].get("lr", 0)',
            "optimizer.steps",
        ]
        choices += [f"model({self.number(scope, 0)})", "len(optimizer.param_groups)", "torch.state['grad']"]
        choices += ["len(loader)"] if self.has["loader"] else []
        choices += ["scheduler.epoch", "sum(scheduler.base)"] if self.has["scheduler"] else []
        choices += ["torch.cuda.device_count()"] if self.draw.chance(self.unknown) else []
        return self.draw.pick(choices)

    def _library_call(self, scope: Scope, depth: int) -> Lines | None:
        if "model" not in scope.all_objects():
            return None
        choices = [
            ["optimizer.step()"],
            ["model.eval()"],
            ["model.train()"],
            [f"model.train({self.flag(scope, 0)})"],
            [f"model.hooks.append({self.function(scope, 0)})"],
            [f"model.head = Linear({self.number(scope, 0)})"],
            [f"torch.manual_seed({self.number(scope, 0)})"],
            ["if torch.cuda.is_available():", f"    model.scale += {self.literal()}"],
            ["saved = copy.deepcopy(optimizer.state())", "optimizer.step()", "optimizer.load(saved)"],
            ["saved = optimizer.state()", "optimizer.step()", "optimizer.load(saved)"],
        ]
        choices += [["scheduler.step()"]] * 3 if self.has["scheduler"] else []
        return self.draw.pick(choices)

    def _group_change(self, scope: Scope, depth: int) -> Lines | None:
        if "model" not in scope.all_objects():
            return None
        at = self.draw.pick((0, -1))
        group = self.draw.fresh("group")
        choices = (
            [f"for {group} in optimizer.param_groups:", f'    {group}["lr"] = {self.number(scope, 0)}'],
            [f"for {group} in optimizer.param_groups:", f'    {group}["lr"] = {group}.get("lr", 1) * 2'],
            [f'optimizer.param_groups[{at}]["decay"] = {self.number(scope, 1)}'],
            [f"optimizer.param_groups.append({self.table(scope)})"],
            [f"optimizer.param_groups[{at}].setdefault('{self.draw.pick(('warm', 'lr'))}', {self.number(scope, 0)})"],
        )
        return self.draw.pick(choices)

    def _epochs(self, scope: Scope, depth: int) -> Lines | None:
        if self.loops:
            return None
        steps = next((name for name in scope.of(NUMBER) if name.startswith("cfg")), "2")
        epoch, inner = self.draw.fresh("epoch"), scope.inner(in_loop=True)
        inner.kinds[epoch] = NUMBER
        counts = [f"min(int({steps}), 3)", "2"]
        counts += ['int(os.environ.get("RANK", "1"))'] if self.draw.chance(0.5 * self.unknown) else []
        self.loops += 1
        lines = [f"for {epoch} in range({self.draw.pick(counts)}):"]
        lines += indented(self.block(inner, self.draw.between(1, 3), depth - 1))
        if self.has["loader"] and "model" in scope.all_objects():
            total, at, batch = self.draw.fresh("total"), self.draw.fresh("at"), self.draw.fresh("batch")
            lines += [
                f"    {total} = 0",
                f"    for {at}, {batch} in enumerate(loader):",
                f"        {total} += model(sum({batch}))",
            ]
            test = f"{at} > 0 and {self.flag(inner, 0)}"
            lines += [
                f"        if {test}:",
                f"            {self.draw.pick(('break', 'continue'))}",
                "        optimizer.step()",
            ]
            inner.kinds[total] = NUMBER
            lines += indented(self.block(inner, 1, 0))
        self.loops -= 1
        return lines

    def _best(self, scope: Scope, depth: int) -> Lines | None:
        names = scope.bindable(MAYBE)
        if not names or "model" not in scope.all_objects():
            return None
        best, now = self.draw.pick(names), self.draw.fresh("now")
        state = self.draw.pick(
            ("optimizer.state()", "copy.deepcopy(optimizer.state())", "dict(optimizer.param_groups[0])")
        )
        kept = self.draw.fresh("kept")
        scope.kinds[now] = NUMBER
        lines = [f"{kept} = None", f"{now} = {self.number(scope, 1)}", f"if {best} is None or {now} > {best}:"]
        lines += [f"    {best} = {now}", f"    {kept} = {state}", *self.inner_block(scope, depth, most=1)]
        return [*lines, f"reveal_value({kept} is None)" if self.probes else "pass"]

    def _shrinking(self, scope: Scope, depth: int) -> Lines | None:
        if self.loops or scope.in_loop:
            return None
        size, limit = self.draw.fresh("size"), self.number(scope, 0)
        self.loops += 1
        body = self.inner_block(scope, 1, most=1)
        self.loops -= 1
        scope.kinds[size] = NUMBER
        return [
            f"{size} = {self.draw.pick((8, 4, 5))}",
            f"while {size} > 1:",
            "    try:",
            f"        if {size} > {limit}:",
            "            raise RunError(3)",
            *indented(body),
            "        break",
            "    except RunError:",
            f"        {size} //= 2",
        ]

    def _evaluating(self, scope: Scope, depth: int) -> Lines | None:
        if "model" not in scope.all_objects():
            return None
        lines = ["with torch.no_grad():", *self.inner_block(scope, depth, most=2)]
        if self.probes and self.draw.chance(0.5):
            lines.append("    reveal_value(torch.state)")
        return ["model.eval()", *lines, "model.train()"] if self.draw.chance(0.5) else lines

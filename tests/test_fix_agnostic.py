"""Fixes for GPUs and NPUs alike: on a GPU the code does what it did, whatever it is written with."""

from __future__ import annotations

import ast
import os
import sys
import types
from pathlib import Path
from textwrap import dedent

import pytest

from npulint.commands.check.fix_command import apply_fixes
from npulint.fix.spelling import spelling_of
from npulint.judge.fix_results import FixResult
from npulint.judge.settings import Settings
from tests.port_samples import OF_TENSORFLOW, PROJECTS

HELPER = "torch_device.py"
HEAD = "import torch\n\nmodel = torch.nn.Linear(3, 3).cuda()\nfor x in loader:\n    model(x).sum().backward()\n"


def fixed(folder: Path, files: dict[str, str], release: str = "") -> tuple[dict[str, str], FixResult]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    target = {"torch": release} if release else {}
    result = apply_fixes(Settings(paths=(".",), torch_port="agnostic", target=target, cache=False), True)
    return {**files, **{one.path: one.after.decode() for one in result.files}}, result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


VALUES = {"DEVICE_TYPE": "'cuda'", "BACKEND": "'nccl'", "device_module": "torch.cuda"}


class SwitchedOff(ast.NodeTransformer):
    """Code without the mixed precision that is for the NPU alone: autocast and scaler that are off do nothing."""

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        off = ast.unparse(node.items[0].context_expr).endswith(".autocast(enabled=DEVICE_TYPE == 'npu')")
        return node.body if off else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        self.generic_visit(node)
        return None if ast.unparse(node.value).endswith(".GradScaler(enabled=DEVICE_TYPE == 'npu')") else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return node
        if ast.unparse(call.func) in ("scaler.step", "self.scaler.step"):
            node.value = ast.Call(ast.Attribute(call.args[0], "step"), [], [])
        return None if call.func.attr in ("unscale_", "update") and "scaler" in ast.unparse(call.func) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [one for one in node.args if ast.unparse(one) not in ("scaler", "self.scaler")]
        return node.args[0] if ast.unparse(node.func) in ("scaler.scale", "self.scaler.scale") else node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.args = [one for one in node.args if one.arg != "scaler"]
        return node


class OnGpu(ast.NodeTransformer):
    """Code as it is on a GPU: the names of the helper have their values, a device that is moved to is an argument."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = VALUES.get(node.id)
        return node if value is None else ast.parse(value, mode="eval").body

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        names = {alias.name for alias in node.names}
        if node.module == "torch_device":
            again = f"from torch.cuda.amp import {', '.join(sorted(names))}"
            return ast.parse(again).body[0] if "autocast" in names else None
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr != "is_cuda":
            return node
        return ast.parse(f"{ast.unparse(node.value)}.device.type == 'cuda'", mode="eval").body

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        parts: list[ast.expr] = []
        for part in node.values:
            value = part.value if isinstance(part, ast.FormattedValue) else part
            plain = value if isinstance(value, ast.Constant) else part
            if parts and isinstance(plain, ast.Constant) and isinstance(parts[-1], ast.Constant):
                parts[-1] = ast.Constant(str(parts[-1].value) + str(plain.value))
            else:
                parts.append(plain)
        return parts[0] if len(parts) == 1 and isinstance(parts[0], ast.Constant) else ast.JoinedStr(parts)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        both = (node.left, node.right)
        if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in both):
            return ast.Constant("".join(str(one.value) for one in both if isinstance(one, ast.Constant)))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("to", "cuda"):
            return node
        place = node.args[0] if node.args else None
        if node.func.attr == "to" and isinstance(place, ast.Call) and ast.unparse(place.func) == "device_at":
            node.args = place.args
        elif node.func.attr == "to" and isinstance(place, ast.Constant) and str(place.value).startswith("cuda"):
            index = str(place.value).partition(":")[2]
            node.args = [ast.Constant(int(index))] if index else []
        elif node.func.attr == "to":
            return node
        return moved(node.func.value, node)


def moved(value: ast.expr, call: ast.Call) -> ast.Call:
    """``value.cuda(…)`` with the arguments of a call, always in the same form."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given.update(zip(("device", "non_blocking"), call.args, strict=False))
    if isinstance(given.get("device"), ast.Constant) and ast.literal_eval(given["device"]) is None:
        del given["device"]
    return ast.Call(
        ast.Attribute(value, "cuda"), [], [ast.keyword(name, given[name]) for name in sorted(given, key=str)]
    )


def on_gpu(source: str) -> str:
    tree = ast.parse(source)
    return ast.unparse(OnGpu().visit(SwitchedOff().visit(tree) if "enabled=DEVICE_TYPE" in source else tree))


@pytest.mark.parametrize("name", [name for name in PROJECTS if name not in OF_TENSORFLOW])
def test_on_a_gpu_the_code_is_what_it_was(folder: Path, name: str) -> None:
    after, _ = fixed(folder, PROJECTS[name])
    assert HELPER in {path.rpartition("/")[2] for path in after}
    for path, before in PROJECTS[name].items():
        if path.endswith(".py"):
            assert on_gpu(after[path]) == on_gpu(before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.manual_seed_all(1)", "device_module.manual_seed_all(1)"),
        ('y = torch.zeros(3).to("cuda:1")', 'y = torch.zeros(3).to(f"{DEVICE_TYPE}:1")'),
        ("y = torch.zeros(3).cuda(1)", 'y = torch.zeros(3).to(f"{DEVICE_TYPE}:1")'),
        ("y = torch.zeros(3).cuda(args.gpu)", "y = torch.zeros(3).to(device_at(args.gpu))"),
        ("y = torch.zeros(3).cuda(device=args.gpu)", "y = torch.zeros(3).to(device_at(args.gpu))"),
        ("y = torch.zeros(3).cuda(None, True)", "y = torch.zeros(3).to(DEVICE_TYPE, non_blocking=True)"),
        (
            "place = torch.device('cuda:{}'.format(args.gpu))",
            "place = torch.device((DEVICE_TYPE + ':{}').format(args.gpu))",
        ),
        ("torch.distributed.init_process_group('nccl')", "torch.distributed.init_process_group(BACKEND)"),
        ("with torch.cuda.amp.autocast():\n    pass", "with device_module.amp.autocast():\n    pass"),
        ("y = 1 if model.weight.is_cuda else 2", "y = 1 if (model.weight.device.type == DEVICE_TYPE) else 2"),
    ],
)
def test_each_form_has_its_spelling(folder: Path, before: str, after: str) -> None:
    files, _ = fixed(folder, {"train.py": f"{HEAD}{before}\n"})
    assert files["train.py"].endswith(f"\n{after}\n")
    assert on_gpu(files["train.py"]) == on_gpu(f"{HEAD}{before}\n")


def test_a_declared_release_with_torch_accelerator_has_its_functions(folder: Path) -> None:
    code = HEAD + "torch.cuda.set_device(args.gpu)\nscaler = torch.cuda.amp.GradScaler(init_scale=2.0)\n"
    files, _ = fixed(folder, {"train.py": code + "print(torch.cuda.memory_allocated())\n"}, "2.6")
    assert "torch.accelerator.set_device_index(args.gpu)" in files["train.py"]
    assert "torch.amp.GradScaler(DEVICE_TYPE, init_scale=2.0)" in files["train.py"]
    assert "device_module.memory_allocated()" in files["train.py"]
    assert "torch.accelerator.current_accelerator()" in files[HELPER]


def test_mixed_precision_is_added_for_the_npu_alone(folder: Path) -> None:
    code = (
        "import torch\n\nmodel = torch.nn.Linear(3, 3).cuda()\noptimizer = torch.optim.Adagrad(model.parameters())\n"
        "for x in loader:\n    loss = model(x.cuda()).sum()\n    loss.backward()\n    optimizer.step()\n"
    )
    files, _ = fixed(folder, {"train.py": code})
    assert 'with device_module.amp.autocast(enabled=DEVICE_TYPE == "npu"):' in files["train.py"]
    assert 'scaler = device_module.amp.GradScaler(enabled=DEVICE_TYPE == "npu")' in files["train.py"]
    assert on_gpu(files["train.py"]) == on_gpu(code)
    assert fixed(folder, files)[0] == files


def test_what_would_change_a_gpu_is_refused(folder: Path) -> None:
    code = HEAD + "torch.backends.cudnn.benchmark = True\noptimizer = torch.optim.Adam(model.parameters())\n"
    files, result = fixed(folder, {"train.py": code, "run.sh": "export CUDA_VISIBLE_DEVICES=0\npython train.py\n"})
    assert "torch.backends.cudnn.benchmark = True" in files["train.py"]
    assert "torch.optim.Adam(" in files["train.py"] and "CUDA_VISIBLE_DEVICES" in files["run.sh"]
    assert "changes-gpu" in {one.reason for one in result.refused}


def test_the_helper_of_a_package_is_in_the_package(folder: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/net.py": "import torch\n\n\ndef build():\n    return torch.nn.Linear(3, 3).cuda()\n",
        "tools/train.py": "import torch\nfrom pkg.net import build\n\nmodel = build()\nfor x in loader:\n"
        "    model(x.cuda()).sum().backward()\n",
    }
    after, _ = fixed(folder, files)
    assert "pkg/torch_device.py" in after
    assert "from pkg.torch_device import DEVICE_TYPE" in after["tools/train.py"]


def test_scripts_of_a_package_import_the_helper_as_they_import_the_package(folder: Path) -> None:
    net = "def net():\n    pass\n"
    files = {"pkg/__init__.py": "", "pkg/net.py": net, "pkg/train.py": f"from pkg.net import net\n{HEAD}"}
    after, _ = fixed(folder, files)
    assert "pkg/torch_device.py" in after
    assert "from pkg.torch_device import DEVICE_TYPE" in after["pkg/train.py"]


def test_the_helper_of_a_project_elsewhere_is_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "train.py").write_text(HEAD)
    monkeypatch.chdir(tmp_path / "here")
    settings = Settings(paths=(str(tmp_path / "there"),), torch_port="agnostic", cache=False)
    changed = {one.location for one in apply_fixes(settings, True).files}
    assert {os.path.realpath(one) for one in changed} == {
        os.path.realpath(tmp_path / "there" / name) for name in ("train.py", HELPER)
    }


@pytest.mark.parametrize(
    ("texts", "more", "expected"),
    [
        ({"train.py": "", "lib/net.py": ""}, (), "torch_device.py"),
        ({"a/train.py": "", "tools/b.py": "", "a/torch_device.py": ""}, (), "a/torch_device.py"),
        ({"src/p/__init__.py": "", "src/p/net.py": "", "tools/a.py": "import p\n"}, (), "src/p/torch_device.py"),
        (
            {"p/__init__.py": "", "p/q/__init__.py": "", "p/q/net.py": "", "tools/a.py": "from p.q import net\n"},
            (),
            "p/torch_device.py",
        ),
        (
            {"p/__init__.py": "", "p/net.py": "", "tools/a.py": "", "b.py": ""},
            (),
            "torch_device.py tools/torch_device.py",
        ),
        (
            {"p/__init__.py": "", "p/net.py": "", "tools/a.py": "", "b.py": ""},
            ("pyproject.toml",),
            "tools/torch_device.py",
        ),
    ],
)
def test_where_the_helper_is(texts: dict[str, str], more: tuple[str, ...], expected: str) -> None:
    code = {path: text if path.endswith("__init__.py") else text + HEAD for path, text in texts.items()}
    entries = [path for path in texts if path.split("/")[0] in ("train.py", "tools", "b.py")]
    found = spelling_of(code, dict.fromkeys(entries, texts), {*texts, *more}, [""])
    assert found is not None and found.helper is not None
    assert " ".join(found.helper.paths(entries[0])) == expected


def test_without_a_place_for_the_helper_nothing_is_changed() -> None:
    texts = {f"part{number}/train.py": HEAD for number in range(20)}
    programs = {path: (path,) for path in texts}
    assert spelling_of(texts, programs, texts, [""]) is None
    found = spelling_of(texts, programs, texts, ["2.6.0"])
    assert found is not None and (found.helper, found.accelerator) == (None, True)


@pytest.mark.parametrize("has_npu", [False, True])
def test_the_helper_chooses_the_device_that_is_there(has_npu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.ModuleType("torch")
    torch.__dict__.update(cuda=object(), npu=object(), device=lambda *place: place)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch_npu", types.ModuleType("torch_npu") if has_npu else None)
    found = spelling_of({"train.py": HEAD}, {"train.py": ("train.py",)}, ["train.py"], [""])
    assert found is not None and found.helper is not None
    names: dict[str, object] = {}
    exec(compile(dedent(found.helper.text), HELPER, "exec"), names)  # the text is a constant of npulint
    kind = "npu" if has_npu else "cuda"
    assert (names["DEVICE_TYPE"], names["BACKEND"]) == (kind, "hccl" if has_npu else "nccl")
    assert names["device_module"] is torch.__dict__[kind]
    device_at = names["device_at"]
    assert callable(device_at)
    assert [device_at(), device_at(1), device_at("cpu")] == [(kind,), (kind, 1), ("cpu",)]

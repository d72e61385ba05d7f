"""The model of the NPU server: conditions, helpers, imports and exits where torch has an NPU and no CUDA."""

from __future__ import annotations

import pytest

from npulint.commands.build import assembled
from npulint.facts.values import NOTHING
from npulint.model.running.npu_answers import answer, found_program, importable
from npulint.model.running.npu_server import npu_server
from npulint.model.running.training_conditions import is_over_in_training
from npulint.model.values.context import Context
from npulint.model.values.cursors import scope_at
from tests.support import read_sources

_PORTED = "import torch\nimport torch_npu\n"
_TRANSFER = _PORTED + "from torch_npu.contrib import transfer_to_npu\n"


def _context(sources: dict[str, str]) -> Context:
    return assembled("/p", read_sources(sources), torch="2.7").context


def _runs(source: str, more: dict[str, str] | None = None) -> str:
    """Whether the call of ``here`` in a source runs on the server."""
    context = _context({"a.py": source, **(more or {})})
    (call,) = scope_at(context, context.project.modules["a.py"], 0).calls_named("here")
    return npu_server(context).runs(call.scope, call.line)


_CONDITIONS = {
    "CUDA is asked for": ("if torch.cuda.is_available():\n    here()\n", "no"),
    "else of CUDA": ("if torch.cuda.is_available():\n    pass\nelse:\n    here()\n", "yes"),
    "the NPU is asked for": ("if torch.npu.is_available():\n    here()\n", "yes"),
    "a negation": ("if not torch.cuda.is_available():\n    here()\n", "yes"),
    "a conjunction": ("if args.x and torch.cuda.is_available():\n    here()\n", "no"),
    "a disjunction with something unknown": ("if args.x or torch.cuda.is_available():\n    here()\n", "unknown"),
    "a count": ("if torch.cuda.device_count() > 1:\n    here()\n", "no"),
    "a version": ("if torch.version.cuda is not None:\n    here()\n", "no"),
    "through a name": ("has_cuda = torch.cuda.is_available()\nif has_cuda:\n    here()\n", "no"),
    "through any name": ("quick = torch.cuda.is_available()\nif quick:\n    here()\n", "no"),
    "an option": ("if args.cuda:\n    here()\n", "unknown"),
    "a constant of the module, which its user edits": ("CUDA = False\nif CUDA:\n    here()\n", "unknown"),
    "the device of a tensor": ("def f(x):\n    if x.device.type == 'cuda':\n        here()\n", "no"),
    "the device of a tensor as text": ("def f(x):\n    if 'cuda' in str(x.device):\n        here()\n", "no"),
    "a device that is handed on": ("def f(device):\n    if device.type == 'cuda':\n        here()\n", "no"),
    "its type under a name": (
        "def f(device):\n    kind = torch.device(device).type\n    if kind != 'cuda':\n        return\n    here()\n",
        "no",
    ),
    "a device with a usual value": (
        "def f(device='cuda'):\n    if torch.device(device).type == 'cuda':\n        here()\n",
        "no",
    ),
    "a device that is written": ("if torch.device('cuda').type == 'cuda':\n    here()\n", "unknown"),
    "another type": ("def f(node):\n    if node.type == 'conv':\n        here()\n", "unknown"),
    "one of several devices": ("def f(x):\n    if x.device.type in ('cuda', 'npu'):\n        here()\n", "unknown"),
    "an operand": ("x = torch.cuda.is_available() and here()\n", "no"),
    "the other operand": ("x = torch.cuda.is_available() or here()\n", "yes"),
    "an arm": ("x = here() if torch.cuda.is_available() else 1\n", "no"),
    "the accelerator": ("if torch.accelerator.current_accelerator().type == 'npu':\n    here()\n", "yes"),
    "a helper of transformers": (
        "from transformers.utils import is_torch_npu_available\nif is_torch_npu_available():\n    here()\n",
        "yes",
    ),
    "a helper from another of its modules": (
        "from transformers.utils.import_utils import is_torch_cuda_available\n"
        "if is_torch_cuda_available():\n    here()\n",
        "no",
    ),
    "a specification": (
        "import importlib.util\nif importlib.util.find_spec('flash_attn') is not None:\n    here()\n",
        "no",
    ),
    "a program": ("import shutil\nif shutil.which('nvidia-smi'):\n    here()\n", "no"),
    "a member": ("if hasattr(torch, 'npu'):\n    here()\n", "yes"),
}


@pytest.mark.parametrize(("source", "expected"), _CONDITIONS.values(), ids=_CONDITIONS.keys())
def test_conditions_are_evaluated_on_the_server(source: str, expected: str) -> None:
    assert _runs(_PORTED + source) == expected


_HELPERS = {
    "first return that holds": (
        "def kind():\n    if torch.cuda.is_available():\n        return 'cuda'\n"
        "    if torch.npu.is_available():\n        return 'npu'\n    return 'cpu'\n",
        "yes",
    ),
    "assignments in branches": (
        "def kind():\n    if torch.cuda.is_available():\n        d = 'cuda'\n    elif torch.npu.is_available():\n"
        "        d = 'npu'\n    else:\n        d = 'cpu'\n    return d\n",
        "yes",
    ),
    "an unknown return": ("def kind():\n    return other()\n", "unknown"),
}


@pytest.mark.parametrize(("helper", "expected"), _HELPERS.values(), ids=_HELPERS.keys())
def test_helpers_say_the_npu_there(helper: str, expected: str) -> None:
    assert (
        _runs(_PORTED + "from b import kind\nif kind() == 'npu':\n    here()\n", {"b.py": _PORTED + helper}) == expected
    )


def test_an_own_helper_is_known_by_the_convention_of_its_name() -> None:
    own = _PORTED + "def is_npu_available():\n    return look()\n"
    assert (
        _runs(_PORTED + "from b import is_npu_available\nif is_npu_available():\n    here()\n", {"b.py": own}) == "yes"
    )


_EXITS = {
    "a return": ("def f():\n    if not torch.cuda.is_available():\n        return\n    here()\n", "no"),
    "an error": ("def f():\n    if not torch.cuda.is_available():\n        raise OSError\n    here()\n", "no"),
    "an end": ("import sys\ndef f():\n    if not torch.cuda.is_available():\n        sys.exit(1)\n    here()\n", "no"),
    "a return that is not reached": (
        "def f():\n    if torch.cuda.is_available():\n        return\n    here()\n",
        "yes",
    ),
    "a return in the next function": (
        "def g():\n    if torch.npu.is_available():\n        return\ndef f():\n    here()\n",
        "yes",
    ),
    "a round that is skipped": (
        "for x in y:\n    if torch.npu.is_available():\n        continue\n    here()\n",
        "no",
    ),
    "behind the loop": ("for x in y:\n    if torch.npu.is_available():\n        break\nhere()\n", "yes"),
    "within the statement that leaves": ("def f():\n    return (\n        here()\n    )\n", "yes"),
    "an exit in a block around it": (
        "def f(x):\n    if not torch.cuda.is_available():\n        return\n    if x:\n        here()\n",
        "no",
    ),
    "what always runs": (
        "def f():\n    try:\n        return 1\n    finally:\n        here()\n",
        "yes",
    ),
}


_TRAINED = {
    "an exit while training": ("if self.training:\n            return x\n        here()", True),
    "an exit of a block around it": (
        "if self.training:\n            return x\n        if y:\n            for z in y:\n                here()",
        True,
    ),
    "an exit of another block": ("if y:\n            return x\n        if z:\n            here()", False),
}


@pytest.mark.parametrize(("body", "is_over"), _TRAINED.values(), ids=_TRAINED.keys())
def test_nothing_behind_an_exit_while_training_runs_in_it(body: str, is_over: bool) -> None:
    source = f"import torch\nclass M(torch.nn.Module):\n    def forward(self, x, y, z):\n        {body}\n"
    context = _context({"a.py": source})
    (call,) = scope_at(context, context.project.modules["a.py"], 0).calls_named("here")
    assert is_over_in_training(call.scope, call.line) is is_over


@pytest.mark.parametrize(("source", "expected"), _EXITS.values(), ids=_EXITS.keys())
def test_nothing_runs_after_an_exit(source: str, expected: str) -> None:
    assert _runs(_PORTED + source) == expected


_IMPORTS = {
    "what follows an import that fails": (
        "try:\n    import flash_attn\n    here()\nexcept ImportError:\n    pass\n",
        "no",
    ),
    "its handler": ("try:\n    import flash_attn\nexcept ImportError:\n    here()\n", "yes"),
    "a handler of something else": ("try:\n    import flash_attn\nexcept KeyError:\n    here()\n", "unknown"),
    "the handler of an import that succeeds": ("try:\n    import torch_npu\nexcept ImportError:\n    here()\n", "no"),
    "the handler of an import that may": ("try:\n    import yaml\nexcept ImportError:\n    here()\n", "unknown"),
    "a flag of it": (
        "try:\n    import flash_attn\n    HAS_FLASH = True\nexcept ImportError:\n    HAS_FLASH = False\n"
        "if HAS_FLASH:\n    here()\n",
        "no",
    ),
    "a flag of it by any name": (
        "try:\n    import flash_attn\n    fast = True\nexcept ImportError:\n    fast = False\nif fast:\n    here()\n",
        "no",
    ),
}


@pytest.mark.parametrize(("source", "expected"), _IMPORTS.values(), ids=_IMPORTS.keys())
def test_imports_fail_where_a_library_needs_a_gpu(source: str, expected: str) -> None:
    assert _runs(_PORTED + source) == expected


@pytest.mark.parametrize(
    ("head", "expected"), [(_PORTED, "no"), (_TRANSFER, "yes"), ("import torch\n", "unknown")], ids=str
)
def test_cuda_answers_for_the_npu_under_transfer_and_is_open_in_a_gpu_project(head: str, expected: str) -> None:
    assert _runs(head + "if torch.cuda.is_available():\n    here()\n") == expected


def test_circles_and_deep_code_end() -> None:
    assert (
        _runs(_PORTED + "def a():\n    return b()\ndef b():\n    return a()\nif a() == 'npu':\n    here()\n")
        == "unknown"
    )
    deep = " and ".join(["torch.cuda.is_available()"] * 400)
    assert _runs(_PORTED + f"if {deep}:\n    here()\n") in ("no", "unknown")


def test_the_table_knows_names_of_packages_by_their_last_segment() -> None:
    assert answer("transformers.is_torch_npu_available()", False).single is True
    assert answer("transformers.utils.is_torch_npu_available()", False).single is True
    assert answer("torch.cuda.device_count()", True) is NOTHING
    assert answer("torch.unknown()", False) is NOTHING
    assert answer("*.is_cuda_available()", False).single is False
    assert (importable("flash_attn"), importable("torch_npu.npu"), importable("yaml")) == (False, True, None)
    assert (found_program("nvidia-smi").single, found_program("ls")) == (None, NOTHING)


_CHOICE = "if torch.cuda.is_available():\n    device = Cuda()\nelse:\n    device = Npu()\n"
_CLASSES = {
    "of a device that is not there": ("class Cuda:\n    def f(self):\n        here()\n" + _CHOICE, "no"),
    "of the device that is there": ("class Npu:\n    def f(self):\n        here()\n" + _CHOICE, "yes"),
    "that is used elsewhere, too": (
        "class Cuda:\n    def f(self):\n        here()\n" + _CHOICE + "class Other(Cuda):\n    pass\n",
        "yes",
    ),
    "that is registered": ("@register\nclass Cuda:\n    def f(self):\n        here()\n" + _CHOICE, "yes"),
    "that nothing names": ("class Cuda:\n    def f(self):\n        here()\n", "yes"),
}


@pytest.mark.parametrize(("source", "expected"), _CLASSES.values(), ids=_CLASSES.keys())
def test_classes_do_not_run_that_only_such_code_names(source: str, expected: str) -> None:
    assert _runs(_PORTED + source) == expected


def test_classes_of_gpu_projects_run() -> None:
    source = "class Cuda:\n    def f(self):\n        here()\nif torch.cuda.is_available():\n    device = Cuda()\n"
    assert _runs("import torch\n" + source) == "yes"


_PRIVATE = "def _stream():\n    here()\ndef f(device):\n    if device.type != 'cuda':\n        return\n    _stream()\n"


@pytest.mark.parametrize(
    ("source", "more", "expected"),
    [
        (_PRIVATE, {}, "no"),
        (_PRIVATE + "_stream()\n", {}, "yes"),
        (_PRIVATE + "kept = _stream\n", {}, "yes"),
        (_PRIVATE, {"b.py": "from a import _stream\n_stream()\n"}, "yes"),
    ],
    ids=["after an exit", "elsewhere, too", "kept", "by another module"],
)
def test_private_functions_do_not_run_that_only_such_code_calls(
    source: str, more: dict[str, str], expected: str
) -> None:
    assert _runs(_PORTED + source, more) == expected


def test_a_flag_is_known_also_where_its_branch_leaves() -> None:
    flag = "try:\n    import flash_attn\n    HAS_FLASH = True\nexcept ImportError:\n    HAS_FLASH = False\n"
    context = _context({"a.py": _PORTED + flag + "def f():\n    if HAS_FLASH:\n        return here()\n    there()\n"})
    module = scope_at(context, context.project.modules["a.py"], 0)
    server = npu_server(context)
    found = {call.last: server.runs(call.scope, call.line) for call in module.calls_named("here", "there")}
    assert found == {"here": "no", "there": "yes"}


_DEVICE = "def kind():\n    return torch.accelerator.current_accelerator().type\n"
_KERNELS = "def product(x):\n    return x\n"
_IMPORTERS = {
    "only where the machine has CUDA": ({"ops.py": "if kind() == 'cuda':\n    from a import product\n"}, "no"),
    "also elsewhere": (
        {"ops.py": "if kind() == 'cuda':\n    from a import product\n", "b.py": "from a import product\n"},
        "yes",
    ),
    "also by tests": (
        {"ops.py": "if kind() == 'cuda':\n    from a import product\n", "tests/test_a.py": "from a import product\n"},
        "no",
    ),
    "through a module that does not run": (
        {"ops.py": "if kind() == 'cuda':\n    import b\n", "b.py": "from a import product\n"},
        "no",
    ),
    "by nothing": ({}, "yes"),
}


@pytest.mark.parametrize(("more", "expected"), _IMPORTERS.values(), ids=_IMPORTERS.keys())
def test_modules_do_not_run_that_only_such_code_imports(more: dict[str, str], expected: str) -> None:
    more = {path: _PORTED + _DEVICE + source for path, source in more.items()}
    context = _context({"a.py": _KERNELS, **more})
    assert npu_server(context).runs(scope_at(context, context.project.modules["a.py"], 0)) == expected


def test_a_package_runs_where_something_within_it_is_imported() -> None:
    more = {
        "ops.py": _PORTED + _DEVICE + "if kind() == 'cuda':\n    import kernels\n",
        "kernels/__init__.py": "",
        "kernels/b.py": "",
        "other.py": "import kernels.b\n",
    }
    context = _context({"a.py": "import ops\n", **more})
    assert npu_server(context).runs(scope_at(context, context.project.modules["kernels/__init__.py"], 0)) == "yes"

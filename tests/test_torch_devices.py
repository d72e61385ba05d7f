"""Places that use CUDA: in which form, what is known of them, and what only looks like one."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts

_HEAD = "import torch\n"

_FORMS = {
    "method": ("x = f().cuda()", "method", "cuda"),
    "method of a name": ("x = y.cuda(0, non_blocking=True)", "method", "cuda"),
    "method as a value": ("ys = map(torch.Tensor.cuda, xs)", "method", "torch.Tensor.cuda"),
    "module of its own": ("class Net(torch.nn.Module):\n    pass\nnet = Net().cuda()", "method", "cuda"),
    "device": ("d = torch.device('cuda', 1)", "text", "cuda"),
    "device under another name": ("from torch import device as D\nd = D('cuda:1')", "text", "cuda:1"),
    "composed by an f-string": ("d = torch.device(f'cuda:{rank}')", "text", "cuda:"),
    "composed by %": ("d = torch.device('cuda:%d' % rank)", "text", "cuda:%d"),
    "composed by format": ("loc = 'cuda:{}'.format(rank)", "text", "cuda:{}"),
    "composed by +": ("d = torch.device('cuda:' + str(rank))", "text", "cuda:…"),
    "argument of to": ("y = x.to('cuda')", "text", "cuda"),
    "keyword of to": ("y = x.to(device='cuda:0')", "text", "cuda:0"),
    "keyword of a factory": ("y = torch.ones(3, device='cuda')", "text", "cuda"),
    "map_location": ("s = torch.load(p, map_location='cuda:0')", "text", "cuda:0"),
    "map_location by position": ("s = torch.load(p, 'cuda:0')", "text", "cuda:0"),
    "value of a mapping of devices": ("s = torch.load(p, map_location={'cuda:0': 'cuda:1'})", "text", "cuda:1"),
    "binding": ("class Solver:\n    def __init__(self):\n        self.device = 'cuda'", "text", "cuda"),
    "default": ("def build(device='cuda'):\n    pass", "text", "cuda"),
    "option": ("parser.add_argument('--device', default='cuda')", "text", "cuda"),
    "argument of an own function": ("def build(n, device):\n    pass\nbuild(3, 'cuda')", "text", "cuda"),
    "returned": ("def pick_device():\n    return 'cuda'", "text", "cuda"),
    "binding that is used as a device": ("where = 'cuda'\ny = torch.ones(3, device=where)", "text", "cuda"),
    "binding by two names": ("where = 'cuda'\nthere = where\ny = x.to(there)", "text", "cuda"),
    "binding in another function": (
        "where = 'cuda'\ndef f(n, place):\n    return torch.ones(n, device=place)\nf(3, where)",
        "text",
        "cuda",
    ),
    "argument that is used as a device": (
        "def f(n, place):\n    return torch.ones(n, device=place)\nf(3, 'cuda')",
        "text",
        "cuda",
    ),
    "default that is used as a device": (
        "def f(n, place='cuda'):\n    return torch.ones(n, device=place)",
        "text",
        "cuda",
    ),
    "result that is used as a device": ("def f():\n    return 'cuda'\ny = x.to(f())", "text", "cuda"),
    "number": ("y = x.to(0)", "index", "0"),
    "rank": ("def f(local_rank):\n    return x.to(local_rank)", "index", "local_rank"),
    "function": ("torch.cuda.synchronize()", "api", "torch.cuda.synchronize"),
    "function by an alias": ("from torch import cuda as gpu\ngpu.set_device(1)", "api", "torch.cuda.set_device"),
    "function as a value": ("cast = torch.cuda.amp.autocast", "api", "torch.cuda.amp.autocast"),
    "availability": ("if torch.cuda.is_available():\n    pass", "available", "torch.cuda.is_available"),
    "type": ("y = torch.cuda.FloatTensor([1.0])", "type", "torch.cuda.FloatTensor"),
    "type as a text": ("y = x.type('torch.cuda.LongTensor')", "type", "torch.cuda.LongTensor"),
    "is_cuda": ("def f(x):\n    return x.is_cuda", "is_cuda", "is_cuda"),
    "flag": ("from torch.backends import cudnn\ncudnn.benchmark = True", "flag", "torch.backends.cudnn.benchmark"),
    "version": ("v = torch.version.cuda.split('.')", "version", "torch.version.cuda"),
    "capability": ("c = torch.cuda.get_device_capability()", "capability", "torch.cuda.get_device_capability"),
}


def _cuda(text: str) -> list[Fact]:
    return facts(_HEAD + text + "\n", "cuda")


@pytest.mark.parametrize(("text", "form", "name"), _FORMS.values(), ids=_FORMS.keys())
def test_every_form_of_cuda_is_one_place(text: str, form: str, name: str) -> None:
    assert [(f.get("form"), f.name) for f in _cuda(text)] == [(form, name)]


_NOTHING = {
    "a binding that is printed": "where = 'cuda'\nprint(where)\ny = x.to(there)",
    "a binding for another library": "where = 'cuda'\nimport jax\ny = jax.device_put(x, device=where)",
    "a result that is printed": "def f():\n    return 'cuda'\nprint(f())\ny = x.to(there)",
    "a key": "names = {'cuda': 'GPU'}",
    "a key of map_location": "s = torch.load(p, map_location={'cuda:0': 'cpu'})",
    "a docstring": "def f():\n    'cuda:0'",
    "help": "parser.add_argument('--lr', default=1, help='cuda')",
    "a log line": "print('cuda:0')\nlog.info('cuda')",
    "a file name": "s = torch.load('cuda.pth', map_location='cpu')",
    "another option": "parser.add_argument('--backend', default='cuda')",
    "another library": "from numba import cuda\n@cuda.jit\ndef f():\n    cuda.synchronize()",
    "cupy": "import cupy\ncupy.cuda.Device(0).use()",
    "an own method called cuda": "class Options:\n    def cuda(self):\n        return 1\nOptions().cuda()",
    "an own flag": "class Config:\n    benchmark = False\ncudnn = Config()\ncudnn.benchmark = True",
    "a type": "y = x.to(torch.float16)",
    "a boolean": "y = x.to(True)",
    "a result of a CUDA object": "def f(s):\n    s.record()",
}


@pytest.mark.parametrize("text", _NOTHING.values(), ids=_NOTHING.keys())
def test_what_only_says_cuda_is_no_place(text: str) -> None:
    assert _cuda(text) == []


_KNOWN = {
    "fallback by a condition": ("d = torch.device('cuda' if torch.cuda.is_available() else 'cpu')", "fallback", "yes"),
    "fallback through a name": ("u = torch.cuda.is_available()\ndevice = 'cuda' if u else 'cpu'", "fallback", "yes"),
    "the device of another maker": ("device = 'cuda' if torch.cuda.is_available() else 'mps'", "fallback", "no"),
    "what the device of another maker needs": (
        "d = torch.device('cuda' if torch.cuda.is_available() else 'mps')",
        "breaks",
        "yes",
    ),
    "the CPU after the device of another maker": (
        "device = 'cuda' if torch.cuda.is_available() else 'mps' if mps else 'cpu'",
        "fallback",
        "yes",
    ),
    "a choice that asks nothing": ("d = torch.device('cuda' if gpus else 'cpu')", "fallback", "no"),
    "beside the NPU": ("device = 'npu' if n else 'cuda'", "beside_npu", "yes"),
    "an NPU among the choices": (
        "parser.add_argument('--device', default='cuda', choices=['cpu', 'npu'])",
        "beside_npu",
        "yes",
    ),
    "a harmless function": ("torch.cuda.manual_seed_all(1)", "breaks", "no"),
    "a function that needs CUDA": ("torch.cuda.set_device(1)", "breaks", "yes"),
    "a private function": ("torch.cuda._sleep(1)", "breaks", "unknown"),
    "a counterpart": ("torch.cuda.Stream()", "counterpart", "torch.npu.Stream"),
    "a counterpart of another name": ("torch.cuda.nvtx.range_pop()", "counterpart", "torch_npu.npu.mstx.range_pop"),
    "no counterpart": ("torch.cuda.temperature()", "counterpart", "none"),
    "what the patch leaves out": ("torch.cuda.nvtx.range_pop()", "covered", "no"),
    "the counterpart of a text": ("y = x.to('cuda:1')", "counterpart", "npu:1"),
    "a storage": ("s = torch.load(p, map_location=lambda storage, loc: storage.cuda(0))", "receiver", "storage"),
    "a layer": ("c = torch.nn.CrossEntropyLoss().cuda()", "receiver", "module"),
    "a tensor": ("c = torch.ones(3).cuda()", "receiver", "tensor"),
    "a guarded call": ("try:\n    torch.cuda.synchronize()\nexcept RuntimeError:\n    pass", "guarded", "yes"),
    "a file that names the NPU": ("import torch_npu\ntorch.cuda.synchronize()", "ported", "yes"),
    "a file that does not": ("torch.cuda.synchronize()", "ported", "no"),
}


@pytest.mark.parametrize(("text", "attribute", "wanted"), _KNOWN.values(), ids=_KNOWN.keys())
def test_what_is_known_of_a_place(text: str, attribute: str, wanted: str) -> None:
    found = [f for f in _cuda(text) if f.get("form") != "available"]
    assert [f.get(attribute) for f in found] == [wanted]


_COMPARED = {
    "the device of a tensor": ("x.device.type == 'cuda'", "tensor"),
    "the device of a tensor as a text": ("'cuda' in str(x.device)", "tensor"),
    "the beginning of such a text": ("str(x.device).startswith('cuda')", "tensor"),
    "the device of the object itself": ("self.device.type != 'cuda'", "device"),
    "an option": ("args.device == 'cuda'", "choice"),
    "a name": ("device == 'cuda'", "choice"),
    "a tensor's type": ("x.type() == 'torch.cuda.FloatTensor'", "type"),
    "a backend": ("backend == 'nccl'", "backend"),
}


@pytest.mark.parametrize(("test", "of"), _COMPARED.values(), ids=_COMPARED.keys())
def test_what_is_compared_with_cuda(test: str, of: str) -> None:
    found = [
        f for f in _cuda(f"def f(self, x, args, device, backend):\n    return {test}") if f.get("form") == "compare"
    ]
    assert [f.get("of") for f in found] == [of]


def test_a_comparison_that_knows_the_npu_says_so() -> None:
    found = _cuda("def f(x):\n    return x.device.type in ('cuda', 'npu')")
    assert [f.get("beside_npu") for f in found] == ["yes"]


_USES = {
    "unpacked": ("major, minor = torch.cuda.get_device_capability()", "apart"),
    "subscript": ("ok = torch.cuda.get_device_capability()[0] >= 8", "apart"),
    "compared": ("c = torch.cuda.get_device_capability()\nok = c >= (8, 0)", "compared"),
    "a condition": ("if torch.cuda.get_device_capability() < (7, 0):\n    pass", "compared"),
    "shown": ("print(torch.cuda.get_device_capability())", "shown"),
}


@pytest.mark.parametrize(("text", "use"), _USES.values(), ids=_USES.keys())
def test_what_becomes_of_a_capability(text: str, use: str) -> None:
    assert [f.get("use") for f in _cuda(text)] == [use]


def test_fields_of_device_properties_and_of_nothing_else() -> None:
    text = "import sys\np = torch.cuda.get_device_properties(0)\na = p.major\nb = p.total_memory\nc = sys.info.major"
    assert [f.span.line for f in _cuda(text) if f.get("use") == "field"] == [4]


def test_the_npu_as_a_device_is_an_npu_fact() -> None:
    text = _HEAD + "x = torch.ones(3, device='npu:0')\ny = x.to(f'npu:{rank}')\nnames = {'npu': 1}\n"
    assert [f.span.line for f in facts(text, "npu")] == [2, 3]


def test_the_end_of_a_long_call_is_the_place_of_its_method() -> None:
    assert [f.span.line for f in _cuda("net = torch.nn.Linear(\n    3,\n    3,\n).cuda()")] == [5]


_EARLY = {
    "after the patch": ("{patch}from torch.cuda.amp import GradScaler\n", []),
    "before the patch": ("from torch.cuda.amp import GradScaler\n{patch}", ["torch.cuda.amp.GradScaler"]),
    "a class patched in place": ("from torch.nn.parallel import DistributedDataParallel\n{patch}", []),
    "a module": ("from torch.cuda import amp\nimport torch.cuda.amp as more\n{patch}", []),
    "a factory that is asked for a device": (
        "from torch import zeros\n{patch}x = zeros(3, device='cuda')\n",
        ["torch.zeros"],
    ),
    "a factory that is not": ("from torch import zeros\n{patch}x = zeros(3)\n", []),
    "for a type checker": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch import Generator\n{patch}",
        [],
    ),
    "within a function": ("def f():\n    from torch import Generator\n{patch}", []),
    "no patch at all": ("from torch.cuda.amp import GradScaler\n", []),
}
_PATCH = "import torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"


@pytest.mark.parametrize(("text", "wanted"), _EARLY.values(), ids=_EARLY.keys())
def test_names_bound_before_the_patch(text: str, wanted: list[str]) -> None:
    assert [f.name for f in facts(text.replace("{patch}", _PATCH), "early_binding")] == wanted


def test_modules_imported_before_the_patch_bind_early_and_those_after_do_not() -> None:
    sources = {
        "train.py": f"import first\n{_PATCH}import second\n",
        "first.py": "from torch.cuda.amp import GradScaler\n",
        "second.py": "from torch.cuda.amp import GradScaler\n",
    }
    assert [f.path for f in facts(sources, "early_binding")] == ["first.py"]


_PORTED = "import torch\nimport torch_npu\n"
_MATTERS = {
    "a conditional expression": ("torch.cuda.synchronize() if x.device.type == 'cuda' else None", "no"),
    "a branch that waits": ("if x.device.type == 'cuda':\n        torch.cuda.synchronize()", "no"),
    "a branch that also computes": (
        "if x.device.type == 'cuda':\n        torch.cuda.synchronize()\n        x = fast(x)",
        "yes",
    ),
    "a branch that computes": ("if x.device.type == 'cuda':\n        x = fast(x)", "yes"),
    "contiguous tensors": ("if x.device.type == 'cuda' and y is not None:\n        x = x.contiguous()", "no"),
    "an error": ("if x.device.type == 'cuda':\n        raise ValueError('not on CUDA')", "no"),
    "an error elsewhere": ("if x.device.type != 'cuda':\n        raise ValueError('only on CUDA')", "yes"),
    "another way elsewhere": ("if x.device.type == 'cuda':\n        print(1)\n    else:\n        x = x.cpu()", "yes"),
    "a result": ("if x.device.type == 'cuda':\n        return fast(x)", "yes"),
    "a branch for the NPU": (
        "if x.device.type == 'cuda':\n        x = fast(x)\n    elif x.device.type == 'npu':\n        x = f(x)",
        "no",
    ),
    "the NPU in the same condition": ("if x.device.type == 'cuda' or x.device.type == 'npu':\n        x = f(x)", "no"),
    "a branch for the NPU before": (
        "if x.device.type == 'npu':\n        x = g(x)\n    if x.device.type == 'cuda':\n        x = fast(x)",
        "no",
    ),
    "the NPU only checked": (
        "if x.device.type == 'cuda':\n        x = fast(x)\n    if k == 'npu':\n        assert torch.npu.is_available()",
        "yes",
    ),
    "kept in a name": (
        "on = x.device.type == 'cuda'\n    if on:\n        torch.cuda.empty_cache()\n    return on",
        "yes",
    ),
    "passed on": ("g(enabled=x.device.type == 'cuda')", "yes"),
    "beside TensorRT": ("import tensorrt\n    assert x.device.type == 'cuda'", "no"),
}


@pytest.mark.parametrize(("lines", "answer"), _MATTERS.values(), ids=_MATTERS.keys())
def test_whether_a_comparison_with_cuda_matters_on_an_npu_server(lines: str, answer: str) -> None:
    found = facts(f"{_PORTED}def f(x, y, k):\n    {lines}\n", "cuda")
    assert [f.get("matters") for f in found if f.get("form") == "compare"] == [answer]


_AVAILABLE = {
    "switches of cuDNN": ("torch.backends.cudnn.benchmark = True", "no"),
    "seeds": ("torch.cuda.manual_seed_all(1)", "no"),
    "statistics": ("print(torch.cuda.max_memory_allocated() / 2**20)", "no"),
    "a move": ("x = x.cuda()", "yes"),
    "a device": ("device = 'cuda'", "yes"),
}


@pytest.mark.parametrize(("line", "answer"), _AVAILABLE.values(), ids=_AVAILABLE.keys())
def test_whether_the_branch_for_cuda_is_missed_on_an_npu_server(line: str, answer: str) -> None:
    found = facts(f"{_PORTED}x = torch.ones(3).npu()\nif torch.cuda.is_available():\n    {line}\n", "cuda")
    assert {f.get("matters") for f in found} == {answer}


_SEVERAL = {
    "replicated in one process": ("model = torch.nn.DataParallel(model)", "no"),
    "processes": ("torch.multiprocessing.spawn(model)", "yes"),
}


@pytest.mark.parametrize(("line", "answer"), _SEVERAL.values(), ids=_SEVERAL.keys())
def test_a_branch_for_several_gpus_matters_if_it_starts_processes(line: str, answer: str) -> None:
    found = facts(f"{_PORTED}def f(model):\n    if torch.cuda.device_count() > 1:\n        {line}\n", "cuda")
    assert [f.get("matters") for f in found if f.get("form") == "available"] == [answer]


def test_a_call_for_cuda_beside_the_same_call_for_the_npu_does_not_matter() -> None:
    found = facts(f"{_PORTED}def f():\n    torch.cuda.empty_cache()\n    torch.npu.empty_cache()\n", "cuda")
    assert [f.get("matters") for f in found] == ["no"]


_DEFAULTS = {
    "passed by every call": ("f(1, device=d)\nf(2, d)", ["no"]),
    "left out by one": ("f(1, device=d)\nf(2)", ["yes"]),
    "never called": ("", ["no"]),
    "called by an unknown object": ("class A:\n    f = f\ng().f(1)", ["yes"]),
}


@pytest.mark.parametrize("default", ["'cuda'", "torch.device('cuda')"])
@pytest.mark.parametrize(("calls", "answer"), _DEFAULTS.values(), ids=_DEFAULTS.keys())
def test_the_default_of_a_parameter_matters_where_a_call_leaves_it_out(
    default: str, calls: str, answer: list[str]
) -> None:
    found = facts(f"{_PORTED}def f(x, device={default}):\n    return x\n{calls}\n", "cuda")
    assert [f.get("matters") for f in found] == answer


def test_the_default_of_a_parameter_that_is_compared_with_the_npu_does_not_matter() -> None:
    body = "    if device == 'npu':\n        g()\n"
    assert [f.get("matters") for f in facts(f"{_PORTED}def f(x, device='cuda'):\n{body}f(1)\n", "cuda")] == ["no"]


@pytest.mark.parametrize(("name", "answer"), [("device.type", "yes"), ("args.device", "yes"), ("kind", "no")])
def test_an_option_for_the_device_has_the_npu_beside_it_if_the_project_compares_it_with_that(
    name: str, answer: str
) -> None:
    option = "parser.add_argument('--device', default='cuda')\n"
    found = facts(f"{_PORTED}{option}def f(args, device, kind):\n    return {name} == 'npu'\n", "cuda")
    assert [f.get("beside_npu") for f in found if f.get("position") == "option"] == [answer]


_ASSERTIONS = {
    "that CUDA is available": ("assert torch.cuda.is_available(), 'no GPU'", "yes", "yes"),
    "that it is or the NPU": ("assert torch.cuda.is_available() or torch.npu.is_available()", "no", "yes"),
    "that it is not": ("assert not torch.cuda.is_available()", "no", "yes"),
    "about a parameter, in a function that nothing calls": ("assert name.device.type == 'cuda'", "no", "yes"),
    "about a choice": ("if name == 'apex':\n        assert torch.cuda.is_available()", "yes", "no"),
    "no assertion": ("return torch.cuda.is_available()", "no", "yes"),
    "an answer that is never read": ("found = torch.cuda.is_available()", "no", "no"),
}


@pytest.mark.parametrize(("text", "fatal", "matters"), _ASSERTIONS.values(), ids=_ASSERTIONS.keys())
def test_whether_an_assertion_about_cuda_ends_a_run_on_an_npu_server(text: str, fatal: str, matters: str) -> None:
    found = facts(f"{_PORTED}def f(name):\n    {text}\n", "cuda")
    assert [(f.get("fatal"), f.get("matters")) for f in found] == [(fatal, matters)]

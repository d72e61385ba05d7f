"""The verbs of fixes in Python sources, at places marked «so»."""

from __future__ import annotations

import pytest

from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.plan import planned
from npulint.fix.python import plan
from npulint.judge.findings import FixEdit, FixStep
from tests.fix_support import PATH, changed, marked, stepped

Words = dict[str, str]
Case = tuple[str, Words, str]


def _table(cases: dict[str, Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("source", "words", "result"), cases.values(), ids=cases.keys())


RENAME: dict[str, Case] = {
    "a call gets another callee": (
        "x = «tf.nn.dropout(x, keep)»\n",
        {"to": "npu_ops.dropout"},
        "x = npu_ops.dropout(x, keep)\n",
    ),
    "a mention gets another name": ("f(«tf.nn.relu»)\n", {"to": "npu.relu"}, "f(npu.relu)\n"),
    "the name of a decorator": (
        "@«tf.function»\ndef f(): pass\n",
        {"to": "npu.function"},
        "@npu.function\ndef f(): pass\n",
    ),
    "a callee over two lines": ("(«tf.nn\n .relu(x)»)\n", {"to": "npu.relu"}, "(npu.relu(x))\n"),
    "a mention over two lines stands for its first character": (
        "y = («t»f\n .float16)\n",
        {"to": "npu.half"},
        "y = (npu.half)\n",
    ),
    "an attribute that is assigned": ("«torch.cuda.x» = 1\n", {"to": "torch.npu.x"}, "torch.npu.x = 1\n"),
    "behind a word without a blank": ("def f():\n    return«(tf).f»\n", {"to": "g"}, "def f():\n    return g\n"),
    "behind wide characters": ("a = '损失', «tf.f(1)»\n", {"to": "g"}, "a = '损失', g(1)\n"),
    "a receiver that is no name stays with a placeholder": (
        "«get()[0].cuda(1)»\n",
        {"to": "$receiver.npu"},
        "get()[0].npu(1)\n",
    ),
    "a receiver that is no name is not dropped": ("«get().cuda()»\n", {"to": "npu"}, "refused: name"),
    "a comment within the name is kept": ("(«tf  # the old one\n .f(1)»)\n", {"to": "g"}, "refused: comment"),
    "a plain name that is assigned is not renamed": ("«x» = 1\n", {"to": "y"}, "refused: name"),
    "in an f-string": ("s = f'{«tf.f(x)»!r:>{w}}'\n", {"to": "g"}, "s = f'{g(x)!r:>{w}}'\n"),
    "in the second of two fields that are alike": ("s = f'{x} {«tf.f(x)»}'\n", {"to": "g"}, "s = f'{x} {g(x)}'\n"),
    "in an f-string that shows its source": ("s = f'{«tf.f(x)»=}'\n", {"to": "g"}, "refused: f-string"),
    "in a lambda": ("k = lambda: «tf.f(x)».y\n", {"to": "g"}, "k = lambda: g(x).y\n"),
    "the inner of chained methods": ("«a.b(1)».c(2)\n", {"to": "d"}, "d(1).c(2)\n"),
    "a value in a pattern": ("match x:\n    case «a.b»: pass\n", {"to": "c.d"}, "match x:\n    case c.d: pass\n"),
    "a value in a pattern stays no name": ("match x:\n    case «a.b»: pass\n", {"to": "c"}, "refused: name"),
    "a place that is no node": ("x = «tf.f + y» * 2\n", {"to": "g"}, "refused: place"),
    "a place behind the text": ("«x»", {"to": "g"}, "g"),
}


@_table(RENAME)
def test_rename(source: str, words: Words, result: str) -> None:
    assert stepped(source, "rename", words) == result


_CUDA = {"part": "cuda", "to": "npu"}
RENAME_PART: dict[str, Case] = {
    "the method of a call": ("«x.cuda(0)»\n", _CUDA, "x.npu(0)\n"),
    "a module in the callee": ("«torch.cuda.amp.GradScaler()»\n", _CUDA, "torch.npu.amp.GradScaler()\n"),
    "several segments": ("«torch.cuda.amp.x()»\n", {"part": "cuda.amp", "to": "npu.amp"}, "torch.npu.amp.x()\n"),
    "the last one of a call is meant": ("«m.cuda.cuda()»\n", _CUDA, "m.cuda.npu()\n"),
    "which one of a mention is not sure": ("f(«a.cuda.cuda.b»)\n", _CUDA, "refused: ambiguous"),
    "a method of a result": ("«build(cuda).cuda()».x\n", _CUDA, "build(cuda).npu().x\n"),
    "an assigned attribute": ("«torch.backends.cuda.x» = True\n", _CUDA, "torch.backends.npu.x = True\n"),
    "an attribute of what an index gives": ("«cfg['cuda'].cuda» = 1\n", _CUDA, "cfg['cuda'].npu = 1\n"),
    "a part of a word is none": ("«x.cudatype()»\n", _CUDA, "refused: no-part"),
    "a variable of that name": ("«cuda.x()»\n", _CUDA, "refused: module"),
    "a module of that name whose other name is imported": (
        "from torch import npu, cuda\n«cuda.x()»\n",
        _CUDA,
        "from torch import npu, cuda\nnpu.x()\n",
    ),
    "the module of a from-import": (
        "«from torch.cuda.amp import (autocast,\n  GradScaler)»\n",
        _CUDA,
        "from torch.npu.amp import (autocast,\n  GradScaler)\n",
    ),
    "a module over two lines stands for its first character": (
        "«f»rom torch.cuda.amp import (autocast,\n  GradScaler)\n",
        _CUDA,
        "from torch.npu.amp import (autocast,\n  GradScaler)\n",
    ),
    "an imported module with another name": (
        "«import torch.cuda.amp as amp»\n",
        _CUDA,
        "import torch.npu.amp as amp\n",
    ),
    "an imported name with its uses": (
        "«from torch import cuda»\nx = cuda.x(f'{cuda.y}')\n",
        _CUDA,
        "from torch import npu\nx = npu.x(f'{npu.y}')\n",
    ),
    "an imported name that is kept by as": (
        "«from torch import cuda as c»\nc.x()\n",
        _CUDA,
        "from torch import npu as c\nc.x()\n",
    ),
    "an imported name that is assigned too": ("«from torch import cuda»\ncuda = 1\n", _CUDA, "refused: name-taken"),
    "an imported name whose other name is a parameter": (
        "«from torch import cuda»\ndef f(npu): cuda.x()\n",
        _CUDA,
        "refused: name-taken",
    ),
    "a relative import": ("«from .cuda import x»\n", _CUDA, "from .npu import x\n"),
    "a definition is not renamed": ("class A:\n  «»def cuda(self): pass\n", _CUDA, "refused: place"),
}


@_table(RENAME_PART)
def test_rename_part(source: str, words: Words, result: str) -> None:
    if "«»" in source:
        assert stepped_at_line(source.replace("«»", ""), "rename_part", words, 2) == result
    else:
        assert stepped(source, "rename_part", words) == result


def stepped_at_line(source: str, verb: str, words: Words, line: int) -> str:
    """What a step about a whole line makes of a source: such facts stand at its first column and have no width."""
    rows = source.split("\n")
    rows[line - 1] = "«»" + rows[line - 1]
    return stepped("\n".join(rows), verb, words)


RETEXT: dict[str, Case] = {
    "an argument": ("«torch.device('cuda:0')»\n", _CUDA, "torch.device('npu:0')\n"),
    "only what the call itself is given": (
        "«d('cuda' if f('cuda') else \"cpu\")»\n",
        _CUDA,
        "d('npu' if f('cuda') else \"cpu\")\n",
    ),
    "what calls in it are given where the call has no such text": ("«d(f('cuda'))»\n", _CUDA, "d(f('npu'))\n"),
    "an f-string but not its expressions": ("«d(f'cuda:{cuda}')»\n", _CUDA, "d(f'npu:{cuda}')\n"),
    "a text with a method": ("«d('cuda:{}'.format(cuda))»\n", _CUDA, "d('npu:{}'.format(cuda))\n"),
    "a text that is formatted": ("«d('cuda:%d' % n)»\n", _CUDA, "d('npu:%d' % n)\n"),
    "a text that is joined": ("«d('cuda:' + str(n))»\n", _CUDA, "d('npu:' + str(n))\n"),
    "parts side by side": ("«d('a' # cuda\n  r'cuda')»\n", _CUDA, "d('a' # cuda\n  r'npu')\n"),
    "bytes and three quotes": ("«d(b'''cuda''')»\n", _CUDA, "d(b'''npu''')\n"),
    "a part of a word is none": ("«d('cudart mycuda cuda_x')»\n", _CUDA, "refused: no-text"),
    "a text within an f-string": ("«d(f'{f(\"cuda\")}')»\n", _CUDA, "d(f'{f(\"npu\")}')\n"),
    "several words": ("«d('cuda,cuda')»\n", _CUDA, "d('npu,npu')\n"),
    "the value of an assignment": ("«cfg.device» = 'cuda'\n", _CUDA, "cfg.device = 'npu'\n"),
    "values of a dict but not its keys": ("«d» = {'cuda': 'cuda'}\n", _CUDA, "d = {'cuda': 'npu'}\n"),
    "the key of a target where the value has no such text": ("«e['cuda']» = 1\n", _CUDA, "e['npu'] = 1\n"),
    "a comparison": ("if «x == 'cuda'»: pass\n", _CUDA, "if x == 'npu': pass\n"),
    "one argument by name": ("«f('cuda', d='cuda')»\n", {**_CUDA, "in": "d"}, "f('cuda', d='npu')\n"),
    "one argument by position": ("«f('cuda', d='cuda')»\n", {**_CUDA, "in": "0"}, "f('npu', d='cuda')\n"),
    "arguments by name or position": (
        "«f('cuda', default='cuda', choices=['cpu', 'cuda'])»\n",
        {**_CUDA, "in": "default choices"},
        "f('cuda', default='npu', choices=['cpu', 'npu'])\n",
    ),
    "the end of a call over several lines": (
        "f('cuda',\n  «device='cuda')»\n",
        {**_CUDA, "in": "device"},
        "f('cuda',\n  device='npu')\n",
    ),
    "a quote that would end the text": ("«d('cuda')»\n", {"part": "cuda", "to": "it's"}, "refused: no-text"),
    "a brace in an f-string": ("«d(f'cuda')»\n", {"part": "cuda", "to": "{x}"}, "refused: no-text"),
    "no such argument": ("«f('cuda')»\n", {**_CUDA, "in": "device"}, "refused: no-text"),
}


@_table(RETEXT)
def test_retext(source: str, words: Words, result: str) -> None:
    assert stepped(source, "retext", words) == result


LINES: dict[str, Case] = {
    "a returned text": ("def f():\n    return 'cuda'\n", {**_CUDA, "in": "value"}, "def f():\n    return 'npu'\n"),
    "a returned text behind a condition": (
        "def f():\n    if x: return 'cuda'\n",
        {**_CUDA, "in": "value"},
        "def f():\n    if x: return 'npu'\n",
    ),
    "one of several statements": ("x\nreturn_('cuda'); f('cuda')\n", {**_CUDA, "in": "value"}, "refused: ambiguous"),
    "the default of a parameter": (
        "class A:\n    def f(a='cuda', *, device='cuda'): g('cuda')\n",
        {**_CUDA, "in": "device"},
        "class A:\n    def f(a='cuda', *, device='npu'): g('cuda')\n",
    ),
}


@_table(LINES)
def test_retext_in_a_line(source: str, words: Words, result: str) -> None:
    assert stepped_at_line(source, "retext", words, 2) == result


_ADD = {"name": "b", "missing": "1"}
ARGUMENT: dict[str, Case] = {
    "a value by name": ("«f(x, rate=r)»\n", {"name": "rate", "value": "g($old)"}, "f(x, rate=g(r))\n"),
    "a value by position": ("«f(x, r)»\n", {"name": "rate", "position": "1", "value": "g($old)"}, "f(x, g(r))\n"),
    "another name": ("«f(x, rate = r)»\n", {"name": "rate", "to": "p"}, "f(x, p = r)\n"),
    "another name and the complement": (
        "«f(x, rate=r)»\n",
        {"name": "rate", "to": "keep_prob", "value": "$complement"},
        "f(x, keep_prob=1 - r)\n",
    ),
    "the complement of a complement": (
        "«f(rate=1. - (a + b))»\n",
        {"name": "rate", "value": "$complement"},
        "f(rate=(a + b))\n",
    ),
    "the complement of a choice": (
        "«f(rate=r if a else b)»\n",
        {"name": "rate", "value": "$complement"},
        "f(rate=1 - (r if a else b))\n",
    ),
    "the complement of a difference": (
        "«f(rate=a - b)»\n",
        {"name": "rate", "value": "$complement"},
        "f(rate=1 - (a - b))\n",
    ),
    "the complement of a product": (
        "«f(rate=a * b)»\n",
        {"name": "rate", "value": "$complement"},
        "f(rate=1 - a * b)\n",
    ),
    "what has parentheses already": (
        "«f((a + b))»\n",
        {"name": "x", "position": "0", "value": "$old * 2"},
        "f((a + b) * 2)\n",
    ),
    "the last by position gets a name": ("«f(x, r)»\n", {"name": "rate", "position": "1", "to": "p"}, "f(x, p=r)\n"),
    "one before others by position gets none": (
        "«f(x, r)»\n",
        {"name": "x", "position": "0", "to": "p"},
        "refused: positional",
    ),
    "a name that is given too": ("«f(a=1, b=2)»\n", {"name": "a", "to": "b"}, "refused: argument"),
    "it is not given": ("«f(a)»\n", {"name": "b", "value": "1"}, "refused: argument"),
    "behind a star": ("«f(*a, b)»\n", {"name": "b", "position": "1", "value": "1"}, "refused: starred"),
    "before a star": ("«f(b, *a)»\n", {"name": "b", "position": "0", "value": "1"}, "f(1, *a)\n"),
    "missing in a call without any": ("«f()»\n", _ADD, "f(b=1)\n"),
    "missing in a call with a comment": ("«f(  # why\n)»\n", _ADD, "f(  # why\nb=1)\n"),
    "missing behind others": ("«f(a, c=g(1))»\n", _ADD, "f(a, c=g(1), b=1)\n"),
    "missing behind parentheses": ("«f((a))»\n", _ADD, "f((a), b=1)\n"),
    "missing behind a comma": ("«f(a, )»\n", _ADD, "f(a, b=1, )\n"),
    "missing behind a generator": ("«f(x for x in y)»\n", _ADD, "f((x for x in y), b=1)\n"),
    "missing behind a star of arguments": ("«f(*a)»\n", _ADD, "f(*a, b=1)\n"),
    "missing though a star may give it": ("«f(*a)»\n", {**_ADD, "position": "2"}, "refused: starred"),
    "missing though two stars may give it": ("«f(**k)»\n", _ADD, "refused: starred"),
    "missing though it is there": ("«f(b=2)»\n", {"name": "b", "missing": "1", "value": "$old + 1"}, "f(b=2 + 1)\n"),
    "missing with another name": ("«f()»\n", {**_ADD, "to": "c"}, "f(c=1)\n"),
    "missing in a call with a line for each, and a comma": (
        "«f(\n    a,\n    c,  # why\n)»\n",
        _ADD,
        "f(\n    a,\n    c,  # why\n    b=1,\n)\n",
    ),
    "missing in a call with a line for each, and a comment": (
        "«f(\n    a,\n    c  # why\n)»\n",
        _ADD,
        "f(\n    a,\n    c,  # why\n    b=1\n)\n",
    ),
    "missing in a call with a line for each": ("«f(\n    a,\n    c\n)»\n", _ADD, "f(\n    a,\n    c,\n    b=1\n)\n"),
    "missing in a call with a line for each, and tabs": ("«f(a,\n\tc)»\n", _ADD, "f(a,\n\tc,\n\tb=1)\n"),
    "missing in a call with several in a line": ("«f(a,\n  c, d)»\n", _ADD, "f(a,\n  c, d, b=1)\n"),
    "missing in a call with a comment below": (
        "«f(\n    a,\n    c\n    # c\n)»\n",
        _ADD,
        "f(\n    a,\n    c,\n    b=1\n    # c\n)\n",
    ),
    "missing in a call that fills its lines": ("«f(a, b1,\n  c)»\n", _ADD, "f(a, b1,\n  c, b=1)\n"),
    "missing where the line would get too long": (
        f"«f({'a' * 60}, {'c' * 52})»\n",
        _ADD,
        f"f({'a' * 60}, {'c' * 52},\n  b=1)\n",
    ),
    "a value from other parts of the call": (
        "«a.f(x, y=g(2))»\n",
        {"name": "z", "missing": "($callee, $receiver, $arg(x|0), $arg(y))"},
        "a.f(x, y=g(2), z=(a.f, a, x, g(2)))\n",
    ),
    "a value from an argument that is not there": (
        "«f(x)»\n",
        {"name": "z", "missing": "$arg(y)"},
        "refused: argument",
    ),
    "a module by its name in the file": (
        "import tensorflow.compat.v1 as tf\n«f()»\n",
        {"name": "z", "missing": "$module(tensorflow).float16"},
        "import tensorflow.compat.v1 as tf\nf(z=tf.float16)\n",
    ),
    "a module that is imported below another": (
        "import torch\nfrom torch import nn\n«f()»\n",
        {"name": "z", "missing": "$module(torch.nn.functional).relu"},
        "import torch\nfrom torch import nn\nf(z=nn.functional.relu)\n",
    ),
    "a module that the file does not know": (
        "«f()»\n",
        {"name": "z", "missing": "$module(torch).x"},
        "refused: module",
    ),
    "the call that is assigned in a line": ("«x = f(a)»\n", _ADD, "x = f(a, b=1)\n"),
    "the call of a setting": ("RunConfig(a=1, «c=2»)\n", _ADD, "RunConfig(a=1, c=2, b=1)\n"),
    "no call": ("«a.b»\n", _ADD, "refused: no-call"),
    "in an f-string": ("x = f'{«g(a)»}'\n", _ADD, "x = f'{g(a, b=1)}'\n"),
    "in an f-string with quotes": ("x = f'{«g(a)»}'\n", {"name": "b", "missing": "'q'"}, "refused: f-string"),
}


@_table(ARGUMENT)
def test_argument(source: str, words: Words, result: str) -> None:
    assert stepped(source, "argument", words) == result


_DROP = {"name": "b"}
DROP: dict[str, Case] = {
    "between others": ("«f(a, b=1, c=2)»\n", _DROP, "f(a, c=2)\n"),
    "the last": ("«f(a, b=1)»\n", _DROP, "f(a)\n"),
    "the last with a comma": ("«f(a, b=1,)»\n", _DROP, "f(a,)\n"),
    "the first": ("«f(b=(1), c=2)»\n", _DROP, "f(c=2)\n"),
    "the only one": ("«f( b=1, )»\n", _DROP, "f()\n"),
    "the only one, with a comment": ("«f(\n  b=1,  # why\n)»\n", _DROP, "f()\n"),
    "the only one, below a comment": ("«f(  # why\n  b=1\n)»\n", _DROP, "f(  # why\n  \n)\n"),
    "a generator": ("«f(x for x in y)»\n", {"name": "b", "position": "0"}, "f()\n"),
    "by position, with others by name": ("«f(a, 1, c=2)»\n", {"name": "b", "position": "1"}, "f(a, c=2)\n"),
    "by position, with others by position": ("«f(1, a)»\n", {"name": "b", "position": "0"}, "refused: positional"),
    "a line of its own": ("«f(\n  a,\n  b=1,  # why\n  c=2\n)»\n", _DROP, "f(\n  a,\n  c=2\n)\n"),
    "several lines of its own": ("«f(\n  a,\n  b=g(\n    1\n  ),\n)»\n", _DROP, "f(\n  a,\n)\n"),
    "the last line of its own": ("«f(\n  a,\n  b=1  # why\n)»\n", _DROP, "f(\n  a\n)\n"),
    "the last line of its own, behind a comment": ("«f(\n  a,  # x\n  b=1\n)»\n", _DROP, "f(\n  a,  # x\n)\n"),
    "the last line, with the bracket": ("«f(a,\n  b=1)»\n", _DROP, "f(a)\n"),
    "the last line, with the bracket, behind a comment": ("«f(a,  # x\n  b=1)»\n", _DROP, "f(a,  # x\n  )\n"),
    "it may be given by stars": ("«f(**k)»\n", _DROP, "refused: starred"),
    "a place behind what is not given": ("«f(a)»\n", _DROP, "f(a)\n"),
}


@_table(DROP)
def test_drop(source: str, words: Words, result: str) -> None:
    assert stepped(source, "drop", words) == result


WRAP: dict[str, Case] = {
    "a call": ("x = «f(a)»\n", {"with": "g($old)"}, "x = g(f(a))\n"),
    "a sum to be multiplied": ("x = «a + b»\n", {"with": "$old * 2"}, "x = (a + b) * 2\n"),
    "an operand": ("x = «a» ** 2\n", {"with": "$old - 1"}, "x = (a - 1) ** 2\n"),
    "a receiver": ("«a or b»\n", {"with": "$old.x"}, "(a or b).x\n"),
    "an argument needs no parentheses": ("f(«a»)\n", {"with": "$old if b else c"}, "f(a if b else c)\n"),
    "a number": ("x = «1»\n", {"with": "$old.x"}, "x = (1).x\n"),
    "a negative power": ("x = «-1»\n", {"with": "$old ** 2"}, "x = (-1) ** 2\n"),
    "a tuple without parentheses": ("x = «1, 2»\n", {"with": "f($old)"}, "x = f((1, 2))\n"),
    "a tuple in a for": ("for i in «1, 2»: pass\n", {"with": "f($old)"}, "for i in f((1, 2)): pass\n"),
    "a lambda in a condition": ("x = a if «b» else c\n", {"with": "lambda: $old"}, "x = a if (lambda: b) else c\n"),
    "the old one twice": ("x = «a + b»\n", {"with": "$old * $old"}, "x = (a + b) * (a + b)\n"),
    "a generator without parentheses": ("f(«(x for x in y)»)\n", {"with": "g($old)"}, "f(g((x for x in y)))\n"),
    "an assigned name": ("«x» = 1\n", {"with": "g($old)"}, "refused: no-expression"),
    "in an f-string": ("f'{«a»}'\n", {"with": "$old or b"}, "f'{a or b}'\n"),
    "a condition in an f-string": ("f'{«a»}'\n", {"with": "lambda: $old"}, "f'{(lambda: a)}'\n"),
    "a dict in an f-string": ("f'{«a»}'\n", {"with": "{$old}"}, "refused: f-string"),
    "behind a word without a blank": ("if(«a») : b\n", {"with": "g($old)"}, "if g(a) : b\n"),
    "its parentheses become those of the call": ("x = («a + b») * 2\n", {"with": "g($old)"}, "x = g(a + b) * 2\n"),
    "its parentheses stay beside other arguments": (
        "x = («a + b») * 2\n",
        {"with": "g(1, $old)"},
        "x = g(1, (a + b)) * 2\n",
    ),
    "between words without blanks": ("x = a if(«b»)else c\n", {"with": "not $old"}, "x = a if not (b)else c\n"),
    "over lines": ("x = «f(a,  # why\n  b)».c\n", {"with": "g($old)"}, "x = g(f(a,  # why\n  b)).c\n"),
}


@_table(WRAP)
def test_wrap(source: str, words: Words, result: str) -> None:
    assert stepped(source, "wrap", words) == result


def test_wrap_touches_nothing_of_what_it_wraps() -> None:
    text, place = marked("x = «f(a + g(b))»\n")
    edits = plan(FixStep("wrap", PATH, place, {"with": "h($old, 1)"}), Text(PATH, "python", text)).edits
    assert [(edit.text, edit.span.column, edit.span.end_column) for edit in edits] == [("h(", 5, 5), (", 1)", 16, 16)]


def test_a_generator_that_shares_the_parentheses_of_its_call_is_not_wrapped() -> None:
    assert stepped("f«(x for x in y)»\n", "wrap", {"with": "g($old)"}) == "refused: generator"


REPLACE: dict[str, Case] = {
    "a call by another": (
        "x = «tf.f(a, b=1)».c\n",
        {"with": "npu.g($receiver, $arguments, c=$arg(b))"},
        "x = npu.g(tf, a, b=1, c=1).c\n",
    ),
    "a call without arguments": ("«tf.f()»\n", {"with": "g($arguments, c=1)"}, "g(c=1)\n"),
    "a call without arguments, they are last": ("«tf.f()»\n", {"with": "g(1, $arguments)"}, "g(1)\n"),
    "arguments over lines with a comment": (
        "«f(\n  a,  # x\n  b\n)»\n",
        {"with": "g($arguments)"},
        "g(\n  a,  # x\n  b\n)\n",
    ),
    "arguments with a last comma": ("«f(a,)»\n", {"with": "g($arguments, b)"}, "g(a, b)\n"),
    "arguments by name before others by position": ("«f(a=1)»\n", {"with": "g($arguments, b)"}, "refused: template"),
    "arguments that are no arguments": ("«f(a, b)»\n", {"with": "$arguments + 1"}, "refused: template"),
    "an argument is the receiver": ("x = «f(a if b else c)»\n", {"with": "$arg(0).x"}, "x = (a if b else c).x\n"),
    "a comment would be lost": ("x = «f(a,  # why\n  b)»\n", {"with": "g(1)"}, "refused: comment"),
    "the operand of a power": ("x = «f(a)» ** 2\n", {"with": "-$arg(0)"}, "x = (-a) ** 2\n"),
    "a pattern": ("match x:\n    case «a.b»: pass\n", {"with": "g($old)"}, "refused: no-expression"),
    "between words without blanks": ("x = a if(«f(b)»)else c\n", {"with": "$arg(0)"}, "x = a if b else c\n"),
    "an argument over lines becomes the value": ("x = «f(a +\n  b)»\n", {"with": "$arg(0)"}, "x = (a +\n  b)\n"),
    "an argument over lines within an argument": ("x = «f(a +\n  b)»\n", {"with": "g($arg(0))"}, "x = g(a +\n  b)\n"),
    "nothing that Python reads": ("x = «f(a)»\n", {"with": "g("}, "refused: template"),
    "a conjunction": ("x = not (b and «a.c»\n  and d())\n", {"with": "f()", "of": "conjunction"}, "x = not f()\n"),
    "no conjunction": ("x = b or «a.c»\n", {"with": "f()", "of": "conjunction"}, "refused: no-expression"),
}


@_table(REPLACE)
def test_replace(source: str, words: Words, result: str) -> None:
    assert stepped(source, "replace", words) == result


VALUE: dict[str, Case] = {
    "a name": ("«b» = tf.S()  # why\n", {"with": "g($old, 1)"}, "b = g(tf.S(), 1)  # why\n"),
    "an attribute": ("«a.b» = 0\n", {"with": "True"}, "a.b = True\n"),
    "an annotated one": ("«b»: int = 0\n", {"with": "1"}, "b: int = 1\n"),
    "over lines": ("«b» = (1 +\n  2)\n", {"with": "3"}, "b = 3\n"),
    "one of several": ("a, «b» = 1, f(2)\n", {"with": "g($old)"}, "a, b = 1, g(f(2))\n"),
    "one of several that one call gives": ("a, «b» = f()\n", {"with": "1"}, "refused: no-value"),
    "a chain": ("a = «b» = tf.S()\n", {"with": "1"}, "refused: chained"),
    "a walrus": ("f(«a := g()»)\n", {"with": "1"}, "f(a := 1)\n"),
    "an argument of settings": ("RunConfig(«a=1», b=2)\n", {"with": "$old + 1"}, "RunConfig(a=1 + 1, b=2)\n"),
    "a sum": ("«a» += 1\n", {"with": "2"}, "a += 2\n"),
    "a loop": ("for «a» in b: pass\n", {"with": "2"}, "refused: no-value"),
    "joined statements": ("x = 1; «b.c» = 2; y = 3\n", {"with": "4"}, "x = 1; b.c = 4; y = 3\n"),
}


@_table(VALUE)
def test_value(source: str, words: Words, result: str) -> None:
    assert stepped(source, "value", words) == result


_STATEMENT = {"what": "statement"}
_BLOCK = {"what": "block"}
DELETE: dict[str, Case] = {
    "a line with its comment": ("a()\n«x()»  # why\nb()\n", _STATEMENT, "a()\nb()\n"),
    "lines": ("a()\n«x(\n  1,\n)»\nb()\n", _STATEMENT, "a()\nb()\n"),
    "an assignment": ("a()\n«x.y» = 1\n", _STATEMENT, "a()\n"),
    "what is assigned": ("a()\nx = «f()»\n", _STATEMENT, "a()\n"),
    "the last line without its end": ("a()\n«x()»", _STATEMENT, "a()"),
    "blank lines do not meet": ("a()\n\n«x()»\n\nb()\n", _STATEMENT, "a()\n\nb()\n"),
    "more of them stay before it": ("a()\n\n\n«x()»\n\nb()\n", _STATEMENT, "a()\n\n\nb()\n"),
    "and behind it": ("a()\n\n«x()»\n\n\ndef b(): pass\n", _STATEMENT, "a()\n\n\ndef b(): pass\n"),
    "at the beginning": ("«x()»\n\nb()\n", _STATEMENT, "b()\n"),
    "the only one of a block": ("def f():\n    «x()»  # why\n", _STATEMENT, "def f():\n    pass\n"),
    "the only one of an else": ("if a:\n  b()\nelse:\n  «x()»\n", _STATEMENT, "if a:\n  b()\nelse:\n  pass\n"),
    "the only one beside a docstring": ('def f():\n    """F."""\n    «x()»\n', _STATEMENT, 'def f():\n    """F."""\n'),
    "a block in one line": ("if x: «y()»  # why\n", _STATEMENT, "if x: pass  # why\n"),
    "two in a block in one line": ("if x: «y()»; z()\n", _STATEMENT, "if x: z()\n"),
    "the first of a line": ("«a()»; b(); c()\n", _STATEMENT, "b(); c()\n"),
    "one within a line": ("a(); «b()»; c()\n", _STATEMENT, "a(); c()\n"),
    "the last of a line": ("a(); «b()»;  # why\n", _STATEMENT, "a()  # why\n"),
    "one with a semicolon": ("a()\n«b()»;\nc()\n", _STATEMENT, "a()\nc()\n"),
    "behind a continued line": ("«a.b» = \\\n  1\nc()\n", _STATEMENT, "c()\n"),
    "one of several targets": ("a = «b.c» = 2\n", _STATEMENT, "a = 2\n"),
    "an awaited call is a part": ("async def f():\n  await «x()»\n", _STATEMENT, "refused: no-statement"),
    "a part of a statement": ("y = g(«x()»)\n", _STATEMENT, "refused: no-statement"),
    "what is returned": ("def f():\n  return «x()»\n", _STATEMENT, "def f():\n  pass\n"),
    "a block": ("if «x()»:\n  y\n", _STATEMENT, "refused: no-statement"),
    "a loop, a try and a condition around it": (
        "if gpus:\n  try:\n    for g in gpus:\n      «f(g)»\n  except E as e:\n    print(e)\na()\n",
        _BLOCK,
        "a()\n",
    ),
    "a condition that counts": ("if len(gpus) > 0:\n    «f()»\na()\n", _BLOCK, "a()\n"),
    "a condition with a call": ("if ready():\n    «f()»\n", _BLOCK, "if ready():\n    pass\n"),
    "a condition that something else hangs on": ("if a:\n    «f()»\n    b()\n", _BLOCK, "if a:\n    b()\n"),
    "a condition with an else": ("if a:\n  «f()»\nelse:\n  b()\n", _BLOCK, "if not a:\n  b()\n"),
    "a denied condition": ("if not a:\n  «f()»\nelse:\n  b()\n", _BLOCK, "if a:\n  b()\n"),
    "a comparison": ("if a is None:\n  «f()»\nelse:\n  b()\n", _BLOCK, "if a is not None:\n  b()\n"),
    "two conditions": ("if a or b:\n  «f()»\nelse:\n  c()\n", _BLOCK, "if not (a or b):\n  c()\n"),
    "two conditions in parentheses": ("if (a or b):\n  «f()»\nelse:\n  c()\n", _BLOCK, "if not (a or b):\n  c()\n"),
    "an elif with an else": (
        "if x:\n  y()\nelif a:\n  «f()»\nelse:\n  b()\n",
        _BLOCK,
        "if x:\n  y()\nelif not a:\n  b()\n",
    ),
    "a condition whose else is an elif": (
        "if a:\n  «f()»\nelif b:\n  c()\n",
        _BLOCK,
        "if a:\n  pass\nelif b:\n  c()\n",
    ),
    "a comment between branches": (
        "if a:\n  «f()»\n# no\nelse:\n  b()\n",
        _BLOCK,
        "if a:\n  pass\n# no\nelse:\n  b()\n",
    ),
    "a loop over numbers": ("for i in range(len(a)):\n  «f()»\nb()\n", _BLOCK, "b()\n"),
    "a loop over pairs": ("for i, x in enumerate(a):\n  «f()»\nb()\n", _BLOCK, "b()\n"),
    "a loop into what is seen": ("for a.i in range(3):\n  «f()»\n", _BLOCK, "for a.i in range(3):\n  pass\n"),
    "a condition that only asks": ("if u.is_used():\n  «f()»\nb()\n", _BLOCK, "b()\n"),
    "the comment that tells of it": ("a()\n\n# GPU settings\n«f()»\n\nb()\n", _STATEMENT, "a()\n\nb()\n"),
    "a comment that tells of more": ("# GPU settings\n«f()»\nb()\n", _STATEMENT, "# GPU settings\nb()\n"),
    "a comment about something else": ("# start\n«f()»\n\nb()\n", _STATEMENT, "# start\n\nb()\n"),
    "a comment that is code": ("# use_gpu = 1\n«f()»\n\nb()\n", _STATEMENT, "# use_gpu = 1\n\nb()\n"),
    "the blank line at the top of a block": ("def a():\n  «f()»\n\n  b()\n", _STATEMENT, "def a():\n  b()\n"),
    "an else": ("if a:\n    b()\nelse:\n    «f()»  # why\nc()\n", _BLOCK, "if a:\n    b()\nc()\n"),
    "an else of a loop": ("for i in a:\n    b()\nelse:\n    «x.y» = 1\n", _BLOCK, "for i in a:\n    b()\n"),
    "an else in one line": ("if a: b()\nelse: «f()»\nc()\n", _BLOCK, "if a: b()\nc()\n"),
    "an elif": ("if a:\n  b()\nelif c:\n  «f()»\n", _BLOCK, "if a:\n  b()\nelif c:\n  pass\n"),
    "a with": ("with a:\n  «f()»\n", _BLOCK, "with a:\n  pass\n"),
    "a function": ("def f():\n  if a:\n    «b()»\n", _BLOCK, "def f():\n  pass\n"),
    "the end of a try": ("try:\n  a()\nfinally:\n  «f()»\n", _BLOCK, "try:\n  a()\nfinally:\n  pass\n"),
    "a line that it shares": ("a(); «b()»\n", {"what": "line"}, "refused: one-line"),
    "a line": ("a()\n«b()»\n", {"what": "line"}, "a()\n"),
    "an import": ("import os\n«import apex»\n", _STATEMENT, "import os\n"),
    "one name of an import": ("«import a, b, c»\n", {"what": "name", "name": "b"}, "import a, c\n"),
    "the first name of an import": ("«from x import a as b, c»\n", {"what": "name", "name": "a"}, "from x import c\n"),
    "the only name of an import": ("import os\n«from x import a»\n", {"what": "name", "name": "a"}, "import os\n"),
    "a name in lines": (
        "«from x import (\n    a,\n    b,  # why\n    c,\n)»\n",
        {"what": "name", "name": "b"},
        "from x import (\n    a,\n    c,\n)\n",
    ),
    "a name that is not there": ("«from x import a, b»\n", {"what": "name", "name": "c"}, "refused: no-part"),
    "one name is not told": ("«from x import a, b»\n", {"what": "name"}, "refused: no-part"),
    "an import in a try": (
        "try:\n    «import apex»\nexcept ImportError:\n    apex = None\n",
        _STATEMENT,
        "try:\n    pass\nexcept ImportError:\n    apex = None\n",
    ),
}


@_table(DELETE)
def test_delete(source: str, words: Words, result: str) -> None:
    assert stepped(source, "delete", words) == result


def _insert(where: str, text: str = "z()") -> Words:
    return {"text": text, "where": where}


_HEAD = (
    "'''Doc.'''\nimport os\nos.environ['A'] = '1'\ntry:\n  import a\nexcept E:\n  pass\nsys.path.append(x)\nimport b\n"
)
INSERT: dict[str, Case] = {
    "before a statement": ("if a:\n  x = «f()»\n", _insert("before"), "if a:\n  z()\n  x = f()\n"),
    "behind a statement": (
        "if a:\n  x = «f(\n  1)»  # why\nb()\n",
        _insert("after"),
        "if a:\n  x = f(\n  1)  # why\n  z()\nb()\n",
    ),
    "behind the last statement": ("«f()»", _insert("after"), "f()\nz()"),
    "before a decorated function": (
        "@d\n@e(1)\ndef f«(»): pass\n",
        _insert("before"),
        "z()\n@d\n@e(1)\ndef f(): pass\n",
    ),
    "behind a block": ("with «a()»:\n    b\nc\n", _insert("after"), "with a():\n    b\nz()\nc\n"),
    "before an elif": ("if a:\n  b\nelif «c()»:\n  d\n", _insert("before"), "z()\nif a:\n  b\nelif c():\n  d\n"),
    "behind an elif": ("if a:\n  b\nelif «c()»:\n  d\n", _insert("after"), "if a:\n  b\nelif c():\n  d\nz()\n"),
    "within a line, before": ("if a: b(); «c()»\n", _insert("before"), "if a: b(); z(); c()\n"),
    "within a line, behind": ("if a: «b()»  # why\n", _insert("after"), "if a: b(); z()  # why\n"),
    "a block within a line": ("if a: «b()»\n", _insert("before", "if x:\n    z()"), "refused: one-line"),
    "behind a return": ("def f():\n  return «x()»\n", _insert("after"), "refused: unreachable"),
    "several lines with tabs": (
        "def f():\n\tif a:\n\t\t«p.x()»\n",
        _insert("before", "with y:\n    z($receiver)\n\n    q($arguments)"),
        "def f():\n\tif a:\n\t\twith y:\n\t\t\tz(p)\n\n\t\t\tq()\n\t\tp.x()\n",
    ),
    "several lines with two blanks": (
        "if a:\n  «p.x(1)»\n",
        _insert("after", "if y:\n    z($arg(0), $callee)"),
        "if a:\n  p.x(1)\n  if y:\n    z(1, p.x)\n",
    ),
    "behind the imports": (
        "import a\nfrom b import c\nx = 1\n",
        _insert("imports"),
        "import a\nfrom b import c\n\nz()\n\nx = 1\n",
    ),
    "behind the imports, before blank lines": (
        "import a\n\n\nx = 1\n",
        _insert("imports"),
        "import a\n\nz()\n\n\nx = 1\n",
    ),
    "behind the imports and what stands between": (
        _HEAD + "y = 1\nimport c\n",
        _insert("imports"),
        _HEAD + "\nz()\n\ny = 1\nimport c\n",
    ),
    "an import behind the imports": (
        "import a\nx = 1\n",
        _insert("imports", "import z"),
        "import a\nimport z\nx = 1\n",
    ),
    "behind the imports at the end": ("import a", _insert("imports"), "import a\n\nz()"),
    "behind a docstring": ('"""Doc."""\n\nx = 1\n', _insert("imports"), '"""Doc."""\n\nz()\n\nx = 1\n'),
    "behind a licence": (
        "#!/bin/python\n# licence\n\n# about x\nx = 1\n",
        _insert("imports"),
        "#!/bin/python\n# licence\n\nz()\n\n# about x\nx = 1\n",
    ),
    "at the beginning": ("x = 1\n", _insert("imports"), "z()\n\nx = 1\n"),
    "before __future__": ("«from __future__ import annotations»\n", _insert("before"), "refused: place"),
    "nothing that Python reads": ("«x()»\n", _insert("before", "if"), "refused: template"),
}


@_table(INSERT)
def test_insert(source: str, words: Words, result: str) -> None:
    assert stepped(source, "insert", words) == result


WHOLE: dict[str, tuple[str, tuple[tuple[str, Words], ...], str]] = {
    "arguments that go and come": (
        "«f(a, b=1, c=2)»\n",
        (
            ("drop", {"name": "b"}),
            ("argument", {"name": "d", "missing": "3"}),
            ("drop", {"name": "c"}),
            ("rename", {"to": "g"}),
        ),
        "g(a, d=3)\n",
    ),
    "all arguments go and two come": (
        "«f(b=1)»\n",
        (
            ("drop", {"name": "b"}),
            ("argument", {"name": "d", "missing": "3"}),
            ("argument", {"name": "e", "missing": "4"}),
        ),
        "f(d=3, e=4)\n",
    ),
    "a wrapped call with another name": (
        "x = «f(a)»\n",
        (("wrap", {"with": "g($old)"}), ("rename", {"to": "h"})),
        "x = g(h(a))\n",
    ),
    "two statements before one": (
        "«f()»\n",
        (("insert", _insert("before", "a()")), ("insert", _insert("before", "b()"))),
        "a()\nb()\nf()\n",
    ),
    "an import and a statement behind the imports": (
        "import torch\n\n\n«f()»\n",
        (("insert", _insert("imports")), ("import", {"what": "import torch_npu", "after": "torch"})),
        "import torch\nimport torch_npu\n\nz()\n\n\nf()\n",
    ),
    "two want the same text": ("«f()»\n", (("rename", {"to": "g"}), ("rename", {"to": "h"})), "refused: overlap"),
    "a name is still used": ("«import apex»\napex.x()\n", (("delete", _STATEMENT),), "refused: still-used"),
    "a name is used by what goes as well": (
        "try:\n  «import apex»\nexcept ImportError:\n  apex = None\nuse(apex)\n",
        (("delete", _STATEMENT),),
        "try:\n  pass\nexcept ImportError:\n  apex = None\nuse(apex)\n",
    ),
    "a name is imported from elsewhere": (
        "import os\n«from a import x»\nx()\n",
        (("delete", _STATEMENT), ("import", {"what": "from b import x"})),
        "refused: name-taken",
    ),
    "there is nothing to do": ("«f()»\n", (("drop", _DROP),), "refused: nothing"),
}


@pytest.mark.parametrize(("source", "steps", "result"), WHOLE.values(), ids=WHOLE.keys())
def test_whole_changes(source: str, steps: tuple[tuple[str, Words], ...], result: str) -> None:
    assert changed(source, *steps) == result


@pytest.mark.parametrize(
    ("text", "reason"),
    [("print 'x'\n", "not-python"), ("x = " + "-" * 100_000 + "1\n", "too-deep"), ("x = 1\x00\n", "not-python")],
    ids=["Python 2", "nested too deep", "a NUL character"],
)
def test_sources_that_are_not_changed(text: str, reason: str) -> None:
    with pytest.raises(FixRefused) as refused:
        plan(FixStep("rename", PATH, marked("«x»")[1], {"to": "y"}), Text(PATH, "python", text))
    assert refused.value.reason == reason


@pytest.mark.parametrize(("kind", "reason"), [("notebook", "notebook"), ("cuda", "kind")])
def test_kinds_that_are_not_changed(kind: str, reason: str) -> None:
    change = FixEdit("safe", (FixStep("rename", PATH, marked("«x»")[1], {"to": "y"}),))
    with pytest.raises(FixRefused) as refused:
        planned(change, lambda path: Text(path, kind, "x"))
    assert refused.value.reason == reason


def test_a_verb_that_python_does_not_know() -> None:
    assert stepped("«x»\n", "line_ends", {"what": "lf"}) == "refused: verb"


def test_an_import_is_a_wish() -> None:
    found = plan(
        FixStep("import", PATH, marked("«x»")[1], {"what": "import a", "after": "b"}), Text(PATH, "python", "x\n")
    )
    assert found == Plan((), found.imports) and [(w.path, w.statement, w.after) for w in found.imports] == [
        (PATH, "import a", "b")
    ]

"""What is known of an expression without running it, asked of the argument of a call."""

from __future__ import annotations

from textwrap import indent

import pytest

from npulint.facts.values import PossibleValues
from tests.support import facts

_HEAD = "import tensorflow as tf\nimport os\nimport functools\n"


def _known(text: str | dict[str, str], function: str = "tensorflow.nn.top_k") -> PossibleValues:
    """The second argument of the (last) call of top_k."""
    sources = {"train.py": text} if isinstance(text, str) else text
    found = facts({path: _HEAD + source for path, source in sources.items()}, "call", function)
    assert found, "the call is not recognised"
    known = found[-1].args.argument_value("k", 1)
    assert isinstance(known, PossibleValues)
    return known


def _of(expression: str, before: str = "") -> PossibleValues:
    return _known(f"{before}\ntf.nn.top_k(x, {expression})\n")


_EXACT: dict[str, tuple[str, object]] = {
    "a literal": ("3", 3),
    "a negative literal": ("-3", -3),
    "a sum": ("1 + 2", 3),
    "a quotient": ("7 / 2", 3.5),
    "a whole quotient": ("7 // 2", 3),
    "a remainder": ("7 % 4", 3),
    "a power": ("2 ** 15", 32768),
    "joined texts": ("'a' + 'b'", "ab"),
    "an f-string": ("f'{1}-{\"b\"}'", "1-b"),
    "a comparison": ("1 < 2", True),
    "membership": ("'a' in 'abc'", True),
    "identity": ("None is None", True),
    "not": ("not 0", True),
    "and that is true": ("1 and 2", 2),
    "and that is false": ("0 and x", 0),
    "or that is true": ("1 or x", 1),
    "or of an empty value and a text": ("None or 'b'", "b"),
    "or of an unknown and a true value": ("x or True", True),
    "and of an unknown and a false value": ("x and False", False),
    "a conditional": ("1 if True else 2", 1),
    "the other branch of a conditional": ("1 if 0 else 2", 2),
    "a conditional with equal branches": ("1 if x else 1", 1),
    "int of a text": ("int('3')", 3),
    "str of a number": ("str(3)", "3"),
    "float of a number": ("float(3)", 3.0),
    "bool of a number": ("bool(3)", True),
    "abs": ("abs(-3)", 3),
    "bytes of a text": ("tf.compat.as_bytes('a')", "a"),
    "a constant tensor": ("tf.constant(3)", 3),
    "an encoded text": ("'a'.encode('utf-8')", "a"),
    "a lowered text": ("'A b'.lower()", "a b"),
    "a raised text": ("'a'.upper()", "A"),
    "a stripped text": ("' a '.strip()", "a"),
    "a joined path": ("os.path.join('a/', 'b.json')", "a/b.json"),
    "an absolute path in a joined path": ("os.path.join('a', '/b')", "/b"),
    "an element of a list": ("[1, 2][1]", 2),
    "an element from the end": ("(1, 2)[-1]", 2),
    "an element of a dict": ("{'a': 1, 'b': 2}['b']", 2),
    "a framework constant": ("tf.float16", "tensorflow.float16"),
}


@pytest.mark.parametrize(("expression", "value"), _EXACT.values(), ids=_EXACT.keys())
def test_expression_has_exactly_one_value(expression: str, value: object) -> None:
    known = _of(expression)
    assert (known.single, type(known.single), known.symbol) == (value, type(value), "")


_OPEN = {
    "an unknown name": "x",
    "a sum with it": "x + 1",
    "a call of something else": "f(1)",
    "a text times a number": "'a' * 9999999999",
    "a formatted text": "'%d' % 3",
    "an immense power": "9 ** 999",
    "a power beyond bounds": "(1 << 99) ** 60",
    "numbers that grow beyond bounds": "2**64 * 2**64 * 2**64 * 2**64 * 2**64 * 2**64 * 2**64 * 2**64 * 2**64 * 2**64"
    " * 2**64 * 2**64 * 2**64 * 2**64 * 2**64 * 2**64 * 2**64",
    "a division by zero": "1 / 0",
    "an addition of a text and a number": "'a' + 1",
    "a comparison of a text and a number": "'a' < 1",
    "a root of a negative number": "(-8) ** 0.5",
    "an int of a word": "int('a')",
    "an f-string of an unknown": "f'{x}'",
    "a path of an unknown": "os.path.join('a', x)",
    "a path of nothing": "os.path.join()",
    "an element beyond the end": "[1][3]",
    "an element without such a key": "{'a': 1}['b']",
    "an element at an unknown place": "[1, 2][x]",
    "an attribute of a result": "f().a",
    "a negated unknown": "not x",
    "a display": "[1, 2]",
    "a lambda": "lambda: 1",
    "lower of an unknown": "x.lower()",
    "lower of a number": "(3).lower()",
    "matrix product": "1 @ 2",
    "lower of a bare function": "lower()",
    "a conversion of nothing": "list()",
    "a list of an unknown": "list(x)",
    "a function of somebody else on a text": "f('a').lower()",
    "an attribute of a display": "[1].a",
    "too large a float": "1e300 ** 64",
    "two unequal kinds": "'a' * 'b'",
}


@pytest.mark.parametrize("expression", _OPEN.values(), ids=_OPEN.keys())
def test_expression_is_not_known(expression: str) -> None:
    known = _of(expression)
    assert (known.exact, known.single) == (False, None)


_SEVERAL: dict[str, tuple[str, tuple[object, ...], bool]] = {
    "either branch of a conditional": ("1 if x else 2", (1, 2), True),
    "a sum with either": ("(1 if x else 2) + 3", (4, 5), True),
    "a comparison with either": ("('a' if x else 'b') == 'a'", (True, False), True),
    "a comparison that neither meets": ("('a' if x else 'b') == 'c'", (False,), True),
    "a comparison of None": ("(None if x else 'b') is None", (True, False), True),
    "a sum that one of them cannot have": ("(None if x else 1) + 1", (2,), False),
    "and of either": ("(0 if x else 2) and 3", (0, 3), True),
    "or of either": ("(0 if x else 2) or 3", (2, 3), True),
    "an unknown branch": ("1 if x else y", (1,), False),
    "or of an unknown and a text": ("x or 'b'", ("b",), False),
    "an environment variable with a default": ("os.getenv('K', '1')", ("1",), False),
    "an environment variable without one": ("os.environ.get('K')", (None,), False),
    "an environment variable or a default": ("os.environ.get('K') or '1'", ("1",), False),
    "int of an environment variable": ("int(os.getenv('K', '1'))", (1,), False),
    "a subscripted environment": ("os.environ['K']", (), False),
}


@pytest.mark.parametrize(("expression", "values", "exact"), _SEVERAL.values(), ids=_SEVERAL.keys())
def test_expression_has_several_values(expression: str, values: tuple[object, ...], exact: bool) -> None:
    known = _of(expression)
    assert (known.values, known.exact) == (values, exact)


@pytest.mark.parametrize(
    "expression", ["os.getenv('K', '1')", "os.environ['K']", "os.environ.get('K')", "int(os.getenv('K', 1))"]
)
def test_environment_variable_is_the_symbol(expression: str) -> None:
    assert _of(expression).symbol == "$K"


def test_text_of_a_value_in_messages() -> None:
    assert [_of(e).text() for e in ("3", "1 if x else 2", "x", "os.environ['K']")] == ["3", "1 / 2", "?", "$K"]


_NAMES: dict[str, tuple[str, tuple[object, ...], bool]] = {
    "a single assignment": ("k = 3", (3,), True),
    "through two names": ("a = 3\nk = a", (3,), True),
    "the last of two assignments": ("k = 3\nk = 4", (4,), True),
    "a branch may change it": ("k = 3\nif x:\n    k = 4", (4, 3), True),
    "either branch sets it": ("if x:\n    k = 3\nelse:\n    k = 4", (4, 3), True),
    "a branch and an unknown": ("k = y\nif x:\n    k = 4", (4,), False),
    "a loop may change it": ("k = 3\nfor i in x:\n    k = 4", (4, 3), True),
    "a loop counter": ("k = 3\nfor k in x: pass", (3,), False),
    "an augmented assignment": ("k = 3\nk += x", (), False),
    "a pair": ("a, k = 1, 3", (3,), True),
    "an annotated assignment": ("k: int = 3", (3,), True),
    "an assignment expression": ("if (k := 3): pass", (3,), True),
    "a context": ("with f() as k: pass", (), False),
    "a function may change it": ("k = 3\ndef f():\n    global k\n    k = 4", (4, 3), True),
    "a function with a local name does not": ("k = 3\ndef f():\n    k = 4", (3,), True),
    "deleted and set again": ("k = 3\ndel k\nk = 4", (4,), True),
    "an element of a named list": ("l = [1, 3]\nk = l[1]", (3,), True),
    "an element of a named dict": ("d = {'a': 3}\nk = d['a']", (3,), True),
    "an element that is set later": ("d = {'a': 3}\nd['a'] = 4\nk = d['a']", (3, 4), True),
    "an element that may be set": ("d = {'a': 3}\nd[x] = 4\nk = d['a']", (3, 4), True),
    "an element that is only set": ("d = {}\nd['a'] = 4\nk = d['a']", (4,), False),
    "elements of either dict": ("d = {'a': 3}\nif x:\n    d = {'a': 4}\nk = d['a']", (4, 3), True),
    "an element of what is unknown": ("k = x['a']", (), False),
    "an attribute that is set": ("c.k = 3\nk = c.k", (3,), True),
    "an attribute of an attribute": ("c.d.k = 3\nk = c.d.k", (3,), True),
    "an attribute that another object has too": ("c.k = 3\ne.k = 4\nk = c.k", (3,), False),
    "a class attribute": ("class C:\n    K = 3\nk = C.K", (3,), True),
    "an inherited class attribute": ("class B:\n    K = 3\nclass C(B): pass\nk = C.K", (3,), True),
    "a class attribute of an instance": ("class C:\n    K = 3\nc = C()\nk = c.K", (3,), True),
    "a class attribute that is overridden": ("class C:\n    K = 3\nc = C()\nc.K = 4\nk = C.K", (3,), False),
    "a result of a function": ("def f(): return 3\nk = f()", (3,), True),
    "results of a function": ("def f():\n    if x: return 3\n    return 4\nk = f()", (3, 4), True),
    "a function that may come to its end": ("def f():\n    if x: return 3\nk = f()", (3, None), True),
    "a function that returns in every branch": (
        "def f():\n    if x: return 3\n    else: return 4\nk = f()",
        (3, 4),
        True,
    ),
    "a function that returns nothing": ("def f(): pass\nk = f()", (), False),
    "an object": ("class C: pass\nk = C()", (), False),
    "an element of a result": ("def f():\n    return 4, 3\nk = f()[1]", (3,), True),
    "a part of a result": ("def f():\n    return 4, 3\n_, k = f()", (3,), True),
    "a result that has no such part": ("def f():\n    return 4\n_, k = f()", (), False),
}


_UPDATES: dict[str, tuple[str, object]] = {
    "the dict": ("d.update(k=4)", 4),
    "the dict, in a function": ("def f():\n    d.update(k=4)", 4),
    "one of the same name in a function": ("def f():\n    d = {}\n    d.update(k=4)", 3),
}


@pytest.mark.parametrize(("update", "value"), _UPDATES.values(), ids=_UPDATES.keys())
def test_options_have_what_is_updated_in_their_dict_and_in_no_other(update: str, value: object) -> None:
    assert _known(f"d = {{'k': 3}}\n{update}\ntf.nn.top_k(x, **d)\n").single == value


@pytest.mark.parametrize(("before", "values", "exact"), _NAMES.values(), ids=_NAMES.keys())
def test_name_has_the_values_that_it_is_given(before: str, values: tuple[object, ...], exact: bool) -> None:
    known = _of("k", before)
    assert (sorted(known.values, key=str), known.exact) == (sorted(values, key=str), exact)


@pytest.mark.parametrize(("before", "values", "exact"), _NAMES.values(), ids=_NAMES.keys())
def test_names_behave_alike_inside_a_function(before: str, values: tuple[object, ...], exact: bool) -> None:
    if "global" in before:
        pytest.skip("a global is none of the function's")
    known = _known(f"def main():\n{indent(before, '    ')}\n    tf.nn.top_k(x, k)\n")
    assert (sorted(known.values, key=str), known.exact) == (sorted(values, key=str), exact)


_LOOPS: dict[str, tuple[str, tuple[object, ...], bool]] = {
    "set further down in the loop": ("k = 1\nfor i in x:\n    tf.nn.top_k(x, k)\n    k = 2\n", (1, 2), True),
    "changed further down in the loop": ("k = 1\nfor i in x:\n    tf.nn.top_k(x, k)\n    k += 1\n", (1,), False),
    "set anew in every round": ("k = 1\nfor i in x:\n    k = 2\n    tf.nn.top_k(x, k)\n    k = 3\n", (2,), True),
    "set further down in an outer loop": (
        "k = 1\nfor i in x:\n    for j in x:\n        tf.nn.top_k(x, k)\n    k = 2\n",
        (1, 2),
        True,
    ),
    "set after the loop": ("k = 1\nfor i in x:\n    tf.nn.top_k(x, k)\nk = 2\n", (1,), True),
}


@pytest.mark.parametrize(("text", "values", "exact"), _LOOPS.values(), ids=_LOOPS.keys())
def test_rounds_of_a_loop_follow_each_other(text: str, values: tuple[object, ...], exact: bool) -> None:
    known = _known(text)
    assert (sorted(known.values, key=str), known.exact) == (sorted(values, key=str), exact)


_INNER = "def f():\n    k = 3\n    def g():\n        tf.nn.top_k(x, k)\n"
_METHOD = "def f():\n    k = 3\n    class C:\n        def g(self):\n            tf.nn.top_k(x, k)\n"
_SCOPES: dict[str, tuple[str, tuple[object, ...], bool]] = {
    "the module's constant": ("K = 3\ndef f():\n    tf.nn.top_k(x, K)\n", (3,), True),
    "a constant that the module defines below": ("def f():\n    tf.nn.top_k(x, K)\nK = 3\n", (3,), True),
    "a name of the enclosing function": ("def f():\n    k = 3\n    def g():\n        tf.nn.top_k(x, k)\n", (3,), True),
    "a name of the enclosing function where the inner one is called": (
        _INNER + "    g()\n    k = 4\n",
        (3,),
        True,
    ),
    "the same where it is called twice": (
        _INNER + "    g()\n    k = 4\n    g()\n",
        (3, 4),
        True,
    ),
    "the same where another inner one calls it": (
        _INNER + "    def h():\n        g()\n        h()\n    h()\n    k = 4\n",
        (3,),
        True,
    ),
    "the same where it is passed on": (
        _INNER + "    g()\n    run(g)\n    k = 4\n",
        (3, 4),
        True,
    ),
    "the same where nothing calls it": (
        _INNER + "    k = 4\n",
        (3, 4),
        True,
    ),
    "the same of a generator": (
        "def f():\n    k = 3\n    def g():\n        yield tf.nn.top_k(x, k)\n    g()\n    k = 4\n",
        (3, 4),
        True,
    ),
    "the same of a method": (
        _METHOD + "    C().g()\n    k = 4\n",
        (3,),
        True,
    ),
    "the same of an object that is kept": (
        _METHOD + "    c = C()\n    k = 4\n",
        (3, 4),
        True,
    ),
    "nonlocal": (
        "def f():\n    k = 3\n    def h():\n        nonlocal k\n        k = 4\n    tf.nn.top_k(x, k)\n",
        (3, 4),
        True,
    ),
    "a class body is no scope of its methods": (
        "k = 4\nclass C:\n    k = 3\n    def f(self):\n        tf.nn.top_k(x, k)\n",
        (4,),
        True,
    ),
    "a class body sees its own names": ("class C:\n    k = 3\n    tf.nn.top_k(x, k)\n", (3,), True),
    "a comprehension hides the module's name": ("k = 3\ny = [tf.nn.top_k(x, k) for k in z]\n", (), False),
    "a comprehension sees the other names": ("k = 3\ny = [tf.nn.top_k(x, k) for i in z]\n", (3,), True),
    "a lambda's parameter": ("k = 3\nf = lambda k: tf.nn.top_k(x, k)\n", (), False),
    "a starred parameter hides the module's name": ("k = 3\ndef f(*k):\n    tf.nn.top_k(x, k)\n", (), False),
    "keyword parameters hide the module's name": ("k = 3\ndef f(**k):\n    tf.nn.top_k(x, k)\n", (), False),
    "self": (
        "class C:\n    def __init__(self):\n        self.k = 3\n    def f(self):\n        tf.nn.top_k(x, self.k)\n",
        (3,),
        True,
    ),
    "an attribute of self set before in the method": (
        "class C:\n    def __init__(self):\n        self.k = 3\n    def f(self):\n        self.k = 4\n"
        "        tf.nn.top_k(x, self.k)\n",
        (4,),
        True,
    ),
    "an attribute of self by another name": (
        "class C:\n    def __init__(this):\n        this.k = 3\n    def f(me):\n        tf.nn.top_k(x, me.k)\n",
        (3,),
        True,
    ),
    "an attribute of self inherited": (
        "class B:\n    def __init__(self):\n        self.k = 3\nclass C(B):\n    def f(self):\n"
        "        tf.nn.top_k(x, self.k)\n",
        (3,),
        True,
    ),
    "an attribute of self inherited from afar": (
        "class A:\n    k = 3\nclass B(A): pass\nclass C(B):\n    def f(self):\n        tf.nn.top_k(x, self.k)\n",
        (3,),
        True,
    ),
    "an attribute of an attribute of self": (
        "class O:\n    k = 3\nclass C:\n    def __init__(self):\n        self.o = O()\n    def f(self):\n"
        "        tf.nn.top_k(x, self.o.k)\n",
        (3,),
        True,
    ),
    "a field of an attribute of self": (
        "class C:\n    def f(self):\n        self.o.k = 3\n        tf.nn.top_k(x, self.o.k)\n",
        (3,),
        True,
    ),
    "a field of another class's attribute": (
        "class B:\n    def f(self):\n        self.o.k = 3\nclass C:\n    def f(self):\n"
        "        tf.nn.top_k(x, self.o.k)\n",
        (),
        False,
    ),
    "an attribute of self within a nested function": (
        "class C:\n    k = 3\n    def f(self):\n        def g():\n            tf.nn.top_k(x, self.k)\n",
        (3,),
        True,
    ),
}


@pytest.mark.parametrize(("text", "values", "exact"), _SCOPES.values(), ids=_SCOPES.keys())
def test_name_is_looked_up_in_its_scope(text: str, values: tuple[object, ...], exact: bool) -> None:
    known = _known(text)
    assert (sorted(known.values, key=str), known.exact) == (sorted(values, key=str), exact)


_PARAMETERS: dict[str, tuple[str, tuple[object, ...], bool]] = {
    "what the only call passes": ("def f(k):\n    tf.nn.top_k(x, k)\nf(3)\n", (3,), True),
    "what a keyword passes": ("def f(k):\n    tf.nn.top_k(x, k)\nf(k=3)\n", (3,), True),
    "what all calls pass": ("def f(k):\n    tf.nn.top_k(x, k)\nf(3)\nf(4)\n", (3, 4), True),
    "a call that passes an unknown": ("def f(k):\n    tf.nn.top_k(x, k)\nf(3)\nf(y)\n", (3,), False),
    "nobody calls": ("def f(k):\n    tf.nn.top_k(x, k)\n", (), False),
    "a default without calls": ("def f(k=3):\n    tf.nn.top_k(x, k)\n", (3,), False),
    "a default that a call leaves": ("def f(k=3):\n    tf.nn.top_k(x, k)\nf()\n", (3,), True),
    "a default that one call leaves": ("def f(k=3):\n    tf.nn.top_k(x, k)\nf()\nf(4)\n", (3, 4), True),
    "a default and starred arguments": ("def f(k=3):\n    tf.nn.top_k(x, k)\nf(*y)\n", (3,), False),
    "a default beside options": ("def f(a, k=3):\n    tf.nn.top_k(x, k)\no = {'a': 1}\nf(**o)\n", (3,), True),
    "an option instead of a default": ("def f(k=3):\n    tf.nn.top_k(x, k)\no = {'k': 4}\nf(**o)\n", (4,), True),
    "a default beside unknown options": ("def f(k=3):\n    tf.nn.top_k(x, k)\nf(**y)\n", (3,), False),
    "a default that a decorator may fill": ("@command\ndef f(k=3):\n    tf.nn.top_k(x, k)\nf()\n", (3,), False),
    "a keyword-only parameter": ("def f(*, k):\n    tf.nn.top_k(x, k)\nf(k=3)\n", (3,), True),
    "a default of a keyword-only parameter": ("def f(*a, k=3):\n    tf.nn.top_k(x, k)\n", (3,), False),
    "through two functions": ("def g(k):\n    tf.nn.top_k(x, k)\ndef f(k):\n    g(k)\nf(3)\n", (3,), True),
    "starred arguments": ("def f(k):\n    tf.nn.top_k(x, k)\nf(*y)\n", (), False),
    "a parameter that is set anew": ("def f(k):\n    k = 3\n    tf.nn.top_k(x, k)\nf(4)\n", (3,), True),
    "a parameter that may be set anew": ("def f(k):\n    if y: k = 3\n    tf.nn.top_k(x, k)\nf(4)\n", (3, 4), True),
    "a method of an instance": ("class C:\n    def f(self, k):\n        tf.nn.top_k(x, k)\nC().f(3)\n", (3,), True),
    "a method called on self": (
        "class C:\n    def f(self, k):\n        tf.nn.top_k(x, k)\n    def g(self):\n        self.f(3)\n",
        (3,),
        True,
    ),
    "a method called on the class": (
        "class C:\n    def f(self, a, k):\n        tf.nn.top_k(x, k)\nC.f(c, 4, 3)\n",
        (3,),
        True,
    ),
    "a static method": (
        "class C:\n    @staticmethod\n    def f(a, k):\n        tf.nn.top_k(x, k)\nC.f(4, 3)\n",
        (3,),
        True,
    ),
    "a class method": (
        "class C:\n    @classmethod\n    def f(cls, k):\n        tf.nn.top_k(x, k)\nC.f(3)\n",
        (3,),
        True,
    ),
    "an initialiser": ("class C:\n    def __init__(self, k):\n        tf.nn.top_k(x, k)\nC(3)\n", (3,), True),
    "an initialiser of a nested class": (
        "class O:\n    class C:\n        def __init__(self, k):\n            tf.nn.top_k(x, k)\nO.C(3)\n",
        (3,),
        True,
    ),
    "an initialiser called by a subclass": (
        "class B:\n    def __init__(self, k):\n        tf.nn.top_k(x, k)\n"
        "class C(B):\n    def __init__(self):\n        B.__init__(self, 3)\n",
        (3,),
        True,
    ),
    "an attribute set from a parameter": (
        "class C:\n    def __init__(self, k):\n        self.k = k\n    def f(self):\n"
        "        tf.nn.top_k(x, self.k)\nC(3).f()\n",
        (3,),
        True,
    ),
    "a parameter of the function around": (
        "def f(k):\n    def g():\n        tf.nn.top_k(x, k)\nf(3)\n",
        (3,),
        True,
    ),
    "a recursive call": ("def f(k):\n    tf.nn.top_k(x, k)\n    f(k)\nf(3)\n", (3,), False),
}


@pytest.mark.parametrize(("text", "values", "exact"), _PARAMETERS.values(), ids=_PARAMETERS.keys())
def test_parameter_has_what_the_project_passes(text: str, values: tuple[object, ...], exact: bool) -> None:
    known = _known(text)
    assert (sorted(known.values, key=str), known.exact) == (sorted(values, key=str), exact)


def test_parameter_that_nobody_passes_is_the_symbol() -> None:
    assert _known("def f(k):\n    tf.nn.top_k(x, k)\n").symbol == "k"


_MODULES: dict[str, dict[str, str]] = {
    "from import": {"c.py": "K = 3\n", "train.py": "from c import K\ntf.nn.top_k(x, K)\n"},
    "renamed": {"c.py": "K = 3\n", "train.py": "from c import K as L\ntf.nn.top_k(x, L)\n"},
    "a member of a module": {"c.py": "K = 3\n", "train.py": "import c\ntf.nn.top_k(x, c.K)\n"},
    "a member of a renamed module": {"c.py": "K = 3\n", "train.py": "import c as d\ntf.nn.top_k(x, d.K)\n"},
    "a member of a submodule": {
        "p/__init__.py": "",
        "p/c.py": "K = 3\n",
        "train.py": "import p.c\ntf.nn.top_k(x, p.c.K)\n",
    },
    "a member of a module in a plain folder": {"p/c.py": "K = 3\n", "train.py": "import p.c\ntf.nn.top_k(x, p.c.K)\n"},
    "a relative import": {
        "p/__init__.py": "",
        "p/c.py": "K = 3\n",
        "p/train.py": "from .c import K\ntf.nn.top_k(x, K)\n",
    },
    "a relative import of a sibling folder": {
        "p/a/c.py": "K = 3\n",
        "p/b/train.py": "from ..a.c import K\ntf.nn.top_k(x, K)\n",
    },
    "a star import": {"c.py": "K = 3\n", "train.py": "from c import *\ntf.nn.top_k(x, K)\n"},
    "handed on": {"c.py": "K = 3\n", "d.py": "from c import K\n", "train.py": "from d import K\ntf.nn.top_k(x, K)\n"},
    "handed on by a star": {
        "c.py": "K = 3\n",
        "d.py": "from c import *\n",
        "train.py": "import d\ntf.nn.top_k(x, d.K)\n",
    },
    "through circular imports": {
        "c.py": "from train import x\nK = 3\n",
        "train.py": "from c import K\ntf.nn.top_k(x, K)\n",
    },
    "a class of another module": {
        "c.py": "class C:\n    K = 3\n",
        "train.py": "from c import C\ntf.nn.top_k(x, C.K)\n",
    },
    "a dict of another module": {
        "c.py": "V = 3\nD = {'k': V}\n",
        "train.py": "from c import D\ntf.nn.top_k(x, D['k'])\n",
    },
    "a function of another module": {
        "c.py": "V = 3\ndef f(): return V\n",
        "train.py": "import c\ntf.nn.top_k(x, c.f())\n",
    },
    "a base class of another module": {
        "c.py": "class B:\n    def __init__(self):\n        self.k = 3\n",
        "train.py": "from c import B\nclass C(B):\n    def f(self):\n        tf.nn.top_k(x, self.k)\n",
    },
    "a parameter passed by another module": {
        "c.py": "def f(k):\n    tf.nn.top_k(x, k)\n",
        "train.py": "from c import f\nf(3)\n",
    },
    "a module without framework words": {"c.py": "K = 3\n", "train.py": "from c import K\ntf.nn.top_k(x, K)\n"},
}


@pytest.mark.parametrize("sources", _MODULES.values(), ids=_MODULES.keys())
def test_value_is_followed_into_other_modules(sources: dict[str, str]) -> None:
    assert _known(sources).single == 3


_NOT_FOLLOWED = {
    "a star does not import underscored names": {
        "c.py": "_K = 3\n",
        "train.py": "from c import *\ntf.nn.top_k(x, _K)\n",
    },
    "circular imports of one name": {
        "c.py": "from train import K\n",
        "train.py": "from c import K\ntf.nn.top_k(x, K)\n",
    },
    "circular stars": {"c.py": "from train import *\n", "train.py": "from c import *\ntf.nn.top_k(x, K)\n"},
    "a foreign package": {"numpy.py": "K = 3\n", "train.py": "from numpy import K\ntf.nn.top_k(x, K)\n"},
    "a module that lacks the name": {"c.py": "L = 3\n", "train.py": "import c\ntf.nn.top_k(x, c.K)\n"},
}


@pytest.mark.parametrize("sources", _NOT_FOLLOWED.values(), ids=_NOT_FOLLOWED.keys())
def test_value_is_not_followed(sources: dict[str, str]) -> None:
    assert _known(sources).values == ()


def test_module_constant_that_another_module_sets_is_not_exact() -> None:
    sources = {"c.py": "K = 3\n", "m.py": "import c\nc.K = 4\n", "train.py": "import c, m\ntf.nn.top_k(x, c.K)\n"}
    assert _known(sources) == PossibleValues((3,), False)


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("if small:\n    cfg.k = 3\n", id="set in a branch"),
        pytest.param("def tune(cfg):\n    cfg.k = 3\n", id="set on a parameter of another function"),
    ],
)
def test_an_attribute_that_is_not_surely_set_may_have_other_values(setting: str) -> None:
    found = _known(f"cfg = load()\n{setting}tf.nn.top_k(x, cfg.k)\n")
    assert found.values == (3,)
    assert not found.exact

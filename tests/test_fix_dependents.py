"""What depends on something that a fix takes away goes as well, or the fix is refused."""

from __future__ import annotations

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.judge.catalogue.load import load_catalogue
from tests.fix_support import changed, stepped

_UNWRAP = {"with": "$arg(0)", "members": "run close graph"}

UNWRAPPED = {
    "a call of what only the wrapper has": ("s = «W(s)»\ns.add('a', has_inf)\ns.run(x)\n", "s.run(x)\n"),
    "calls of several members": ("s = «W(s)»\ns.add('a')\ns.watch(t)\ns.run(x)\n", "s.run(x)\n"),
    "what remains has the member": ("s = «W(s)»\ns.run(x)\ns.close()\n", "s.run(x)\ns.close()\n"),
    "another name": ("d = «W(s)»\nd.add('a')\nd.run(x)\n", "d = s\nd.run(x)\n"),
    "an attribute of an object": (
        "class A:\n    def f(self):\n        self.s = «W(self.s)»\n        g()\n    def g(self):\n"
        "        self.s.add('a')\n        self.s.run(x)\n",
        "class A:\n    def f(self):\n        g()\n    def g(self):\n        self.s.run(x)\n",
    ),
    "in a context": ("with «W(s)» as d:\n    d.add('a')\n    d.run(x)\n", "with s as d:\n    d.run(x)\n"),
    "only calls in a context": ("with «W(s)» as d:\n    d.add('a')\n", "with s as d:\n    pass\n"),
    "in a function that uses the global": (
        "s = «W(s)»\ndef f():\n    s.add('a')\n    s.run(x)\n",
        "def f():\n    s.run(x)\n",
    ),
    "the whole condition": ("if debug:\n    s = «W(s)»\n    s.add('a')\ns.run(x)\n", "s.run(x)\n"),
    "the block of a condition with another branch": (
        "if debug:\n    s = «W(s)»\n    s.add('a')\nelse:\n    f()\ns.run(x)\n",
        "if debug:\n    pass\nelse:\n    f()\ns.run(x)\n",
    ),
    "part of a condition": ("if debug:\n    s = «W(s)»\n    s.add('a')\n    f()\n", "if debug:\n    f()\n"),
    "another condition": ("s = «W(s)»\nif debug:\n    s.add('a')\ns.run(x)\n", "s.run(x)\n"),
    "an assignment to a member": ("s = «W(s)»\ns.filters = []\ns.run(x)\n", "s.run(x)\n"),
    "a member that was used before": ("s.more()\ns = «W(s)»\ns.more()\n", "s.more()\ns.more()\n"),
    "the name is bound anew": ("s = «W(s)»\ns.run(x)\ns = T()\ns.add(x)\n", "s.run(x)\ns = T()\ns.add(x)\n"),
    "the name is perhaps bound anew": ("s = «W(s)»\nif y:\n    s = T()\nuse(s.add(x))\n", "refused: depends"),
    "a variable of that name in another function": (
        "def f(s):\n    s = «W(s)»\n    s.run(x)\ndef g(s):\n    s.add(x)\n",
        "def f(s):\n    s.run(x)\ndef g(s):\n    s.add(x)\n",
    ),
    "the result is used": ("s = «W(s)»\nn = s.add('a')\ns.run(n)\n", "refused: depends"),
    "the arguments have an effect": ("s = «W(s)»\ns.add(build())\n", "refused: depends"),
    "the member is called at once": ("use(«W(s)».add('a'))\n", "refused: depends"),
    "the member is passed on": ("s = «W(s)»\nf(s.add)\n", "refused: depends"),
    "a function gets it that needs the wrapper": (
        "def g(x):\n    x.add('a')\ns = «W(s)»\ng(s)\n",
        "refused: depends",
    ),
    "a function gets it by keyword": ("def g(a, x):\n    x.add('a')\ng(1, x=«W(s)»)\n", "refused: depends"),
    "a function gets it that needs no wrapper": (
        "def g(x, y):\n    x.run(y.add)\ns = «W(s)»\ng(s, 1)\n",
        "def g(x, y):\n    x.run(y.add)\ng(s, 1)\n",
    ),
    "a function returns it": ("def g():\n    return «W(s)»\nd = g()\nd.add('a')\n", "refused: depends"),
    "a function returns it by name": (
        "def g(s):\n    s = «W(s)»\n    return s\nd = g(t)\nd.add('a')\n",
        "refused: depends",
    ),
    "a function returns it to what needs no wrapper": (
        "def g():\n    return «W(s)»\nd = g()\nd.run('a')\n",
        "def g():\n    return s\nd = g()\nd.run('a')\n",
    ),
    "in a loop header": ("s = «W(s)»\nfor x in s.all():\n    f(x)\n", "refused: depends"),
}


@pytest.mark.parametrize(("source", "result"), UNWRAPPED.values(), ids=UNWRAPPED.keys())
def test_what_only_the_wrapper_has(source: str, result: str) -> None:
    assert stepped(source, "replace", _UNWRAP) == result


BOUND = {
    "a global that only a local shares its name with": (
        "«x = 1»\nuse(x)\ndef f():\n    x = 2\n    return x\n",
        "refused: still-used",
    ),
    "a local that another function has, too": (
        "def f():\n    «x = 1»\n    return x\ndef g():\n    x = 3\n    return x\n",
        "refused: still-used",
    ),
    "a local that is a global as well": (
        "x = 0\ndef f():\n    «x = 1»\n    return x\n",
        "x = 0\ndef f():\n    return x\n",
    ),
    "a global that a function sets": (
        "def f():\n    global x\n    x = 1\n«x = None»\nuse(x)\n",
        "def f():\n    global x\n    x = 1\nuse(x)\n",
    ),
    "a name that a star may bring": ("from a import *\n«x = 1»\nuse(x)\n", "refused: still-used"),
    "a builtin of the name": ("«input = 1»\nuse(input)\n", "refused: still-used"),
    "a name that a comprehension has, too": ("«x = 1»\ny = [x for x in z]\nuse(x)\n", "refused: still-used"),
    "a name that is bound again": ("«x = 1»\nx = 2\nuse(x)\n", "x = 2\nuse(x)\n"),
    "an attribute that another object has, too": (
        "class A:\n    def f(self, other):\n        «self.x = 1»\n        other.x = 2\n        return self.x\n",
        "refused: still-used",
    ),
    "an attribute that another method uses": (
        "class A:\n    def f(self):\n        «self.x = 1»\n        g()\n    def g(self):\n        return self.x\n",
        "refused: still-used",
    ),
    "an attribute that the class gives": (
        "class A:\n    x = 0\n    def f(self):\n        «self.x = 1»\n        g()\n"
        "    def g(self):\n        return self.x\n",
        "class A:\n    x = 0\n    def f(self):\n        g()\n    def g(self):\n        return self.x\n",
    ),
    "an attribute that nobody uses": (
        "class A:\n    def f(self):\n        «self.x = 1»\n        g()\n",
        "class A:\n    def f(self):\n        g()\n",
    ),
    "an attribute of a module": ("«torch.a.x = 1»\nuse(torch.a.x)\n", "use(torch.a.x)\n"),
}


@pytest.mark.parametrize(("source", "result"), BOUND.values(), ids=BOUND.keys())
def test_names_that_remain_in_use(source: str, result: str) -> None:
    assert changed(source, ("delete", {"what": "statement"})) == result


_DEBUG = "from tensorflow.python import debug as tf_debug\n"
_HEAD = f"import tensorflow as tf\n{_DEBUG}from npu_bridge.npu_init import *\n\n"
_SESSION = "sess = tf.Session(config=npu_config_proto())\n"
_FILTER = 'sess.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)\n'


def debugged(body: str) -> tuple[str, list[str]]:
    """What the fix of the debugger check makes of a program, and the reasons of refusals."""
    fixes = fix_texts({"a.py": _HEAD + body}, {}, load_catalogue(), ("NPU1408",))
    return next((one.after.decode() for one in fixes.files), ""), [one.reason for one in fixes.refused]


def test_the_debugger_goes_with_its_filters_and_imports() -> None:
    for wrapper in ("LocalCLIDebugWrapperSession(sess)", "LocalCLIDebugWrapperSession(sess=sess, ui_type='readline')"):
        after, refused = debugged(f"{_SESSION}sess = tf_debug.{wrapper}\n{_FILTER}sess.run(train_op)\n")
        assert not refused
        assert after == _HEAD.replace(_DEBUG, "") + (_SESSION + "sess.run(train_op)\n")


def test_a_debugger_whose_results_are_used_stays() -> None:
    after, refused = debugged(
        f"{_SESSION}sess = tf_debug.LocalCLIDebugWrapperSession(sess)\nprint(sess.add_tensor_filter('a', f))\n"
    )
    assert (after, refused) == ("", ["depends"])


_OTHER_USES = {
    "one of two values": "sess = tf_debug.LocalCLIDebugWrapperSession(sess) if debug else sess\n" + _FILTER,
    "one of two values of an attribute": (
        "self.sess = tf_debug.LocalCLIDebugWrapperSession(sess) if debug else sess\nself." + _FILTER
    ),
    "by and and or": "sess = debug and tf_debug.LocalCLIDebugWrapperSession(sess) or sess\n" + _FILTER,
    "another name": "debugged = tf_debug.LocalCLIDebugWrapperSession(sess)\nother = debugged\n"
    + _FILTER.replace("sess", "other"),
    "two names at once": "first = second = tf_debug.LocalCLIDebugWrapperSession(sess)\n"
    + _FILTER.replace("sess", "second"),
    "one of a pair": "sess, number = tf_debug.LocalCLIDebugWrapperSession(sess), 1\n" + _FILTER,
}


@pytest.mark.parametrize("body", _OTHER_USES.values(), ids=_OTHER_USES.keys())
def test_a_debugger_stays_while_its_own_methods_are_used(body: str) -> None:
    assert debugged(f"debug = True\n{_SESSION}{body}") == ("", ["depends"])


def test_a_debugger_of_which_only_the_session_is_used_goes_from_a_choice() -> None:
    after, refused = debugged(
        f"debug = True\n{_SESSION}"
        "sess = tf_debug.LocalCLIDebugWrapperSession(sess) if debug else sess\nsess.run(step)\n"
    )
    assert not refused
    assert after.endswith("sess = sess if debug else sess\nsess.run(step)\n")

"""Options of a script and their defaults: argparse, flags, hyper-parameters, and what launchers pass."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.facts.model import FileFacts, Span
from npulint.facts.values import PossibleValues
from npulint.read.launcher_facts import LaunchFact, StartedScript
from npulint.read.python import read_python
from tests.support import facts

_HEAD = "import argparse\nimport tensorflow as tf\nfrom absl import flags\nparser = argparse.ArgumentParser()\n"
_ASK = "args = parser.parse_args()\nFLAGS = flags.FLAGS\n"


def _known(text: str, name: str = "args.x", launched: dict[str, str | None] | None = None) -> PossibleValues:
    code, problems = read_python(f"{_HEAD}{text}\n{_ASK}tf.nn.top_k(y, {name})\n", "train.py")
    assert problems == []
    files = [FileFacts("train.py", "python", code)]
    if launched is not None:
        fact = LaunchFact("train.py", "run.sh", Span(), StartedScript("train.py", "train.py", options=launched))
        files.append(FileFacts("run.sh", "shell", facts=[fact]))
    calls = [f for p in assemble("", files) for f in p.index.named("call", "top_k")]
    known = calls[0].args.argument_value("k", 1)
    assert isinstance(known, PossibleValues)
    return known


_ARGPARSE: dict[str, tuple[str, object]] = {
    "a default": ("parser.add_argument('--x', default=3)", 3),
    "a default that is computed": ("D = 4\nparser.add_argument('--x', default=D - 1)", 3),
    "a default with a type": ("parser.add_argument('--x', type=int, default=3)", 3),
    "no default": ("parser.add_argument('--x')", None),
    "store_true": ("parser.add_argument('--x', action='store_true')", False),
    "store_false": ("parser.add_argument('--x', action='store_false')", True),
    "store_true with a default": ("parser.add_argument('--x', action='store_true', default=True)", True),
    "another destination": ("parser.add_argument('--no_x', dest='x', action='store_false')", True),
    "a short name first": ("parser.add_argument('-y', '--x', default=3)", 3),
    "the first of two long names": ("parser.add_argument('--x', '--longer_name', default=3)", 3),
    "a short name only": ("parser.add_argument('-x', default=3)", 3),
    "a positional with a default": ("parser.add_argument('x', nargs='?', default=3)", 3),
    "in a group": ("group = parser.add_argument_group('g')\ngroup.add_argument('--x', default=3)", 3),
}


@pytest.mark.parametrize(("text", "value"), _ARGPARSE.values(), ids=_ARGPARSE.keys())
def test_argparse_default(text: str, value: object) -> None:
    known = _known(text)
    assert (known.values, known.exact, known.symbol) == ((value,), True, "x")


def test_dashes_become_underscores() -> None:
    assert _known("parser.add_argument('--x-y', default=3)", "args.x_y").single == 3


_REQUIRED = {
    "a positional": "parser.add_argument('x')",
    "a required option": "parser.add_argument('--x', required=True)",
    "an unknown default": "parser.add_argument('--x', default=f())",
    "a required flag": "flags.DEFINE_string('x', None, 'h')\nflags.mark_flag_as_required('x')",
    "one of several required flags": "flags.DEFINE_string('x', None, 'h')\nflags.mark_flags_as_required(['w', 'x'])",
    "a flag that is required at once": "flags.DEFINE_string('x', None, 'h', required=True)",
}


@pytest.mark.parametrize("text", _REQUIRED.values(), ids=_REQUIRED.keys())
def test_option_without_a_default_is_not_known(text: str) -> None:
    known = _known(text)
    assert (known.single, known.exact, known.symbol) == (None, False, "x")


_FLAGS: dict[str, tuple[str, object]] = {
    "absl": ("flags.DEFINE_integer('x', 3, 'help')", 3),
    "absl by keyword": ("flags.DEFINE_integer(name='x', default=3, help='h')", 3),
    "tf.app.flags": ("tf.app.flags.DEFINE_bool('x', False, 'help')", False),
    "tf.app.flags by keyword": ("tf.app.flags.DEFINE_bool(flag_name='x', default_value=True, docstring='h')", True),
    "tf.flags": ("tf.flags.DEFINE_string('x', 'a', 'help')", "a"),
    "an imported function": ("from absl.flags import DEFINE_string\nDEFINE_string('x', 'a', 'help')", "a"),
    "without a default": ("flags.DEFINE_string('x')", None),
    "an enum": ("flags.DEFINE_enum('x', 'a', ['a', 'b'], 'help')", "a"),
}


@pytest.mark.parametrize(("text", "value"), _FLAGS.values(), ids=_FLAGS.keys())
def test_flag_default(text: str, value: object) -> None:
    assert _known(text, "FLAGS.x").single == value


def test_flag_of_computed_name_is_skipped() -> None:
    assert _known("flags.DEFINE_string(n, 3, 'h')", "FLAGS.x").values == ()


_RENAMED = {
    "parsed": ("parser.add_argument('--x', default=3)\nchosen = parser.parse_args()", "chosen.x"),
    "parsed by a function": (
        "def ask():\n    parser.add_argument('--x', default=3)\n    return parser.parse_args()\nchosen = ask()",
        "chosen.x",
    ),
    "known ones": ("parser.add_argument('--x', default=3)\nchosen, rest = parser.parse_known_args()", "chosen.x"),
    "flags": ("flags.DEFINE_integer('x', 3, 'h')\nchosen = flags.FLAGS", "chosen.x"),
    "flags imported": ("flags.DEFINE_integer('x', 3, 'h')\nfrom absl.flags import FLAGS as chosen", "chosen.x"),
}


@pytest.mark.parametrize(("text", "name"), _RENAMED.values(), ids=_RENAMED.keys())
def test_parsed_options_have_any_name(text: str, name: str) -> None:
    assert _known(text, name) == PossibleValues((3,), True, "x")


def test_attributes_of_other_objects_are_no_options() -> None:
    assert _known("parser.add_argument('--x', default=3)\nchosen = tf.train.Saver()", "chosen.x").values == ()


@pytest.mark.parametrize("name", ["args.x", "opt.x", "self.opts.x", "hparams.x", "config.x", "FLAGS.x", "args['x']"])
def test_customary_holders_of_options(name: str) -> None:
    assert _known("parser.add_argument('--x', default=3)", name).single == 3


@pytest.mark.parametrize("name", ["model.x", "x", "net.layer.x"])
def test_other_objects_hold_no_options(name: str) -> None:
    assert _known("parser.add_argument('--x', default=3)", name).values == ()


def test_hyper_parameters_are_options() -> None:
    assert _known("tf.contrib.training.HParams(x=3)", "hparams.x").single == 3


def test_hyper_parameters_of_somebody_else_are_not() -> None:
    assert _known("def HParams(**k): pass\nHParams(x=3)", "hparams.x").values == ()


def test_option_defined_twice_has_both_defaults() -> None:
    known = _known("parser.add_argument('--x', default=3)\nother.add_argument('--x', default=4)")
    assert (known.values, known.exact) == ((3, 4), True)


def test_definition_in_the_same_module_is_nearer() -> None:
    sources = {
        "train.py": f"{_HEAD}parser.add_argument('--x', default=3)\n{_ASK}tf.nn.top_k(y, args.x)\n",
        "eval.py": f"{_HEAD}parser.add_argument('--x', default=4)\n{_ASK}tf.nn.top_k(y, args.x)\n",
    }
    assert [(f.path, f.args.argument_value("k", 1).single) for f in facts(sources, "call", "tensorflow.nn.top_k")] == [
        ("eval.py", 4),
        ("train.py", 3),
    ]


def test_definition_of_another_module_serves() -> None:
    sources = {
        "options.py": f"{_HEAD}parser.add_argument('--x', default=3)\n",
        "train.py": f"{_HEAD}from options import parser\n{_ASK}tf.nn.top_k(y, args.x)\n",
    }
    assert [f.args.argument_value("k", 1).single for f in facts(sources, "call", "tensorflow.nn.top_k")] == [3]


def test_option_that_the_script_sets_is_not_exact() -> None:
    known = _known("parser.add_argument('--x', default=3)\nargs = parser.parse_args()\nargs.x = 4")
    assert (3 in known.values, known.exact) == (True, False)


_PLAIN = "parser.add_argument('--x', default=3)"
_LAUNCHED: dict[str, tuple[str, dict[str, str | None], tuple[object, ...], bool]] = {
    "another value": (_PLAIN, {"--x": "a"}, ("a",), True),
    "a word that is text for argparse": (_PLAIN, {"--x": "False"}, ("False",), True),
    "a value that is not known": (_PLAIN, {"--x": None}, (), False),
    "another option": (_PLAIN, {"--y": "a"}, (3,), True),
    "a number": ("parser.add_argument('--x', type=int, default=3)", {"--x": "4"}, (4,), True),
    "no number": ("parser.add_argument('--x', type=int, default=3)", {"--x": "four"}, (), False),
    "a fraction": ("flags.DEFINE_float('x', 3.0, 'h')", {"--x": "2e-4"}, (0.0002,), True),
    "type=bool": ("parser.add_argument('--x', type=bool, default=False)", {"--x": "False"}, (True,), True),
    "a function for words": ("parser.add_argument('--x', type=str2bool)", {"--x": "false"}, (False,), True),
    "store_true": ("parser.add_argument('--x', action='store_true')", {"--x": "true"}, (True,), True),
    "store_false": ("parser.add_argument('--no', dest='x', action='store_false')", {"--no": "true"}, (False,), True),
    "a short name": ("parser.add_argument('-s', '--x', type=int)", {"-s": "4"}, (4,), True),
    "a boolean flag": ("flags.DEFINE_bool('x', False, 'h')", {"--x": "true"}, (True,), True),
    "a boolean flag denied": ("flags.DEFINE_bool('x', True, 'h')", {"--nox": "true"}, (False,), True),
    "a required option": ("parser.add_argument('--x', required=True)", {"--x": "a"}, ("a",), True),
    "several values": ("parser.add_argument('--x', nargs='+', default=3)", {"--x": "4"}, (), False),
    "a hyper-parameter": ("hp = tf.contrib.training.HParams(x=3)", {"--x": "4"}, (3, "4"), True),
    "with dashes": ("parser.add_argument('--x-y', dest='x', default=3)", {"--x-y": "4"}, ("4",), True),
}


@pytest.mark.parametrize(("text", "passed", "values", "exact"), _LAUNCHED.values(), ids=_LAUNCHED.keys())
def test_what_a_launcher_passes_counts(
    text: str, passed: dict[str, str | None], values: tuple[object, ...], exact: bool
) -> None:
    known = _known(text, launched=passed)
    assert (known.values, known.exact) == (values, exact)


def test_options_are_facts() -> None:
    found = facts(f"{_HEAD}parser.add_argument('--x', default=3)\nflags.DEFINE_bool('y', True, 'h')\n", "option")
    assert [(f.name, f.get("value").single, f.span.line) for f in found] == [("x", 3, 5), ("y", True, 6)]


@pytest.mark.parametrize("text", ["parser.add_argument()", "parser.add_argument(name)", "parser.add_argument(*names)"])
def test_argument_without_a_literal_name_is_skipped(text: str) -> None:
    assert facts(f"{_HEAD}{text}\n", "option") == []

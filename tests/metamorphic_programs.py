"""Programs that print what they do, full of names, scopes and orders that a careless change would break."""

from __future__ import annotations

from textwrap import dedent

SCRIPT = '''\
"""Prints numbers in many ways."""

from __future__ import annotations

import collections
import json
import math as mathematics
import sys, os
from collections import OrderedDict, defaultdict
from functools import partial as bind, reduce

LIMIT = 3
counter = 0
total = 0
HELP = """
  a text
    with margins
"""
registry = {}


def trace(value, label="value"):
    print("trace", label, value)
    return value


def bump(by=1):
    global counter
    counter += by
    return counter


def registered(function):
    registry[function.__name__] = function
    return function


@registered
def halved(number):
    result = number / 2
    return result


def add_to_total(amount):
    global total
    total = total + amount
    return total


def total_now():
    return total


def conditional(flag):
    if flag:
        chosen = "yes"
    else:
        chosen = "no"
    text = f"{chosen} {chosen!r}"
    shown = chosen
    return text, f"{shown=}"


def loops(numbers):
    largest = None
    for number in numbers:
        if number < 0:
            continue
        if number > 100:
            break
        doubled = number * 2
        if largest is None or doubled > largest:
            largest = doubled
    else:
        print("no break")
    position = 0
    while True:
        position += 1
        if position >= LIMIT:
            break
    return largest, position


def persistent(numbers):
    for number in numbers:
        if number == 1:
            remembered = "first"
        print(number, remembered)


def closures():
    functions = []
    for number in range(3):
        functions.append(lambda: number)
    last = [function() for function in functions]
    state = 1

    def change():
        nonlocal state
        state += 10
        return state

    before = state
    changed = change()
    after = state
    late = lambda: after + before
    before = 1000
    return last, before, changed, after, late()


def generators(limit):
    value = 0
    while value < limit:
        received = yield value
        value += 1 if received is None else received


def caught(text):
    stage = "start"
    try:
        stage = "parse"
        number = int(text)
        stage = "divide"
        return 10 // number
    except ValueError as error:
        return f"{stage}: {type(error).__name__}"
    except ZeroDivisionError:
        return stage
    finally:
        print("finally", stage)


def deleted():
    values = [1, 2, 3]
    first = values[0]
    del values
    try:
        return values
    except NameError:
        return first


def unbound(flag):
    try:
        if flag:
            maybe = 1
        print("maybe", maybe)
        return maybe
    except UnboundLocalError:
        return "unbound"


def shadowed(item, items=(1, 2)):
    pairs = [(item, other) for item in items for other in items if other != item]
    texts = {item: str(item) for item in items}
    (item, *rest), size = list(items), len(pairs)
    if (count := len(texts)) > 1:
        size += count
    return item, rest, size, texts


def shown(value, other=LIMIT, *, third=0):
    """Join values."""
    return f"{value} {other} {third}"


class Base:
    limit = LIMIT

    def __init__(self, size, name="base"):
        self.__secret = size
        self.name = name

    def secret(self):
        return self.__secret

    def describe(self, prefix, suffix="."):
        length = len(prefix)
        text = prefix * self.limit
        self.name = text[:length]
        return text + suffix


class Derived(Base):
    def __init__(self, size):
        super().__init__(size, name="derived")
        doubled = size * 2
        self.doubled = doubled

    def report(self, flag):
        first = self.describe("ab", suffix="!")
        second = self.describe(suffix="?", prefix="c")
        if flag:
            return first
        values = [len(first), len(second)]
        largest = max(values)
        values.append(largest)
        for position, value in enumerate(values):
            if value == largest:
                found = position
        message = """joined:
  {}""".format(values)
        return message, found

    @property
    def size(self):
        secret = self.secret()
        return secret + 1

    @staticmethod
    def plain(number):
        squared = number * number
        return squared


first = trace(1)
print(trace(2), first)
second = trace(3, label="third")
print(second, trace(4))
value = bump()
print(counter, value)
other = counter
print(bump(), other)
amount = 5
print(add_to_total(amount), total_now())
total = 7
print(total_now())
print(conditional(True), conditional(False))
print(loops([1, 5, -3, 2]), loops([1, 200, 3]))
persistent([1, 2, 1])
print(closures())
print(list(generators(3)))
print(caught("5"), caught("x"), caught("0"))
print(deleted(), unbound(True), unbound(False))
print(shadowed(9))
print(shown("a", 2, third=4), shown(third=1, value="b"))
derived = Derived(4)
print(derived.report(True), derived.report(False), derived.size, Derived.plain(3), derived.name)
print(json.dumps(OrderedDict([("b", 1), ("a", [1.5, None])])))
print(mathematics.floor(mathematics.sqrt(17)), reduce(lambda x, y: x * y, [1, 2, 3]))
words = defaultdict(list)
for word in ["one", "two", "three"]:
    words[len(word)].append(word)
    longest = max(words)
print(dict(words), longest, collections.Counter("hello").most_common(1))
hello = bind(shown, "hello")
print(hello(1))
sys.stdout.write(HELP)
print(os.path.basename("/a/b.txt"), sorted(registry), registry["halved"](9))
if counter > 1:
    print("more than one")  # a comment after the statement
    counted = counter
elif counter:
    counted = 1
else:
    counted = 0
print(counted, sep="")
with open(os.devnull) as stream:
    content = stream.read()
print(repr(content)); print("two in a line")
'''

PACKAGE = {
    "main.py": """\
import importlib
import json

import settings
import tools
from settings import RATE, SIZE
from tools import numbers
from tools.numbers import scale as scaled, Scale
from tools.text import *

print(RATE, settings.RATE, SIZE)
settings.RATE = 0.5
settings.enlarge()
print(RATE, settings.RATE, SIZE, settings.SIZE, settings.doubled(4))
print(scaled(2), scaled(2, by=5), numbers.scale(3), numbers.scale_all([1, 2], by=3))
original = numbers.scale
numbers.scale = lambda number, by=2: "patched"
print(scaled(2), numbers.scale(3), numbers.scale_all([1, 2]))
numbers.scale = original
print(upper("text"), joined(["a", "b"], separator="-"), SEPARATOR)
plugin = importlib.import_module("plugin")
print(getattr(plugin, "run")("value"), plugin.STATE)
print(tools.version(), json.loads("[1, 2]"))
scale = Scale(3)
print(scale.apply(4), Scale(by=2).apply(number=5))


def main(name, times=2, greeting="hello"):
    text = greeting + " " + name
    lines = [text for _ in range(times)]
    result = joined(lines, separator="; ")
    print(result)
    return result


if __name__ == "__main__":
    main("world", 3)
    main("moon", greeting="good night", times=1)
    main(upper("sun"))
""",
    "settings.py": """\
import math

print("loading settings")
RATE = 0.1
SIZE = 8


def enlarge():
    global SIZE
    SIZE = SIZE * 2


def doubled(value):
    return math.floor(value * 2.5)
""",
    "plugin.py": """\
import json as serializer

STATE = {"calls": 0}


def run(value):
    STATE["calls"] += 1
    text = serializer.dumps({"value": value})
    return text
""",
    "tools/__init__.py": """\
print("loading tools")


def version():
    major = 1
    return f"{major}.0"
""",
    "tools/numbers.py": """\
import functools
import math

from . import version

print("loading numbers", version())


def scale(number, by=2):
    product = number * by
    return product


def scale_all(numbers, by=2):
    return [scale(number, by) for number in numbers]


def rounded(number):
    text = str(math.ceil(number))
    return text


@functools.lru_cache(maxsize=None)
def cached(number):
    result = rounded(number)
    return result


class Scale:
    def __init__(self, by):
        self.by = by

    def apply(self, number):
        product = scale(number, self.by)
        return self._checked(product, number)

    def _checked(self, product, number):
        if product < number:
            raise ValueError(product)
        text = rounded(product)
        return text, cached(number)
""",
    "tools/text.py": """\
import re

__all__ = ["upper", "joined", "SEPARATOR"]
SEPARATOR = ", "
_HIDDEN = re.compile("[aeiou]")


def upper(text):
    changed = text.upper()
    return changed


def joined(words, separator=SEPARATOR):
    kept = [word for word in words if word]
    return separator.join(kept)


def without_vowels(text):
    return _HIDDEN.sub("", text)
""",
}

OPTIONS = {
    "main.py": """\
import argparse
import logging
import random

from report import summary


def parsed():
    parser = argparse.ArgumentParser(description="Adds numbers.")
    parser.add_argument("--rate", type=float, default=0.1, help="the rate")
    parser.add_argument("-n", "--number-of-rounds", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--output", dest="target", default="-")
    parser.add_argument("--seed", default=3, type=int)
    parser.add_argument("--seeds", default="")
    return parser.parse_args()


def run(args):
    random.seed(args.seed)
    total = 0.0
    for position in range(args.number_of_rounds):
        total += args.rate * position
        if args.verbose:
            print("round", position, round(total, 3))
    average = total / args.number_of_rounds
    return summary(args, average)


class Log:
    verbose = True

    def write(self, text):
        logger = logging.getLogger("log")
        logger.debug(text)
        return len(text)


def main():
    args = parsed()
    rate = args.rate
    print(run(args), rate, args.target, args.seeds, Log().write("text"), random.randint(0, 9))


if __name__ == "__main__":
    main()
""",
    "report.py": """\
def summary(args, average):
    kind = "verbose" if args.verbose else "short"
    return f"{kind} {average:.3f} {args.rate}"
""",
    "run.sh": """\
#!/bin/bash
# starts the program
python main.py --rate=0.25 --number-of-rounds 3 --verbose --output out.txt --seeds 1,2
""",
}

BY_TEXT = {
    "main.py": """\
import argparse
import inspect

import helpers

rate = 0.5
limit = 2


def described(first, second):
    sum_of_both = first + second
    return sorted(locals().items())


def from_text(text):
    factor = 3
    return eval(text, {"factor": factor, "rate": rate})


def caller():
    name = inspect.currentframe().f_back.f_code.co_name
    return name


def outer():
    result = caller()
    return result


parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=4)
args = parser.parse_args()
print(described(1, 2), from_text("factor * rate"), outer())
print(sorted(vars(args).items()), globals()["rate"], getattr(helpers, "factor"), helpers.names())
""",
    "helpers.py": """\
factor = 2
size = 3


def names():
    inner = 1
    here = dir()
    return sorted(here), [name for name in sorted(globals()) if not name.startswith("_")]
""",
    "run.sh": "python main.py --size 5\n",
}

PROGRAMS: dict[str, dict[str, bytes]] = {
    name: {path: dedent(text).encode() for path, text in files.items()}
    for name, files in {
        "script": {"main.py": SCRIPT},
        "package": PACKAGE,
        "options": OPTIONS,
        "names by text": BY_TEXT,
    }.items()
}
"""The files of each program, which is started by ``main.py`` with the words of ``run.sh``."""

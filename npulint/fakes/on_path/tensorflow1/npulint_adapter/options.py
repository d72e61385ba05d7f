"""The options of the adapter: which there are, and which values they take."""

import json
import os
import re

import npulint_record as record

_DATA = os.path.join(os.path.dirname(__file__), *[os.pardir] * 4, "data")
_FIELDS = {"s": "a text (.s)", "i": "an integer (.i)", "b": "a truth value (.b)"}


def table(name):
    """A table that npulint ships."""
    with open(os.path.join(_DATA, name), encoding="utf-8") as file:
        return json.load(file)


def _absent():
    """What the declared release does not have, from the file that this variable names; None: it is the newest."""
    path = os.environ.get("NPULINT_FAKE_ABSENT")
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def by_name(mechanism):
    """The options that can be set in one way, by the name they have there."""
    absent = ABSENT["options"].get(mechanism, ()) if ABSENT else ()
    named = {option["uses"][mechanism]["name"]: option for option in OPTIONS if mechanism in option["uses"]}
    return {name: option for name, option in named.items() if name not in absent}


ABSENT = _absent()
OPTIONS = table("adapter_options.json")
SESSION_KEYS = by_name("session_key")
RUN_CONFIG = by_name("run_config")
GONE = ("removed", "dead")


def session_values(entry):
    """The parameters of a NpuOptimizer entry by key. Raises `ValueError` for a value that the adapter refuses, and for
    what it ignores: a key that it does not know, and a member of another type."""
    values = {}
    for key, value in entry.parameter_map.items():
        option = SESSION_KEYS.get(key)
        if option is None or option["status"] == "removed":
            _ignored(f"NpuOptimizer: the adapter knows no option {key!r}")
            continue
        field = value.WhichOneof("value")
        wanted = option.get("field", "")
        if wanted and field != wanted:
            _ignored(f"NpuOptimizer: {key} is {_FIELDS[wanted]}, not .{field}")
            continue
        plain = getattr(value, field)
        plain = plain.decode("utf-8", "replace") if isinstance(plain, bytes) else plain
        check(key, plain, option["uses"]["session_key"])
        values[key] = plain
    return values


def _ignored(text):
    """The adapter goes on without such an option; so does a trial."""
    if "NPULINT_TRIAL_FOLDER" not in os.environ:
        raise ValueError(text)
    record.remark("option_ignored", text)


def check(name, value, use):
    """Raise `ValueError` for a value that the adapter refuses."""
    if value is None or str(value) == use.get("default"):
        return
    values = use.get("values")
    if values and value not in values and str(value) not in [str(allowed) for allowed in values]:
        raise ValueError(f"{name} should be one of {values}, not {value!r}")
    pattern = use.get("pattern")
    if pattern and isinstance(value, str) and re.fullmatch(pattern, value) is None:
        raise ValueError("{}: {!r} is not of the form {}".format(name, value, use.get("example", pattern)))
    if isinstance(value, int) and not isinstance(value, bool):
        low, high = use.get("low"), use.get("high")
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(f"{name}: {value} is out of range")

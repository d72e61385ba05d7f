"""Builds the tables in npulint/data from the CSV files in data-src and from the log messages in checks/messages.

    python scripts/build_data.py [--check]

With --check nothing is written; the exit status is 1 when a table is out of date.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # to be started as a file

import msgspec

from npulint.judge.catalogue.messages import FOLDER, parse_table
from scripts.release_ranges import Range
from scripts.source_tables import ROOT, checked, listed, ranges, rows

TABLES, CHECKS = ROOT / "npulint" / "data", ROOT / "checks"
INIT = "npu_bridge.npu_init"


def releases() -> dict[str, Any]:
    """Per part of the tables of PyTorch its releases, and the adapter of TensorFlow that came with each CANN."""
    parts = ("kernels", "interfaces", "dispatcher")
    delivered = [[r["cann"], r["release"]] for r in rows("releases.csv") if r["cann"]]
    return {"torch_npu": {part: listed("torch_npu", part) for part in parts}, "delivered": delivered}


def options() -> list[dict[str, Any]]:
    """One record per option key; `uses` says how each mechanism spells and types it."""
    records: dict[str, dict[str, Any]] = {}
    for row in checked("adapter_options.csv", "tensorflow_adapter", "since", "until"):
        record = records.setdefault(row["key"], {"key": row["key"], "status": row["status"], "uses": {}})
        record.update({k: row[k] for k in ("field", "mode", "replacement", "note") if row[k]})
        record["uses"][row["mechanism"]] = option_use(row)
    return list(records.values())


def option_use(row: dict[str, str]) -> dict[str, Any]:
    """What one row of the options says of its mechanism."""
    plain = ("name", "type", "pattern", "example", "default", "since", "until")
    use: dict[str, Any] = {k: row[k] for k in plain if row[k]}
    if row["values"]:
        use["values"] = [option_value(v, row["type"]) for v in row["values"].split("|")]
        use["listed"] = row["mechanism"] == "npu_options"
    use.update({k: int(row[k]) for k in ("low", "high", "position") if row[k]})
    if row["chips"]:
        use["chips"] = row["chips"].split("|")
    if row["value_chips"]:
        pairs = (pair.split(":") for pair in row["value_chips"].split("|"))
        use["value_chips"] = {value: chips.split() for value, chips in pairs}
    return use


def option_value(text: str, kind: str) -> str | int | bool | None:
    """A value of an option in its type."""
    if text == "None":
        return None
    if kind == "bool":
        return text == "True"
    return int(text) if kind == "int" else text


def scalar(text: str) -> str | int | bool | None:
    """A value as Python writes it; everything else is a text."""
    words: dict[str, bool | None] = {"True": True, "False": False, "None": None}
    return words[text] if text in words else int(text) if text.isdigit() else text


def option_rules() -> list[dict[str, Any]]:
    """Which options do not go together, or need one another."""
    plain = ("rule", "kind", "option", "when", "other", "other_when", "usual", "while")
    found: list[dict[str, Any]] = []
    for row in rows("option_rules.csv"):
        record: dict[str, Any] = {k: row[k] for k in plain if row[k]}
        found.append(record | ({"mechanisms": row["mechanisms"].split()} if row["mechanisms"] else {}))
    return found


def names() -> dict[str, Any]:
    """What every lookup of a TensorFlow or adapter name may need."""
    return {
        "aliases": {r["prefix"]: r["canonical"] for r in rows("module_aliases.csv")},
        "spellings": {f"tensorflow.{r['spelling']}": f"tensorflow.{r['canonical']}" for r in rows("tf_spellings.csv")},
        "separate": [r["name"] for r in rows("tf_v2_separate.csv")],
        "adapter": adapter_names(),
        "keras": nested({k: v for k, v in private_rows().items() if k.startswith("tensorflow.python.keras.")}),
    }


def adapter_names() -> dict[str, str]:
    """Long spellings of what npu_init exports, and the star import of names that live in hccl."""
    found: dict[str, str] = {}
    for row in rows("npu_names.csv"):
        short, home = f"{INIT}.{row['name']}", row["home"]
        if home.startswith("hccl."):
            found[short] = home
        elif home and row["in_npu_init"] == "yes":
            found[home] = short
    return found


def private() -> dict[str, dict[str, str]]:
    return nested({k: v for k, v in private_rows().items() if not k.startswith("tensorflow.python.keras.")})


def private_rows() -> dict[str, str]:
    """Private names whose public spelling is not what a module alias gives anyway."""
    aliases = [(r["prefix"] + ".", r["canonical"] + ".") for r in rows("module_aliases.csv")]
    found = {}
    for row in rows("tf_private.csv"):
        given = {row["private"].replace(a, b, 1) for a, b in aliases if row["private"].startswith(a)}
        if row["canonical"] not in given:
            found[row["private"]] = row["canonical"]
    return found


def nested(flat: dict[str, str]) -> dict[str, dict[str, str]]:
    tree: dict[str, dict[str, str]] = {}
    for name, public in flat.items():
        module, _, symbol = name.rpartition(".")
        tree.setdefault(module, {})[symbol] = public
    return tree


def npu_symbols() -> dict[str, Any]:
    """Per module of the adapter its public names: how it has them, and the first and last release with them."""
    found: dict[str, dict[str, list[Any]]] = {}
    for row in rows("npu_symbols.csv"):
        names = found.setdefault(row["module"], {})
        if row["name"]:
            names[row["name"]] = [row["own"], row["since"], row["until"]]
    return found


def stars() -> dict[str, list[str]]:
    """Names that ``from module import *`` brings, for the modules people do that with."""
    found: dict[str, set[str]] = {INIT: {r["name"] for r in rows("npu_names.csv") if r["in_npu_init"] == "yes"}}
    for row in rows("npu_names.csv"):
        module, _, symbol = row["home"].rpartition(".")
        if module:
            found.setdefault(module, set()).add(symbol)
    public = [r["api"].replace("tf", "tensorflow", 1) for r in rows("tf115_api.csv")]
    public += [f"tensorflow.{r[k]}" for r in rows("tf_spellings.csv") for k in ("spelling", "canonical")]
    for name in public:
        parts = name.split(".")
        for depth in range(1, len(parts)):
            found.setdefault(".".join(parts[:depth]), set()).add(parts[depth])
    slim = found["tensorflow.contrib.layers"] | found["tensorflow.contrib.framework"]
    found["tensorflow.contrib.slim"] = slim | {"learning", "evaluation", "losses", "metrics", "queues", "summaries"}
    return {module: sorted(members) for module, members in sorted(found.items())}


def operators() -> dict[str, Any]:
    return {
        "types": [r["name"] for r in rows("ir_ops.csv")],
        "engine": [r["name"] for r in rows("engine_ops.csv")],
        "tensorflow": {r["tf_op"]: r["ir_type"] for r in rows("tf_op_types.csv")},
    }


def onnx_ops() -> dict[str, Any]:
    """Per ONNX operator the opsets that define it and those with a parser; what parsers refuse or ignore; and per CANN
    the first and the newest opset."""
    operators = {
        f"{row['domain']}::{row['name']}": {
            "since": int(row["since"] or 0),
            "until": int(row["until"] or 0),
            "parsers": opsets(row["parsers"]),
            "aicpu": row["engine"] == "aicpu",
        }
        for row in rows("onnx_ops.csv")
    }
    limits: dict[str, list[dict[str, Any]]] = {}
    for row in rows("onnx_limits.csv"):
        record = {key: row[key] for key in ("attribute", "when", "effect")}
        limits.setdefault(row["name"], []).append({"opsets": opsets(row["opsets"])[0], **record})
    newest = [[row["cann"], int(row["first"]), int(row["newest"])] for row in rows("onnx_opsets.csv")]
    return {"operators": operators, "limits": limits, "releases": newest}


def opsets(text: str) -> list[tuple[int, int]]:
    """Ranges of opsets: ``8-10 12 15-``."""
    found = []
    for part in text.split():
        first, dash, last = part.partition("-")
        found.append((int(first), int(last or 999) if dash else int(first)))
    return found


def fusion_passes() -> list[str]:
    return sorted({r["name"] for r in rows("fusion_passes.csv")})


def triton_limits() -> dict[str, Any]:
    """The element types that operations of Triton kernels lack, and the launch arguments of other backends."""
    found = rows("triton_limits.csv")
    return {
        "lacks": {r["name"]: r["lacks"].split() for r in found if r["kind"] == "operation"},
        "arguments": sorted(r["name"] for r in found if r["kind"] == "argument"),
    }


def torch_names() -> dict[str, Any]:
    """Second spellings of PyTorch members, what its modules export, and the members of torch.npu."""
    return {
        "aliases": {r["prefix"]: r["canonical"] for r in rows("torch_aliases.csv") if r["prefix"] != r["canonical"]},
        "stars": {r["module"]: r["names"].split() for r in rows("torch_stars.csv")},
        "npu": [r["name"] for r in rows("torch_npu_members.csv")],
    }


def npu_signatures() -> dict[str, str]:
    """Per operator of torch_npu its parameters."""
    return {row["name"]: row["parameters"] for row in rows("torch_npu_signatures.csv")}


def precision() -> dict[str, Any]:
    """Per check the numbers of useful, useless and false findings, and of projects with useful ones."""
    columns = ("useful", "useless", "false", "projects")
    return {row["code"]: [int(row[k]) for k in columns] for row in rows("precision.csv")}


def npu_server() -> dict[str, Any]:
    """What is known of an NPU server, by name: values in plain PyTorch and under transfer_to_npu (absent: unknown)."""
    return {row["name"]: [scalar(row[k]) for k in ("value", "transferred") if row[k]] for row in rows("npu_server.csv")}


def frameworks() -> dict[str, list[Any]]:
    """Per import name of a training framework how it supports the NPU, whether it places the model, and since when."""
    return {r["import"]: [r["support"], r["places"], r["since"]] for r in rows("frameworks.csv")}


def training_calls() -> list[str]:
    """The calls of libraries of PyTorch that train, by canonical name."""
    return [row["call"] for row in rows("training_calls.csv")]


def adaptor_patches() -> dict[str, dict[str, str]]:
    """Per package of an adaptor the names that it replaces, and by what."""
    found: dict[str, dict[str, str]] = {}
    for row in rows("adaptor_patches.csv"):
        found.setdefault(row["package"], {})[row["name"]] = row["gives"]
    return found


def torch_libraries() -> dict[str, Any]:
    """GPU libraries with their substitutes, and the operators of torch_npu that go away."""
    return {
        "libraries": [
            [r["import"], r["group"], r["works"], r["substitute"], r["loads"] == "yes"]
            for r in rows("torch_libraries.csv")
        ],
        "retired": {r["name"]: [r["status"], r["substitute"]] for r in rows("torch_npu_retired.csv")},
    }


def torch_api() -> dict[str, Any]:
    """PyTorch operators that the NPU lacks, or that the documentation lists as such: per name a letter for each release
    with such a list, kernel, release that adds one, use as a method, group, fallback operators, replacement."""
    table = checked("torch_api.csv", "torch_npu", "since")
    count = len(listed("torch_npu", "interfaces"))
    states = [letters(found, count) for found in ranges("torch_api.csv", "documented", "torch_npu", "interfaces")]
    keys = ("kernel", "since", "method", "group", "ops", "instead")
    return {r["api"]: [text, *(r[key] for key in keys)] for r, text in zip(table, states, strict=True)}


def torch_removed() -> dict[str, list[str]]:
    """Interfaces that PyTorch no longer has: the first release with an adapter that surely lacks it, replacement, the
    argument that must be passed since."""
    return {r["name"]: [r["gone"], r["instead"], r["argument"]] for r in rows("torch_removed.csv")}


def letters(found: list[Range], count: int) -> str:
    """The first letter of the word of each release, ``-`` where there is none; empty if there is none at all."""
    text = ["-"] * count
    for one in found:
        text[one.first : one.last + 1] = one.word[:1] * (one.last + 1 - one.first)
    return "".join(text) if found else ""


def environment() -> list[dict[str, Any]]:
    """One record per environment variable; empty fields are left out."""
    records = []
    for row in rows("env_vars.csv"):
        record: dict[str, Any] = {k: row[k] for k in ("name", "type", "default", "status", "read", "instead") if row[k]}
        pattern = row["type"] == "pattern"
        record.update({k: [row[k]] if pattern else row[k].split("|") for k in ("values", "left_on") if row[k]})
        record.update({k: float(row[k]) for k in ("low", "high") if row[k]})
        record.update({k: [rule(text) for text in row[k].split(";")] for k in ("needs", "excludes") if row[k]})
        if row["multiple"]:
            record["multiple"] = int(row["multiple"])
        if row["refused"]:
            record["refused"] = True
        records.append(record)
    return records


def host_ops() -> dict[str, Any]:
    """Per TensorFlow interface where its operators run (host, older or mixed: see data-src), which of them, their
    family, and on which argument that depends (name, position, values)."""
    places = {r["tf_op"]: r["place"] for r in rows("tf_op_places.csv")}
    found: dict[str, list[list[Any]]] = {}
    for row in rows("tf_host_ops.csv"):
        ops = row["ops"].split()
        where = next(place for place in ("host", "older", "mixed") if place in {places[op] for op in ops})
        name, position, values = row["when"].split(":") if row["when"] else ("", "-1", "")
        there = " ".join(op for op in ops if places[op] == where)
        found.setdefault(row["api"], []).append([where, there, row["family"], name, int(position), values.split()])
    return found


def op_apis() -> dict[str, list[list[str]]]:
    """By operator type the ends of the names of the interfaces that build it: of TensorFlow, of PyTorch."""
    found: dict[str, list[list[str]]] = {}
    for row in rows("op_apis.csv"):
        for op in row["types"].split():
            found[op] = [row["tensorflow"].split(), row["torch"].split()]
    return found


def tf_api() -> dict[str, Any]:
    """What is recorded of TensorFlow names; the operators of tf.raw_ops, but for summaries, by where they run."""
    keys = ("tensorflow", "support", "reason", "ops", "instead")
    apis: dict[str, list[list[Any]]] = {}
    for row in checked("tf_api.csv", "tensorflow", "since", "removed"):
        name, position, value = row["when"].split(":") if row["when"] else ("", "-1", "")
        record = [*(row[key] for key in keys), name, int(position), value]
        apis.setdefault(f"tensorflow.{row['name']}", []).append(record)
    support = {"host": "no", "older": "newer"}
    first = [r for r in rows("tf_op_places.csv") if r["since"] == "1.15" and "Summary" not in r["tf_op"]]
    return {"apis": apis, "raw": {r["tf_op"]: support[r["place"]] for r in first if r["place"] in support}}


def supported_ops() -> dict[str, Any]:
    """The recorded list of operators that the adapter takes to the NPU, those of them that mixed computing leaves on
    the host, and by type what else is known: operators of newer packages with their evidence, the adapter's own, those
    that run on the AI CPU, and all others that TensorFlow has."""
    table = checked("tf_op_places.csv", "tensorflow", "since", recorded="operators")

    def named(**values: str) -> list[str]:
        return [r["tf_op"] for r in table if all(r[key] == value for key, value in values.items())]

    gray = named(listed="gray")
    return {
        "release": "2022-03",
        "ops": sorted([*named(listed="yes"), *gray]),
        "gray": gray,
        "newer": {kind: named(place="older", evidence=kind) for kind in ("plugin", "proto", "listed", "")},
        "adapter": named(place="adapter"),
        "aicpu": named(aicpu="yes"),
        "others": [r["tf_op"] for r in table if r["place"] == "host" and not r["listed"]],
    }


def aten() -> dict[str, Any]:
    """Per overload of an operator of PyTorch its class in the dispatcher, its kernels and the conditions under which
    these compute on the CPU or lose the gradient (places in two lists), and what it calls; what composites reach on the
    CPU; what to write instead."""
    table = rows("aten_ops.csv")
    ranges("aten_ops.csv", "kernels", "torch_npu", "kernels")
    kernels, notes = (frequent(row[key] for row in table) for key in ("kernels", "notes"))
    ops: dict[str, dict[str, dict[str, list[Any]]]] = {}
    for row in table:
        namespace, _, name = row["op"].partition(".")
        base, _, overload = name.partition(".")
        calls = row["calls"][len(base) :] if row["calls"].startswith(f"{base}.") else row["calls"]
        record = [row["class"][:1], kernels.index(row["kernels"]), notes.index(row["notes"]), calls]
        while len(record) > 1 and not record[-1]:
            record.pop()
        ops.setdefault(namespace, {}).setdefault(base, {})[overload] = record
    reaches = {row["op"]: [row["forward"], row["backward"], row["when"]] for row in rows("aten_reaches.csv")}
    instead = {row["op"]: row["instead"] for row in rows("aten_instead.csv")}
    return {"kernels": kernels, "notes": notes, "ops": ops, "reaches": reaches, "instead": instead}


def frequent(texts: Iterable[str]) -> list[str]:
    """Different texts, the most frequent first, so that short numbers stand for most of them."""
    counted = Counter(texts)
    return sorted(counted, key=lambda text: (-counted[text], text))


def version_matrix() -> dict[str, Any]:
    """Per package its releases with what they need of others, and the releases that have no wheel for aarch64."""
    needs: dict[str, dict[str, dict[str, list[str]]]] = {}
    for row in rows("version_matrix.csv"):
        release = needs.setdefault(row["package"], {}).setdefault(row["release"], {})
        release[row["needs"]] = row["allowed"].split("|")
    wheels = {
        row["package"]: [[part.split("..") for part in row["lacks"].split("|")], row["instead"]]
        for row in rows("aarch64_wheels.csv")
        if row["lacks"]
    }
    return {"needs": needs, "aarch64": wheels}


def error_patterns() -> list[dict[str, Any]]:
    """One record per message of a log: how it is found, what causes it and what helps, in two languages. The tables
    are next to the checks that report the messages."""
    tables = [
        parse_table(path.read_bytes(), f"checks/{FOLDER}/{path.name}")
        for path in sorted((CHECKS / FOLDER).glob("*.yaml"))
    ]
    problems = [problem for table in tables for problem in table.problems]
    if problems:
        sys.exit("\n".join(map(str, problems)))
    records = []
    for message in sorted((one for table in tables for one in table.messages), key=lambda one: one.id):
        record = msgspec.to_builtins(message)
        record |= dict.fromkeys(record.pop("flags"), True)
        records.append({key: value for key, value in record.items() if value and key not in ("source", "line")})
    return records


def rule(text: str) -> dict[str, Any]:
    """``1>NAME=a|b``, ``*>NAME`` or ``1>NAME~part``."""
    when, _, other = text.partition(">")
    name, sign, value = other.partition("~" if "~" in other else "=")
    found: dict[str, Any] = {"when": when, "name": name}
    return found | ({"part": value} if sign == "~" else {"values": value.split("|")} if value else {})


def run_columns() -> dict[str, Any]:
    """Per form of a profiler's table its columns: key, what its cells are, needed or not, and spellings, each with the
    year of the generation in it (0: none)."""
    found: dict[str, list[Any]] = {}
    for row in rows("run_columns.csv"):
        spellings = [text.partition("@")[::2] for text in row["spellings"].split("|")]
        years = [[name, int(year or 0)] for name, year in spellings]
        found.setdefault(row["form"], []).append([row["key"], row["cell"], row["needed"] == "yes", years])
    return found


def effort() -> list[dict[str, Any]]:
    """The weights of effort estimates; one without a range has its value as both bounds."""
    return [
        {
            **{key: row[key] for key in ("name", "source")},
            **{key: float(row[key] or row["value"]) for key in ("value", "low", "high")},
        }
        for row in rows("effort.csv")
    ]


def training_arguments() -> dict[str, Any]:
    """Frameworks whose training is configured: how files, commands and calls are recognized, and per framework the
    rules about its arguments: those with more conditions first, then those about single values before those about
    all."""

    def words(row: dict[str, str], *keys: str) -> dict[str, list[str]]:
        return {key: row[key].split() for key in keys if row[key]}

    rules: dict[str, list[list[Any]]] = {}
    for row in rows("framework_arguments.csv"):
        pairs = (pair.partition("=")[::2] for pair in row["when"].split())
        when = [[name, values.split("|")] for name, values in pairs]
        values = row["values"].split("|") if row["values"] else ["*"]
        record = [
            row["argument"],
            values,
            row["effect"],
            row["cause"],
            when,
            row["soc"].split("|") if row["soc"] else [],
            row["versions"].split(),
            row["instead"],
        ]
        rules.setdefault(row["framework"], []).append(record)
    for found in rules.values():
        found.sort(
            key=lambda record: [
                -len(record[4]),
                not record[5] or record[2] != "fine",
                "*" in "".join(record[1]),
                "set" in record[1],
            ]
        )
    return {
        "frameworks": {
            row["framework"]: {
                "title": row["title"],
                "places": row["places"] == "yes",
                **words(row, "inherits", "imports", "replaces"),
            }
            for row in rows("configured_frameworks.csv")
        },
        "files": [
            [row["framework"], row["role"], row["all_keys"].split(), row["any_keys"].split(), row["prefix"]]
            for row in rows("framework_files.csv")
        ],
        "starts": [
            [row[key] for key in ("framework", "by", "name", "configuration")] for row in rows("framework_starts.csv")
        ],
        "calls": [[row[key] for key in ("framework", "call", "prefix")] for row in rows("framework_calls.csv")],
        "rules": rules,
    }


BUILDERS: dict[str, Callable[[], Any]] = {
    "releases.json": releases,
    "adapter_options.json": options,
    "option_rules.json": option_rules,
    "names.json": names,
    "private_names.json": private,
    "star_exports.json": stars,
    "npu_symbols.json": npu_symbols,
    "torch_names.json": torch_names,
    "npu_signatures.json": npu_signatures,
    "npu_server.json": npu_server,
    "precision.json": precision,
    "torch_libraries.json": torch_libraries,
    "frameworks.json": frameworks,
    "training_calls.json": training_calls,
    "adaptor_patches.json": adaptor_patches,
    "torch_api.json": torch_api,
    "torch_removed.json": torch_removed,
    "mixlist_ops.json": operators,
    "fusion_passes.json": fusion_passes,
    "triton_limits.json": triton_limits,
    "env_vars.json": environment,
    "host_ops.json": host_ops,
    "tf_api.json": tf_api,
    "supported_ops.json": supported_ops,
    "aten.json": aten,
    "error_patterns.json": error_patterns,
    "run_columns.json": run_columns,
    "op_apis.json": op_apis,
    "onnx_ops.json": onnx_ops,
    "training_arguments.json": training_arguments,
    "version_matrix.json": version_matrix,
    "effort.json": effort,
}


def main(arguments: list[str]) -> int:
    stale = []
    for name, builder in BUILDERS.items():
        text = json.dumps(builder(), ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n"
        path = TABLES / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(("out of date: " if "--check" in arguments else "written: ") + ", ".join(stale))
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

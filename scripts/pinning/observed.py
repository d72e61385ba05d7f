"""What npulint reports for a project, as records: its findings, its facts, and the comparison of a pair."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from npulint.commands.build import assemble
from npulint.commands.check.pipeline import build_result, check_paths
from npulint.commands.check.project_results import loaded_files
from npulint.commands.compare.compare_command import ProjectComparer, read_sides
from npulint.commands.compare.compare_inputs import discovered
from npulint.commands.compare.program_diff import ProgramComparison, Start
from npulint.core.digest import blake2b
from npulint.discover.context_files import context_files
from npulint.discover.files import discover
from npulint.discover.kinds import SourceFile
from npulint.discover.projects import group, with_runs
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.model import Fact
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Comparison, Finding, ProgramSummary, RunResult
from npulint.judge.settings import Settings
from npulint.model.values.cursors import CallSite
from npulint.read.files import read
from npulint.recognizers.programs import Program
from scripts.pinning.plain import canonical, digest_of, plain
from scripts.pinning.projects import Project

Record = dict[str, Any]
"""Plain data; ``record`` says what it is about."""

MOST_FACTS = 200_000
"""The facts of a project that are written down; of more, the number and a digest for each kind and file."""
_NO_LIMIT = {"time": 10**6, "memory": 10**6}  # a limit that depends on the speed of the machine makes other results
_OWN_RECORDS = frozenset(("findings", "suppressed", "programs", "comparison"))


@cache
def catalogue() -> Catalogue:
    """The checks of a run."""
    return load_catalogue(whole=False)


def settings_of(project: Project, paths: tuple[str, ...]) -> Settings:
    """The settings of a run over some paths: no cache, no configuration file, everything is reported."""
    target = dict(pair.split("=", 1) for pair in project.target)
    return Settings(paths=paths, target=target, cache=False, jobs=1, budget=_NO_LIMIT, min_severity="note")


def check_records(project: Project, root: Path) -> Iterator[Record]:
    """What ``npulint check`` reports; the working folder becomes that of the project."""
    os.chdir(root / project.path)
    settings = settings_of(project, (".",))
    judged = check_paths(settings, catalogue())
    yield from result_records(build_result(judged, settings, catalogue(), 0.0))


def fact_records(project: Project, root: Path) -> Iterator[Record]:
    """The facts of a project as checks see them; the working folder becomes that of the project."""
    os.chdir(root / project.path)
    settings = settings_of(project, (".",))
    found = discover(settings.paths, settings.discovery())
    projects = with_runs(group([*found.files, *context_files(found, settings.discovery())]))
    facts = (fact for folder, sources in projects.items() for fact in _facts(folder, sources, settings))
    yield from _bounded(map(fact_record, facts))


def _facts(folder: str, sources: Sequence[SourceFile], settings: Settings) -> Iterator[Fact]:
    """The facts of all programs of one project, each once, with those about the programs."""
    files = [read(file, budget=settings.limits()) for file in loaded_files(sources, budget=settings.limits())]
    programs = assemble(folder, files, *settings.declared())
    seen: dict[int, Fact] = {}
    for program in programs:
        yield program.fact
        seen.update((id(fact), fact) for fact in _own(program))
    yield from seen.values()


def _own(program: Program) -> Iterator[Fact]:
    return (fact for table in program.index.tables for facts in table.values() for fact in facts)


def _bounded(records: Iterable[Record]) -> Iterator[Record]:
    """The first records; the others as their number and a digest for each kind and file."""
    counts: Counter[tuple[str, str]] = Counter()
    digests: dict[tuple[str, str], Any] = {}
    for number, record in enumerate(records):
        if number < MOST_FACTS:
            yield record
            continue
        key = record["kind"], record["path"]
        counts[key] += 1
        digests.setdefault(key, blake2b(digest_size=8)).update(canonical(record))
    for (kind, path), count in sorted(counts.items()):
        yield {"record": "rest", "kind": kind, "path": path, "n": count, "digest": digests[kind, path].hexdigest()}


def fact_record(fact: Fact) -> Record:
    """A fact with all attributes that checks may query, and the values of the arguments of a call."""
    values = ((name, fact.get(name)) for name in sorted(fact.attribute_names()))
    record = {
        "record": "fact",
        "kind": fact.kind,
        "name": plain(fact.name),
        "path": plain(fact.path),
        "span": plain(msgspec.to_builtins(fact.span)),
        "attributes": {name: plain(value) for name, value in values if value is not None},
    }
    if fact.kind == "call" and isinstance(fact.args, CallSite):
        record["arguments"] = _arguments(fact.args)
    return record


def _arguments(call: CallSite) -> Record:
    positions = {str(number): call.argument_value("", number) for number in range(len(call.record.args))}
    keywords = {name: call.argument_value(name) for name, _ in call.record.keywords if name != "**"}
    return {name: plain(value) for name, value in (positions | keywords | {"*": call.starred}).items()}


def comparison_records(project: Project, root: Path) -> Iterator[Record]:
    """What ``npulint compare`` reports for a pair, with every compared value; the working folder becomes the nearest
    that holds both projects."""
    common = os.path.commonpath([os.path.dirname(os.path.abspath(root / path)) for path in project.paths])
    os.chdir(common)
    reference, migrated = (os.path.relpath(root / path, common) for path in project.paths)
    settings = settings_of(project, (migrated,))
    sides = read_sides(
        (discovered(reference, settings.discovery()), discovered(migrated, settings.discovery())), settings, None
    )
    comparer = _Observer(*sides, settings, catalogue())
    yield from result_records(comparer.result())
    yield from comparer.records


class _Observer(ProjectComparer):
    """Compares two projects and keeps a record of each compared value, reported or not."""

    def __init__(self, *inputs: Any) -> None:
        super().__init__(*inputs)
        self.records: list[Record] = []

    def comparison(self, left: Program, right: Program, starts: Sequence[Start]) -> ProgramComparison:
        """See `ProjectComparer.comparison`."""
        result = super().comparison(left, right, starts)
        self.records += [row_record(left.entry, right.entry, row) for row in result.rows]
        return result


def row_record(reference: str, migrated: str, row: Difference) -> Record:
    """A compared value of two programs with its provenance on both sides."""
    return {
        "record": "row",
        "programs": [reference, migrated],
        **{name: plain(getattr(row, name)) for name in ("part", "what", "argument", "change", "effect", "function")},
        **{name: getattr(row, name) for name in ("certain", "adapter", "count", "named", "evaluates")},
        **{name: _side(getattr(row, name)) for name in ("reference", "migrated", "near")},
        "also": plain([[_side(left), _side(right)] for left, right in row.also]),
    }


def _side(side: SideValue | None) -> Record:
    if side is None:
        return {}
    provenance = [[link.path, *msgspec.to_builtins(link.span), link.name] for link in side.provenance]
    span = msgspec.to_builtins(side.span)
    return {"text": plain(side.text), "path": side.path, "span": list(span), "provenance": plain(provenance)}


def result_records(result: RunResult) -> Iterator[Record]:
    """The records of a run: findings, programs with their readiness, the comparison, and everything else by field."""
    yield from (finding_record(finding) for finding in result.findings)
    yield from (finding_record(one.finding, one.by) for one in result.suppressed)
    for program in result.programs:
        yield from program_records(program)
    if result.comparison is not None:
        yield from _compared(result.comparison)
    for name in result.__struct_fields__:
        if name not in _OWN_RECORDS:
            value = msgspec.to_builtins(getattr(result, name), str_keys=True)
            if name == "summary":
                del value["seconds"]
            yield {"record": "run", "field": name, "value": plain(value)}


def finding_record(finding: Finding, suppressed: str = "") -> Record:
    """A finding; of its fix the digests of the edits and of the changes that they are derived from."""
    record = msgspec.to_builtins(finding, str_keys=True)
    fix = record.pop("fix")
    del record["url"]
    return {
        "record": "finding",
        "suppressed": suppressed,
        **plain(record),
        **plain({"fix": fix["text"], "applicability": fix["applicability"], "because": fix["because"]}),
        "edits": digest_of(plain(fix["edits"])),
        "changes": digest_of(plain(fix["changes"])),
    }


def program_records(program: ProgramSummary) -> Iterator[Record]:
    """A program, and the answers of its readiness checklist."""
    record = msgspec.to_builtins(program, str_keys=True)
    items = record.pop("checklist")
    yield {"record": "program", **plain(record)}
    for item in items:
        del item["title"]
        yield {"record": "readiness", "entry": plain(program.entry), **plain(item)}


def _compared(comparison: Comparison) -> Iterator[Record]:
    record = msgspec.to_builtins(comparison, str_keys=True)
    pairs = record.pop("pairs")
    yield {"record": "comparison", **plain(record)}
    for pair in pairs:
        items = pair.pop("items")
        yield {"record": "pair", **plain(pair)}
        programs = plain([pair["reference"], pair["migrated"]])
        for item in items:
            for name in ("parts", "rows"):
                for part in item.pop(name):
                    yield {"record": f"reported {name[:-1]}", "programs": programs, "item": item["item"], **plain(part)}
            yield {"record": "item", "programs": programs, **plain(item)}

"""Evaluates a recorded graph with the graph checks, in the context of its project."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from npulint.commands.build import Assembled, assembled
from npulint.commands.settings.config import load
from npulint.core.errors import ConfigError
from npulint.core.texts import say
from npulint.data.aten import is_recorded, nearest
from npulint.facts.graph import Graph
from npulint.facts.model import FileFacts
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.programs import graphs_in
from npulint.graphs.summary import summarise_graph
from npulint.judge.catalogue.check import GRAPH, Catalogue, Check
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.evaluate.checks import evaluate
from npulint.judge.findings import Finding, Related, RunResult
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.finalize import finalize
from npulint.judge.postprocess.record import RawResults, RunContext
from npulint.judge.postprocess.select import selected, unknown
from npulint.judge.result_cache import configured_op_list
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.judge.summaries.step_summary import StepSummary
from npulint.live import summary
from npulint.live.advice import with_remedies
from npulint.live.course import NOT_FOLLOWED, Course
from npulint.live.operators import operators, syncs, torch_operators
from npulint.live.project import LiveProject, anchor, frame_paths, project_around
from npulint.live.result import LiveResult
from npulint.recognizers.programs import Program

_projects: dict[tuple[object, ...], Assembled] = {}  # the last few; tests of one project share it
_KEPT = 4


def judged(
    graph: Graph,
    *,
    name: str,
    target: Mapping[str, str] | None = None,
    lang: str = "",
    root: str = "",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    steps: int = 1,
    notes: Sequence[str] = (),
    settings: Settings | None = None,
    course: Course = NOT_FOLLOWED,
) -> LiveResult:
    """The result of checking a recorded `graph`. `name` describes what was recorded. `target` are declared versions and
    SoC, overriding the configuration; `root` is the project folder (default: found from the code that ran). `steps` is
    the number of recorded steps. `notes` say what the recorder could not see, in the language of the result. `settings`
    replace the options and the configuration; `course` is that of the last step. Raises `ConfigError` for invalid
    options or configuration."""
    paths = frame_paths(graph.bodies)
    near = anchor(paths)
    settings = settings or live_settings(root or near, target, lang, select, ignore)
    project = project_around(paths, near, root, settings)
    placed = project.placed(graph)
    program = _program(name, placed, project, settings)
    lines = FileLines(project.cells)
    notes = (*notes, *_release_notes(graph, settings))
    step = partial(_step, program, placed, course, settings, StepSummary(name, max(1, steps), notes=notes))
    again = partial(_settled, program, project, settings, lines, step)
    return LiveResult(name=name, graph=graph, lang=settings.language(), answer=again, lines=lines)


def _step(
    program: Program, graph: Graph, course: Course, settings: Settings, about: StepSummary, lang: str
) -> StepSummary:
    """The summary of the recorded step, with texts in `lang`."""
    found = torch_operators(program)
    about = msgspec.structs.replace(about, operators=tuple(operators(program)))
    if found is None:
        return about
    return msgspec.structs.replace(
        about,
        waits=tuple(syncs(program, lang)),
        shapes=tuple(summary.changed_shapes(found)),
        memory=summary.memory(course, settings.target.get("soc", "")),
        picture=summary.picture(found, graph, course),
    )


def _release_notes(graph: Graph, settings: Settings) -> list[str]:
    """That the declared release of PyTorch is older or newer than the recorded ones, if it is."""
    release = settings.target.get("torch", "")
    if graph.framework != "torch" or is_recorded(release):
        return []
    used = ".".join(map(str, nearest(release)))
    return [say(settings.language(), "recording.release", asked=release, used=used)]


def live_settings(
    near: str,
    target: Mapping[str, str] | None = None,
    lang: str = "",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Settings:
    """The settings for code at the path `near`: the closest configuration, overridden by the arguments. Raises
    `ConfigError`."""
    words: dict[str, Sequence[str] | bool] = {}
    if target:
        words["target"] = [f"{key}={value}" for key, value in target.items() if value]
    words |= {key: list(value) for key, value in (("select", select), ("ignore", ignore)) if value}
    words |= {"lang": [lang]} if lang else {}
    settings = load([near], {key: value for key, value in words.items() if value}, os.environ)
    if not target:
        return settings
    configured = load([near], {}, os.environ).target
    return msgspec.structs.replace(settings, target={**configured, **settings.target})


def declared_torch(near: str, root: str = "", target: Mapping[str, str] | None = None) -> str:
    """The PyTorch version that the project of the code at `near` targets: declared, else pinned in its requirements,
    else empty. Raises `ConfigError`."""
    settings = live_settings(root or near, target)
    project = project_around(Counter([near]), near, root, settings)
    return _assembled(project, settings).context.torch


def framework_of(path: str, settings: Settings) -> str:
    """The framework that the script at `path` uses, by its imports and those of its modules; empty where unknown."""
    project = project_around(Counter([path]), path, "", settings)
    entry = project.names.get(path, "")
    programs = [program for program in _assembled(project, settings).programs if entry in program.paths]
    own = [program for program in programs if program.entry == entry]
    return next((program.fact.framework for program in own or programs if program.fact.framework != "none"), "")


def _program(name: str, graph: Graph, project: LiveProject, settings: Settings) -> Program:
    """The graph as a program of the project."""
    own = configured_op_list(settings) if graph.framework == "tensorflow" else None
    files = [FileFacts(name, "graph", graph=graph)]
    adapter, _, cann, soc = settings.declared()
    supported = None if own is None else own.ops
    whole = _assembled(project, settings)
    return graphs_in(whole.programs, whole.context, files, adapter, cann, soc, supported)[0]


def _assembled(project: LiveProject, settings: Settings) -> Assembled:
    declared = settings.declared()
    key = (project.root, project.stamp, *declared)
    known = _projects.pop(key, None)
    if known is None:
        known = assembled(project.root, project.files, *declared)
    _projects[key] = known
    while len(_projects) > _KEPT:
        del _projects[next(iter(_projects))]
    return known


def _settled(
    program: Program,
    project: LiveProject,
    settings: Settings,
    lines: FileLines,
    step: Callable[[str], StepSummary],
    lang: str,
) -> RunResult:
    """The postprocessed result of the graph checks, with texts in `lang`."""
    settings = msgspec.structs.replace(settings, lang=lang)
    catalogue = _of_graphs(load_catalogue(settings.checks, whole=False), settings)
    program.fact.port = "transfer" if settings.torch_port == "transfer" else "explicit"
    program.answers = {}  # findings are created once per language
    verdict = evaluate(catalogue, program, settings.target, lang)
    chosen = tuple(check.code for check in catalogue.checks)
    own = [file for file in project.files if file.path in project.own and chosen]  # for their suppression comments
    files = [FileFacts(file.path, file.kind, comments=file.comments) for file in own]
    files.append(FileFacts(program.entry, "graph"))
    only = msgspec.structs.replace(settings, select=chosen, extend_select=(), ignore=(), unfixable=())
    graphs = [summarise_graph(program)]
    findings = _with_places(verdict.findings, program, say(lang, "live.also"))
    about = step(lang)
    findings = with_remedies(findings, about, lang)
    result = finalize(RawResults(findings, files=files, graphs=graphs), RunContext(only, catalogue, lines))
    target = _told_release(result.target, program, settings, lang)
    return msgspec.structs.replace(result, baseline=None, step=about, target=target)


def _told_release(target: dict[str, str], program: Program, settings: Settings, lang: str) -> dict[str, str]:
    """The target with the release of PyTorch whose table was used, if that is another one."""
    release = settings.target.get("torch", "")
    if program.fact.framework != "torch" or is_recorded(release) or "torch" not in target:
        return target
    used = ".".join(map(str, nearest(release)))
    return {**target, "torch": say(lang, "recording.judged", text=target["torch"], used=used)}


def _with_places(findings: Sequence[Finding], program: Program, message: str) -> list[Finding]:
    """The findings with the further places of their facts as related locations."""
    places = {
        (fact.path, fact.span, fact.name): fact.node_set.places
        for kind in program.index.kinds()
        for fact in program.index.of_kind(kind)
        if isinstance(fact, GraphFact) and fact.node_set.places
    }
    extended = []
    for finding in findings:
        others = places.get((finding.path, finding.span, finding.subject), ())
        more = tuple(Related(path, span, message) for path, span in others)
        extended.append(msgspec.structs.replace(finding, related=(*finding.related, *more)) if more else finding)
    return extended


def _of_graphs(catalogue: Catalogue, settings: Settings) -> Catalogue:
    """A catalogue of the selected graph checks. Raises `ConfigError` for unknown checks."""
    words = (*settings.select, *settings.extend_select)
    problems = [
        say(settings.language(), "unknown.check", word=word)
        for word, _ in unknown(words, [*catalogue.checks, *ENGINE_RULES])
    ]
    if problems:
        raise ConfigError(problems)
    selection = (settings.select, settings.extend_select, settings.ignore)
    checks = tuple(
        _for_live_use(check) for check in catalogue.checks if check.family == GRAPH and selected(check, *selection)
    )
    return msgspec.structs.replace(catalogue, checks=checks)


def _for_live_use(check: Check) -> Check:
    """A check for live use: fallbacks of graphs that do not train are notes for files, which may not be meant for the
    NPU as they are, and warnings here, since the user runs the step to find them."""
    softened = check.severity == "note" and check.applies.trains is False and check.topic == "unsupported_op"
    return msgspec.structs.replace(check, severity="warning") if softened else check

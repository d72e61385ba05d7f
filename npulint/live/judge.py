"""Evaluates a recorded graph with the graph checks, in the context of its project."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from npulint.commands.build import Assembled, assembled
from npulint.commands.settings.config import load
from npulint.core.errors import ConfigError
from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say
from npulint.data.aten import is_recorded, nearest
from npulint.data.chips import chip_memory
from npulint.facts.graph import Graph
from npulint.facts.model import FileFacts
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.torch.operators import JudgedOperator, Operators
from npulint.graphs.facts.torch.syncs import library_lines
from npulint.graphs.facts.torch.syncs import syncs as waiting
from npulint.graphs.programs import graphs_in
from npulint.graphs.summary import summarise_graph
from npulint.judge.catalogue.check import GRAPH, Catalogue, Check
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.evaluate.checks import evaluate
from npulint.judge.findings import Finding, Fix, Related, RunResult
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.finalize import finalize
from npulint.judge.postprocess.record import RawResults, RunContext
from npulint.judge.postprocess.select import selected, unknown
from npulint.judge.result_cache import configured_op_list
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.judge.summaries.step_summary import (
    CLASSES,
    PLACES,
    StepMemory,
    StepOperator,
    StepPicture,
    StepShape,
    StepStretch,
    StepSummary,
    StepWait,
)
from npulint.live.course import NOT_FOLLOWED, Course
from npulint.live.operators import operators, syncs, torch_operators
from npulint.live.project import LiveProject, anchor, frame_paths, project_around
from npulint.live.result import LiveResult
from npulint.recognizers.programs import Program

# The summary of a recorded step for reports, from the evaluated graph and the course of its last step.

_ASSUMED = "910B"  # the chip of most servers, if nothing specifies one
_TIGHT = 0.85  # of the memory: the rest is for workspaces, communication buffers and fragments
_STRETCHES = 400
_WAITS = 200  # per stretch

_COPIES = lazy_compile(r"aten\.(?:_to_copy|copy_|as_strided|view|_unsafe_view|t|transpose|expand|detach|alias)\b")

_Key = tuple[str, int, str, str]


def memory(course: Course, soc: str) -> StepMemory | None:
    """The memory of a recorded run on the chip `soc` (empty: not specified); None if it was not followed."""
    if len(course.peak) != len(CLASSES) or not any(course.peak):
        return None
    parameters, gradients, optimizer, activations, other = course.peak
    step_memory = StepMemory(
        sum(course.peak),
        parameters,
        gradients,
        optimizer,
        activations,
        other,
        kept=course.kept,
        chip=soc or _ASSUMED,
        assumed=not soc,
    )
    chip = chip_memory(step_memory.chip)
    if chip is None:
        return step_memory
    room = chip.capacity
    fits = "no" if step_memory.peak > room else "tight" if step_memory.peak > _TIGHT * room else "yes"
    return msgspec.structs.replace(step_memory, capacity=room, fits=fits, source=chip.source)


def changed_shapes(operators: Operators) -> list[StepShape]:
    """The operators whose shapes changed between steps, the first of each line, in the order of execution."""
    rows: dict[tuple[str, int], StepShape] = {}
    for judged_operator in operators.judged:
        later = judged_operator.node.attrs.get("later", ())
        if not later:
            continue
        path, line = _shown(operators, judged_operator)
        inside = " ".join(library_lines(judged_operator.node)[:1])
        shapes = tuple(tuple(map(int, shape)) for shape in later)
        step_shape = rows.get((path, line), StepShape(judged_operator.node.op, shapes, path, line, inside, others=-1))
        if _COPIES.match(step_shape.name):
            step_shape = msgspec.structs.replace(step_shape, name=judged_operator.node.op, shapes=shapes, inside=inside)
        rows[path, line] = msgspec.structs.replace(step_shape, others=step_shape.others + 1)
    return list(rows.values())


def picture(operators: Operators, graph: Graph, course: Course) -> StepPicture | None:
    """The last step as stretches of operators; None if its order was not recorded."""
    judged = {id(judged_operator.node): judged_operator for judged_operator in operators.judged}
    nodes = graph.bodies[0].nodes
    ran = [judged.get(id(nodes[number])) if 0 <= number < len(nodes) else None for number in course.sequence]
    if not any(ran):
        return None
    waits = {id(node) for node, _ in waiting(operators.view)}
    stretches: list[StepStretch] = []
    for detail in (2, 1, 0):  # lines, functions, files
        stretches = list(_stretches(operators, ran, waits, detail))
        if len(stretches) <= _STRETCHES:
            break
    return StepPicture(len(ran), tuple(stretches[:_STRETCHES]), course.memory)


def _stretches(
    operators: Operators, ran: Sequence[JudgedOperator | None], waits: set[int], detail: int
) -> Iterator[StepStretch]:
    begin, held, runs, marks = 0, None, dict[str, int](), list[int]()
    for number, judged_operator in enumerate(ran):
        if judged_operator is None:
            continue
        key = _key(operators, judged_operator, detail)
        if key != held:
            if held is not None:
                yield StepStretch(*held, begin, number, runs, tuple(marks[:_WAITS]))
            begin, held, runs, marks = number, key, {}, []
        word = "cpu" if judged_operator.computed else PLACES.get(judged_operator.word, judged_operator.word)
        runs[word] = runs.get(word, 0) + 1
        if id(judged_operator.node) in waits:
            marks.append(number)
    if held is not None:
        yield StepStretch(*held, begin, len(ran), runs, tuple(marks[:_WAITS]))


def _key(operators: Operators, judged_operator: JudgedOperator, detail: int) -> _Key:
    path, line = _shown(operators, judged_operator)
    function = judged_operator.node.frames[-1].function if judged_operator.node.frames and detail else ""
    return path, line if detail == 2 else 0, function, judged_operator.node.phase or "forward"


def _shown(operators: Operators, judged_operator: JudgedOperator) -> tuple[str, int]:
    path, span = judged_operator.place
    return ("", 0) if path == operators.view.path else (path, span.line)


# Advice about waits in libraries: what their table says, instead of the check's general fix.

_CHECK = "library-waits-for-the-npu"
_LISTED = 3


def with_remedies(findings: Sequence[Finding], step: StepSummary, lang: str) -> list[Finding]:
    """The findings, those about waits in libraries with what is known about these libraries, those about operators in
    libraries with the line there."""
    return [
        _advised(finding, step.waits, lang) if finding.name == _CHECK else _located(finding, step.operators, lang)
        for finding in findings
    ]


def _located(finding: Finding, operators: Iterable[StepOperator], lang: str) -> Finding:
    """The finding with the lines of libraries in its message, if only libraries call its operator there."""
    there = [
        row
        for row in operators
        if (row.path, row.line) == (finding.path, finding.span.line)
        and f"{row.name}.".startswith(f"{finding.subject}.")
    ]
    lines = list(dict.fromkeys(row.inside for row in there))
    if not finding.subject or not lines or "" in lines:
        return finding
    listed = say(lang, "list.and").join(f"`{line}`" for line in lines[:_LISTED])
    return msgspec.structs.replace(finding, message=finding.message + say(lang, "live.called-in", list=listed))


def _advised(finding: Finding, waits: Iterable[StepWait], lang: str) -> Finding:
    there = [wait for wait in waits if wait.inside and (wait.path, wait.line) == (finding.path, finding.span.line)]
    explanations = list(
        dict.fromkeys((wait.why, wait.remedy) for wait in there if wait.remedy and wait.name == finding.subject)
    )
    if not explanations:
        return finding
    sign = "" if lang == "zh" else " "
    why = sign.join(dict.fromkeys(text for text, _ in explanations[:_LISTED]))
    fix = sign.join(dict.fromkeys(text for _, text in explanations[:_LISTED]))
    return msgspec.structs.replace(finding, why=sign.join((why, finding.why)), fix=Fix(fix))


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
    judged = torch_operators(program)
    about = msgspec.structs.replace(about, operators=tuple(operators(program)))
    if judged is None:
        return about
    return msgspec.structs.replace(
        about,
        waits=tuple(syncs(program, lang)),
        shapes=tuple(changed_shapes(judged)),
        memory=memory(course, settings.target.get("soc", "")),
        picture=picture(judged, graph, course),
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
    assembly = _assembled(project, settings)
    return graphs_in(assembly.programs, assembly.context, files, adapter, cann, soc, supported)[0]


def _assembled(project: LiveProject, settings: Settings) -> Assembled:
    declared = settings.declared()
    key = (project.root, project.stamp, *declared)
    assembly = _projects.pop(key, None)
    if assembly is None:
        assembly = assembled(project.root, project.files, *declared)
    _projects[key] = assembly
    while len(_projects) > _KEPT:
        del _projects[next(iter(_projects))]
    return assembly


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
    return msgspec.structs.replace(result, baseline=None, step=about, target=target, verdict=None)


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

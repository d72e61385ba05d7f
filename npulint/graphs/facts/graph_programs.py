"""Graph files as programs: the facts of the graph together with those of the code that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.facts.graph import Graph
from npulint.facts.model import Fact, FileFacts
from npulint.graphs.facts.graph_fact import WholeGraph
from npulint.graphs.facts.target import Target
from npulint.model.code.index import Index, table
from npulint.model.programs.program_fact import ProgramFact
from npulint.model.values.context import Context
from npulint.recognizers.programs import Program
from npulint.recognizers.related_programs import fact_of, home_of, tables_of


def graph_programs(
    files: Iterable[FileFacts], programs: Sequence[Program], context: Context, target: Target
) -> list[Program]:
    """One program per graph file of a project; `programs` are the project's other programs."""
    return [_program(file.path, file.graph, programs, context, target) for file in files if file.graph is not None]


def _program(path: str, graph: Graph, programs: Sequence[Program], context: Context, target: Target) -> Program:
    facts = graph_facts(path, graph, context, target)
    near = [program for program in programs if graph.framework in (program.fact.framework, "onnx")]
    index = Index([table(facts), *tables_of(near)])
    return Program(path, context.project.root, [path], index, _fact(graph, facts, near))


def graph_facts(path: str, graph: Graph, context: Context, target: Target) -> list[Fact]:
    """The facts of a graph, placed in the file at `path` or at the lines of the project's code that create the
    nodes."""
    if graph.framework == "tensorflow":
        from npulint.graphs.facts.tensorflow import facts
    elif graph.framework == "onnx":
        from npulint.graphs.facts.onnx import facts
    else:
        from npulint.graphs.facts.torch import facts
    return facts(path, graph, context, target)


def _fact(graph: Graph, facts: Sequence[Fact], near: Sequence[Program]) -> ProgramFact:
    """The fact of the program that a graph most probably comes from, with what the graph itself determines."""
    fact = fact_of(home_of(near))
    fact.graph = graph.form
    fact.framework = graph.framework
    fact.trains = any(isinstance(graph_fact, WholeGraph) and graph_fact.trains for graph_fact in facts)
    fact.purpose = "train" if fact.trains else "unknown"
    return fact

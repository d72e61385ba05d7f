"""Small programs with their launchers, as values are traced in them."""

from __future__ import annotations

from textwrap import dedent

from npulint.commands.training_config.starts import start_of
from npulint.commands.training_config.tracer import Tracer
from npulint.facts.model import FileFacts
from npulint.facts.recipe import Traced
from npulint.model.code.project import Project
from npulint.model.launches.project_launches import Launch
from npulint.model.values.context import Context
from npulint.model.values.cursors import scope_at
from npulint.read.python import read_python
from npulint.read.shell_script import read_shell


class Started:
    """A project of texts by file name, of which one script is started. Values are queried by the calls of
    ``ask(…)`` in its modules."""

    def __init__(self, files: dict[str, str], entry: str = "train.py", script: str = "") -> None:
        facts = []
        for path, text in files.items():
            source = dedent(text)
            if path.endswith(".py"):
                code, problems = read_python(source, path, complete=True)
                assert not problems, problems
                facts.append(FileFacts(path, "python", code))
            else:
                facts.append(FileFacts(path, "shell", facts=read_shell(source, path)))
        self.entry = entry
        self.context = Context(Project("", facts))
        launches = start_of(self.context, entry)
        self.launch: Launch | None = next((one for one in launches if one.fact.path == script), None)
        assert self.launch is not None or not script
        self.tracer = Tracer(self.context, self.launch, entry=entry)

    def traced(self) -> dict[str, Traced]:
        """What every keyword of ``ask`` is (or by its number, what a positional argument is)."""
        found: dict[str, Traced] = {}
        for module in self.context.project.modules.values():
            for site in scope_at(self.context, module, 0).calls_named("ask"):
                positional = {str(at): value for at, value in enumerate(site.args)}
                for name, value in {**positional, **site.keywords}.items():
                    found[name] = self.tracer.trace(value)
        return found

    def values(self) -> dict[str, object]:
        """The values where they are known, else their texts with a question mark in front."""
        return {name: one.value if one.known else f"?{one.text}" for name, one in self.traced().items()}

    def way(self, name: str) -> list[str]:
        """The provenance of a keyword of ``ask`` as ``path:line name``."""
        return [f"{one.path}:{one.span.line} {one.name}" for one in self.traced()[name].provenance]

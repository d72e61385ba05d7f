"""Small projects with configuration files, as a comparison sees them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from npulint.commands.training_config.configs.lookup import Configs
from npulint.commands.training_config.configs.values import ConfigValue
from npulint.discover.files import DiscoverOptions, discover
from npulint.model.code.module import Module
from npulint.model.code.project import Project
from npulint.model.launches.project_launches import Launch
from npulint.model.values.context import Context
from npulint.model.values.cursors import scope_at
from npulint.read.files import load, read

_END = 1 << 30


class Laid:
    """Texts by file name laid out in a folder, found, read and assembled."""

    def __init__(self, root: Path, files: dict[str, str]) -> None:
        for name, text in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        self.root = str(root)
        found = discover([str(root)], DiscoverOptions(configurations=True)).files
        self.sources = [file for file in found if file.kind == "configuration"]
        facts = [read(load(file), complete=True) for file in found if file.kind != "configuration"]
        self.context = Context(Project(self.root, facts))
        self.configs = Configs(self.context, self.sources)

    def path(self, name: str) -> str:
        return os.path.join(self.root, name)

    def module(self, name: str) -> Module:
        return self.context.project.modules[self.path(name)]

    def launch(self, entry: str, script: str) -> Launch:
        """The start of `entry` by the launcher `script`."""
        launches = self.context.options.passed.launches.by_entry[self.path(entry)]
        return next(one for one in launches if one.fact.path == self.path(script))

    def files(self, entry: str, script: str = "") -> list[str]:
        """The names of the configuration files that a start loads."""
        launch = self.launch(entry, script) if script else None
        view = self.configs.under(self.path(entry), launch)
        return [os.path.relpath(file.path, self.root) for file in view.program()]

    def values(self, module: str, name: str, entry: str = "", script: str = "") -> list[object]:
        """What a name in a module may be by configuration files."""
        launch = self.launch(entry, script) if script else None
        view = self.configs.under(self.path(entry), launch) if entry else self.configs
        return [one.value for one in self.lookup(view, module, name)]

    def lookup(self, view: Configs, module: str, name: str) -> list[ConfigValue]:
        """The values that a name has at the end of any scope of a module that binds it."""
        home = self.module(module)
        root = re.split(r"[.\[\]]", name)[0]
        scopes = [block for block, params in home.params.items() if root in params]
        scopes += [block for block, names in home.names.items() if root in names]
        if root in ("self", "cls"):
            scopes = [block for block in scopes if home.class_of(block) >= 0]
        places = [scope_at(self.context, home, block).named(name, _END) for block in sorted(scopes) or [0]]
        found = [one for place in places for one in view.decided(place)]
        found = found or [one for place in places for one in view.lookup(place)]
        return list(dict.fromkeys(found))

"""Modules of a project that have the name of an installed package."""

from __future__ import annotations

import pytest

from npulint.commands.build import assembled
from npulint.model.values.cursors import module_scopes
from tests.support import read_sources


def name_of_call(sources: dict[str, str]) -> str:
    """What the only call in ``main.py`` is called."""
    found = assembled(".", read_sources(sources)).context
    main = next(one for one in module_scopes(found) if one.path == "main.py")
    return main.all_calls[0].name


@pytest.mark.parametrize(
    ("others", "name"),
    [
        pytest.param({"tools/ray.py": "import ray\n"}, "ray.remote", id="a module that imports the package"),
        pytest.param({"tools/ray.py": "from ray.util import x\n"}, "ray.remote", id="a module that imports a part"),
        pytest.param({"tools/ray.py": "from . import x\n"}, "tools.ray:remote", id="a module of the project"),
        pytest.param(
            {"tools/__init__.py": "", "tools/ray/__init__.py": "", "tools/ray/base.py": "import ray\n"},
            "ray.remote",
            id="a package in a package",
        ),
        pytest.param(
            {"ray/__init__.py": "", "ray/base.py": "import ray\n"}, "ray:remote", id="a package that imports itself"
        ),
        pytest.param(
            {"tools/__init__.py": "", "tools/ray/__init__.py": "", "tools/ray/base.py": "from ray import other\n"},
            "tools.ray:remote",
            id="a package that imports its modules",
        ),
    ],
)
def test_a_module_named_like_a_package_that_it_imports_is_not_that_package(others: dict[str, str], name: str) -> None:
    assert name_of_call({**others, "main.py": "import ray\nray.remote(print)\n"}) == name


def test_its_full_name_is_that_of_the_module() -> None:
    sources = {"tools/ray.py": "import ray\n", "main.py": "from tools import ray\nray.remote(print)\n"}
    assert name_of_call(sources) == "tools.ray:remote"
    sources = {**sources, "main.py": "import tools.ray\ntools.ray.remote(print)\n"}
    assert name_of_call(sources) == "tools.ray:remote"

"""ARCHITECTURE.md against the package: its picture, its rooms and the files that it names; the wings."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from npulint.core import wings
from scripts.architecture_picture import PAGE, drawn, floors

ROOT = Path(__file__).parent.parent
TEXT = PAGE.read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:npulint|checks|data-src|scripts|tests)/[\w./-]+)`", TEXT)))
ROOMS = {room for floor in floors() for room in floor}


def test_the_picture_is_that_of_the_contracts() -> None:
    assert drawn(TEXT) == TEXT, "python -m scripts.architecture_picture"


def test_there_are_at_most_twelve_floors() -> None:
    assert len(floors()) <= 12


@pytest.mark.parametrize("room", sorted(ROOMS - {"__main__"}))
def test_every_room_says_at_its_door_what_it_is(room: str) -> None:
    door = (ROOT / "npulint" / room / "__init__.py").read_text(encoding="utf-8")
    assert door.startswith('"""') and room in TEXT


def test_the_hall_is_empty() -> None:
    assert {path.name for path in (ROOT / "npulint").glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:npulint|checks|data-src|scripts|tests)/[\w./-]+)`", TEXT)))
)
def test_the_files_that_it_names_are_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", sorted(wings.SERVICES))
def test_wings_have_what_the_core_asks_of_them(name: wings.Service) -> None:
    module, _, function = wings.SERVICES[name].partition(":")
    assert callable(getattr(import_module(module), function))

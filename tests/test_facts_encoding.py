"""Facts of files as the cache stores them: every class comes back, and nothing else does."""

from __future__ import annotations

import msgspec
import pytest

from npulint.facts.attributes import attribute
from npulint.facts.model import Comment, Fact, FileFact, FileFacts, Span, decode, encode
from npulint.read.launcher_facts import LaunchFact, StartedScript


class Counted(FileFact, eq=False):
    """A fact with an attribute that is computed."""

    count: int = 0

    @attribute
    def many(self) -> bool:
        """Whether there are several."""
        return self.count > 1


def counted(count: int) -> Counted:
    return Counted("one", "a.sh", Span(2, 3, 4, 5), count)


@pytest.fixture(autouse=True)
def of_npulint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class of this test as one of npulint's."""
    import npulint.facts.model as module

    monkeypatch.setattr(module, "Counted", Counted, raising=False)
    monkeypatch.setattr(Counted, "__module__", module.__name__)


def file_of(*facts: Fact) -> FileFacts:
    return FileFacts("a.sh", "shell", facts=list(facts), comments=[Comment(1, True, "npulint: ignore")])


def test_facts_come_back_as_instances_of_their_classes() -> None:
    script = StartedScript("train.py", "train.py", options={"lr": None})
    launch = LaunchFact("train.py", "a.sh", Span(1, 1, 1, 9), script)
    back = decode(encode(file_of(counted(2), launch)))
    assert (back.path, back.kind, back.comments) == ("a.sh", "shell", [Comment(1, True, "npulint: ignore")])
    first, second = back.facts
    assert isinstance(first, Counted) and (first.count, first.name, first.span) == (2, "one", Span(2, 3, 4, 5))
    assert isinstance(second, LaunchFact) and second.record == script


def test_what_is_computed_is_neither_stored_nor_copied() -> None:
    fact = counted(2)
    assert fact.many
    (back,) = decode(encode(file_of(fact))).facts
    assert "many" in vars(fact) and "many" not in vars(back) and "many" not in vars(fact.copy())
    assert back.get("many") == "yes"


@pytest.mark.parametrize("name", ["os:system", "npulint.core.cache:Cache", "npulint.facts.model:Nothing"])
def test_what_is_no_class_of_facts_is_not_decoded(name: str) -> None:
    data = msgspec.msgpack.encode((file_of(), [(name, {})]))
    with pytest.raises(msgspec.ValidationError):
        decode(data)

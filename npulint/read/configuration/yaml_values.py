"""YAML as training programs load it: resolves anchors, merges and tags; templates stay text.

Built from parse events with an explicit stack: no objects are constructed, so tags cannot name a class, and there is no
recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npulint.facts.model import Span
from npulint.read.configuration.leaves import MAX_DEPTH, TooMuchError, Tree, UnreadableError, typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import yaml

_BREAKS = {0x85: " ", 0x2028: " ", 0x2029: " "}  # line breaks in YAML, but not in editors
_MERGE = "<<"
_KEY = 100  # characters of a key that is an alias
_MERGED = 50_000  # entries from merges
_DOCUMENTS = 100


def yaml_values(text: str) -> Tree:
    """The first document of a YAML text; raises `UnreadableError` and `TooMuchError`."""
    return _documents(text, 1)[0]


def yaml_documents(text: str) -> list[Tree]:
    """All documents of a YAML text, up to a hundred; raises `UnreadableError` and `TooMuchError`."""
    return _documents(text, _DOCUMENTS)


def _documents(text: str, most: int) -> list[Tree]:
    """The first documents of a YAML text; an empty one if it has none."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = text.translate(_BREAKS)
    trees: list[Tree] = []
    try:
        events = iter(yaml.parse(text, Loader=loader))
        while len(trees) < most:
            tree = _Builder(text).tree(events)
            if tree is None:
                break
            trees.append(tree)
        return trees or [Tree({}, Span())]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        span = Span(line, column, line, column + 1)
        raise UnreadableError("syntax-error", str(error.problem or error.context or ""), span) from None
    except yaml.YAMLError as error:
        raise UnreadableError("syntax-error", "a control character", _character(text, error)) from None


def _character(text: str, error: yaml.YAMLError) -> Span:
    position = getattr(error, "position", 0)
    before = text[:position] if isinstance(position, int) else ""
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Span(line, column, line, column + 1)


class _Open:
    """A list or mapping before its end event. A mapping with a `strange` key is a template."""

    def __init__(self, event: yaml.CollectionStartEvent, is_map: bool) -> None:
        self.start: Any = event.start_mark
        self.anchor = event.anchor
        self.is_map = is_map
        self.items: list[Tree] = []
        self.entries: dict[str, Tree] = {}
        self.key: str | None = None
        self.merges: list[Tree] = []
        self.strange = False


class _Builder:
    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[_Open] = []
        self._anchors: dict[str, Tree] = {}
        self._root: Tree | None = None
        self._merged = 0

    def tree(self, events: Iterable[yaml.Event]) -> Tree | None:
        """The next document of the events, None if there is none; what follows it remains."""
        import yaml

        for event in events:
            if isinstance(event, yaml.ScalarEvent):
                self._add(self._scalar(event), event.anchor, event.value)
            elif isinstance(event, yaml.AliasEvent):
                self._add(
                    self._anchors.get(event.anchor or "", Tree(None, _span(event.start_mark, event.end_mark))), None
                )
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(self._open) >= MAX_DEPTH:
                    raise UnreadableError("too-deep", f"> {MAX_DEPTH}", _span(event.start_mark, event.end_mark))
                self._open.append(_Open(event, isinstance(event, yaml.MappingStartEvent)))
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(self._open.pop(), event.end_mark)
            if self._root is not None:
                return self._root
        return None

    def _scalar(self, event: yaml.ScalarEvent) -> Tree:
        word = event.tag.rpartition(":")[2] if event.tag else ""
        plain = event.implicit[0] or word in ("int", "float", "bool", "null")
        return Tree(typed(event.value) if plain else event.value, _span(event.start_mark, event.end_mark))

    def _close(self, done: _Open, end: Any) -> None:
        span = _span(done.start, end)
        if done.strange:
            self._add(Tree(self._text[done.start.index : end.index], span), done.anchor)
            return
        for merge in done.merges:
            self._merge(done, merge)
        self._add(Tree(done.entries if done.is_map else done.items, span), done.anchor)

    def _merge(self, into: _Open, tree: Tree) -> None:
        for source in tree.value if isinstance(tree.value, list) else (tree,):
            if isinstance(source.value, dict):
                self._merged += len(source.value)
                if self._merged > _MERGED:
                    raise TooMuchError(f"> {_MERGED} values")
                for name, inner in source.value.items():
                    into.entries.setdefault(name, inner)

    def _add(self, tree: Tree, anchor: str | None, written: str | None = None) -> None:
        """Add a value to the open container; `written` is the text of a scalar, which may be a key."""
        if anchor is not None:
            self._anchors[anchor] = tree
        if not self._open:
            self._root = tree
            return
        parent = self._open[-1]
        if not parent.is_map:
            parent.items.append(tree)
        elif parent.key is None:
            parent.strange = parent.strange or isinstance(tree.value, dict | list)
            parent.key = written if written is not None else str(tree.value)[:_KEY]
        else:
            if parent.key == _MERGE:
                parent.merges.append(tree)
            else:
                parent.entries.pop(parent.key, None)
                parent.entries[parent.key] = tree
            parent.key = None


def _span(start: Any, end: Any) -> Span:
    """The span between two marks; typed as in events, where marks may be missing."""
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)

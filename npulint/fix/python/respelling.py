"""Respells edits that name the NPU, so that the code runs on several devices. Only edits that rename CUDA to NPU are
respelled: what they wrote for a GPU is known, so the respelled code does there what the code did before."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from npulint.data.port_styles import spellings
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.python.names import imported
from npulint.fix.python.tree import Tree, is_dotted, tree_of
from npulint.fix.source import edited_text
from npulint.fix.spelling import OF_AMP, Spelling
from npulint.fix.verify import Stretch, stretches
from npulint.judge.findings import Edit

# Respells imports of names for the NPU: ``from torch.npu.amp import autocast``.

Replacement = tuple[int, int, str]
"""Start and end offsets, and the new text."""


def respelled_import(tree: Tree, node: ast.Import | ast.ImportFrom, spelling: Spelling) -> Iterator[Replacement]:
    """The replacements in a file for one of its imports, whose module or names begin with ``torch.npu``. Raises
    `FixRefused`."""
    kind = _kind(node)
    start, end = tree.range(node)
    if tree.tokens(node).comment_in(start, end):
        raise FixRefused("comment")
    names = ", ".join(_written("amp" if kind == "module" else alias.name, alias.asname) for alias in node.names)
    if spelling.helper is not None and not spelling.accelerator:
        yield start, end, f"from {spelling.helper.name} import {names}"
        return
    yield start, end, f"from torch import {names}" if kind == "module" else f"from torch.amp import {names}"
    for alias in node.names:
        local = alias.asname or ("amp" if kind == "module" else alias.name)
        yield from _with_type(tree, local, kind, spelling)


def _kind(node: ast.Import | ast.ImportFrom) -> str:
    """``module`` for the module ``torch.npu.amp``, ``names`` for names in it."""
    if isinstance(node, ast.Import):
        module = node.names[0]
        if len(node.names) == 1 and module.name == "torch.npu.amp" and module.asname:
            return "module"
    elif node.module == "torch.npu" and [alias.name for alias in node.names] == ["amp"]:
        return "module"
    elif node.module == "torch.npu.amp" and all(alias.name in OF_AMP for alias in node.names):
        return "names"
    raise FixRefused("changes-gpu")


def _written(name: str, asname: str | None) -> str:
    return name if asname in (None, name) else f"{name} as {asname}"


def _with_type(tree: Tree, local: str, kind: str, spelling: Spelling) -> Iterator[Replacement]:
    """The type of the device as the first argument of each call of an imported name."""
    for _, _, node in tree.nodes:
        if not isinstance(node, ast.Name) or node.id != local:
            continue
        used: ast.AST = node
        if kind == "module":
            used = tree.parent(node)
            if not isinstance(used, ast.Attribute) or used.attr not in OF_AMP:
                raise FixRefused("changes-gpu")
        call = tree.parent(used)
        if not isinstance(call, ast.Call) or call.func is not used or call.args:
            raise FixRefused("changes-gpu")
        place = tree.range(used)[1] + 1
        if tree.source[place - 1] != "(":
            raise FixRefused("place")
        yield place, place, spelling.type + (", " if call.keywords else "")


_OF_NPU = re.compile(r"npu|hccl|ascend|cann", re.IGNORECASE)
_PLAIN_STRING = re.compile(r"""([uU]?)(['"])([^'"\\\n]*)\2""")
_WORDS = re.compile(r"npu|hccl")
_IMPORT = "import torch_npu"


def respelled(plan: Plan, text: Text, spelling: Spelling, neutral: bool) -> Plan:
    """The edits and imports of a plan for one Python file, respelled. With `neutral`, edits that name no NPU stay.
    Raises `FixRefused`: ``changes-gpu`` for edits that do more than rename, ``npu-only`` for names that only an NPU
    has."""
    requests = [import_request for import_request in plan.imports if import_request.statement != _IMPORT]
    if any(_OF_NPU.search(request.statement) for request in requests):
        raise FixRefused("npu-only")
    renaming = [edit for edit in plan.edits if _OF_NPU.search(edit.text)]
    others = [edit for edit in plan.edits if edit not in renaming]
    if others and not neutral:
        raise FixRefused("changes-gpu")
    edits = _Respelling(text, renaming, spelling).edits() if renaming else []
    needed = dict.fromkeys(statement for edit in edits for statement in spelling.imports(edit.text))
    existing = {f"import {target}" for name, target in imported(tree_of(text).module) if name == target}
    requests += [ImportRequest(text.path, statement, "torch") for statement in needed if statement not in existing]
    return Plan((*others, *edits), tuple(dict.fromkeys(requests)))


class _Respelling:
    """The edits of one file: `before` is its text, `edits` rename CUDA to NPU in it."""

    def __init__(self, before: Text, edits: Sequence[Edit], spelling: Spelling) -> None:
        self._before = tree_of(before)
        self._spelling = spelling
        self._edits = sorted(edits, key=lambda edit: edit.span)
        self._changed = stretches(before.text, edits)
        for (start, end, _, _), edit in zip(self._changed, self._edits, strict=True):
            _require_pure(before.text[start:end], edit.text)
        self._after = Tree(Text(before.path, before.kind, edited_text(before.text, edits)))
        self._names = dict(imported(self._after.module))
        self._done: dict[tuple[int, int], Edit] = {}

    def edits(self) -> list[Edit]:
        """The respelled edits."""
        for stretch in self._changed:
            self._respell(stretch)
        return list(self._done.values())

    def _respell(self, stretch: Stretch) -> None:
        start, end = stretch[2:]
        node = self._after.innermost(start, end)
        holder = self._after.parent(node)
        statement = node if isinstance(node, ast.Import | ast.ImportFrom) else holder
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for begin, stop, new in respelled_import(self._after, statement, self._spelling):
                self._put(begin, stop, new)
        elif isinstance(node, ast.Constant | ast.JoinedStr | ast.FormattedValue):
            self._respell_text(node, start, end)
        elif isinstance(node, ast.Name | ast.Attribute):
            self._respell_name(node)
        else:
            raise FixRefused("changes-gpu")

    # -- texts ------------------------------------------------------------------------------------

    def _respell_text(self, node: ast.expr, start: int, end: int) -> None:
        holder = self._after.parent(node)
        if isinstance(node, ast.JoinedStr) or isinstance(holder, ast.JoinedStr):
            self._put(start, end, "{" + self._word(self._after.source[start:end]) + "}")
            return
        if isinstance(holder, ast.pattern | ast.Subscript | ast.Expr):
            raise FixRefused("changes-gpu")  # a pattern, a type or key, a docstring
        begin, stop = self._after.range(node)
        match = _PLAIN_STRING.fullmatch(self._after.source[begin:stop])
        if match is None:
            raise FixRefused("changes-gpu")
        self._put(begin, stop, self._after.apart(begin, stop, self._literal(match[2], match[3])))

    def _literal(self, quote: str, body: str) -> str:
        """The expression for a literal with names of the NPU."""
        if "{" in body or "}" in body:  # a template: 'npu:{}'.format(rank)
            word = _WORDS.match(body)
            if word is None or len(_WORDS.findall(body)) > 1:
                raise FixRefused("changes-gpu")
            return f"({self._word(word[0])} + {quote}{body[word.end() :]}{quote})"
        if _WORDS.fullmatch(body):
            return self._word(body)
        return "f" + quote + _WORDS.sub(lambda word: "{" + self._word(word[0]) + "}", body) + quote

    def _word(self, text: str) -> str:
        return self._spelling.backend if text.lower() == "hccl" else self._spelling.type

    # -- names ------------------------------------------------------------------------------------

    def _respell_name(self, node: ast.Name | ast.Attribute) -> None:
        parent = self._after.parent(node)
        if isinstance(node, ast.Attribute) and node.attr == "is_npu":
            self._respell_test(node, isinstance(parent, ast.If | ast.Assign | ast.Return))
        elif isinstance(node, ast.Attribute) and node.attr == "npu" and self._canonical(node) != "torch.npu":
            if not isinstance(parent, ast.Call) or parent.func is not node:
                raise FixRefused("changes-gpu")
            self._respell_move(node, parent)
        else:
            self._respell_function(node)

    def _respell_test(self, node: ast.Attribute, alone: bool) -> None:
        """``x.is_npu`` becomes ``x.device.type == …``, in parentheses unless it is `alone`."""
        new = f"{self._after.text(node.value)}.device.type == {self._spelling.type}"
        self._put(*self._after.range(node), new if alone else f"({new})")

    def _respell_function(self, node: ast.Name | ast.Attribute) -> None:
        """A name in ``torch.npu``."""
        parent = self._after.parent(node)
        while isinstance(parent, ast.Attribute) and self._canonical(node) not in spellings():
            node, parent = parent, self._after.parent(parent)
        canonical = self._canonical(node)
        if not canonical.startswith("torch.npu"):
            raise FixRefused("npu-only")
        new, takes_type = self._spelling.name(canonical)
        start, end = self._after.range(node)
        self._put(start, end, new)
        if takes_type:
            if not isinstance(parent, ast.Call) or parent.func is not node or parent.args:
                raise FixRefused("changes-gpu")
            self._put(end + 1, end + 1, self._spelling.type + (", " if parent.keywords else ""))

    def _respell_move(self, node: ast.Attribute, call: ast.Call) -> None:
        """``x.npu(index, non_blocking=True)`` becomes ``x.to(device, non_blocking=True)``."""
        after = self._after
        end = after.range(call)[1]
        start = after.range(node)[1] - len("npu")
        if any(isinstance(argument, ast.Starred) for argument in call.args) or len(call.args) > 2:
            raise FixRefused("starred")
        if after.tokens_of(call).comment_in(start, end):
            raise FixRefused("comment")
        given: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in call.keywords}
        given.update(zip(("device", "non_blocking"), call.args, strict=False))
        if given.keys() - {"device", "non_blocking"}:
            raise FixRefused("argument")
        words = [self._device(given["device"]) if "device" in given else self._spelling.type]
        if "non_blocking" in given:
            words.append(f"non_blocking={after.text(given['non_blocking'])}")
        self._put(start, end, f"to({', '.join(words)})")

    def _device(self, index: ast.expr) -> str:
        text = self._after.text(index)
        if "\n" in text or _OF_NPU.search(text):
            raise FixRefused("overlap")
        if isinstance(index, ast.Constant):
            if index.value is None:
                return self._spelling.type
            if isinstance(index.value, int):
                return f'f"{{{self._spelling.type}}}:{index.value}"'
        if self._spelling.helper is None and (not isinstance(index, ast.Name | ast.Attribute) or "device" in text):
            raise FixRefused("changes-gpu")  # only an index is sure to work
        return self._spelling.device(text)

    def _canonical(self, node: ast.expr) -> str:
        """The canonical name of a dotted name; empty for other expressions."""
        if not is_dotted(node):
            return ""
        root, _, rest = ast.unparse(node).partition(".")
        return ".".join(filter(None, (self._names.get(root, root), rest)))

    # -- places -----------------------------------------------------------------------------------

    def _put(self, start: int, end: int, new: str) -> None:
        """Add the edit that gives a range of the text after the renaming another text."""
        self._done[start, end] = self._before.edit(self._back(start, False), self._back(end, True), new)

    def _back(self, place: int, closing: bool) -> int:
        """The offset before the renaming."""
        moved = 0
        for _, end, new_start, new_end in self._changed:
            if new_end < place or (new_end == place and closing):
                moved = new_end - end
            elif new_start < place:
                raise FixRefused("overlap")
        return place - moved


def _require_pure(old: str, new: str) -> None:
    """Raise `FixRefused` unless an edit does nothing but rename CUDA to NPU and NCCL to HCCL."""
    if new.replace("npu", "cuda").replace("hccl", "nccl") not in (old, old.replace("NCCL", "nccl")):
        raise FixRefused("changes-gpu")


def mentions_npu(texts: Iterable[str]) -> bool:
    """Whether one of the texts names the NPU or its software."""
    return any(map(_OF_NPU.search, texts))

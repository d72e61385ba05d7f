"""Parses source text to `Code`, or to a problem with an explanation."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

import msgspec

from npulint.core.budget import reserve
from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_calls import training_packages
from npulint.facts.code import Code
from npulint.facts.model import Problem, Span
from npulint.read.python.python2 import ASYNC, modernised
from npulint.read.python.walk import Walker

# How much memory the syntax tree of a source will take, from its tokens: parsing cannot be stopped half way.

SMALL = 400_000
"""Characters of a source whose syntax tree fits into the usual limits, whatever they are."""
_TEXT = r"(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
_TOKENS = lazy_compile(
    r"(#[^\n]*)"
    rf"|((?:\b[rRbBuU]{{1,2}})?{_TEXT})"
    rf"|(\b(?:[fF][rR]?|[rR][fF]){_TEXT})"
    r"|(\d[\w.]*|\w+)"
    r"|(\.\w+)"
    r"|([(\[{])"
    r"|([-+*/%&|^~<>@])"
    r"|((?<![,(\[{\n\\])\n|;)",
    re.DOTALL,
)
# Bytes for a token of each group, as measured: those of the nodes that it makes, with their lists and places.
_COMMENT, _STRING, _FORMATTED, _WORD, _ATTRIBUTE, _BRACKET, _OPERATOR, _STATEMENT = range(1, 9)
_BYTES = (0, 0, 1100, 1100, 950, 800, 1700, 550, 900)
_FIELD = 2000  # of a formatted string


def memory_of_tree(text: str) -> int:
    """About how many bytes the syntax tree of a source takes; 0 for a small source."""
    if len(text) <= SMALL:
        return 0
    memory = 0
    for token in _TOKENS.finditer(text):
        group = token.lastindex or 0
        memory += _BYTES[group]
        if group == _FORMATTED:
            memory += _FIELD * token.group().count("{")
    return memory


# Rewrites what Python 3.12 has added to statements for the older Python that npulint may run on: aliases of types
# (``type Row = list[int]``) and parameters for types (``def first[T](rows)``, ``class Box[T]``). Nothing else moves.

_NEWER = lazy_compile(r"(?m)^[ \t]*(?:(?:async[ \t]+)?def|class|type)[ \t]+\w+[ \t]*[\[=]")
_LAYOUT = frozenset((tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT))

Edit = tuple[int, int, int, str]
"""Line (from 1), first column, end column, replacement of the same length."""


def older(text: str) -> str:
    """The source with such statements rewritten; unchanged where there are none."""
    if _NEWER.search(text) is None:
        return text
    lines = text.split("\n")
    for line, start, end, new in _edits(text):
        lines[line - 1] = lines[line - 1][:start] + new + lines[line - 1][end:]
    return "\n".join(lines)


def _edits(text: str) -> Iterator[Edit]:
    for statement in _statements(text):
        words = [token.string for token in statement]
        at = 1 if words[0] == "async" else 0
        if len(words) < at + 3 or words[at] not in ("def", "class", "type") or not words[at + 1].isidentifier():
            continue
        if words[at] == "type" and words[at + 2] in ("[", "="):
            first, name = statement[0], statement[1]
            if first.end[0] == name.end[0]:
                yield (*first.start, name.end[1], name.string.ljust(name.end[1] - first.start[1]))
        end = _closing(words, at + 2)
        if words[at + 2] == "[" and end and statement[at + 2].start[0] == statement[end].end[0]:
            (line, start), stop = statement[at + 2].start, statement[end].end[1]
            yield line, start, stop, " " * (stop - start)


def _statements(text: str) -> Iterator[list[tokenize.TokenInfo]]:
    """The words of each logical line, as far as the source can be read."""
    statement: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                if statement:
                    yield statement
                statement = []
            elif token.type not in _LAYOUT:
                statement.append(token)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _closing(words: list[str], start: int) -> int:
    """The index of the bracket that closes the one at `start`; 0 if there is none."""
    depth = 0
    for index in range(start, len(words)):
        depth += (words[index] in ("[", "(", "{")) - (words[index] in ("]", ")", "}"))
        if depth <= 0:
            return index if words[start] == "[" else 0
    return 0


# Whether a source names the NPU in its code: an import, a name, or the text of a device or of a back end.

_NPU = lazy_compile(r"(?<![A-Za-z])npu|hccl", re.IGNORECASE)
_ONE_WORD = lazy_compile(r"[\w.:,=+-]*")


def names_npu(text: str, tree: ast.Module) -> bool:
    """Whether the code of a source names the NPU or HCCL; comments, documentation and sentences do not count."""
    lowered = text.lower()
    if not _may_name(lowered):
        return False
    lines = lowered.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    near = [number for number, line in enumerate(lines, 1) if _may_name(line)]
    return any(_NPU.search(word) for node in _nodes_near(tree, near) for word in _words(node))


def _may_name(lowered: str) -> bool:
    """Whether a text in lower case has such a name anywhere; as `_NPU`, but in large texts many times as fast."""
    at = lowered.find("npu")
    while at > 0 and "a" <= lowered[at - 1] <= "z":  # input
        at = lowered.find("npu", at + 3)
    return at >= 0 or "hccl" in lowered


def _nodes_near(tree: ast.Module, lines: list[int]) -> Iterator[ast.AST]:
    """The nodes of a syntax tree but for those in statements that stand on none of some lines (ascending)."""
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.stmt):
            decorators = getattr(node, "decorator_list", None)
            following = bisect_left(lines, decorators[0].lineno if decorators else node.lineno)
            if following == len(lines) or lines[following] > (node.end_lineno or node.lineno):
                continue
        yield node
        queue += ast.iter_child_nodes(node)


def _words(node: ast.AST) -> Iterator[str]:
    """The names and single words that a node of the syntax tree itself contains."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and _ONE_WORD.fullmatch(node.value):
            yield node.value
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield node.name
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.arg, ast.keyword)):
        yield node.arg or ""


# Reduced reading of modules that use no framework: only imports and what stands outside functions.

_WORDS = (  # most likely first
    *("torch", "tensorflow", "npu", "argparse", "environ", "cuda", "tf.", "ataset", "keras", "optimizer", "subprocess"),
    *("horovod", "hvd", "add_argument", "DEFINE_", "HParams", "apex", "CUDA", "tenv(", "import_module", "__import__"),
    *("from trl", "lightning", "accelerate", "deepspeed", "transformers", "vllm", "triton"),
    *("slim", "cupy", "sess", "Sess", "os.system", "minimize", "apply_gradients", "parameter_map", "precision_mode"),
    *("backward(", "regist", "Regist", "yaml.", "OmegaConf"),
)
_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_KEPT = (*_IMPORTS, ast.Assign, ast.AnnAssign, ast.Expr, ast.For, ast.If, ast.Try, ast.With, ast.ClassDef)
_BODIES = ("body", "handlers", "orelse", "finalbody", "cases")


def is_relevant(text: str) -> bool:
    """Whether a source contains any word that facts are about."""
    return any(map(text.__contains__, _WORDS)) or any(map(text.__contains__, _imports_of_training()))


@cache
def _imports_of_training() -> tuple[str, ...]:
    """How the libraries are imported that train by one call."""
    return tuple([f"{word} {package}" for package in training_packages() for word in ("import", "from")])


def read_lightly(text: str, tree: ast.Module) -> Code:
    """The imports, and what stands outside functions; enough for the import graph, constants and what a script
    calls."""
    kept: list[ast.stmt] = [node for node in tree.body if isinstance(node, _KEPT)]
    if text.count("import") > sum(isinstance(node, _IMPORTS) for node in kept):  # some may be in functions
        kept = [n for n in tree.body if isinstance(n, _KEPT) or (isinstance(n, _FUNCTIONS) and _imports(n))]
    return Walker(text).walk(ast.Module(kept, []))


def omits_nothing(tree: ast.Module) -> bool:
    """Whether a reduced reading leaves nothing out: a package that only imports names, for instance."""
    return all(isinstance(node, _KEPT) for node in tree.body)


def _imports(function: ast.stmt) -> bool:
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _IMPORTS):
            return True
        fields = node.__dict__
        if "body" in fields or "cases" in fields:
            for name in _BODIES:
                waiting += fields.get(name, ())
    return False


# Never valid in Python 3, anywhere ...
_PYTHON2 = lazy_compile(
    r"^[ \t]*(?:print[ \t]+[\"']|exec[ \t]+[\"']|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:|raise[ \t]+\w+[ \t]*,)",
    re.MULTILINE,
)
# ... and these only where the parser failed (elsewhere it may be prose or a date).
_PYTHON2_HERE = lazy_compile(
    r"^[ \t]*(?:print[ \t]+(?![=(,.\[]).|exec[ \t]+\w)|;[ \t]*print[ \t]|:[ \t]*print[ \t]"
    r"|<>|\b0[0-7]+\b|\b\d+[lL]\b|\bur[\"']|`[^`]+`"
)
# What Python 3.12 accepts and older ones do not, in the line where they fail; wrong code may look the same.
_NEWER_HERE = lazy_compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w+\[|^[ \t]*type[ \t]+\w+[ \t]*(?:\[.*\])?[ \t]*="
    r"|(?<!\w)(?:[fF][rR]?|[rR][fF])[\"'].*\{"
)
_NEWER_SINCE = (3, 12)


def read_python(text: str, path: str, complete: bool = False) -> tuple[Code, list[Problem]]:
    """Parse `text` to syntax facts; on failure an empty `Code` and one fatal `Problem`. Unless `complete` (for
    comparisons), functions of a source that names no framework, and spans of arguments, are omitted. Raises
    `BudgetError` if the syntax tree would take more memory than allowed."""
    reserve(memory_of_tree(text))
    try:
        text, tree = _parsed(text)
    except SyntaxError as error:
        problem = _syntax_problem(error, text, path)
        return _second_try(text, problem)
    except (RecursionError, MemoryError):
        return Code(), [Problem(path, "too-deep")]
    except ValueError as error:  # NUL characters, lone surrogates, huge numbers
        return Code(), [Problem(path, "syntax-error", str(error))]
    light = not complete and not is_relevant(text)
    code = read_lightly(text, tree) if light else Walker(text).walk(tree)
    light = light and not omits_nothing(tree)
    if complete:
        from npulint.read.python.close import read_closely

        code = read_closely(code, tree)
    return msgspec.structs.replace(
        code, devices="cuda" in text or "npu" in text, light=light, npu=names_npu(text, tree)
    ), []


def _parsed(text: str) -> tuple[str, ast.Module]:
    """The syntax tree of a source, and the text that it is of: that for this Python, if a newer one is needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return text, ast.parse(text)
        except SyntaxError:
            rewritten = older(text) if sys.version_info[:2] < _NEWER_SINCE else text
            if rewritten == text:
                raise
            try:
                return rewritten, ast.parse(rewritten)
            except SyntaxError:
                pass
            raise


def _second_try(text: str, problem: Problem) -> tuple[Code, list[Problem]]:
    """Read a source that may be Python 2 after converting it to Python 3."""
    newer = modernised(text)
    if newer == text:
        return Code(), [problem]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(newer)
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return Code(), [problem]
    if ASYNC in newer:
        _call_back(tree)
    return Walker(newer).walk(tree), [msgspec.structs.replace(problem, reason="python2-read", fatal=False)]


def _call_back(tree: ast.Module) -> None:
    """Restore the names of call keywords that the conversion renamed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == ASYNC:
            node.arg = "async"


def _syntax_problem(error: SyntaxError, text: str, path: str) -> Problem:
    line = max(1, error.lineno or 1)
    column = max(1, error.offset or 1)
    here = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[line - 1 : line]
    reason = "python2" if _PYTHON2.search(text) or any(map(_PYTHON2_HERE.search, here)) else "syntax-error"
    if "too many nested" in (error.msg or "") or "too many levels" in (error.msg or ""):
        reason = "too-deep"
    message = error.msg or ""
    if reason == "syntax-error" and any(may_be_newer(line, sys.version_info[:2]) for line in here):
        reason, message = "newer-python", f"{message} (Python {sys.version_info[0]}.{sys.version_info[1]})"
    return Problem(path, reason, message, Span(line, column, line, column + 1))


def may_be_newer(line: str, running: tuple[int, int]) -> bool:
    """Whether a line that this Python cannot parse may be written for a newer one."""
    return running < _NEWER_SINCE and _NEWER_HERE.search(line) is not None

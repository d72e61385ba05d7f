"""Examples on the site: files with the reported lines marked, and what npulint says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from npulint.commands.examples import judge
from npulint.judge.catalogue.check import SIDES, Catalogue, two_sided
from npulint.judge.catalogue.page import fenced
from npulint.judge.findings import Finding
from scripts.docsite.markup import indented, inline, plain
from scripts.docsite.words import say

_USUAL = "train.py"  # a single file of this name needs no title
_SAID = 3  # findings of one example that are shown
Place = tuple[str, int]
_FOUND: dict[tuple[object, ...], list[Finding]] = {}  # the first example of a page also fills in its texts


def findings_of(
    files: dict[str, str], target: dict[str, str], catalogue: Catalogue, code: str, lang: str
) -> list[Finding]:
    """What the check with this code reports in the files."""
    key = (code, lang, tuple(files.items()), tuple(target.items()))
    if key not in _FOUND:
        _FOUND[key] = [one for one in judge(files, target, catalogue.with_opt_in(), lang) if one.code == code]
    return _FOUND[key]


def shown(files: Mapping[str, str], target: Mapping[str, str], marked: Sequence[Place], lang: str) -> str:
    """The files of one example, in tabs where there are several, and two programs side by side; `marked` lines are
    highlighted."""
    parts = []
    if target:
        target_text = ", ".join(f"`{name} {version}`" for name, version in target.items())
        parts.append(say(lang, "target", target=target_text) + "\n{ .np-target }")
    if two_sided(files):
        return "\n\n".join([*parts, _sides(files, marked, lang)])
    blocks = {name: _block(name, text, marked, len(files) == 1) for name, text in files.items()}
    if len(blocks) == 1:
        parts += blocks.values()
    else:
        first = [name for name in blocks if any(place == name for place, _ in marked)][:1]
        ordered = [*first, *(name for name in blocks if name not in first)]
        parts.append("\n\n".join(f'=== "{name}"\n\n{indented(blocks[name])}' for name in ordered))
    return "\n\n".join(parts)


def _sides(files: Mapping[str, str], marked: Sequence[Place], lang: str) -> str:
    """Two programs in two columns, each file under its side and name."""
    columns = []
    for side in SIDES:
        own = [name for name in files if name.startswith(f"{side}/")]
        blocks = [_titled(name, say(lang, f"side.{side}"), files[name], marked) for name in own]
        columns.append("<div markdown>\n\n" + "\n\n".join(blocks) + "\n\n</div>")
    return '<div class="np-sides" markdown>\n\n' + "\n\n".join(columns) + "\n\n</div>"


def _titled(name: str, side: str, text: str, marked: Sequence[Place]) -> str:
    """A file of a side below the name of both."""
    lines = sorted({line for place, line in marked if place == name})
    lit = f' hl_lines="{" ".join(map(str, lines))}"' if lines else ""
    return fenced(name, text, f'title="{side}: {name.partition("/")[2]}"{lit}')


def _block(name: str, text: str, marked: Sequence[Place], alone: bool) -> str:
    lines = sorted({line for place, line in marked if place == name})
    options = f'hl_lines="{" ".join(map(str, lines))}"' if lines else ""
    if alone and name != _USUAL:
        options = f'title="{name}" {options}'.strip()
    return fenced(name, text, options)


def reported(findings: Iterable[Finding], many: bool, lang: str) -> str:
    """What npulint says of an example, a line per finding; `many` files make it name the file."""
    told = sorted(findings, key=lambda one: (one.path, one.span))
    rows = [
        f'<li class="np-{one.severity}"><b>{_where(one, many, lang)}</b> {inline(one.message)}</li>' for one in told
    ]
    if len(rows) > _SAID:
        rows[_SAID:] = ["<li>…</li>"]
    return "\n".join(['<ul class="np-says">', *rows, "</ul>"])


def _where(one: Finding, many: bool, lang: str) -> str:
    return plain(f"{one.path}:{one.span.line}" if many else say(lang, "line", line=one.span.line))

"""The estimated effort as a short text for a terminal, and as Markdown."""

from __future__ import annotations

from npulint.core.texts import count, say
from npulint.judge.effort import Effort
from npulint.report.document.markdown import Writer
from npulint.report.effort.document import PARTS, by_file, formula, in_range, sentences, weight_table
from npulint.report.markup import prose
from npulint.report.terminal import Paint, cells, escape_control_chars, leading, wrap

_FILES = 10  # listed
_LIMIT = 1024 * 1024  # bytes of Markdown


def text(effort: Effort, lang: str, color: bool, width: int, verbose: bool = False) -> str:
    """The sentences, and a line for each of the files with most work; all files and the formula with `verbose`."""
    paint = Paint(color)
    lines = [paint("bold", say(lang, "effort.title"))]
    for sentence in sentences(effort, lang):
        lines += [f"  {line}" for line in wrap(sentence.replace("`", ""), max(width - 2, 0))]
    files = effort.files if verbose else effort.files[:_FILES]
    numbers = [in_range(file.hours, lang) for file in files]
    room = max(map(cells, numbers), default=0)
    lines += ["", paint("bold", say(lang, "effort.files"))] if files else []
    for file_effort, hours in zip(files, numbers, strict=True):
        parts = say(lang, "list.and").join(
            f"{say(lang, f'effort.{part}')} {getattr(file_effort, part)}" for part in PARTS
        )
        pad = " " * (room - cells(hours))
        lines.append(f"  {hours}{pad}  {escape_control_chars(leading(file_effort.path))}  {paint('dim', parts)}")
    if len(files) < len(effort.files):
        lines.append(f"  {count(lang, 'effort.more', len(effort.files) - len(files))}")
    if verbose:
        lines += ["", paint("bold", say(lang, "effort.formula"))]
        lines += [f"  {line}" for sentence in formula(lang) for line in wrap(sentence, max(width - 2, 0))]
    return "\n".join(lines) + "\n"


def markdown(effort: Effort, lang: str) -> str:
    """The sentences, a table of all files, and the formula with its weights."""
    writer = Writer(lang, _LIMIT)
    parts = [f"# {say(lang, 'effort.title')}", *map(prose, sentences(effort, lang))]
    parts += [writer.section(by_file(effort, lang))] if effort.files else []
    parts += [f"## {say(lang, 'effort.formula')}", *map(prose, formula(lang))]
    table = weight_table(lang)
    return "\n\n".join([*parts, *writer.table(table.heads, table.rows)]) + "\n"

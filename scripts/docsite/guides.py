"""The guides: Markdown files of `docs`, with the tables that the program itself knows filled in."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from npulint.commands.settings.config import defaults
from npulint.commands.settings.options import GROUPS, OPTIONS, Option
from npulint.core.texts import say as say_npulint
from npulint.data.precision import precision
from npulint.discover.files import EXCLUDED
from npulint.hosts.cli.commands import COMMANDS, Command
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.page import fenced, safe_reason, word
from scripts.docsite.arguments import FRAMEWORKS, arguments, starts
from scripts.docsite.checks import path_of
from scripts.docsite.markup import table
from scripts.docsite.words import say

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
GUIDES = (
    "getting-started",
    "fixes",
    "port",
    "compare",
    "survey",
    "configuration",
    "commands",
    "suppressions-and-baseline",
    "output-formats",
    "ci",
    "editors",
    "linters",
    "agnostic",
    "agents",
    "graphs",
    "live",
    "runs",
    "doctor",
    "reveal",
    "python",
    "configured-training",
    "run-llamafactory",
    "run-ms-swift",
    "run-verl",
    "run-trainer",
    "run-lightning",
    "run-megatron",
    "tuning-checklist",
    "how-it-decides",
    "precision",
    "performance",
    "other-tools",
    "faq",
    "glossary",
    "changelog",
)
AUTHORS = ("writing-checks", "facts", "convert-tf2npu")
_TABLE = re.compile(r"<!-- table: ([a-z-]+) -->")
_README = re.compile(r"<!-- readme: (.+?) -->")
_FILE = re.compile(r"<!-- file: ([\w./-]+) -->")
_ELSEWHERE = re.compile(r"\]\((?!docs/|https?:|#)")
# The guides for authors are in one folder with the others on the site.
_FOLDER = re.compile(r"\]\((?:en/|\.\./)(?=(?:glossary|fixes|writing-checks|facts|convert-tf2npu)\.md)")
_OUTPUT = re.compile(r"^<!-- /?output\b[^>]*-->\n", re.MULTILINE)


def guides(lang: str) -> dict[str, str]:
    """All guides of a language and the home page, by file. Raises `OSError` when one is missing."""
    names = {"index.md": "index", **{f"guides/{name}.md": name for name in (*GUIDES, *AUTHORS)}}
    return {path: _guide(source(name, lang), lang) for path, name in names.items()}


def _guide(path: Path, lang: str) -> str:
    text = filled(path.read_text(encoding="utf-8"), lang)
    if lang == "en" or path.parent != DOCS or path.name.endswith(".zh.md"):
        return text
    heading, _, rest = text.partition("\n")
    return f'{heading}\n\n!!! note ""\n\n    {say(lang, "only.english")}\n{rest}'


def source(name: str, lang: str) -> Path:
    """The path of a guide: next to the other documents as ``name.md`` and ``name.zh.md``, or below the folder of its
    language. What is there in English only is shown in English."""
    shared, own = DOCS / f"{name}{'.zh' if lang == 'zh' else ''}.md", DOCS / lang / f"{name}.md"
    return next((path for path in (shared, own) if path.exists()), DOCS / f"{name}.md")


def filled(text: str, lang: str) -> str:
    """A guide with its tables in place of ``<!-- table: NAME -->``, sections of the README in place of
    ``<!-- readme: HEADING -->``, and files of the repository in place of ``<!-- file: PATH -->``; raises `KeyError`
    for an unknown table or heading, `OSError` for a file that is not there."""
    text = _FOLDER.sub("](", _OUTPUT.sub("", text))
    text = _README.sub(lambda match: readme_section(match[1], lang), text)
    text = _FILE.sub(lambda match: _quoted(ROOT / match[1]), text)
    return _TABLE.sub(lambda match: _TABLES[match[1]](lang), text)


def _quoted(path: Path) -> str:
    """A file of the repository as a code block."""
    return fenced(path.name, path.read_text(encoding="utf-8"), f'title="{path.name}"')


def readme_section(heading: str, lang: str) -> str:
    """What stands below a heading of the README, its links made to work here; paragraphs that link to files which
    are no part of the site are left out. Raises `KeyError` without the heading."""
    text = (ROOT / ("README.zh.md" if lang == "zh" else "README.md")).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise KeyError(f"the README has no section {heading!r}")
    paragraphs = [part for part in found[1].strip().split("\n\n") if not _ELSEWHERE.search(part)]
    return "\n\n".join(paragraphs).replace("](docs/", "](")


def title(name: str, lang: str) -> str:
    """The first heading of a guide."""
    found = re.search(r"^# (.+)$", source(name, lang).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].strip() if found else name


def _options(lang: str) -> str:
    """Every option of a check, by groups."""
    header = [say(lang, f"option.{name}") for name in ("flag", "key", "default", "help")]
    parts = ['<div class="np-options" markdown>']
    for group in GROUPS:
        rows = [
            [f"`{_flag(option)}`", f"`{option.key}`" if option.config else "–", _default(option), _help(option, lang)]
            for option in OPTIONS
            if option.group == group
        ]
        parts += [f"### {_begun(say_npulint(lang, f'group.{group}'))} {{ #options-{group} }}", table(header, rows)]
    return "\n\n".join([*parts, "</div>"])


def _flag(option: Option) -> str:
    if option.kind == "flag":
        return option.flag
    return f"{option.flag} {option.metavar or option.name.rpartition('_')[2].upper()}"


def _default(option: Option) -> str:
    value = "auto" if "auto" in option.choices else defaults().get(option.key)
    if value is None or value == "" or value == () or value == {}:
        return "–"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _help(option: Option, lang: str) -> str:
    text = _begun(option.help(lang)).replace("<", "&lt;")
    if not option.choices:
        return text
    choices = ("、" if lang == "zh" else ", ").join(f"`{choice}`" for choice in option.choices)
    return text + say(lang, "option.values", choices=choices)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _commands(lang: str) -> str:
    return "\n\n".join(_command(command, lang) for command in COMMANDS)


def _command(command: Command, lang: str) -> str:
    words = f"[{command.words}]" if command.words and not command.least else command.words
    usage = " ".join(filter(None, ["npulint", command.name, words, "[OPTIONS]"]))
    about = _begun(command.help(lang)) + ("。" if lang == "zh" else ".")
    rows = [[f"`{command.words}`", _begun(command.words_help(lang))]] if command.words else []
    if command.name == "check":
        rows.append(["…", say(lang, "options.there", link="configuration.md#options")])
    else:
        rows += [[f"`{_flag(option)}`", _help(option, lang)] for option in command.options]
    listed = table([say(lang, "option.flag"), say(lang, "option.help")], rows)
    heading = f"## npulint {command.name} {{ #{command.name} }}"
    return "\n\n".join([heading, about, f"```sh\n{usage}\n```", '<div class="np-options" markdown>', listed, "</div>"])


def _excluded(lang: str) -> str:
    return "\n".join(["```text", *EXCLUDED, "```"])


def _precision(lang: str) -> str:
    """The judged checks by code, with their findings that were useful, right but useless, and false."""
    names = (
        "column.check",
        "filter.severity",
        "column.status",
        "column.useful",
        "column.useless",
        "column.false",
        "column.projects",
    )
    rows = []
    for check in sorted(load_catalogue(()).checks, key=lambda check: check.code):
        one = precision(check.code)
        if one.number:
            link = f"[`{check.name}`](../{path_of(check.name)}) {check.code}"
            figures = (str(number) for number in (one.useful, one.useless, one.false, one.projects))
            rows.append([link, word(check.severity, lang), word(check.status, lang), *figures])
    return table([say(lang, name) for name in names], rows)


def _safe_fixes(lang: str) -> str:
    """The checks with safe fixes, by name, and why these are safe."""
    rows = [
        [f"[`{check.name}`](../{path_of(check.name)})", safe_reason(check, lang)]
        for check in sorted(load_catalogue(()).checks, key=lambda check: check.name)
        if check.safe is not None
    ]
    return table([say(lang, "column.check"), say(lang, "column.safe")], rows)


def _changelog(lang: str) -> str:
    """The changes of all versions, without the heading and the introduction of the file."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return text[text.index("\n## ") + 1 :].replace("](docs/en/", "](").replace("](docs/", "](")


_TABLES: dict[str, Callable[[str], str]] = {
    "options": _options,
    "commands": _commands,
    "excluded": _excluded,
    "precision": _precision,
    "safe-fixes": _safe_fixes,
    "changelog": _changelog,
    "starts": starts,
    **{f"arguments-{page}": partial(arguments, page) for page in FRAMEWORKS},
}

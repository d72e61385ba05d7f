"""Documentation pages of checks and the list of all checks, as Markdown in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from npulint.core.texts import count, known, say
from npulint.judge.catalogue.check import RUN, Check, Example, Reference, two_sided
from npulint.judge.catalogue.forms import PLURALS
from npulint.judge.catalogue.severity import HYGIENE
from npulint.judge.catalogue.texts import substitute

_FENCES = {
    "py": "python", "sh": "bash", "json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml",
    "cu": "cuda", "cuh": "cuda", "cpp": "cpp", "ipynb": "json", "diff": "diff",
}  # fmt: skip
_NAMED = {"Dockerfile": "docker"}
_REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+):(\S.*)\Z")


class CheckPage:
    """The documentation page of one check in ``en`` or ``zh``. Subclasses override how parts look outside of a
    terminal; which parts there are, and their order, is fixed."""

    def __init__(self, check: Check, lang: str, judged: tuple[int, int, int] = (0, 0, 0)) -> None:
        """`judged`: how many findings of the check on real projects were useful, how many were right, and how many were
        judged. Raises `KeyError` for an unknown language."""
        self.check, self.lang, self.judged = check, lang, judged
        self.text = check.text[lang]

    def render(self) -> str:
        """The whole page."""
        text = self.text
        sections = [
            *self.head(),
            self.section("what", self.prose(text.message)),
            self.section("why", self.prose(text.why)),
            self.section("how", self.prose(text.fix)),
            *self.safety(),
            *self.examples(True),
            *self.examples(False),
            *self.references(),
            *self.tail(),
        ]
        return "\n\n".join(sections) + "\n"

    def label(self, name: str) -> str:
        """The heading of a section or the label of a property."""
        return heading(self.lang, name)

    def head(self) -> list[str]:
        """The lines above the first section: name, title and facts."""
        facts = _table((self.label("title"), ""), self.facts())
        return [f"# {self.check.code} {self.check.name}", self.text.title, facts]

    def tail(self) -> list[str]:
        """What follows the last section."""
        return []

    def section(self, name: str, *parts: str) -> str:
        """A section with its heading."""
        return "\n\n".join((f"## {self.label(name)}", *parts))

    def prose(self, text: str) -> str:
        """A text of the check as Markdown."""
        return general(text)

    def facts(self) -> list[tuple[str, str]]:
        """Labels and values of the properties of the check."""
        check, label = self.check, self.label
        joined = "confirms" if check.family == RUN else "joins"
        return [
            (label("code"), check.code),
            (label("name"), f"`{check.name}`"),
            (label("severity"), self.severity()),
            (label("consequence"), self.consequence()),
            (label("confidence"), word(check.confidence, self.lang)),
            (label("category"), word(check.category, self.lang)),
            (label("topic"), f"`{check.topic}`"),
            (label("applies"), self.applies()),
            *([(label(joined), label("comma").join(check.joins))] if check.joins else []),
            *([(label("runs"), label("opt-in"))] if check.opt_in else []),
            (label("since"), f"{check.since} ({word(check.status, self.lang)})"),
            *([(label("confirmed"), self.confirmed())] if self.confirmed() else []),
            (
                label("fix"),
                label("comma").join(word(applicability, self.lang) for applicability in applicabilities(check)),
            ),
        ]

    def severity(self) -> str:
        """The severity, with the chips on which it holds, and why it does not follow from the consequence."""
        plain, chips = word(self.check.severity, self.lang), self.label("comma").join(self.check.severe_on)
        plain = say(self.lang, "page.severe", word=plain, chips=chips) if chips else plain
        because = self.check.because.get(self.lang)
        return say(self.lang, "page.deviates", word=plain, because=because) if because else plain

    def consequence(self) -> str:
        """What happens to the run, and when."""
        if self.check.consequence == HYGIENE:
            return word("hygiene-only", self.lang)
        what, when = word(self.check.consequence, self.lang), word(self.check.occurs, self.lang)
        return say(self.lang, "page.happens", what=what, when=when)

    def confirmed(self) -> str:
        """What shows that its findings are right: a table of the adapter, or how many findings of real projects were
        judged right; empty if none were judged."""
        if self.check.basis:
            return self.label(f"basis.{self.check.basis}")
        useful, right, judged = self.judged
        return count(self.lang, "page.judged", judged, true=right, useful=useful) if judged else ""

    def applies(self) -> str:
        """The programs that the check applies to."""
        applies, label = self.check.applies, self.label
        groups = (applies.frameworks, applies.states, tuple(f"way.{way}" for way in applies.migrations))
        parts = [label("comma").join(word(w, self.lang) for w in group) for group in groups]
        parts += [label("comma").join(f"`{w}`" for w in group) for group in (applies.modes, applies.soc)]
        parts += [f"{word(name, self.lang)} `{versions}`" for name, versions in applies.versions.items()]
        if applies.trains is not None:
            parts.append(label("trains" if applies.trains else "idle"))
        return label("stop").join(part for part in parts if part) or label("any")

    def safety(self) -> list[str]:
        """The section that says why safe fixes are safe; empty if none are."""
        reason = safe_reason(self.check, self.lang)
        return [self.section("safe", self.prose(reason))] if reason else []

    def examples(self, bad: bool) -> list[str]:
        """The section of bad or good examples; empty if none."""
        chosen = [self.example(example) for example in self.check.examples if example.bad == bad]
        return [self.section("bad" if bad else "good", *chosen)] if chosen else []

    def example(self, example: Example) -> str:
        """One example: target, files, and reported places."""
        parts = [f"{caption(name, example, self.lang)}\n\n{fenced(name, text)}" for name, text in example.files.items()]
        if example.target:
            parts.insert(0, self.label("comma").join(f"`{name}={value}`" for name, value in example.target.items()))
        if example.expect:
            places = self.label("comma").join(f"`{name}:{line}`" for name, line in example.expect)
            parts.append(f"{self.label('lines')} {places}")
        return "\n\n".join([*parts, *self.fix_diff(example)])

    def fix_diff(self, example: Example) -> list[str]:
        """The diff of the fixes in an example; empty if none."""
        patch = difference(example)
        return [self.label("fixed"), fenced("fixed.diff", patch)] if patch else []

    def references(self) -> list[str]:
        """The section of references; empty if none."""
        if not self.check.references:
            return []
        return [
            self.section(
                "references", "\n".join(f"- {self.reference(reference)}" for reference in self.check.references)
            )
        ]

    def reference(self, reference: Reference) -> str:
        """One reference, linked if it has a URL."""
        link, path = address(reference)
        linked = f"[{_cell(reference.title)}](<{link}>)" if link else reference.title
        return f"{linked} `{path}`" if path else linked


def applicabilities(check: Check) -> list[str]:
    """The applicabilities of its fix rules, with ``manual`` if some findings may not be fixed."""
    words = {rule.applicability for rule in check.fixes}
    if not words or all(rule.when is not None for rule in check.fixes):
        words.add("manual")
    return [word for word in ("safe", "unsafe", "manual") if word in words]


def safe_reason(check: Check, lang: str) -> str:
    """Why the safe fixes of a check are safe, and where they are not; empty if none are labelled so."""
    if check.safe is None:
        return ""
    parts = [check.safe.text[lang].rstrip(), *(heading(lang, f"only.{condition}") for condition in check.safe.only)]
    return ("" if lang == "zh" else " ").join(parts)


def caption(name: str, example: Example, lang: str) -> str:
    """The caption of a file of an example, for comparisons with its side."""
    side, _, below = name.partition("/")
    return f"{heading(lang, side)} `{below}`" if two_sided(example.files) else f"`{name}`"


def difference(example: Example) -> str:
    """The fixes of an example as a patch, without header for a single file."""
    from difflib import unified_diff  # rarely needed

    lines: list[str] = []
    for name, after in example.fixed.items():
        before = example.files.get(name, "").split("\n")
        patch = list(unified_diff(before, after.split("\n"), name, name, n=2, lineterm=""))
        lines += patch[3:] if len(example.files) == len(example.fixed) == 1 else patch
    return "\n".join(" …" if line.startswith("@@ ") else line for line in lines)


def general(text: str) -> str:
    """A text of a check with its captures as placeholders, outside of a finding."""
    return substitute(text, lambda capture: f"… {capture.form}" if capture.form in PLURALS else "…")


def render_page(check: Check, lang: str, judged: tuple[int, int, int] = (0, 0, 0)) -> str:
    """The page of one check in ``en`` or ``zh``; raises `KeyError` for another language."""
    return CheckPage(check, lang, judged).render()


def fenced(name: str, text: str, options: str = "") -> str:
    """A code block whose fence is longer than any backticks inside; `options` follow the language."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = _FENCES.get(name.rpartition(".")[2], "text") if "." in name else _NAMED.get(name, "text")
    return f"{fence}{' '.join(filter(None, (language, options)))}\n{text.rstrip(chr(10))}\n{fence}"


def heading(lang: str, name: str) -> str:
    """The heading of a section or the label of a property."""
    return say(lang, f"page.{name}")


def word(name: str, lang: str) -> str:
    """The display text of a word of check files (a severity, category or framework)."""
    key = f"word.{name}"
    return say(lang, key) if known(key) else name


def address(reference: Reference) -> tuple[str, str]:
    """The URL of a reference and the path of the file there; empty without one."""
    source = reference.source
    if source.startswith(("https://", "http://")):
        return source, ""
    match = _REPOSITORY.match(source)
    return (f"https://github.com/{match[1]}", match[2]) if match else ("", "")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

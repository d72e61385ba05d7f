"""The pages of checks: those of the catalogue, those of the engine, and codes that are gone."""

from __future__ import annotations

import re

from npulint.core.texts import say as say_npulint
from npulint.data.precision import precision
from npulint.judge.catalogue.check import Catalogue, Check, CheckText, Example, Reference
from npulint.judge.catalogue.codes import distance
from npulint.judge.catalogue.page import CheckPage, address, applicabilities, fenced, heading, word
from npulint.judge.postprocess.engine import ENGINE_RULES, EngineRule
from scripts.docsite import examples
from scripts.docsite.markup import Rated, escaped, front, inline, link, pill, pills, plain
from scripts.docsite.words import say, topic

Rule = Check | EngineRule
_QUIET = " data-search-exclude"  # of a section that would only repeat words of others in search results
_SUPPRESSIONS = "guides/suppressions-and-baseline.md"
_RELATED = 4
_ENGINE_EXAMPLES = {
    "syntax-error": {"train.py": "import tensorflow as tf\n\ndef train(dataset:\n    pass\n"},
    "file-not-read": {"train.py": "# -*- coding: unheard-of -*-\nimport tensorflow as tf\n"},
    "unused-suppression": {"train.py": "import tensorflow as tf\n\nsteps = 100  # npulint: ignore[native-dropout]\n"},
    "invalid-suppression": {"train.py": "import tensorflow as tf\n\nsteps = 100  # npulint: ignore[native-dropuot]\n"},
}


def path_of(name: str) -> str:
    """The file of the page of a check, whose address findings print."""
    return f"checks/{name}.md"


def topic_path(name: str) -> str:
    """The file of the page of a topic."""
    return f"topics/{slug(name)}.md"


def slug(topic_name: str) -> str:
    """How a topic is spelled in addresses."""
    return topic_name.replace("_", "-")


def title_of(rule: Rule, lang: str) -> str:
    """What a check is about, in a few words."""
    return rule.text[lang].title if isinstance(rule, Check) else say_npulint(lang, f"title.{rule.name}")


def all_rules(catalogue: Catalogue) -> list[Rule]:
    """Every check that has a page, by code."""
    return sorted((*catalogue.checks, *ENGINE_RULES), key=lambda rule: rule.code)


def rule_page(rule: Rule, catalogue: Catalogue, lang: str) -> str:
    """The page of a check."""
    return SitePage(rule, catalogue, lang).render() if isinstance(rule, Check) else _engine_page(rule, catalogue, lang)


def _engine_page(rule: EngineRule, catalogue: Catalogue, lang: str) -> str:
    """The page of a check that the engine makes."""
    files = _ENGINE_EXAMPLES[rule.name]
    found = examples.findings_of(files, {}, catalogue, rule.code, lang)
    marked = [(one.path, one.span.line) for one in found]
    parts = [
        *_head(rule, title_of(rule, lang), pills(rule, lang), lang),
        f'<div class="np-lead np-{rule.severity}">{inline(say_npulint(lang, f"about.{rule.name}"))}</div>',
        f"## {heading(lang, 'bad')} {{ #bad }}",
        examples.shown(files, {}, marked, lang),
        examples.reported(found, False, lang),
        say(lang, "engine.about"),
    ]
    return "\n\n".join(parts) + "\n"


def retired_page(code: str, reason: str, lang: str) -> str:
    """The page of a code that no check has any more."""
    here = path_of(code)
    about = say(lang, "retired.about")
    remove = say(lang, "retired.remove", link=link(here, "checks/index.md"))
    head = [front(title=code, tags=[code]), f"# {say(lang, 'retired', code=code)}"]
    return "\n\n".join([*head, about, f"> {inline(reason)}", remove]) + "\n"


def _head(rule: Rated, title: str, badges: str, lang: str) -> list[str]:
    return [
        front(
            title=f"{rule.name} ({rule.code})",
            description=re.sub(r"\s+", " ", title).replace("`", ""),
            tags=[rule.code, rule.name],
            hide=["navigation"],
            crumbs=[["checks/", say(lang, "nav.checks")], [f"topics/{slug(rule.topic)}/", topic(lang, rule.topic)]],
        ),
        f"# {inline(title)}",
        f'<p class="np-name"><code>{plain(rule.name)}</code> <span>{rule.code}</span></p>',
        f'<p class="np-pills">{badges}</p>',
    ]


class SitePage(CheckPage):
    """The page with badges, highlighted lines, tabs, what npulint says of each bad example, and ways on."""

    def __init__(self, check: Check, catalogue: Catalogue, lang: str) -> None:
        super().__init__(check, lang, precision(check.code).judged)
        self.catalogue = catalogue
        self.alone = Catalogue((check,))
        self.here = path_of(check.name)
        self.text = self._filled()

    def _filled(self) -> CheckText:
        """The texts as the first finding of the first bad example says them, its captures filled in."""
        bad = next((example for example in self.check.examples if example.bad), None)
        found = examples.findings_of(bad.files, bad.target, self.alone, self.check.code, self.lang) if bad else []
        if not found:
            return self.text
        return CheckText(self.text.title, found[0].message, found[0].why, found[0].fix.text)

    def head(self) -> list[str]:
        check = self.check
        badges = [pills(check, self.lang)]
        mending = [one for one in applicabilities(check) if one != "manual"]
        badges += [pill(say(self.lang, f"fix.{one}"), f"np-fix-{one}") for one in mending]
        if check.status != "stable":
            badges.append(pill(word(check.status, self.lang), "np-preview", say(self.lang, "preview.tip")))
        badges.append(pill(say(self.lang, "since", version=check.since)))
        applies = self.applies().split(self.label("stop"))
        chips = " ".join(f"<span>{inline(part)}</span>" for part in applies)
        return [
            *_head(check, self.text.title, " ".join(badges), self.lang),
            f'<p class="np-applies"><b>{self.label("applies")}</b> {chips}</p>',
        ]

    def section(self, name: str, *parts: str) -> str:
        if name == "what":  # the first words of the page need no heading
            return f'<div class="np-lead np-{self.check.severity}">{parts[0]}</div>'
        heading = f"## {self.label(name)} {{ #{name}{_QUIET if name in ('good', 'references') else ''} }}"
        if name == "how":
            return f'{heading}\n\n<div class="np-fix">{parts[0]}</div>'
        return "\n\n".join((heading, *parts))

    def prose(self, text: str) -> str:
        return inline(text)

    def example(self, example: Example) -> str:
        parts = [examples.shown(example.files, example.target, example.expect, self.lang)]
        if example.bad:
            found = examples.findings_of(example.files, example.target, self.alone, self.check.code, self.lang)
            parts.append(examples.reported(found, len(example.files) > 1, self.lang))
            parts += self.fix_diff(example)
        return "\n\n".join(parts)

    def reference(self, reference: Reference) -> str:
        where, path = address(reference)
        title = inline(reference.title)
        linked = f"[{title}](<{where}>)" if where else title
        return f"{linked} <code>{escaped(path)}</code>" if path else linked

    def tail(self) -> list[str]:
        return [*self._silence(), *self._related()]

    def _silence(self) -> list[str]:
        name, lang = self.check.name, self.lang
        about = say(lang, "silence.about", link=link(self.here, _SUPPRESSIONS), setting=f'`ignore = ["{name}"]`')
        line = silenced(self.check, say(lang, "silence.reason"))
        shown = [] if line is None else [fenced(*line)]
        return [f"## {say(lang, 'silence')} {{ #silence{_QUIET} }}", about, *shown]

    def _related(self) -> list[str]:
        check, lang = self.check, self.lang
        others = [one for one in self.catalogue.checks if one.topic == check.topic and one.name != check.name]
        if not others:
            return []
        near = sorted(others, key=lambda one: (one.family != check.family, distance(one.code, check.code)))
        rows = [_row(self.here, one, lang) for one in sorted(near[:_RELATED], key=lambda one: one.code)]
        title = topic(lang, check.topic)
        parts = [f"## {say(lang, 'related', topic=title)} {{ #related{_QUIET} }}", "\n".join(rows)]
        if len(others) > _RELATED:
            more = say(lang, "related.more", n=len(others) + 1, topic=title)
            parts.append(f"[{more}]({link(self.here, topic_path(check.topic))})")
        return parts


def silenced(check: Check, reason: str) -> tuple[str, str] | None:
    """A file name and the reported line of the first bad example under a comment that silences it; None where
    the check reports nothing that a comment may stand above."""
    for example in check.examples:
        for name, line in example.expect if example.bad else ():
            if name.endswith((".py", ".sh")):
                code = example.files[name].split("\n")[line - 1]
                indent = code[: len(code) - len(code.lstrip())]
                return name, _dedented(f"{indent}# npulint: ignore[{check.name}] {reason}\n{code}", indent)
    return None


def _dedented(text: str, indent: str) -> str:
    return "\n".join(line.removeprefix(indent) for line in text.split("\n"))


def _row(here: str, rule: Rule, lang: str) -> str:
    return f"- [{inline(title_of(rule, lang))}]({link(here, path_of(rule.name))})"

"""What surrounds the sections of a page: head, title, navigation, style and script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

import msgspec

from npulint import __version__
from npulint.core.texts import say
from npulint.report.html.markup import escape_html
from npulint.report.view import ProjectStamp

# Style, script and icon of the page, and the content security policy that allows only these.

_ICON_COLORS = {"blocked": "b3261e", "open": "b26a00", "check": "2f5f9e", "ready": "1c6b3c"}


def asset(name: str) -> str:
    """The text of a file in this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """The content security policy for a page with this style and script."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def icon(word: str) -> str:
    """The favicon: a disc in the colour of the verdict."""
    color = _ICON_COLORS.get(word, "5b6472")
    shape = f"<circle cx='8' cy='8' r='7' fill='%23{color}'/>"
    return f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>{shape}</svg>"


_LANGUAGES = {"en": "en", "zh": "zh-CN"}


class Frame(msgspec.Struct, frozen=True):
    """The texts around the sections. `banner`, `target` and `patterns` (definitions of the charts) are HTML, `tone`
    selects the colour of the icon, `styles` are further style sheets, `project` says what the page is about."""

    title: str
    heading: str
    tone: str
    banner: str
    target: str = ""
    patterns: str = ""
    styles: Sequence[str] = ()
    project: ProjectStamp | None = None


def framed(lang: str, frame: Frame, sections: Mapping[str, str]) -> str:
    """The whole page of `sections`, by their names. It is readable without scripts and loads nothing."""
    links = "".join(f'<li><a href="#{name}">{say(lang, f"html.section.{name}")}</a></li>' for name in sections)
    main = "\n".join(sections.values())
    style, script = "".join(map(asset, ("page.css", *frame.styles))), asset("page.js")
    return f"""<!DOCTYPE html>
<html lang="{_LANGUAGES[lang]}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="npulint {__version__}">
<title>{_window_title(frame)}</title>
<link rel="icon" href="{icon(frame.tone)}">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#findings">{say(lang, "html.skip")}</a>
{frame.patterns}
<header class="top"><div>
{_head(frame, lang)}
{frame.target}
</div></header>
<nav aria-label="{say(lang, "html.sections")}"><ul>{links}</ul></nav>
<main>
{frame.banner}
{main}
</main>
<footer>npulint {__version__}</footer>
<script>{script}</script>
</body>
</html>
"""


def _window_title(frame: Frame) -> str:
    name = f"{escape_html(frame.project.name)} · " if frame.project else ""
    return f"{name}{frame.heading} · {frame.title}"


def _head(frame: Frame, lang: str) -> str:
    """The title, below the name, commit and date of the project if they are known."""
    project = frame.project
    if project is None:
        return f"<h1>{frame.title}</h1>"
    commit = (
        say(lang, "html.commit", commit=f"<code>{escape_html(project.commit[:12])}</code>") if project.commit else ""
    )
    about = "".join(f"<span>{part}</span>" for part in (commit, escape_html(project.date)) if part)
    return (
        f'<div class="about-project"><h1><b>{escape_html(project.name)}</b> <span>{frame.title}</span></h1>'
        f'<p class="stamp">{about}</p></div>'
    )

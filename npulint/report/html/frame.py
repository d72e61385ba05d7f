"""What surrounds the sections of a page: head, title, navigation, style and script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from npulint import __version__
from npulint.report.html.assets import asset, icon, policy
from npulint.texts import say

_LANGUAGES = {"en": "en", "zh": "zh-CN"}


class Frame(msgspec.Struct, frozen=True):
    """The texts around the sections. `banner`, `target` and `patterns` (definitions of the charts) are HTML, `tone`
    selects the colour of the icon, `styles` are further style sheets."""

    title: str
    heading: str
    tone: str
    banner: str
    target: str = ""
    patterns: str = ""
    styles: Sequence[str] = ()


def framed(lang: str, frame: Frame, sections: Mapping[str, str]) -> str:
    """The whole page of `sections`, by their names. It is readable without scripts, loads nothing, and contains no
    timestamp."""
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
<title>{frame.heading} · {frame.title}</title>
<link rel="icon" href="{icon(frame.tone)}">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#findings">{say(lang, "html.skip")}</a>
{frame.patterns}
<header class="top"><div>
<h1>{frame.title}</h1>
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

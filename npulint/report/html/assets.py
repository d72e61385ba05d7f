"""Style, script and icon of the page, and the content security policy that allows only these."""

from __future__ import annotations

from importlib.resources import files

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

"""The JSON schema of the configuration, made from the table of options."""

from __future__ import annotations

from typing import Any

from npulint.commands.settings.config import defaults
from npulint.commands.settings.config_files import EXTEND
from npulint.commands.settings.options import FRAMEWORKS, OPTIONS, Option
from npulint.core.texts import say
from npulint.judge.settings import DOCS_URL

DRAFT = "http://json-schema.org/draft-07/schema#"
ADDRESS = "https://json.schemastore.org/npulint.json"


def schema() -> dict[str, Any]:
    """The schema of ``npulint.toml``, which is that of the table ``[tool.npulint]`` as well."""
    options = {option.key: _property(option) for option in OPTIONS if option.config}
    extend = {"type": "string", "minLength": 1, "description": _sentence(say("en", "options.extend"))}
    return {
        "$schema": DRAFT,
        "$id": ADDRESS,
        "title": "npulint",
        "description": f"Configuration of npulint; see {DOCS_URL}/en/guides/configuration/",
        "type": "object",
        "additionalProperties": False,
        "properties": dict(sorted({EXTEND: extend, **options}.items())),
    }


def pyproject() -> dict[str, Any]:
    """The schema of the part of ``pyproject.toml``."""
    tool = {"type": "object", "properties": {"npulint": {"$ref": ADDRESS}}}
    return {"$schema": DRAFT, "type": "object", "properties": {"tool": tool}}


def _property(option: Option) -> dict[str, Any]:
    default = defaults()[option.key]
    has_default = default not in ("", None) and default != () and default != {}
    return {
        **_type(option),
        "description": _sentence(_said(option)),
        **({"default": default} if has_default else {}),
    }


def _said(option: Option) -> str:
    """The help; of a flag that is on by default, which tells what switching it off does."""
    text = option.help("en").removesuffix(" (repeatable)")
    return f"if false, {text}" if option.default_on else text


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _type(option: Option) -> dict[str, Any]:
    texts = {"type": "array", "items": {"type": "string", "minLength": 1}}
    choices = {"type": "string", "enum": list(option.choices)}
    of_kind: dict[str, dict[str, Any]] = {
        "flag": {"type": "boolean"},
        "choice": choices,
        "number": {"type": "integer", "minimum": 0, "maximum": 999_999},
        "text": {"type": "string", "minLength": 1},
        "url": {"type": "string", "pattern": "^https?://"},
        "list": texts,
        "folders": texts,
        "levels": {"type": "object", "additionalProperties": choices},
        "groups": {"type": "object", "additionalProperties": texts},
    }
    return of_kind[option.kind] if option.kind in of_kind else _map(option)


def _map(option: Option) -> dict[str, Any]:
    """A table with known keys: limits, or releases of the target."""
    number: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 999_999}
    value = number if option.name == "budget" else {"type": "string", "minLength": 1}
    properties = dict.fromkeys(option.choices, value)
    if "framework" in properties:
        properties["framework"] = {"type": "string", "enum": list(FRAMEWORKS)}
    return {"type": "object", "additionalProperties": False, "properties": properties}

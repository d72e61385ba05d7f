"""Configuration files in YAML, JSON, TOML, INI, gin and protobuf text format: values with places."""

from __future__ import annotations

from typing import ClassVar

from npulint.core.lazy_regex import lazy_compile
from npulint.discover.file_filter import describes_containers
from npulint.facts.model import Fact, FileFact, FileFacts, Problem, Span
from npulint.read.chip_names import chip_names
from npulint.read.configuration.leaves import Leaf, TooMuchError, Tree, UnreadableError, leaves, typed
from npulint.read.source import DecodedSource

LIMIT = 1 << 20
"""Maximum characters of a configuration file; larger ones are data."""

KIND = "configuration"
_PACKAGE = lazy_compile(r"\s*#[ \t]*@package[ \t]+(\S+)")
_SYNTAX = {
    "yaml": "yaml",
    "yml": "yaml",
    "json": "json",
    "toml": "lines",
    "ini": "lines",
    "cfg": "lines",
    "conf": "lines",
    "gin": "lines",
    "pbtxt": "protobuf",
    "prototxt": "protobuf",
    "config": "protobuf",
}


class ConfigLeaf(FileFact):
    """A value of a configuration file: a scalar or a list; the name is its dotted key. No check sees it."""

    kind: ClassVar[str] = "config_value"

    key: tuple[str, ...]
    value: object


class ConfigPackage(FileFact):
    """The package that a hydra comment declares for a configuration file, which is the name. No check sees it."""

    kind: ClassVar[str] = "config_package"


def read_configuration(source: DecodedSource, path: str) -> FileFacts:
    """One `ConfigLeaf` for every value of a configuration file, before them a `ConfigPackage` if it declares one; for
    one that describes containers, facts about these. Never raises: unreadable input becomes a `Problem`
    (``syntax-error``, ``json``, ``too-large``, ``too-deep``)."""
    if len(source.text) > LIMIT:
        return FileFacts(path, KIND, problems=[Problem(path, "too-large", f"> {LIMIT}")])
    try:
        if _syntax(path) == "yaml" and describes_containers(source.text.encode()):
            return FileFacts(path, KIND, facts=_of_containers(source.text, path))
        leafs = leaves(_tree(source.text, path))
    except TooMuchError as error:
        return FileFacts(path, KIND, problems=[Problem(path, "too-large", str(error))])
    except UnreadableError as error:
        return FileFacts(path, KIND, problems=[Problem(path, error.reason, error.detail, error.span)])
    package = _PACKAGE.match(source.text)
    packages = [ConfigPackage(package.group(1), path, Span())] if package else []
    return FileFacts(path, KIND, facts=[*packages, *(_fact(leaf, path) for leaf in leafs)])


def configuration_leaves(text: str, path: str) -> list[ConfigLeaf]:
    """The values of a configuration in their order; none if it cannot be read."""
    try:
        return [_fact(leaf, path) for leaf in leaves(_tree(text, path))]
    except (TooMuchError, UnreadableError):
        return []


def _syntax(path: str) -> str:
    return _SYNTAX.get(path.rpartition(".")[2].lower(), "lines")


def _of_containers(text: str, path: str) -> list[Fact]:
    from npulint.read.configuration.manifests import manifest_facts
    from npulint.read.configuration.yaml_values import yaml_documents

    try:
        return [*manifest_facts(yaml_documents(text), path), *chip_names(text, path)]
    except (TooMuchError, UnreadableError):
        return []  # a template of Helm or Jinja


def _tree(text: str, path: str) -> Tree:
    """The values of a file; the file name determines the syntax."""
    syntax = _syntax(path)
    if syntax == "yaml":
        from npulint.read.configuration.yaml_values import yaml_values

        return yaml_values(text)
    if syntax == "json":
        from npulint.read.configuration.leaves import json_values

        return json_values(text)
    if syntax == "protobuf":
        from npulint.read.configuration.leaves import protobuf_values

        return protobuf_values(text)
    from npulint.read.configuration.line_values import line_values

    return line_values(text)


def _fact(leaf: Leaf, path: str) -> ConfigLeaf:
    return ConfigLeaf(".".join(leaf.key), path, leaf.span, leaf.key, leaf.value)


__all__ = [
    "KIND",
    "LIMIT",
    "ConfigLeaf",
    "ConfigPackage",
    "Leaf",
    "configuration_leaves",
    "read_configuration",
    "typed",
]

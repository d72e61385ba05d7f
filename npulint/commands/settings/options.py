"""The table of options: source of the command line, the configuration keys, the help and the documentation."""

from __future__ import annotations

import msgspec

from npulint.core.texts import say
from npulint.judge.findings import CONFIDENCES, SEVERITIES
from npulint.judge.settings import FORMATS, LIMITED, PORTS, TARGET_KEYS

GROUPS = ("rules", "fixes", "output", "files", "run")


class Option(msgspec.Struct, frozen=True):
    """One option. `name` is the field of `Settings`, from which flag and configuration key are derived. Kinds: ``flag``
    (yes/no), ``choice`` (one of `choices`), ``number`` (from 0), ``text``, ``url`` (http or https), ``list``
    (comma-separated or repeated), ``folders`` (repeated; relative to the configuration file that sets it), ``map``
    (KEY=VALUE with the keys `choices`), ``pairs`` (CHOICE=TEXT, repeated), ``levels`` (CHECK=CHOICE, repeated),
    ``groups`` (PATTERN=CHECKS, repeated). `default_on` is a flag's default. `config` says whether a configuration file
    may set it. `is_path`: a configuration file may only name paths below its folder. `text` is the key of its help
    among those of options, if not the name; `short` a flag of one letter with the same meaning, `alias` another
    spelling of the flag, which is accepted but not shown."""

    name: str
    kind: str
    group: str
    choices: tuple[str, ...] = ()
    metavar: str = ""
    default_on: bool = False
    config: bool = True
    is_path: bool = False
    text: str = ""
    short: str = ""
    alias: str = ""

    @property
    def key(self) -> str:
        """The spelling in configuration files."""
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """The spelling on the command line; ``--no-…`` for a flag that is on by default."""
        return f"--no-{self.key}" if self.default_on else f"--{self.key}"

    def help(self, lang: str) -> str:
        """What it does, in a line."""
        return say(lang, f"options.{self.text or self.name}", choices=say(lang, "list.and").join(self.choices))


SELECT = Option("select", "list", "rules", metavar="CHECKS")
PREVIEW = Option("preview", "flag", "rules", default_on=True)
CHECKS = Option("checks", "folders", "rules", metavar="DIR", is_path=True)
LANG = Option("lang", "choice", "output", choices=("auto", "en", "zh"))
REFERENCE = Option("reference", "text", "rules", metavar="DIR", is_path=True)
FORMAT = Option("format", "choice", "output", choices=FORMATS, alias="output-format")
LIST_FORMAT = Option("format", "choice", "output", choices=("text", "json"), config=False, text="format.list")

OPTIONS: tuple[Option, ...] = (
    SELECT,
    Option("extend_select", "list", "rules", metavar="CHECKS"),
    Option("ignore", "list", "rules", metavar="CHECKS", alias="extend-ignore"),
    Option("per_file_ignores", "groups", "rules", metavar="PATTERN=CHECKS"),
    Option("severity", "levels", "rules", choices=SEVERITIES, metavar="CHECKS=SEVERITY"),
    Option("min_severity", "choice", "rules", choices=SEVERITIES),
    Option("min_confidence", "choice", "rules", choices=CONFIDENCES),
    PREVIEW,
    CHECKS,
    Option("target", "map", "rules", choices=TARGET_KEYS, metavar="KEY=VALUE"),
    Option("supported_ops", "folders", "rules", metavar="PATH", is_path=True),
    Option("fix", "flag", "fixes"),
    Option("unsafe_fixes", "flag", "fixes"),
    Option("fix_only", "flag", "fixes"),
    Option("diff", "flag", "fixes", config=False),
    Option("show_fixes", "flag", "fixes"),
    Option("unfixable", "list", "fixes", metavar="CHECKS"),
    Option("torch_port", "choice", "fixes", choices=PORTS),
    REFERENCE,
    Option("against", "text", "run", metavar="PROFILE", config=False),
    FORMAT,
    Option("output", "pairs", "output", choices=FORMATS, metavar="FORMAT=FILE", config=False),
    LANG,
    Option("color", "choice", "output", choices=("auto", "always", "never")),
    Option("docs_url", "url", "output", metavar="URL"),
    Option("source_url", "text", "output", metavar="URL"),
    Option("history", "folders", "output", metavar="REPORT", config=False),
    Option("verbose", "flag", "output", short="v"),
    Option("quiet", "flag", "output", short="q"),
    Option("silenced", "flag", "output", default_on=True),
    Option("statistics", "flag", "output"),
    Option("exclude", "list", "files", metavar="PATTERNS"),
    Option("extend_exclude", "list", "files", metavar="PATTERNS"),
    Option("respect_gitignore", "flag", "files", default_on=True),
    Option("force_exclude", "flag", "files"),
    Option("consequences_since", "text", "files", metavar="REV", config=False),
    Option("stdin_filename", "text", "files", metavar="FILE", config=False),
    Option("show_files", "flag", "files", config=False),
    Option("fail_on", "choice", "run", choices=("error", "warning", "note", "never")),
    Option("baseline", "text", "run", metavar="FILE", is_path=True),
    Option("write_baseline", "flag", "run", config=False),
    Option("prune_baseline", "flag", "run", config=False),
    Option("add_ignore", "flag", "run", config=False),
    Option("exit_zero", "flag", "run", short="e"),
    Option("exit_non_zero_on_fix", "flag", "run"),
    Option("watch", "flag", "run", config=False, short="w"),
    Option("jobs", "number", "run", metavar="N"),
    Option("budget", "map", "run", choices=LIMITED, metavar="KEY=NUMBER"),
    Option("cache", "flag", "run", default_on=True),
    Option("config", "text", "run", metavar="FILE", config=False),
    Option("isolated", "flag", "run", config=False),
)

"""The table of commands. A command's module is imported when it is run."""

from __future__ import annotations

import msgspec

from npulint.commands.settings.options import CHECKS, LANG, LIST_FORMAT, OPTIONS, PREVIEW, SELECT, Option
from npulint.core.texts import say


class Command(msgspec.Struct, frozen=True):
    """One command. `module` below ``npulint.hosts.cli`` has ``run(words, options, host, lang) -> int``; `words` names
    the positional arguments, `least` is their minimum number."""

    name: str
    module: str
    words: str
    options: tuple[Option, ...]
    least: int = 0
    most: int = 0

    def help(self, lang: str) -> str:
        """What it does, in a line."""
        return say(lang, f"commands.{self.name}")

    def words_help(self, lang: str) -> str:
        """What its positional arguments are, in a line."""
        return say(lang, f"commands.{self.name}.words", shells=say(lang, "list.and").join(SHELLS))


TARGET = next(option for option in OPTIONS if option.name == "target")
ROOT = Option("root", "text", "files", metavar="DIR", config=False)
SCHEMA = Option("schema", "flag", "output", config=False)
STDIO = Option("stdio", "flag", "run", config=False)

PARTS = ("config", "pre-commit", "github", "gitlab", "vscode", "skill")
INIT: tuple[Option, ...] = (
    Option("with", "list", "files", choices=PARTS, metavar="PARTS", config=False),
    Option("dry_run", "flag", "run", config=False),
)
STYLES = ("transfer", "npu", "agnostic")
PLAN_FORMATS = ("text", "json", "markdown")
VERBOSE = Option("verbose", "flag", "output", config=False, text="verbose.version")
SHELLS = ("bash", "zsh", "fish", "powershell")

_NOT_COMPARED = (
    *("reference", "fix", "unsafe_fixes", "diff", "show_fixes", "unfixable", "torch_port"),
    *("supported_ops", "consequences_since", "stdin_filename", "show_files"),
    *("fix_only", "exit_non_zero_on_fix", "add_ignore", "watch"),
)
GIT = Option("git", "text", "files", metavar="RANGE", config=False)
RUNS = (
    Option("reference_run", "text", "run", metavar="PATH", config=False),
    Option("migrated_run", "text", "run", metavar="PATH", config=False),
)
COMPARE = (
    GIT,
    *RUNS,
    Option("entry", "list", "files", metavar="REF=MIG", config=False, text="entry.compare"),
    Option("all", "flag", "output", config=False, text="all.compare"),
    *(option for option in OPTIONS if option.name not in _NOT_COMPARED),
)

_OF_FILES = (
    *("reference", "fix", "unsafe_fixes", "diff", "show_fixes", "unfixable", "supported_ops", "consequences_since"),
    *("stdin_filename", "show_files", "force_exclude", "baseline", "write_baseline", "prune_baseline"),
    *("fix_only", "exit_non_zero_on_fix", "add_ignore", "watch"),
)
TRY = (
    Option("module", "flag", "run", config=False, short="m"),
    Option("steps", "number", "run", metavar="N", config=False),
    Option("time_limit", "number", "run", metavar="SECONDS", config=False),
    Option("explain_differences", "flag", "run", config=False),
    Option("memory_limit", "number", "run", metavar="GB", config=False),
    Option("nproc", "number", "run", metavar="N", config=False),
    Option("devices", "number", "run", metavar="N", config=False),
    Option("synthetic", "flag", "run", config=False),
    Option("python", "text", "run", metavar="FILE", config=False),
    Option("framework", "choice", "run", choices=("torch", "tensorflow"), config=False),
    *(option for option in OPTIONS if option.name not in _OF_FILES),
)

_OF_PORT = (
    *("select", "extend_select", "ignore", "preview", "checks", "target", "unfixable", "lang", "color", "verbose"),
    *("exclude", "extend_exclude", "respect_gitignore", "jobs", "budget", "cache", "config", "isolated"),
)
PORT = (
    Option("style", "choice", "fixes", choices=STYLES, config=False),
    Option("entry", "list", "fixes", metavar="FILE", config=False),
    Option("write", "flag", "fixes", config=False),
    Option("commit", "flag", "fixes", config=False),
    Option("diff", "flag", "fixes", config=False, text="diff.port"),
    Option("format", "choice", "output", choices=PLAN_FORMATS, config=False, text="format.port"),
    *(option for option in OPTIONS if option.name in _OF_PORT),
)

EFFORT_FORMATS = ("text", "json", "markdown", "html", "xlsx")
EFFORT_OUTPUT = Option("output", "pairs", "output", choices=EFFORT_FORMATS, metavar="FORMAT=FILE", config=False)
EFFORT = (
    Option("format", "choice", "output", choices=EFFORT_FORMATS, config=False, text="format.effort"),
    EFFORT_OUTPUT,
    *(option for option in OPTIONS if option.name in _OF_PORT),
)

_OF_SURVEY = (
    *("select", "extend_select", "ignore", "min_severity", "min_confidence", "preview", "checks", "target"),
    *("supported_ops", "lang", "exclude", "extend_exclude", "respect_gitignore", "budget", "cache"),
    *("config", "isolated"),
)
SURVEY = (
    Option("out", "text", "output", metavar="DIR", config=False),
    Option("reports", "flag", "output", default_on=True, config=False),
    Option("scheduler", "text", "run", metavar="ADDRESS", config=False),
    Option("restart", "flag", "run", config=False),
    Option("jobs", "number", "run", metavar="N", config=False, text="jobs.survey"),
    Option("time_limit", "number", "run", metavar="SECONDS", config=False, text="time_limit.survey"),
    Option("memory_limit", "number", "run", metavar="GB", config=False, text="memory_limit.survey"),
    *(option for option in OPTIONS if option.name in _OF_SURVEY),
)

_DOCTOR_FORMATS = ("text", "json", "markdown", "html")
DOCTOR_FORMAT = Option("format", "choice", "output", choices=_DOCTOR_FORMATS, config=False, text="format.doctor")
DOCTOR_OUTPUT = Option("output", "pairs", "output", choices=_DOCTOR_FORMATS, metavar="FORMAT=FILE", config=False)
DOCTOR = (
    Option("deep", "flag", "run", config=False),
    Option("time_limit", "number", "run", metavar="SECONDS", config=False, text="time_limit.doctor"),
    Option("python", "text", "run", metavar="FILE", config=False, text="python.doctor"),
    Option("dump", "text", "output", metavar="FILE", config=False),
    Option("compare", "text", "output", metavar="FILE", config=False),
    DOCTOR_FORMAT,
    DOCTOR_OUTPUT,
)

START = Option("start", "text", "run", metavar="COMMAND", config=False)

COMMANDS: tuple[Command, ...] = (
    Command("check", "check", "PATHS", OPTIONS),
    Command("compare", "compare", "REFERENCE MIGRATED", COMPARE, most=2),
    Command("port", "port", "PROJECT", PORT, least=1, most=1),
    Command("effort", "effort", "PATHS", EFFORT),
    Command("survey", "survey", "FOLDER|LIST", SURVEY, least=1, most=1),
    Command("try", "try_command", "SCRIPT", TRY, least=1),
    Command("explain", "explain", "CODE|NAME", (LANG, CHECKS), least=1),
    Command("rules", "rules", "", (SELECT, PREVIEW, LIST_FORMAT, LANG, CHECKS)),
    Command("versions", "versions", "PACKAGES", (TARGET, LIST_FORMAT, LANG)),
    Command("doctor", "doctor", "SNAPSHOT", (*DOCTOR, LANG, CHECKS), most=1),
    Command("facts", "facts", "FILE", (LIST_FORMAT, LANG), least=1, most=1),
    Command("reveal", "reveal", "PROJECT", (START, LIST_FORMAT, LANG), least=1, most=1),
    Command("new", "new", "FAMILY/NAME", (CHECKS, LANG), least=1, most=1),
    Command("test", "examples", "FILES", (CHECKS, LANG)),
    Command("server", "server", "", (STDIO, LANG)),
    Command("mcp", "mcp_server", "", (ROOT, LANG)),
    Command("init", "init", "DIR", (*INIT, LANG), most=1),
    Command("config", "config", "PATH", (SCHEMA, *OPTIONS), most=1),
    Command("version", "version", "", (VERBOSE, LANG)),
    Command("completion", "completion", "SHELL", (LANG,), least=1, most=1),
)

"""The complete, validated settings of one run; `npulint.config` builds them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Literal

import msgspec

from npulint.core.budget import Budget

if TYPE_CHECKING:
    from npulint.discover.files import DiscoverOptions
    from npulint.discover.paths import Boundary

PEOPLE_FORMATS = ("text", "concise", "github", "markdown", "html")
MACHINE_FORMATS = ("json", "jsonl", "sarif", "gitlab", "junit", "checkstyle", "agent")
FORMATS = PEOPLE_FORMATS + MACHINE_FORMATS
FILTERED_FORMATS = ("html",)  # interactive: readers filter findings themselves
DOCS_URL = "https://npulint.readthedocs.io"
"""The published documentation of the built-in checks; a team without internet access can set its own copy."""
PORTS = ("explicit", "transfer", "agnostic")
RANK = {"note": 0, "warning": 1, "error": 2, "never": 3}
LIMITED = ("time", "memory")
UNNAMED = "stdin.py"
"""The name of standard input that was given none; it belongs to no project."""
TARGET_KEYS = ("framework", "tensorflow", "torch", "adapter", "cann", "soc")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a run; fields are named as the options of the command line. `base` is the folder that `exclude`,
    `extend_exclude` and `per_file_ignores` are relative to, `config` the configuration file (both empty: none).
    `exclude` is None for the default exclusions. `baseline` is the path of a baseline file, `reference` the project
    before its migration, `entries` pairs of an entry script of the reference and its counterpart, `all_differences`
    lists those with little effect too (both of ``npulint compare`` alone), `against` a profile that the checked ones
    are compared with (empty: none). `supported_ops` are operator lists or folders with operator packages; empty: the
    built-in list. `supported_ops_within` is the folder that links in them must not leave (empty: the user named them).
    `budget` limits seconds (``time``) and MB (``memory``) of a project. An empty `docs_url` omits links to
    documentation, an empty `source_url` is inferred from the repository. `history` are earlier JSON reports, oldest
    first. An empty `min_severity` means warning in formats for people and note in others. `lang` is ``en`` or ``zh``.
    `stdin` holds standard input, checked under the name `stdin_filename`, or alone under the name `UNNAMED`.
    `per_file_ignores` are ignored checks by pattern of files, `severity` severities by check, prefix of codes, topic or
    category."""

    paths: tuple[str, ...] = (".",)
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    severity: dict[str, str] = {}
    checks: tuple[str, ...] = ()
    target: dict[str, str] = {}
    supported_ops: tuple[str, ...] = ()
    supported_ops_within: str = ""
    preview: bool = True
    min_severity: str = ""
    min_confidence: str = "low"
    fail_on: str = "error"
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    watch: bool = False
    fix: bool = False
    fix_only: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    show_fixes: bool = False
    unfixable: tuple[str, ...] = ()
    torch_port: Literal["explicit", "transfer", "agnostic"] = "explicit"
    reference: str = ""
    entries: tuple[tuple[str, str], ...] = ()
    all_differences: bool = False
    against: str = ""
    format: str = "text"
    output: tuple[tuple[str, str], ...] = ()
    baseline: str = ""
    write_baseline: bool = False
    prune_baseline: bool = False
    add_ignore: bool = False
    lang: str = "en"
    docs_url: str = DOCS_URL
    color: str = "auto"
    verbose: bool = False
    quiet: bool = False
    statistics: bool = False
    silenced: bool = True
    source_url: str = ""
    history: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    consequences_since: str = ""
    show_files: bool = False
    jobs: int = 0
    budget: dict[str, int] = {}
    cache: bool = True
    stdin_filename: str = ""
    stdin: bytes | None = None
    base: str = ""
    config: str = ""

    def language(self) -> str:
        """The language of all texts: ``en`` or ``zh``."""
        return "zh" if self.lang == "zh" else "en"

    def declared(self) -> tuple[str, str, str, str]:
        """The declared versions of the adapter, PyTorch and CANN, and the SoC version; empty where not declared."""
        adapter, torch, cann, soc = (self.target.get(key, "") for key in ("adapter", "torch", "cann", "soc"))
        return adapter, torch, cann, soc

    def tree_around(self, root: str) -> str | None:
        """The folder among `paths` that the project at `root` lies in; None where that is not known."""
        if root.startswith("/"):
            return None
        named = (posixpath.normpath(path.replace("\\", "/")) for path in self.paths)
        folders = ["" if path == "." else path for path in named]
        return max(
            (folder for folder in folders if not folder or f"{root}/".startswith(f"{folder}/")), key=len, default=None
        )

    def limits(self) -> Budget:
        """The limits on the time and memory that a file or project may take."""
        return Budget(**self.budget)

    def piped(self) -> dict[str, bytes]:
        """Standard input by file name; empty when nothing was piped in."""
        return {} if self.stdin is None else {self.stdin_filename: self.stdin}

    def alone(self) -> bool:
        """Whether standard input is checked without any project."""
        return self.stdin is not None and self.stdin_filename == UNNAMED

    def boundary(self) -> Boundary:
        """The folders whose files may be read and shown: around the checked paths and the reference."""
        from npulint.discover.paths import Boundary

        return Boundary((*self.paths, *filter(None, (self.reference, self.against))))

    def shown_from(self, format_name: str) -> str:
        """The lowest severity shown in this format. Formats for people hide notes, unless notes fail the run."""
        if self.min_severity:
            return self.min_severity
        if format_name not in PEOPLE_FORMATS or format_name in FILTERED_FORMATS:
            return "note"
        return "note" if self.fail_on == "note" else "warning"

    def discovery(self) -> DiscoverOptions:
        """The settings that select files."""
        from npulint.discover.files import EXCLUDED, DiscoverOptions

        return DiscoverOptions(
            exclude=tuple(EXCLUDED) if self.exclude is None else self.exclude,
            extend_exclude=self.extend_exclude,
            respect_gitignore=self.respect_gitignore,
            force_exclude=self.force_exclude,
            base=self.base,
        )

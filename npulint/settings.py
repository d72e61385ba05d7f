"""The settings of one run, complete and checked; `npulint.config` builds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from npulint.discover.files import DiscoverOptions

PEOPLE_FORMATS = ("text", "concise", "github", "markdown", "html")
MACHINE_FORMATS = ("json", "jsonl", "sarif", "gitlab", "junit", "checkstyle")
FORMATS = PEOPLE_FORMATS + MACHINE_FORMATS
FILTERED_FORMATS = ("html",)  # for people as well, but they choose there what they see
DOCS_URL = "https://npulint.readthedocs.io"
"""Where the pages of the built-in checks are published; a team without internet names a copy of its own."""
PORTS = ("explicit", "transfer")
RANK = {"note": 0, "warning": 1, "error": 2, "never": 3}
TARGET_KEYS = ("framework", "tensorflow", "torch", "adapter", "cann", "soc")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a run shall do. The fields are the options of `npulint.options`, their names the same.

    `base` is the folder that `exclude` and `extend_exclude` are relative to and `config` the file they
    were read from (both empty: none was found). `exclude` is None for the usual exclusions,
    `baseline` is the path of a baseline
    file, empty for none. `reference` is the project before its migration, which it is compared with, empty for none.
    `supported_ops` are lists of operators, or folders of operator packages that have some; none: the recorded list.
    `docs_url` may be empty: then findings name no page.
    `min_severity` is empty for "warning for people, note for machines". `lang` is ``en`` or ``zh``.
    `stdin` holds the bytes of the source that was piped in under the name `stdin_filename`.
    """

    paths: tuple[str, ...] = (".",)
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    target: dict[str, str] = {}
    supported_ops: tuple[str, ...] = ()
    min_severity: str = ""
    min_confidence: str = "low"
    fail_on: str = "error"
    exit_zero: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    show_fixes: bool = False
    unfixable: tuple[str, ...] = ()
    torch_port: str = "explicit"
    reference: str = ""
    format: str = "text"
    output: tuple[tuple[str, str], ...] = ()
    baseline: str = ""
    write_baseline: bool = False
    prune_baseline: bool = False
    lang: str = "en"
    docs_url: str = DOCS_URL
    color: str = "auto"
    verbose: bool = False
    statistics: bool = False
    silenced: bool = True
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    consequences_since: str = ""
    show_files: bool = False
    jobs: int = 0
    cache: bool = True
    stdin_filename: str = ""
    stdin: bytes | None = None
    base: str = ""
    config: str = ""

    def language(self) -> str:
        """The language of all texts: ``en`` or ``zh``."""
        return "zh" if self.lang == "zh" else "en"

    def declared(self) -> tuple[str, str, str, str]:
        """The declared releases of the adapter, PyTorch and CANN, and the chip; empty for what is not declared."""
        adapter, torch, cann, soc = (self.target.get(key, "") for key in ("adapter", "torch", "cann", "soc"))
        return adapter, torch, cann, soc

    def piped(self) -> dict[str, bytes]:
        """The bytes of standard input by file name; empty when nothing was piped in."""
        return {} if self.stdin is None else {self.stdin_filename: self.stdin}

    def shown_from(self, format_name: str) -> str:
        """The lowest severity that a report in this format shows. People are spared notes, unless
        notes make the run fail."""
        if self.min_severity:
            return self.min_severity
        if format_name not in PEOPLE_FORMATS or format_name in FILTERED_FORMATS:
            return "note"
        return "note" if self.fail_on == "note" else "warning"

    def discovery(self) -> DiscoverOptions:
        """The part of the settings that says which files are looked at."""
        from npulint.discover.files import EXCLUDED, DiscoverOptions

        return DiscoverOptions(
            exclude=tuple(EXCLUDED) if self.exclude is None else self.exclude,
            extend_exclude=self.extend_exclude,
            respect_gitignore=self.respect_gitignore,
            force_exclude=self.force_exclude,
            base=self.base,
        )

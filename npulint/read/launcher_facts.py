"""Facts from launchers: what shell scripts and Dockerfiles set, start and build on."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.container_images import Software, chip_of, software_of
from npulint.data.version_matrix import adapter_for
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact, Span

Via = Literal["shell", "dockerfile"]

NONE = "-"  # in messages, for nothing
_PORT_OPTIONS = ("master_port", "rdzv_endpoint", "dist_url", "init_method", "dist_port")
_STARTERS = frozenset(
    ("torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate", "deepspeed", "msrun")
)
_PROCESSES = ("nproc_per_node", "num_gpus", "num_processes")
_TORCH_IMAGE = lazy_compile(r"(?:^|/)pytorch/pytorch:(\d+\.\d+\.\d+)")
_SET_ENV = lazy_compile(r"(?i)(?:(?P<nnal>nnal|atb)|ascend-toolkit|/(?:cann|latest)[\w.-]*)(?:/[^/]+)*/set_?env\.\w+$")
_VARIANT = lazy_compile(
    r"(?:^|[/_.-])(?:gpus?|cuda|nvidia|rocm|amd|xpu|hpu|tpu|npu|ascend|cu\d+|dgx|trt|tensorrt)(?:$|[/_.\d-])"
)
_PORT = lazy_compile(r"(?:^|:)(\d+)/?$")


class VariableRecord(FileFact):
    """A variable of the environment is set. Checks see it as
    `npulint.model.programs.environment_variables.ScriptVariable`. `value` is None when it is computed, `guarded`: it is
    set under some condition only, `default`: the caller of the script may override the value, `used`: the script itself
    reads the variable."""

    kind: ClassVar[str] = "environment"

    value: str | None
    via: Via
    guarded: bool = False
    default: bool = False
    used: bool = False


class PassedWord(msgspec.Struct, frozen=True, array_like=True):
    """A positional argument, with ``*`` for what is not known of it."""

    text: str
    span: Span


class StartedScript(msgspec.Struct, frozen=True):
    """The script that a command line starts, and what is passed to it.

    `script` is the known end of its path, None if its name is not known; `path` is all of it, with ``*`` for computed
    parts, `folder` the working directory at its start (``*`` for computed parts, empty for that of the launcher).
    `sourced`: it runs in the same shell. `rounds`: iterations of the outermost loop around the start (0: unknown).
    `launcher_options` and `options` are values by name, None when computed; `places` and `launcher_places` have their
    places, where the option is written: that may be in an assignment to a variable.
    `defaults` are options whose value the caller may override, `apart` those whose value is a word of its own,
    `flags` those without a value; `partly` has the values that are partly known, with ``*`` for the rest. `words` are
    the positional arguments."""

    script: str | None
    path: str
    folder: str = ""
    sourced: bool = False
    rounds: int = 0
    launcher_options: dict[str, str | None] = {}
    launcher_places: dict[str, Span] = {}
    options: dict[str, str | None] = {}
    places: dict[str, Span] = {}
    defaults: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    partly: dict[str, str] = {}
    words: tuple[PassedWord, ...] = ()


@fact_kind("launch")
class LaunchFact(FileFact):
    """A launcher starts or sources a script; the name is the script as written."""

    record: StartedScript
    interpreter: str = ""
    """The program that runs the script, such as python3 or bash; empty if it is started directly."""
    launcher: str = ""
    """What starts its processes, such as torchrun or torch.distributed.launch; empty for a plain start."""
    guarded: bool = False
    """Whether it is started under some condition only."""
    loop: bool = False
    """Whether it is started in a loop of the script."""
    in_container: bool = False
    """Whether it is started in a container, which has its own environment."""

    # The following are known when the project is assembled.
    prepared: bool = False
    """Whether something in the project sets the toolkit up."""
    size: str = NONE
    """The number of devices in RANK_SIZE or CM_WORKER_SIZE, or `-`."""
    short: str = NONE
    """The number of processes that the loop starts, if they are more than `size`, or `-`."""
    visible: str = NONE
    """The devices that it may use, as a variable lists them, if it starts more processes than these, or `-`."""

    @attribute
    def processes(self) -> str:
        """The number of processes that its launcher starts on a machine, or `-`."""
        options = self.record.launcher_options
        texts = (options.get(name) for name in _PROCESSES if self.launcher in _STARTERS)
        return next((text for text in texts if text and text.isdecimal()), NONE)

    @attribute
    def sets_up(self) -> Literal["toolkit", "nnal", "nothing"]:
        """What a sourced script sets up: the CANN toolkit, or NNAL (ATB) in addition to it."""
        match = _SET_ENV.search(self.record.path) if self.record.sourced else None
        return "nothing" if match is None else "nnal" if match["nnal"] else "toolkit"

    @attribute
    def use_env(self) -> bool:
        """Whether the launcher has that option."""
        return "use_env" in self.record.launcher_options

    @attribute
    def port(self) -> str:
        """The port at which its processes meet, as its options say, or `-`."""
        for options in (self.record.launcher_options, self.record.options):
            for name in _PORT_OPTIONS:
                match = _PORT.search(options.get(name) or "")
                if match:
                    return match[1]
        return NONE


class CommandStart(FileFact):
    """A command of a framework starts a training; the name is the command with its subcommand. No check sees it."""

    kind: ClassVar[str] = "command_start"

    record: StartedScript
    guarded: bool = False


@fact_kind("command")
class ShellCommand(FileFact):
    """A script starts a program; the name is the program."""

    line: str
    """The command line."""
    guarded: bool = False
    """Whether it is started under some condition only."""
    loop: bool = False
    """Whether it is started in a loop of the script."""
    awaited: bool = False
    """Whether a loop repeats it until it succeeds, and nothing else ends the loop."""


@fact_kind("shell_problem")
class ShellProblem(FileFact):
    """A script does not do what it seems to: its lines end as on Windows (crlf-line-ends), there are spaces around an
    equals sign (spaced-assignment), or started programs do not see a variable (not-exported)."""

    name: Literal["crlf-line-ends", "spaced-assignment", "not-exported"]
    variable: str = ""
    """The variable that is concerned."""
    value: str | None = None
    """The text that it is set to; None where it is computed."""
    exported: bool = False  # known when the project is assembled
    """Whether the project exports it elsewhere."""


@fact_kind("base_image")
class BaseImage(FileFact):
    """An image that a Dockerfile builds on: that of its last stage, and those that one is made from. The name is the
    image."""

    cuda: bool
    """Whether it is an image for NVIDIA GPUs."""
    stage: str = ""
    """The name of the stage, empty without one."""
    platform: str = ""
    """The platform of the image, such as linux/arm64; empty where it is that of the machine."""

    @attribute
    def variant(self) -> bool:
        """Whether the path of the Dockerfile names a device, as one of several variants does."""
        return _VARIANT.search(self.path.lower()) is not None

    @attribute
    def software(self) -> Software:
        """Whether the image is for Ascend or for NVIDIA GPUs, as its name shows."""
        return software_of(self.name)

    @attribute
    def chip(self) -> str:
        """The generation of Ascend chips that the image is built for; empty if its name does not say it."""
        return chip_of(self.name)

    @attribute
    def torch(self) -> str:
        """The release of PyTorch that the image contains, if a torch-npu package exists for it."""
        release = _TORCH_IMAGE.search(self.name)
        return release.group(1) if release is not None and adapter_for(f"=={release.group(1)}") else ""

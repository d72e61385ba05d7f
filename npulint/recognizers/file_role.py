"""What the files of a project are for that take no part in its training: tests, benchmarks, serving, GPU images."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Block
from npulint.facts.model import Fact, FileFacts
from npulint.facts.roles import Role
from npulint.model.programs.launch_options import Start
from npulint.read.chip_names import NamedChip, NamedToolkit
from npulint.read.containers.facts import GpuRequest, StartedContainer
from npulint.read.launcher_facts import BaseImage
from npulint.read.packages import PackageIndex
from npulint.recognizers.counterparts import launcher_counterparts, script_start
from npulint.recognizers.programs import PORTED, Program

APART = frozenset(("test", "documentation", "ci", "mindspore"))
"""Roles that no training of a user with TensorFlow or PyTorch has, whatever the code does."""
NOT_JUDGED = frozenset(("other_device", "mindspore"))
"""Roles of code that no device of torch_npu or of the TensorFlow adapter is meant for."""

_FOLDERS: tuple[tuple[Role, str], ...] = (
    ("ci", r"\.(?:github|gitlab|circleci|ci|buildkite|devcontainer|jenkins)|ci|jenkins|gh[-_]\w+"),
    ("test", r"(?:(?:unit|integration|system|functional)_?)?tests?|testing|tests_\w+"),
    ("documentation", r"docs?|documentation"),
    ("benchmark", r"benchmarks?|benchmarking"),
    ("demo", r"demos?"),
    ("serving", r"serving|serve|server|deploy(?:ment)?|triton_?(?:gpu|server|models?|inference)\w*|runtime"),
)
_FOLDER_ROLES = tuple((role, lazy_compile(pattern)) for role, pattern in _FOLDERS)
_NAMES: tuple[tuple[Role, str], ...] = (
    ("benchmark", r"bench(?:marks?|marking)?"),
    ("demo", r"demos?|webui|gradio|streamlit"),
    ("serving", r"infer(?:ence)?|serv(?:e|er|ice|ing)"),
    ("export", r"export(?:er)?|convert(?:er)?|conversion|onnx|tensorrt|trt"),
    ("data", r"prepare|preprocess(?:ing)?|tokeni[sz]e|download|make|datasets?"),
)
_NAME_ROLES = tuple((role, lazy_compile(rf"(?:.*[-_.])?(?:{pattern})(?:[-_.].*)?")) for role, pattern in _NAMES)
_LAUNCHERS = lazy_compile(r"(?:(?<=/)|^)test/")  # where the models of Ascend's ModelZoo have theirs
_DOCUMENTING = lazy_compile(r"(?:gen|generate|make|build)_?docs?\.py")
_TEST_FILE = lazy_compile(r"(?:test_.+|.+_test|conftest)\.py")
_TEST_PACKAGES = frozenset(("unittest", "pytest", "absl.testing", "parameterized"))
_IMPORTED: tuple[tuple[Role, frozenset[str]], ...] = (
    ("other_device", frozenset(("torch_xla",))),
    ("demo", frozenset(("gradio", "streamlit"))),
    ("serving", frozenset("fastapi flask uvicorn websockets tritonclient triton_python_backend_utils".split())),
    ("export", frozenset(("onnxruntime", "tensorrt", "polygraphy", "torch_tensorrt"))),
)
_MINDSPORE = frozenset(("mindspore", "msadapter", "mindtorch"))
_OTHER_DEVICE = lazy_compile(
    r"(?i)(?:^|[/_.\-])(?:\w*-)?(?:gpus?|cuda|cudnn|rocm|nvidia|dgx|tensorrt|trt|[abhv]\d00|cu\d{2,3}|xpu|hpu|tpu)(?=$|[/_.\-])"
)
_NPU_NAME = lazy_compile(r"(?i)(?:^|[/_.\-])(?:npu|ascend|cann)(?=$|[/_.\-\d])")
_EVALUATION_FOLDER = lazy_compile(r"eval(?:s|uation|uations)?|metrics?")
_GPU_FOLDER = lazy_compile(r"(?:^|[/_-])(?:gpus?|cuda|rocm|nvidia|tensorrt|trt)(?=$|[/_-])")
_GPU_KERNELS = frozenset("cutlass cuda pycuda quack".split())
_ACCELERATORS = frozenset("xpu hpu mlu musa sdaa tpu mps gcu".split())
_SERVING_IMAGE = lazy_compile(r"(?i)tritonserver|tensorrt|vllm|text-generation-inference|tgi\b")
_ENVIRONMENT = frozenset(("dockerfile", "dependency", "shell", "makefile"))


def file_roles(
    root: str, files: Sequence[FileFacts], programs: Iterable[Program], base: str | None = None
) -> dict[str, Role]:
    """The files, by path, that take no part in the training of the project at `root`, with what they are for. Code that
    a training program reaches takes part in it, whatever it is called. `base` is the folder that the project is a part
    of (None: it is all there is); the names of the folders below it count."""
    top = _folder(root)
    return dict(_Roles(top, files, programs, top if base is None else _folder(base)).all())


def in_tree(path: str, root: str, base: str | None) -> str:
    """The path of a file below the folders that count for its role (see `file_roles`)."""
    top = _folder(root if base is None else base)
    return path.removeprefix(f"{top}/") if top else path


def role_by_name(path: str) -> Role | None:
    """What a script is for according to the names of its folders and its own, whether it trains or not."""
    return _of_folder(path) or _of_name(path)


class _Roles:
    def __init__(self, root: str, files: Sequence[FileFacts], programs: Iterable[Program], base: str) -> None:
        self._base = base
        self._is_part = base != root
        self._files = files
        self._programs = [program for program in programs if program.fact.graph is None and not program.fact.run]

    def all(self) -> Iterator[tuple[str, Role]]:
        """The files with a role, and the role."""
        for file in self._files:
            role = self._of_environment(file) if self._is_environment(file) else self._of_code(file)
            if role is not None:
                yield file.path, role

    def _is_environment(self, file: FileFacts) -> bool:
        return file.kind in _ENVIRONMENT or (file.kind == "configuration" and _starts_containers(file))

    def _of_code(self, file: FileFacts) -> Role | None:
        if file.code is not None and self._on_mindspore(file):
            return "mindspore"
        if self._supports_npu and _writes_gpu_kernels(file):
            return "gpu"
        if file.path in self._training:
            return None
        if self._serves_on_gpus(file):
            return "other_device"
        if file.code is None:
            folder = _of_folder(self._relative(file)) if file.kind == "configuration" else None
            return folder if folder in APART else None
        role = self._of_gpu_folder(file) or _of_folder(self._relative(file)) or _of_test(file)
        entry = self._by_entry.get(file.path)
        if role is not None or entry is None:
            return role
        if entry.tests_itself:
            return "test"
        if _writes_documentation(file.path):
            return "documentation"
        return self._of_script(file, entry) if self._training or self._is_part else None

    def _of_gpu_folder(self, file: FileFacts) -> Role | None:
        """``gpu`` for code in a folder for GPUs of a project that supports the NPU, or that is a part of another; also
        for code next to folders for other devices, of which one is for the NPU (``ops/builder.py``, ``ops/npu/``)."""
        if posixpath.dirname(file.path) in self._with_npu_folder:
            return "gpu"
        return "gpu" if self._in_gpu_folder(file) and (self._supports_npu or self._is_part) else None

    @cached_property
    def _with_npu_folder(self) -> frozenset[str]:
        """The folders that have a folder for the NPU and one for another accelerator."""
        inner: dict[str, set[str]] = defaultdict(set)
        for file in self._files:
            around, name = posixpath.split(posixpath.dirname(file.path))
            inner[around].add(name.lower())
        return frozenset(
            folder for folder, names in inner.items() if "npu" in names and not names.isdisjoint(_ACCELERATORS)
        )

    def _serves_on_gpus(self, file: FileFacts) -> bool:
        """Whether a file is below a folder of a runtime that is named after GPUs: ``runtime/gpu``."""
        return _of_folder(self._relative(file)) == "serving" and self._in_gpu_folder(file)

    def _in_gpu_folder(self, file: FileFacts) -> bool:
        return _GPU_FOLDER.search(posixpath.dirname(self._relative(file)).lower()) is not None

    def _in_evaluation_folder(self, file: FileFacts) -> bool:
        return any(map(_EVALUATION_FOLDER.fullmatch, self._relative(file).lower().split("/")[:-1]))

    def _on_mindspore(self, file: FileFacts) -> bool:
        """Whether a file imports MindSpore, or is in a package that is named after it: a back end beside others."""
        if not _MINDSPORE.isdisjoint(self._relative(file).split("/")[:-1]):
            return True
        records = () if file.code is None else file.code.imports
        return any(
            not record.level and record.block == 0 and record.module.partition(".")[0] in _MINDSPORE
            for record in records
        )

    def _of_script(self, file: FileFacts, entry: Program) -> Role | None:
        """What a script is for, as its imports and its name say; one that trains may still do so on other devices."""
        if entry.fact.framework == "tensorflow" and self._trains_with == {"torch"}:
            return "evaluation"
        if self._is_part and not self._training and self._in_evaluation_folder(file):
            return "evaluation"
        role = _of_imports(file) or _of_name(file.path)
        return role if role == "other_device" or not entry.fact.trains else None

    def _of_environment(self, file: FileFacts) -> Role | None:
        """What an image, a list of requirements or a launcher is for."""
        path = self._relative(file)
        role = _of_folder(_LAUNCHERS.sub("", path) if file.kind == "shell" else path)
        if role is not None:
            return role
        if file.path in self._counterparts:
            return "gpu"
        image = _image(file)
        if file.kind == "dependency" and not image:
            for_gpus = _OTHER_DEVICE.search(path) or (self._npu_images and _on_cuda_index(file))
            return "gpu" if self._supports_npu and for_gpus else None
        if not image:
            for_gpus = file.kind in ("shell", "configuration") and self._starts_for_gpus(file, path)
            return "gpu" if self._supports_npu and for_gpus else None
        if _SERVING_IMAGE.search(image) or _of_name(path) == "serving":
            return "serving"
        reaches_npu = self._supports_npu or self._leaves_device_open
        beside_npu = reaches_npu and file.path not in self._npu_images and (self._npu_images or _on_cuda(file))
        return "gpu" if beside_npu or _OTHER_DEVICE.search(path) or self._is_variant(file.path) else None

    def _is_variant(self, path: str) -> bool:
        """Whether an image is a variant of a GPU image in the same folder: ``Dockerfile.te`` beside ``Dockerfile``."""
        folder, name = posixpath.split(path)
        plain = posixpath.join(folder, "Dockerfile")
        return name.startswith("Dockerfile.") and any(file.path == plain and _on_cuda(file) for file in self._files)

    def _starts_for_gpus(self, file: FileFacts, path: str) -> bool:
        """Whether a launcher is for GPUs, beside those for the NPU: as names say, or because it starts containers with
        GPUs while another one starts containers with NPUs."""
        if _OTHER_DEVICE.search(path):
            return True
        images = {fact.software for fact in file.facts if isinstance(fact, GpuRequest)} - {"ascend"}
        return bool(images) and bool(self._npu_containers - {file.path} or ("cuda" in images and self._npu_images))

    @cached_property
    def _npu_containers(self) -> frozenset[str]:
        """The files that start containers with NPUs."""
        return frozenset(file.path for file in self._files if any(map(_has_npus, file.facts)))

    @cached_property
    def _counterparts(self) -> Mapping[str, str]:
        """The launchers for other devices, by path, that a launcher for the NPU is used instead of."""
        starts = (
            fact.record
            for program in self._programs
            for fact in program.index.of_kind("start")
            if isinstance(fact, Start) and fact.record.entry == program.entry  # not of a script that it imports
        )
        pairs = launcher_counterparts(map(script_start, starts))
        configured = {program.entry: program.fact.counterpart for program in self._programs if program.fact.configured}
        return pairs | {path: other for path, other in configured.items() if other}

    def _relative(self, file: FileFacts) -> str:
        return in_tree(file.path, self._base, None)

    @cached_property
    def _by_entry(self) -> Mapping[str, Program]:
        return {program.entry: program for program in self._programs if program.entry}

    @cached_property
    def _trains_with(self) -> set[str]:
        """The frameworks of the training programs."""
        return {program.fact.framework for program in self._programs if program.entry and program.fact.trains}

    @cached_property
    def _training(self) -> frozenset[str]:
        """The files that a training program reaches; tests that train, and scripts for TPUs, are no training
        programs of the project."""
        training: set[str] = set()
        files = {file.path: file for file in self._files}
        for program in self._programs:
            if program.entry and program.fact.trains:
                file = files.get(program.entry)
                if file is not None and not program.tests_itself and not self._trains_elsewhere(file):
                    training.update(program.paths)
        return frozenset(training)

    def _trains_elsewhere(self, file: FileFacts) -> bool:
        role = _of_folder(self._relative(file)) or _of_test(file) or _of_imports(file)
        return role in APART or role in ("benchmark", "other_device") or _writes_documentation(file.path)

    @cached_property
    def _npu_images(self) -> frozenset[str]:
        """The Dockerfiles for Ascend chips."""
        images = [file for file in self._files if _image(file)]
        return frozenset(
            file.path
            for file in images
            if not _on_cuda(file) and (_NPU_NAME.search(self._relative(file)) or _for_npu(file))
        )

    @cached_property
    def _leaves_device_open(self) -> bool:
        """Whether the training programs all take the accelerator that the machine has."""
        training = [
            program.fact.migration
            for program in self._programs
            if program.entry and program.fact.trains and program.entry in self._training
        ]
        return bool(training) and set(training) <= {"agnostic", "manual", "transfer"}

    @cached_property
    def _supports_npu(self) -> bool:
        """Whether the project has code, images, requirements or launchers for the NPU."""
        if (
            self._npu_images
            or self._npu_containers
            or any(_NPU_NAME.search(self._relative(file)) for file in self._files)
        ):
            return True
        return any(program.fact.project_npu for program in self._programs) and not self._is_ported_beside

    @property
    def _is_ported_beside(self) -> bool:
        """Whether what uses the NPU are scripts that share no code with others, beside training on CUDA: a test of the
        driver does not say what the rest of a project is for."""
        programs = [program for program in self._programs if program.fact.framework == "torch"]
        on_cuda = any(
            program.entry and program.fact.trains and program.fact.migration == "none" and not program.fact.project_npu
            for program in programs
        )
        ported = [program for program in self._programs if program.fact.npu or program.fact.migration in PORTED]
        return on_cuda and all(len(program.paths) == 1 for program in ported)


def _folder(path: str) -> str:
    """A folder as the beginning of paths; empty for the working directory."""
    return "" if path == "." else path.rstrip("/")


def _of_folder(path: str) -> Role | None:
    """The role that a folder of the path names; the outermost that names one counts."""
    for folder in path.lower().split("/")[:-1]:
        for role, pattern in _FOLDER_ROLES:
            if pattern.fullmatch(folder):
                return role
    return None


def _of_name(path: str) -> Role | None:
    name = posixpath.basename(path).lower().removesuffix(".py").removeprefix("dockerfile.")
    return next((role for role, pattern in _NAME_ROLES if pattern.fullmatch(name)), None)


def _writes_documentation(path: str) -> bool:
    return _DOCUMENTING.fullmatch(posixpath.basename(path)) is not None


def _of_test(file: FileFacts) -> Role | None:
    """``test`` for a file that is named as a test and uses a framework of tests; scripts that evaluate are named so
    too."""
    named = _TEST_FILE.fullmatch(posixpath.basename(file.path)) is not None
    return "test" if named and any(_TEST_PACKAGES & set(_prefixes(name)) for name in _imports(file)) else None


def _of_imports(file: FileFacts) -> Role | None:
    """What a file is for, as the libraries say that it imports in any case: one that is imported for one of several
    devices, or tried, does not."""
    if file.code is None:
        return None
    records = (record for record in file.code.imports if not _is_optional(file.code.blocks, record.block))
    roots = {record.module.partition(".")[0] for record in records}
    return next((role for role, packages in _IMPORTED if roots & packages), None)


def _is_optional(blocks: Sequence[Block], number: int) -> bool:
    """Whether what stands in a block stands below a condition or is tried."""
    while number > 0:
        if blocks[number].kind in ("if", "else", "try", "except"):
            return True
        number = blocks[number].parent
    return False


def _writes_gpu_kernels(file: FileFacts) -> bool:
    """Whether code imports, whenever it is loaded, a library in which kernels for GPUs are written."""
    records = () if file.code is None else file.code.imports
    return any(record.block == 0 and record.module.partition(".")[0] in _GPU_KERNELS for record in records)


def _imports(file: FileFacts) -> list[str]:
    return [] if file.code is None else [record.module for record in file.code.imports]


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _image(file: FileFacts) -> str:
    """The image that a Dockerfile builds on; empty for other files."""
    return next((fact.name for fact in file.facts if isinstance(fact, BaseImage)), "")


def _starts_containers(file: FileFacts) -> bool:
    return any(isinstance(fact, StartedContainer) for fact in file.facts)


def _has_npus(fact: Fact) -> bool:
    return isinstance(fact, StartedContainer) and fact.npus in ("devices", "runtime")


def _for_npu(file: FileFacts) -> bool:
    return any(isinstance(fact, NamedChip | NamedToolkit) for fact in file.facts)


def _on_cuda_index(file: FileFacts) -> bool:
    """Whether a list of requirements takes packages from an index for CUDA."""
    return any(isinstance(fact, PackageIndex) for fact in file.facts)


def _on_cuda(file: FileFacts) -> bool:
    return any(isinstance(fact, BaseImage) and fact.cuda for fact in file.facts)

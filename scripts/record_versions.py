"""Records which releases of packages belong together into data-src/version_matrix.csv, and which packages have wheels
for aarch64 into data-src/aarch64_wheels.csv.

python scripts/record_versions.py INDEX PYTORCH VLLM_ASCEND TRITON_ASCEND [--check]

INDEX is the address of a package index with the JSON form of the simple API; the others are git directories of
Ascend/pytorch, vllm-project/vllm-ascend and Ascend/triton-ascend, whose published tables are read. With --check nothing
is written: what upstream has changed is printed as a difference, and the exit status is 1 if there is any.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from scripts.record_npu_names import git

DATA = Path(__file__).resolve().parent.parent / "data-src"
MATRIX, WHEELS = DATA / "version_matrix.csv", DATA / "aarch64_wheels.csv"
HEADS = ("package", "release", "needs", "allowed", "source")
WHEEL_HEADS = ("package", "lacks", "instead")
_OLDEST = {"torch-npu": "1.8", "torchvision": "0.9", "torchaudio": "0.8", "vllm-ascend": "0.7", "triton-ascend": "3"}
_TENSORFLOW = ("1.15.0", "1.15.5", "2.6.0", "2.6.5")  # those that the adapters are made for
_NUMPY = "1.26.4"
_BACK = 2  # tables of the vendor call a torch_npu compatible with the CANN of two releases before its own
_CANN = (
    *("5.1.RC1", "5.1.RC2", "6.0.RC1", "6.0.1", "6.3.RC1", "6.3.RC2", "6.3.RC3", "7.0.RC1", "7.0.0", "8.0.RC1"),
    *("8.0.RC2", "8.0.RC3", "8.0.0", "8.1.RC1", "8.2.RC1", "8.3.RC1", "8.5.0", "9.0.0", "9.1.0"),
)

Row = tuple[str, str, str, str, str]


class Index:
    """A package index."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")

    @cache  # noqa: B019  one index in a run
    def files(self, package: str) -> dict[str, list[dict[str, Any]]]:
        """The wheels and archives of a package by release, oldest first."""
        request = urllib.request.Request(
            f"{self._address}/{package}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                listed = json.load(answer)["files"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{package}: {error}")
        found: dict[str, list[dict[str, Any]]] = {}
        for file in listed:
            release = _release(file["filename"])
            if release and not file.get("yanked"):
                found.setdefault(release, []).append(file)
        return dict(sorted(found.items(), key=lambda one: Version(one[0])))

    def releases(self, package: str) -> dict[str, list[dict[str, Any]]]:
        """Those releases of a package that are neither candidates nor too old."""
        oldest = Version(_OLDEST[package])
        return {
            release: files
            for release, files in self.files(package).items()
            if Version(release) >= oldest and not Version(release).is_prerelease
        }

    def needed(self, file: dict[str, Any], package: str) -> str:
        """The specifier of a package in the metadata of a wheel; empty without one."""
        with zipfile.ZipFile(io.BufferedReader(Remote(file["url"]), 1 << 16)) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            text = wheel.read(name).decode()
        match = re.search(rf"^Requires-Dist: {package} *\(?(==[\w.]+)\)?\s*$", text, re.MULTILINE)
        return match.group(1) if match else ""


class Remote(io.RawIOBase):
    """A file on a server of which only the parts that are read are fetched."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._at = 0
        with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=120) as answer:
            self._size = int(answer.headers["Content-Length"])

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size) - 1
        if end < self._at:
            return 0
        request = urllib.request.Request(self._address, headers={"Range": f"bytes={self._at}-{end}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            found = answer.read()
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)


def _release(name: str) -> str:
    """The release in the name of a wheel or archive; empty for another file."""
    text = name.split("-")[1] if name.endswith(".whl") else ""
    if name.endswith(".tar.gz"):
        text = name.removesuffix(".tar.gz").rsplit("-", 1)[-1]
    try:
        return str(Version(text))
    except InvalidVersion:
        return ""


def pythons(files: Iterable[dict[str, Any]]) -> str:
    """The releases of Python that the wheels of a release are for: ``3.9|3.10``; empty for one that serves all."""
    tags = {part.partition("-")[0] for file in files for part in re.findall(r"-(cp3\d+|py3)-", file["filename"])}
    numbers = sorted(int(tag[3:]) for tag in tags if tag.startswith("cp3"))
    return "" if "py3" in tags else "|".join(f"3.{number}" for number in numbers)


def tables(text: str) -> Iterator[list[str]]:
    """The cells of the rows of Markdown tables."""
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def torch_npu(index: Index, folder: str) -> Iterator[Row]:
    """torch_npu: the torch that it is built for, the CANN that it may run with, the Pythons of its wheels."""
    source = "Ascend/pytorch:COMPATIBILITY.md"
    cann = {}
    for cells in tables(git(folder, "show", "HEAD:COMPATIBILITY.md")):
        if len(cells) == 4 and cells[3].startswith("CANN "):
            release = re.sub(r"[（(].*", "", cells[0]).strip().strip("*")
            if Version(release) >= Version(_OLDEST["torch-npu"]):
                cann[str(Version(release))] = re.sub(r"(RC\d)\.(\d)", r"\1.post\2", cells[3].removeprefix("CANN "))
    files = index.files("torch-npu")
    known = {*cann, *index.releases("torch-npu")}
    for release in sorted(known, key=Version):
        yield "torch-npu", release, "torch", f"=={Version(release).base_version}", source
        if release in cann:
            yield "torch-npu", release, "cann", _tolerated(cann[release]), f"{source}; docs/zh/release_notes.md"
            yield "torch-npu", release, "recommended cann", cann[release], source
        supported = pythons(files.get(release, ()))
        if supported:
            yield "torch-npu", release, "python", supported, "wheels of torch-npu"


def _tolerated(cann: str) -> str:
    """The CANN releases that a package made for one of them may run with: not much older ones."""
    until = [one for one in _CANN if Version(one) <= Version(cann)]
    return f">={until[max(0, len(until) - 1 - _BACK)] if until else cann}"


def vision(index: Index) -> Iterator[Row]:
    """torchvision and torchaudio: the torch that their metadata require."""
    for package in ("torchvision", "torchaudio"):
        for release, files in index.releases(package).items():
            wheel = next((file for file in files if "linux" in file["filename"]), None)
            torch = index.needed(wheel, "torch") if wheel else ""
            if torch:
                yield package, release, "torch", torch, f"metadata of {package}"


def vllm_ascend(folder: str) -> Iterator[Row]:
    """The table of vllm-ascend."""
    path = "docs/source/community/versioning_policy.md"
    source = f"vllm-project/vllm-ascend:{path}"
    for cells in tables(git(folder, "show", f"HEAD:{path}")):
        if len(cells) < 6 or not re.fullmatch(r"v\d[\w.]*", cells[0]):
            continue
        release = str(Version(cells[0]))
        yield "vllm-ascend", release, "vllm", "|".join(f"=={one[1:]}" for one in cells[1].split("/")), source
        yield "vllm-ascend", release, "python", _range(cells[2]), source
        yield "vllm-ascend", release, "cann", _tolerated(cells[3]), source
        torch, adapter = (part.strip() for part in cells[4].split("/"))
        yield "vllm-ascend", release, "torch", f"=={torch}", source
        yield "vllm-ascend", release, "torch-npu", f"=={Version(adapter).base_version}.*", source
        if re.match(r"\d", cells[5]):
            yield "vllm-ascend", release, "triton-ascend", f"=={cells[5]}", source


def _range(text: str) -> str:
    """``>= 3.9, < 3.12`` as releases of Python."""
    first, end = (int(number) for number in re.findall(r"3\.(\d+)", text))
    return "|".join(f"3.{number}" for number in range(first, end))


def triton_ascend(index: Index, folder: str) -> Iterator[Row]:
    """triton-ascend: the CANN of its installation guide, the Pythons of its wheels."""
    path = "docs/en/installation_guide.md"
    cann: dict[str, str] = {}
    for cells in tables(git(folder, "show", f"HEAD:{path}")):
        releases = re.findall(r"CANN (\d+\.\d+\.(?:RC)?\d+)(?![\w.])", cells[1]) if len(cells) == 3 else []
        if releases and re.match(r"\d", cells[0]):
            oldest = min(releases, key=Version)
            cann[cells[0]] = min(oldest, cann.get(cells[0], oldest), key=Version)
    for release, first in cann.items():
        yield "triton-ascend", release, "cann", _tolerated(first), f"Ascend/triton-ascend:{path}"
        supported = pythons(index.files("triton-ascend").get(release, ()))
        if supported:
            yield "triton-ascend", release, "python", supported, "wheels of triton-ascend"


def tensorflow(index: Index) -> Iterator[Row]:
    """The releases of TensorFlow that the adapters are made for: the Pythons of their wheels."""
    for release in _TENSORFLOW:
        yield "tensorflow", release, "python", pythons(index.files("tensorflow")[release]), "wheels of tensorflow"


def numpy(index: Index) -> Iterator[Row]:
    """The releases of NumPy from 2 on, with the first CANN whose list of dependencies allows them, and the newest one
    before, which any CANN allows."""
    source = "CANN: runtime dependencies of 8.5.0 and 9.0.0"
    for release, files in index.files("numpy").items():
        version = Version(release)
        if release == _NUMPY:
            yield "numpy", release, "python", pythons(files), "wheels of numpy"
        elif version.major >= 2 and not version.is_prerelease:
            yield "numpy", release, "cann", ">=9.0.0", source


def tensorflow_adapters() -> Iterator[Row]:
    """The packages of TF Adapter with the TensorFlow that each is built for, of which no index has a list."""
    yield "npu-bridge", "1.15.0", "tensorflow", "==1.15.*", "hicann/tensorflow:README.md"
    yield "npu-device", "0.1", "tensorflow", "==2.4.*", "Ascend/tensorflow:tf_adapter_2.x/README.md"
    yield "npu-device", "2.6.5", "tensorflow", "==2.6.*", "hicann/tensorflow:tf_adapter_2.x/README.md"


def wheels(index: Index, table: list[dict[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Per package of the table the releases that have neither a wheel for aarch64 nor an archive of sources, as ranges
    from the first to the last one; one that ends with the newest is open: ``0.0.1..0.4.13|0.6.0..``."""
    for row in table:
        ranges: list[list[str]] = []
        lacking = False
        for release, files in index.files(row["package"]).items():
            if Version(release).is_prerelease:
                continue
            before, lacking = lacking, not any(_fits_aarch64(file["filename"]) for file in files)
            if lacking and before:
                ranges[-1][1] = release
            elif lacking:
                ranges.append([release, release])
        if lacking:
            ranges[-1][1] = ""
        yield row["package"], "|".join("..".join(one) for one in ranges), row["instead"]


def _fits_aarch64(name: str) -> bool:
    return re.search(r"linux\w*aarch64|-any\.whl|\.tar\.gz$", name) is not None


def written(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table as text."""
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(heads)
    table.writerows(rows)
    return stream.getvalue()


def main(words: list[str]) -> int:
    """Write the tables, or print how they differ from what is published."""
    check = "--check" in words
    address, pytorch, vllm, triton = (word for word in words if word != "--check")
    index = Index(address)
    rows = [*torch_npu(index, pytorch), *vision(index), *vllm_ascend(vllm), *triton_ascend(index, triton)]
    with WHEELS.open(encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    found = {
        MATRIX: written(HEADS, [*rows, *tensorflow(index), *tensorflow_adapters(), *numpy(index)]),
        WHEELS: written(WHEEL_HEADS, wheels(index, table)),
    }
    status = 0
    for path, text in found.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if check and old != text:
            status = 1
            names = (str(path.name), "published")
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), *names, n=0))
        elif not check:
            path.write_text(text, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""CUDA sources: their kernels, their bindings, and what is thrown at the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.discover.files import DiscoverOptions, discover
from npulint.discover.kinds import SourceFile, is_cuda, kinds_of
from npulint.read.cuda import read_cuda
from npulint.read.files import LoadedFile, load, read
from tests.growth import ended_if_stuck

BINDING = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  m.def("pool", &pool_cuda);\n  m.def("pool_back", &b);\n}\n'


def named(text: str) -> list[tuple[str, int, int]]:
    return [(fact.name, fact.span.line, fact.span.column) for fact in read_cuda(text, "a.cu")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__global__ void add(float* x) {}", [("add", 1, 17)]),
        ("template <typename T>\n__global__ void add(T* x) {}", [("add", 2, 17)]),
        ("static __global__\nvoid\n add\n(float* x) {}", [("add", 3, 2)]),
        ("__global__ void __launch_bounds__(1024) add(int n) {}", [("add", 1, 41)]),
        ("__global__ void __launch_bounds__(MAX(1, 2), 4) add(int n) {}", [("add", 1, 49)]),
        ("__launch_bounds__(32) __global__ void add(int n) {}", [("add", 1, 39)]),
        ("__global__ void add(int n);\n__global__ void add(int n) {}", [("add", 1, 17)]),
        ("__global__ void a(int n) {}\n__global__ void b(int n) {}", [("a", 1, 17), ("b", 2, 17)]),
        ("// __global__ void add(int n) {}", []),
        ("/* __global__ void a(int n) {}\n*/ __global__ void b(int n) {}", [("b", 2, 20)]),
        ('char* s = "/*"; __global__ void add(int n) {}', [("add", 1, 33)]),
        ("int q = '\"'; __global__ void add(int n) {}", [("add", 1, 30)]),
        ("#define KERNEL __global__\n", []),
        ("__global__ int x;\n void later(int n) {}", []),
        ("__device__ float square(float x) { return x * x; }", []),
        (BINDING, [("pool", 2, 10), ("pool_back", 3, 10)]),
        ('TORCH_LIBRARY(ops, m) {\n  m.def("pool(Tensor x) -> Tensor");\n}', [("pool", 2, 10)]),
        ("// PYBIND11_MODULE\n", []),
        ('a.def("x", 1);', []),
    ],
    ids=lambda value: str(value)[:50],
)
def test_kernels_and_bindings(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert named(text) == expected


def test_bindings_count_only_without_kernels() -> None:
    found = read_cuda("__global__ void add(int n) {}\n" + BINDING, "a.cu")
    assert [(fact.name, fact.get("what"), fact.get("kernels")) for fact in found] == [("add", "kernel", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void a(int n) {} /* never closed " + "x" * 500_000,
        "__global__ void a(int n) {} " + "/*" * 200_000,
        "__global__ void a(int n) {} " + '"' * 200_001,
        "__global__ void a(int n) {} " + 'R"(' * 100_000,
        "__global__ void a(int n) {} " + "'\\" * 100_000,
        "__global__ void a(int n) {} " + '"\\' * 100_000,
        "__global__ void a(int n) {} " + "__global__ " * 150_000,
        "__global__ void a(int n) {} " + "(" * 300_000,
        "__global__ void a(int n) {} " + " " * 1_500_000,
        "__global__ void a(int n) {} " + "__launch_bounds__(" * 50_000,
        "PYBIND11_MODULE __global__ void a(int n) {} " + "m.def(" * 100_000,
    ],
    ids=[
        "open comment",
        "comments in a comment",
        "quotes",
        "open raw texts",
        "open characters",
        "backslashes",
        "kernels without names",
        "parentheses",
        "blanks",
        "open bounds",
        "open bindings",
    ],
)
def test_hostile_text_costs_little(text: str) -> None:
    with ended_if_stuck():
        found = named(text)
    assert found[0][0] == "a"


def test_many_kernels_are_capped() -> None:
    text = "".join(f"__global__ void k{i}(int n) {{}}\n" for i in range(3000))
    assert len(named(text)) == 400


@pytest.mark.parametrize(
    "data",
    [b"\0\x01\xff" * 1000, b"__global__ void a(int n) {} // \xa9 2020", b"", b"\xff\xfe_\0_\0", b"__global__"],
    ids=["binary", "latin-1 comment", "empty", "utf-16", "a bare word"],
)
def test_bytes_that_are_no_text_are_no_problem(data: bytes) -> None:
    file = SourceFile("a.cu", "cuda", "a.cu", ".", len(data))
    facts = read(LoadedFile(file, data))
    assert facts.problems == []
    assert [fact.name for fact in facts.facts] == (["a"] if b" a(" in data else [])


def test_a_comment_may_silence_a_finding() -> None:
    data = b"// npulint: ignore[cuda-kernel-source]\n__global__ void a(int n) {}\n"
    found = read(LoadedFile(SourceFile("a.cu", "cuda", "a.cu", ".", len(data)), data))
    assert [(one.line, one.alone) for one in found.comments] == [(1, True)]


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.cu", b"", True),
        ("a.cuh", b"int x;", True),
        ("bind.cpp", b"PYBIND11_MODULE(x, m) {} // calls pool_cuda", True),
        ("bind.cc", b"TORCH_LIBRARY(x, m) {}\n#include <ATen/cuda/CUDAContext.h>", True),
        ("bind.cpp", b"PYBIND11_MODULE(x, m) {}", False),
        ("main.cpp", b"#include <cuda.h>\nint main() {}", False),
    ],
)
def test_which_sources_bind_cuda(name: str, head: bytes, expected: bool) -> None:
    assert kinds_of(name) == ("cuda",)
    assert is_cuda(name, head) is expected


def test_only_cuda_is_listed_and_nothing_is_said_of_the_rest(tmp_path: Path) -> None:
    files = {
        "ops/roi.cu": "__global__ void roi(int n) {}",
        "ops/bind.cpp": BINDING,
        "ops/main.cpp": "int main() { return 0; }",
        "ops/big.cu": "x" * 5000,
        "ops/big.cpp": "PYBIND11_MODULE cuda" + "x" * 5000,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "ops" / "gone.cu").symlink_to(tmp_path / "nowhere.cu")
    (tmp_path / "ops" / "folder.cu").mkdir()
    found = discover([str(tmp_path)], DiscoverOptions(max_bytes=4000))
    assert [Path(one.path).name for one in found.files] == ["bind.cpp", "roi.cu"]
    assert found.problems == []
    assert [fact.name for fact in read(load(found.files[1])).facts] == ["roi"]

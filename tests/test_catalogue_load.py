"""Loading: which files make a catalogue, how they may clash, and the compiled form."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from npulint.core.cache import cache_folder
from npulint.core.errors import CatalogueError, NpulintError
from npulint.judge.catalogue import collect, load, scaffold, sources
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue, load_files
from tests.catalogue_samples import sample, write

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory."""
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of one check in the place of the built-in one."""
    root = tmp_path / "checks"
    write(root, "tensorflow/first.yaml", sample())
    for module in (load, scaffold):
        monkeypatch.setattr(module, "builtin_directory", lambda: str(root))
    return root


def names(extra: tuple[str, ...] = (), **options: bool) -> list[str]:
    return [check.name for check in load_catalogue(extra, **options).checks]


def failures(extra: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(CatalogueError) as caught:
        load_catalogue(extra)
    assert isinstance(caught.value, NpulintError)
    return [f"{os.path.basename(p.path)}:{p.line}:{p.column}: {p.message}" for p in caught.value.problems]


def test_checks_come_in_the_order_of_their_codes(checks: Path, tmp_path: Path) -> None:
    write(checks, "tensorflow/a-later-one.yaml", sample(code="NPU1102"))
    own = write(tmp_path, "own/pytorch/mine.yaml", sample(code="NPU2101")).parent.parent
    write(own, "launch/deep.yaml", sample(code="NPU3101", applies="{trains: true}"))
    assert names((str(own),)) == ["first", "a-later-one", "mine", "deep"]
    assert [check.family for check in load_catalogue((str(own),)).checks][2:] == ["pytorch", "launch"]


def test_a_family_folder_or_a_file_can_be_named(checks: Path, tmp_path: Path) -> None:
    mine = write(tmp_path, "own/tensorflow/mine.yaml", sample(code="NPU1102"))
    assert names((str(mine),)) == ["first", "mine"]
    assert names((str(mine.parent), str(mine), str(mine.parent.parent))) == ["first", "mine"]
    assert [check.name for check in load_files([str(mine)]).checks] == ["mine"]


def test_hidden_files_and_linked_folders_are_left_alone(checks: Path, tmp_path: Path) -> None:
    write(checks, "tensorflow/.hidden.yaml", "[")
    write(checks, ".git/tensorflow/x.yaml", "[")
    write(tmp_path, "elsewhere/tensorflow/x.yaml", "[")
    (checks / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (checks / "loop").symlink_to(checks, target_is_directory=True)
    assert names() == ["first"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_read(checks: Path) -> None:
    os.mkfifo(checks / "tensorflow" / "pipe.yaml")
    assert names() == ["first"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {"tensorflow/second.yaml": "# a comment\n" + sample()},
            ["second.yaml:2:7: code: NPU1101 belongs to "],
            id="a code used twice",
        ),
        pytest.param(
            {"pytorch/first.yaml": sample(code="NPU2101")},
            ["first.yaml:1:1: the name 'first' belongs to "],
            id="a name used twice",
        ),
        pytest.param(
            {"retired.txt": "# gone\n\nNPU1101 merged into another\n"},
            ["first.yaml:1:7: code: NPU1101 is retired ("],
            id="a retired code",
        ),
        pytest.param({"retired.txt": "dropout\n"}, ["retired.txt:1:1: a line must begin with a code"], id="a bad list"),
        pytest.param(
            {"tensorflow/x.yml": sample()}, ["x.yml:1:1: the file name must end in .yaml"], id="a short ending"
        ),
        pytest.param(
            {"tensorflow/a.yaml": sample(code="NPU2101"), "tensorflow/b.yaml": "x: 1\nx: 2\n"},
            ["a.yaml:1:7: code: the first digit", "b.yaml:2:1: 'x' is given twice"],
            id="mistakes of several files",
        ),
        pytest.param(
            {"loose.yaml": sample(code="NPU1102")}, ["loose.yaml:1:1: a check must be in the folder"], id="no family"
        ),
    ],
)
@pytest.mark.parametrize("where", ["built-in", "the user's"])
def test_clashes(checks: Path, tmp_path: Path, where: str, files: dict[str, str], expected: list[str]) -> None:
    root = checks if where == "built-in" else tmp_path / "own"
    for name, text in files.items():
        write(root, name, text)
    found = failures(() if where == "built-in" else (str(root),))
    assert len(found) == len(expected)
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True)), found


def test_a_directory_that_does_not_exist_is_an_error(checks: Path, tmp_path: Path) -> None:
    assert failures((str(tmp_path / "nowhere"),)) == ["nowhere:1:1: cannot be read: No such file or directory"]


def test_a_broken_catalogue_is_not_remembered(checks: Path) -> None:
    write(checks, "tensorflow/second.yaml", "[")
    assert failures() == failures()


def forbid_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the YAML files were read")

    monkeypatch.setattr(load, "_collect", fail)


def test_the_second_load_reads_no_yaml(checks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_catalogue()
    forbid_parsing(monkeypatch)
    assert load_catalogue() == first
    with pytest.raises(AssertionError):
        load_catalogue(use_cache=False)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda root: write(root, "tensorflow/first.yaml", sample(occurs="if-chosen")), id="another size"),
        pytest.param(lambda root: os.utime(root / "tensorflow" / "first.yaml", ns=(1, 1)), id="another time"),
        pytest.param(lambda root: write(root, "tensorflow/second.yaml", sample(code="NPU1102")), id="a new file"),
        pytest.param(lambda root: (root / "tensorflow/first.yaml").rename(root / "tensorflow/x.yaml"), id="a new name"),
        pytest.param(lambda root: write(root, "retired.txt", "# none\n"), id="a list of retired codes"),
    ],
)
def test_any_change_of_a_file_compiles_anew(
    checks: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    load_catalogue()
    change(checks)
    expected = load_catalogue(use_cache=False)
    assert load_catalogue() == expected
    forbid_parsing(monkeypatch)
    assert load_catalogue() == expected


def test_each_set_of_directories_has_its_own_compiled_file(checks: Path, tmp_path: Path, cache: Path) -> None:
    own = write(tmp_path, "own/pytorch/mine.yaml", sample(code="NPU2101")).parent.parent
    assert names() == ["first"]
    assert names((str(own),)) == ["first", "mine"]
    assert names() == ["first"]
    assert len(list(cache.iterdir())) == 2


def test_the_digest_follows_the_content_only(checks: Path) -> None:
    before = load_catalogue().digest
    os.utime(checks / "tensorflow" / "first.yaml", ns=(1, 1))
    assert load_catalogue().digest == before
    write(checks, "tensorflow/first.yaml", sample(occurs="if-chosen"))
    assert load_catalogue().digest != before


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="an empty file"),
        pytest.param(lambda data: data[:-1], id="a file cut short"),
        pytest.param(lambda data: data[: data.index(b"\n")], id="only the header"),
        pytest.param(lambda data: data.replace(b"tensorflow", b"tensorfloW"), id="a changed letter"),
        pytest.param(lambda data: data.replace(load._MAGIC, b"npulint-catalogue-0"), id="another format"),
        pytest.param(lambda data: b"\x00" * len(data), id="zeros"),
        pytest.param(lambda data: data + b"x", id="something behind"),
    ],
)
def test_a_damaged_compiled_file_is_made_again(checks: Path, cache: Path, damage: Callable[[bytes], bytes]) -> None:
    expected = load_catalogue()
    (file,) = cache.iterdir()
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert load_catalogue() == expected
    assert file.read_bytes() == good


def test_what_a_killed_run_left_of_a_compiled_file_is_removed(checks: Path, cache: Path) -> None:
    load_catalogue()
    (file,) = cache.iterdir()
    file.rename(cache / f".{file.name[:40]}.0123456789abcdef.npulint")
    load_catalogue()
    assert list(cache.iterdir()) == [file]


def test_a_body_of_another_shape_is_a_miss() -> None:
    for body in (b"", b"\x90", b"\x81\xa6checks\x01", b"\x91" * 100_000):
        for parts in ((body, b""), (body, body)):
            sums = b" ".join(b"%08x %d" % (zlib.crc32(part), len(part)) for part in parts)
            header = b"%s key %s\n" % (load._MAGIC, sums)
            assert load.decode(header + b"".join(parts), "key") is None
            assert load.decode(header + b"".join(parts), "key", whole=False) is None


def test_without_a_place_for_the_cache_all_works(checks: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(write(tmp_path, "a-file", "x") / "below"))
    assert names() == ["first"]
    monkeypatch.delenv("NPULINT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "relative")
    monkeypatch.setattr(sys, "platform", "linux")
    assert load.cache_path(["x"]) is None
    assert names() == ["first"]


@pytest.mark.parametrize(
    ("platform", "variable", "value", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "/x", "/x/npulint"),
        ("linux", "HOME", "/home/me", "/home/me/.cache/npulint"),
        ("darwin", "HOME", "/Users/me", "/Users/me/Library/Caches/npulint"),
        ("win32", "LOCALAPPDATA", "/local", "/local/npulint"),
    ],
)
def test_the_place_of_the_cache(
    monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, value: str, expected: str
) -> None:
    for name in ("NPULINT_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == expected


def test_another_users_compiled_file_is_not_read(checks: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    load_catalogue()
    (file,) = cache.iterdir()
    stranger = os.stat(file).st_uid + 1
    if os.getuid() == 0:
        os.chown(file, stranger, -1)  # root's files are trusted, so root must give it away
    else:
        monkeypatch.setattr(os, "getuid", lambda: stranger)
    forbid_parsing(monkeypatch)
    with pytest.raises(AssertionError, match="the YAML files were read"):
        load_catalogue()


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_holds_no_compiled_file(checks: Path, cache: Path, mode: int) -> None:
    cache.mkdir()
    cache.chmod(mode)
    assert names() == ["first"] and not list(cache.iterdir())


def test_links_that_others_have_planted_are_not_followed(checks: Path, cache: Path, tmp_path: Path) -> None:
    precious = write(tmp_path, "precious", "x")
    load_catalogue()
    (file,) = cache.iterdir()
    file.unlink()
    file.symlink_to(precious)
    (cache / f"{file.name}.{os.getpid()}.tmp").symlink_to(precious)
    load_catalogue()
    assert precious.read_text() == "x" and not file.is_symlink()


def test_a_shipped_compiled_file_is_used_whatever_the_times(checks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = sources.list_files([str(checks)])
    expected = load_catalogue(use_cache=False)
    shipped = load.encode(expected, load.shipped_key(files))
    (checks / sources.PRECOMPILED).write_bytes(shipped)
    os.utime(checks / "tensorflow" / "first.yaml", ns=(1, 1))
    forbid_parsing(monkeypatch)
    assert load_catalogue() == expected
    write(checks, "tensorflow/first.yaml", sample(occurs="if-chosen"))
    with pytest.raises(AssertionError):
        load_catalogue()


def test_threads_that_need_the_catalogue_at_the_same_time_read_it_once(
    checks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that waits does so until the first one has written the cache."""
    reading, others = [], [threading.Thread(target=load_catalogue) for _ in range(3)]
    collected = load._collect

    def collect_slowly(files: list[sources.CheckFile]) -> Catalogue:
        reading.append(len(files))
        if len(reading) == 1:
            for other in others:
                other.start()
            others[0].join(0.05)  # time for the others to find no cache
        return collected(files)

    monkeypatch.setattr(load, "_collect", collect_slowly)
    load_catalogue()
    for other in others:
        other.join()
    assert reading == [1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)


@pytest.mark.slow
def test_the_module_writes_the_compiled_catalogue(tmp_path: Path) -> None:
    destination = tmp_path / "catalogue.msgpack"
    result = run("-m", "npulint.judge.catalogue.load", str(destination))
    assert (result.returncode, result.stderr) == (0, "")
    key = load.shipped_key(sources.list_files([sources.builtin_directory()]))
    assert load.decode(destination.read_bytes(), key) == load_catalogue(use_cache=False)


@pytest.mark.slow
def test_the_module_explains_wrong_use(tmp_path: Path) -> None:
    assert run("-m", "npulint.judge.catalogue.load").returncode == 2
    result = run("-m", "npulint.judge.catalogue.load", str(tmp_path / "no" / "folder"))
    assert result.returncode == 2
    assert "No such file" in result.stderr


def test_starting_with_a_compiled_catalogue_imports_no_parser() -> None:
    load_catalogue()
    code = "import sys; from npulint.judge.catalogue.load import load_catalogue; load_catalogue(); print(*sys.modules)"
    result = run("-c", code)
    assert result.returncode == 0, result.stderr
    loaded = set(result.stdout.split())
    assert loaded & {"yaml", "npulint.judge.catalogue.schema", "difflib", "astroid", "rich"} == set()


@pytest.mark.parametrize("kind", ["a file", "a directory"])
def test_the_destination_of_the_compiled_catalogue(
    checks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    monkeypatch.setattr(sources, "builtin_directory", lambda: str(checks))
    if kind == "a file":
        destination = tmp_path / "catalogue.msgpack"
        assert load.main([str(destination)]) == 0
        assert destination.stat().st_size > 100
    else:
        assert load.main([str(tmp_path)]) == 2
        assert "Is a directory" in capsys.readouterr().err
    assert list(tmp_path.glob("**/*.tmp")) == []


def test_a_broken_catalogue_is_not_compiled(
    checks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sources, "builtin_directory", lambda: str(checks))
    write(checks, "tensorflow/second.yaml", "x: 1\nx: 2\n")
    assert load.main([str(tmp_path / "out")]) == 2
    assert "second.yaml:2:1: 'x' is given twice" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert load.main([]) == 2


def test_the_built_in_checks_lie_in_the_package_or_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.builtin_directory() == str(ROOT / "checks")
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "npulint" / "judge" / "catalogue" / "sources.py"))
    with pytest.raises(CatalogueError, match="the built-in checks are missing"):
        sources.builtin_directory()
    (tmp_path / "checks").mkdir()
    assert sources.builtin_directory() == str(tmp_path / "checks")
    (tmp_path / "npulint" / "checks").mkdir(parents=True)
    assert sources.builtin_directory() == str(tmp_path / "npulint" / "checks")


def test_what_is_neither_file_nor_directory_is_an_error() -> None:
    with pytest.raises(CatalogueError, match="neither a file nor a directory"):
        load_files([os.devnull])


def test_a_file_that_vanishes_is_an_error(checks: Path) -> None:
    files = sources.list_files([str(checks)])
    (checks / "tensorflow" / "first.yaml").unlink()
    with pytest.raises(CatalogueError, match=r"first\.yaml:1:1: cannot be read"):
        collect.collect(files)

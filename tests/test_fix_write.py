"""Files are written so that each is the old one or the new one, whatever happens."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npulint.fix.write import UnwrittenError, write
from npulint.judge.fix_results import FileChange

OLD, NEW = b"old\r\n" * 2000, "新的\n".encode("gbk") * 3000
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


def change(place: Path, before: bytes = OLD, after: bytes = NEW, **more: Any) -> FileChange:
    return FileChange(place.name, before, after, location=str(place), **more)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "train.py"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize(
    "after",
    [b"", b"a\r\nb", b"a\rb\r", b"\xef\xbb\xbfa\n", "甲\n".encode("gbk"), b"no end", "x\n".encode("utf-16")],
)
def test_the_bytes_are_those_of_the_change(place: Path, after: bytes) -> None:
    write(change(place, after=after))
    assert place.read_bytes() == after
    assert names(place.parent) == ["train.py"]


@POSIX
@pytest.mark.parametrize("mode", [0o755, 0o640, 0o4711, 0o600, 0o664])
def test_the_mode_is_kept(place: Path, mode: int) -> None:
    place.chmod(mode)
    before = os.umask(0o077)
    try:
        write(change(place))
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == mode


@POSIX
def test_the_owner_is_kept(place: Path) -> None:
    if os.geteuid():
        pytest.skip("only root may give files away")
    os.chown(place, 12345, 54321)
    place.chmod(0o4755)
    write(change(place))
    status = place.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 54321, 0o4755)


@POSIX
def test_attributes_are_kept(place: Path) -> None:
    if not hasattr(os, "setxattr"):
        pytest.skip("no extended attributes here")
    try:
        os.setxattr(place, "user.npulint", b"1")
    except OSError:
        pytest.skip("this file system has none")
    write(change(place))
    assert os.getxattr(place, "user.npulint") == b"1"


def test_a_file_that_changed_meanwhile_is_left_alone(place: Path) -> None:
    place.write_bytes(b"mine\n")
    with pytest.raises(UnwrittenError, match="changed-meanwhile"):
        write(change(place))
    assert place.read_bytes() == b"mine\n"
    place.unlink()
    with pytest.raises(UnwrittenError, match="changed-meanwhile"):
        write(change(place))
    assert names(place.parent) == []


def test_a_file_that_changes_while_it_is_written_is_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def later(descriptor: int) -> None:
        fsync(descriptor)
        place.write_bytes(b"mine\n")

    monkeypatch.setattr(os, "fsync", later)
    with pytest.raises(UnwrittenError, match="changed-meanwhile"):
        write(change(place))
    assert place.read_bytes() == b"mine\n"
    assert names(place.parent) == ["train.py"]


def test_what_is_done_already_is_done(place: Path) -> None:
    place.write_bytes(NEW)
    before = place.stat().st_mtime_ns
    write(change(place))
    assert place.stat().st_mtime_ns == before


@POSIX
@pytest.mark.parametrize("target", ["train.py", "../outside.py"])
@pytest.mark.parametrize("named", [False, True])
def test_links_are_neither_followed_nor_replaced(place: Path, tmp_path: Path, target: str, named: bool) -> None:
    (tmp_path / "outside.py").write_bytes(OLD)
    link = place.with_name("link.py")
    link.symlink_to(target)
    with pytest.raises(UnwrittenError, match=r"^link$"):
        write(change(link, root="" if named else str(place.parent)))
    assert (link.is_symlink(), os.readlink(link)) == (True, target)
    assert (place.read_bytes(), (tmp_path / "outside.py").read_bytes()) == (OLD, OLD)
    assert names(place.parent) == ["link.py", "train.py"]


@POSIX
def test_a_link_that_takes_the_place_of_the_file_meanwhile_is_not_followed(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_bytes(OLD)
    fsync = os.fsync

    def later(descriptor: int) -> None:
        fsync(descriptor)
        place.unlink(missing_ok=True)
        place.symlink_to(outside)

    monkeypatch.setattr(os, "fsync", later)
    with pytest.raises(UnwrittenError, match="changed-meanwhile"):
        write(change(place))
    assert (place.is_symlink(), outside.read_bytes()) == (True, OLD)


@POSIX
def test_a_folder_that_is_replaced_by_a_link_meanwhile_is_not_followed(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, moved = tmp_path / "outside", tmp_path / "moved"
    outside.mkdir()
    (outside / "train.py").write_bytes(OLD)
    fsync = os.fsync

    def later(descriptor: int) -> None:
        fsync(descriptor)
        if not moved.exists():
            place.parent.rename(moved)
            place.parent.symlink_to(outside)

    monkeypatch.setattr(os, "fsync", later)
    write(change(place, root=str(place.parent)))
    assert (moved / "train.py").read_bytes() == NEW  # the folder that was checked
    assert ((outside / "train.py").read_bytes(), names(outside)) == (OLD, ["train.py"])


@POSIX
def test_a_folder_that_leads_out_of_the_project_is_not_written_to(place: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "train.py").write_bytes(OLD)
    (place.parent / "lib").symlink_to(outside)
    with pytest.raises(UnwrittenError, match="folder-link"):
        write(change(place.parent / "lib" / "train.py", root=str(place.parent)))
    assert (outside / "train.py").read_bytes() == OLD
    write(change(place.parent / "lib" / "train.py"))  # it was named
    assert (outside / "train.py").read_bytes() == NEW


@POSIX
def test_all_names_of_a_file_stay_names_of_it(place: Path) -> None:
    other = place.with_name("other.py")
    os.link(place, other)
    write(change(place))
    assert other.read_bytes() == NEW
    assert place.stat().st_nlink == 2
    assert names(place.parent) == ["other.py", "train.py"]


def test_new_files(tmp_path: Path) -> None:
    place = tmp_path / "ops_info.json"
    write(change(place, b"", b"{}\n", new=True, root=str(tmp_path)))
    assert place.read_bytes() == b"{}\n"
    assert names(tmp_path) == ["ops_info.json"]
    with pytest.raises(UnwrittenError, match="changed-meanwhile"):
        write(change(place, b"", b"[]\n", new=True))
    assert place.read_bytes() == b"{}\n"
    write(change(place, b"", b"{}\n", new=True))  # another process wrote the same


@POSIX
def test_new_files_have_the_usual_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(change(tmp_path / "new", b"", NEW, new=True))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_new_files_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr(os, "link", refused)
    write(change(tmp_path / "new", b"", NEW, new=True))
    assert (tmp_path / "new").read_bytes() == NEW
    with pytest.raises(UnwrittenError, match="changed-meanwhile"):
        write(change(tmp_path / "new", b"", OLD, new=True))
    assert names(tmp_path) == ["new"]


@POSIX
def test_new_files_stay_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "project" / "lists").symlink_to("../other")
    with pytest.raises(UnwrittenError, match="folder-link"):
        write(change(tmp_path / "project" / "lists" / "a.json", b"", NEW, new=True, root=str(tmp_path / "project")))
    assert names(tmp_path / "other") == []


FAILURES = [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO]


@POSIX
@pytest.mark.parametrize("number", FAILURES)
@pytest.mark.parametrize("function", ["open", "write", "fsync", "replace", "fchmod"])
@pytest.mark.parametrize("linked", [False, True])
def test_the_system_may_refuse_anything(
    place: Path, monkeypatch: pytest.MonkeyPatch, function: str, number: int, linked: bool
) -> None:
    if linked:
        os.link(place, place.with_name("other.py"))
    real: Callable[..., Any] = getattr(os, function)
    calls: list[object] = []

    def failing(*given: Any, **named: Any) -> Any:
        writes = function != "open" or given[1] & os.O_CREAT
        if writes and not calls:
            calls.append(given)
            raise OSError(number, os.strerror(number))
        return real(*given, **named)

    monkeypatch.setattr(os, function, failing)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        write(change(place))
    assert caught.value.errno == number
    assert place.read_bytes() == OLD
    assert names(place.parent) == (["other.py", "train.py"] if linked else ["train.py"])


@POSIX
@pytest.mark.parametrize("linked", [False, True])
def test_a_full_disk(place: Path, linked: bool) -> None:
    """A limit on the size of files stands for it: the system writes a part and then nothing more."""
    if linked:
        os.link(place, place.with_name("other.py"))
    code = (
        "import resource, signal, sys\n"
        "from npulint.judge.fix_results import FileChange\nfrom npulint.fix.write import write\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "sys.dont_write_bytecode = True\n"  # Python would keep the compiled modules cut off, for everyone
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(OLD)},) * 2)\n"
        f"try:\n    write(FileChange('a', {OLD!r}, {NEW!r}, location=sys.argv[1]))\n"
        "except OSError as error:\n    print(error.errno)\n"
    )
    result = subprocess.run([sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str(errno.EFBIG)
    assert place.read_bytes() == OLD
    assert names(place.parent) == (["other.py", "train.py"] if linked else ["train.py"])


@POSIX
def test_what_may_not_be_written(place: Path) -> None:
    """Also for root, to whom the system refuses nothing."""
    code = (
        "import os, sys\n"
        "from npulint.judge.fix_results import FileChange\nfrom npulint.fix.write import write\n"
        "if not os.geteuid():\n    os.setgid(65534)\n    os.setuid(65534)\n"
        f"try:\n    write(FileChange('a', {OLD!r}, {NEW!r}, location=sys.argv[1]))\n"
        "except OSError as error:\n    print(error.strerror)\n"
    )
    folder = place.parent
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o755)
    for file_mode, folder_mode in ((0o444, 0o777), (0o666, 0o555)):
        place.chmod(file_mode)
        folder.chmod(folder_mode)
        try:
            result = subprocess.run(
                [sys.executable, "-c", code, str(place)], capture_output=True, text=True, cwd="/", check=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )  # fmt: skip
        except subprocess.CalledProcessError as error:
            if "ModuleNotFoundError" in error.stderr or "Permission" in error.stderr:
                pytest.skip("nobody else may read this checkout")
            raise
        finally:
            folder.chmod(0o755)
        assert result.stdout.strip() == os.strerror(errno.EACCES)
        assert place.read_bytes() == OLD
        assert names(folder) == ["train.py"]


@POSIX
def test_an_interruption_leaves_nothing_behind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(change(place))
    assert place.read_bytes() == OLD
    assert names(place.parent) == ["train.py"]


KILLED = """
import os, sys
from npulint.judge.fix_results import FileChange
from npulint.fix.write import write

left, place, new = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "new"
FUNCTIONS = "open write fsync close replace link unlink fchmod fchown ftruncate stat lstat access listxattr".split()

def counted(function):
    def call(*given, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        if function.__name__ == "write":  # in small pieces, so that one may end in the middle
            return function(given[0], given[1][:5000])
        return function(*given, **named)
    return call

before, after = (bytes.fromhex(word) for word in (sys.argv[4], sys.argv[5]))
for name in FUNCTIONS:
    if hasattr(os, name):
        setattr(os, name, counted(getattr(os, name)))
write(FileChange("a", before, after, new, place, ""))
print("done")
"""


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("kind", ["plain", "new", "linked"])
def test_killed_at_any_moment(tmp_path: Path, kind: str) -> None:
    """The file is the old one or the new one. One with several names is written where it is: until it is whole, what it
    was lies beside it."""
    before, after = b"o" * 12_000, b"n" * 17_000
    seen = set()
    for count in range(200):
        folder = tmp_path / str(count)
        folder.mkdir()
        place = folder / "a.py"
        if kind != "new":
            place.write_bytes(before)
        if kind == "linked":
            os.link(place, folder / "b.py")
        words = [str(count), str(place), kind, before.hex() if kind != "new" else "", after.hex()]
        result = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True, check=False)
        data = place.read_bytes() if place.exists() else None
        copies = [folder / name for name in names(folder) if name.startswith(".")]
        if kind == "linked" and data not in (before, after):
            assert [copy.read_bytes() for copy in copies] == [before]
        else:
            assert data in (None if kind == "new" else before, after)
        seen.add(data in (None, before))
        if result.returncode == 0:
            assert data == after
            assert copies == []
            break
        assert result.returncode == -9
    else:
        pytest.fail("it never came to an end")
    assert count > 10
    assert seen == {True, False}


def test_two_processes_at_once(tmp_path: Path) -> None:
    """Each file is that of one of them, and nothing lies beside it."""
    code = (
        "import os, sys\nfrom npulint.judge.fix_results import FileChange\n"
        "from npulint.fix.write import UnwrittenError, write\n"
        "for number in range(60):\n    place = os.path.join(sys.argv[1], str(number))\n"
        "    try:\n        write(FileChange('a', b'old' * 9000, sys.argv[2].encode() * 9000, location=place))\n"
        "    except UnwrittenError:\n        pass\n"
    )
    for number in range(60):
        (tmp_path / str(number)).write_bytes(b"old" * 9000)
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), word]) for word in ("one", "two", "one")]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert names(tmp_path) == sorted(map(str, range(60)))
    assert {(tmp_path / str(number)).read_bytes() for number in range(60)} <= {b"one" * 9000, b"two" * 9000}

"""The cache: what is in it comes back, and whatever is wrong with it is a miss."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from npulint.core.cache import Cache, key, open_cache

A, B = key("a"), key("b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def database(folder: Path) -> Path:
    (path,) = folder.glob("*.sqlite")
    return path


def script(path: Path, text: str) -> None:
    """Do something to a database behind the cache's back."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(text)


def filled(folder: Path) -> Cache:
    cache = open_cache(True, str(folder))
    cache.put_many({A: b"1", B: b"\x00\xff"})
    return cache


def test_what_was_put_comes_back_in_another_run(folder: Path) -> None:
    filled(folder)
    assert open_cache(True, str(folder)).get_many([A, B, key("c")]) == {A: b"1", B: b"\x00\xff"}


def test_an_entry_is_replaced(folder: Path) -> None:
    cache = filled(folder)
    cache.put_many({A: b"2"})
    assert cache.get_many([A]) == {A: b"2"}


def test_many_entries_fit_one_call(folder: Path) -> None:
    cache = open_cache(True, str(folder))
    items = {key(str(number)): b"%d" % number for number in range(3000)}
    cache.put_many(items)
    assert cache.get_many(list(items)) == items


def test_nothing_asked_and_nothing_put_touch_no_file(folder: Path) -> None:
    cache = open_cache(True, str(folder))
    cache.put_many({})
    assert cache.get_many([]) == {}
    assert list(folder.iterdir()) == []


def test_a_disabled_cache_has_nothing_and_writes_nothing(folder: Path) -> None:
    cache = open_cache(False, str(folder))
    cache.put_many({A: b"1"})
    assert cache.get_many([A]) == {}
    assert not folder.exists()


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("a",), ("a", "")), ((b"a",), ("b",)), ((), ("",))],
)
def test_keys_tell_their_parts_apart(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert key(*one) != key(*other)


def test_text_and_bytes_are_the_same_part_and_any_file_name_makes_a_key() -> None:
    assert key("ä") == key("ä".encode())
    assert key(os.fsdecode(b"\xff.py"))


def test_folder_and_file_are_for_the_user_alone(folder: Path) -> None:
    filled(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(database(folder).stat().st_mode) == 0o600


def test_the_place_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NPULINT_CACHE_DIR", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    open_cache(True).put_many({A: b"1"})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    open_cache(True).put_many({A: b"1"})
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "own"))
    open_cache(True).put_many({A: b"1"})
    assert [database(tmp_path / place).name for place in ("home/.cache/npulint", "xdg/npulint", "own")]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database at all" * 100),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
        lambda path: path.write_bytes(path.read_bytes()[:100] + os.urandom(8000)),
        lambda path: script(path, "DROP TABLE entry; CREATE TABLE entry (x)"),
        lambda path: script(path, "UPDATE entry SET value = 'text', used = NULL"),
    ],
    ids=["text", "empty", "cut", "garbage", "other table", "other types"],
)
def test_damage_is_a_miss_and_the_cache_works_again(folder: Path, damage: object) -> None:
    filled(folder)
    assert callable(damage)
    damage(database(folder))
    cache = open_cache(True, str(folder))
    assert cache.get_many([A]) == {}
    for _ in range(2):  # the first attempt may find the damage
        cache.put_many({A: b"new"})
    assert cache.get_many([A]) == {A: b"new"}


def test_a_changed_value_is_a_miss(folder: Path) -> None:
    cache = filled(folder)
    connection = sqlite3.connect(database(folder))
    connection.execute("UPDATE entry SET value = x'00' WHERE key = ?", (A,))
    connection.commit()
    connection.close()
    assert cache.get_many([A, B]) == {B: b"\x00\xff"}


def test_a_lock_is_a_miss_and_waits_briefly(folder: Path) -> None:
    cache = filled(folder)
    holder = sqlite3.connect(database(folder), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert cache.get_many([A]) == {}
        cache.put_many({A: b"2"})
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    assert cache.get_many([A]) == {A: b"1"}


@pytest.mark.parametrize("mode", [0o777, 0o770], ids=["world", "group"])
def test_a_folder_that_others_may_write_is_not_used(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    cache = filled(folder)
    assert cache.get_many([A]) == {}
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_what_belongs_to_somebody_else_is_not_opened(folder: Path) -> None:
    cache = filled(folder)
    os.chown(database(folder), 12345, 12345)
    assert cache.get_many([A]) == {}
    os.chown(folder, 12345, 12345)
    assert filled(folder).get_many([A]) == {}


def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    cache = filled(folder)
    path = database(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    cache.put_many({A: b"2"})
    assert cache.get_many([A]) == {}
    with closing(sqlite3.connect(tmp_path / "elsewhere")) as connection:
        assert connection.execute("SELECT count(*) FROM entry").fetchone() == (2,)


@pytest.mark.parametrize("place", ["file/cache", "bad\0name"])
def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    assert filled(tmp_path / place).get_many([A]) == {}


def test_a_read_only_folder_is_a_miss(folder: Path) -> None:
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user, root, writes everywhere")
    assert filled(folder).get_many([A]) == {}


def test_the_oldest_entries_go_when_there_is_no_room(folder: Path) -> None:
    cache = open_cache(True, str(folder), limit=400_000)
    old = {key("old", str(number)): b"x" * 2000 for number in range(60)}
    new = {key("new", str(number)): b"y" * 2000 for number in range(60)}
    cache.put_many(old)
    connection = sqlite3.connect(database(folder))
    connection.execute("UPDATE entry SET used = used - 1000")
    connection.commit()
    connection.close()
    cache.put_many(new)
    assert cache.get_many(list(new)) == new
    assert 0 < len(cache.get_many(list(old))) < 60


def test_use_keeps_an_entry_young(folder: Path) -> None:
    cache = filled(folder)
    connection = sqlite3.connect(database(folder))
    connection.execute("UPDATE entry SET used = 1000")
    connection.commit()
    cache.get_many([A])
    rows = dict(connection.execute("SELECT key, used FROM entry").fetchall())
    connection.close()
    assert rows[A] > 1_000_000 > rows[B]


def test_sqlite_is_imported_with_the_first_question_only() -> None:
    code = "import sys; from npulint.core.cache import open_cache; open_cache(True); print('sqlite3' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout == "False\n"


def test_together_writes_at_the_end(tmp_path: Path) -> None:
    store = open_cache(True, str(tmp_path))
    with store.together():
        store.put_many({b"a": b"1"})
        store.put_many({b"b": b"2"})
        assert open_cache(True, str(tmp_path)).get_many([b"a", b"b"]) == {}
    assert open_cache(True, str(tmp_path)).get_many([b"a", b"b"]) == {b"a": b"1", b"b": b"2"}


def test_together_keeps_what_was_done_before_an_interruption(tmp_path: Path) -> None:
    store = open_cache(True, str(tmp_path))

    def interrupted() -> None:
        with store.together():
            store.put_many({b"a": b"1"})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert store.get_many([b"a"]) == {b"a": b"1"}


def test_together_does_not_keep_back_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.core.cache._BUFFER_LIMIT", 10)
    store = open_cache(True, str(tmp_path))
    with store.together():
        store.put_many({b"a": b"12345678"})
        store.put_many({b"b": b"12345678"})
        assert set(store.get_many([b"a", b"b"])) == {b"a", b"b"}

"""The directory of an archive is looked at before it is read."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from npulint.discover.archives import DIRECTORY, LargeArchiveError, directory_size, names_of, open_archive


def test_the_size_is_that_of_the_directory(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = b"a comment"
        for name in ("m/data.pkl", "m/version"):
            archive.writestr(name, "3")
    data = path.read_bytes()
    assert directory_size(str(path)) == data.rindex(b"PK\x05\x06") - data.index(b"PK\x01\x02")
    assert names_of(str(path)) == ["m/data.pkl", "m/version"]


def test_an_end_that_hides_in_another_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    end = bytearray(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 2**30, 0, 0))
    end[16:20] = b"PK\x05\x06"
    path.write_bytes(bytes(200) + end)
    assert directory_size(str(path)) == 2**30


@pytest.mark.slow
def test_the_large_form_of_directories_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "many.pt"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(66_000):
            archive.writestr(f"m/data/{number}", b"")
    data = bytearray(path.read_bytes())
    assert b"PK\x06\x06" in data[-300:]
    size = directory_size(str(path))
    assert size == data.rindex(b"PK\x06\x06") - data.index(b"PK\x01\x02")
    assert len(names_of(str(path))) == 66_000
    struct.pack_into("<Q", data, data.rindex(b"PK\x06\x06") + 40, DIRECTORY + 1)
    path.write_bytes(data)
    with pytest.raises(LargeArchiveError):
        open_archive(str(path))
    assert names_of(str(path)) == []


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"PK\x05\x06", b"PK\x05\x06" + bytes(18), bytes(100_000)])
def test_what_is_no_archive_has_no_directory(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(data)
    assert directory_size(str(path)) == 0
    assert names_of(str(path)) == []

"""Real disks that can be filled or fail, a tmpfs and an ext4, and a store there with yesterday's keys."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

DISK_BYTES = 4 * 1024 * 1024
YESTERDAY_KEYS = 3_000


@contextmanager
def small_disk(directory: Path) -> Iterator[Path]:
    """A disk of DISK_BYTES, mounted in `directory`. The test is skipped where mounting is not permitted."""
    with _mounted(directory / "disk", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none") as disk:
        yield disk


@contextmanager
def small_ext4(directory: Path) -> Iterator[Path]:
    """The same with what a file system on a device has: errors, and attributes of files."""
    if shutil.which("mkfs.ext4") is None or shutil.which("chattr") is None:
        pytest.skip("e2fsprogs are not installed")
    image = directory / "image"
    with image.open("wb") as made:
        made.truncate(4 * DISK_BYTES)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    with _mounted(directory / "disk", "-o", "loop", str(image)) as disk:
        yield disk


def mount_again(disk: Path) -> None:
    """An ext4 that failed can be written again. No file may be open."""
    subprocess.run(["umount", str(disk)], check=True)
    subprocess.run(["mount", "-o", "loop", str(disk.with_name("image")), str(disk)], check=True)


@contextmanager
def _mounted(place: Path, *what: str) -> Iterator[Path]:
    place.mkdir()
    if subprocess.run(["mount", *what, str(place)], capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system can be mounted by root only")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def make_read_only(disk: Path) -> None:
    """Nothing can be written there any more. No file may be open."""
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def fail(disk: Path) -> None:
    """An ext4 becomes read-only, also for open files, as after an error of its device. That is for good."""
    subprocess.run(["mount", "-o", "remount,abort", str(disk)], check=True)


def make_immutable(files: Iterable[Path], *, is_so: bool = True) -> None:
    """Files of an ext4 cannot be written, also where they are open."""
    subprocess.run(["chattr", "+i" if is_so else "-i", *map(str, files)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Write a file that leaves `leave` bytes free. Removing it makes room again."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    filler = disk / "filler"
    filler.write_bytes(bytes(free - leave))
    return filler


def add_yesterday_keys(file: Path, now: float) -> None:
    """Turns as a busy day leaves them, all of them older than seven days at `now`."""
    old = now - 8 * 24 * 3600
    with closing(sqlite3.connect(file)) as writer, writer:
        rows = ((f"T1:C1:{old - number:.6f}", old - number, old - number) for number in range(YESTERDAY_KEYS))
        writer.executemany("INSERT INTO turns VALUES (?, 'T1', 'C1', '1.0', 'U1', ?, ?, '')", rows)
    writer.close()


def count_keys(file: Path) -> int:
    """How many keys the file holds."""
    with closing(sqlite3.connect(file)) as reader, reader:
        (found,) = reader.execute("SELECT count(*) FROM turns").fetchone()
    reader.close()
    return int(found)

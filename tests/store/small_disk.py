"""A real disk that can be filled: a small tmpfs, and a store on it with yesterday's keys."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

DISK_BYTES = 4 * 1024 * 1024
YESTERDAY_KEYS = 3_000


@contextmanager
def small_disk(directory: Path) -> Iterator[Path]:
    """A disk of DISK_BYTES, mounted in `directory`. The test is skipped where mounting is not permitted."""
    disk = directory / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system can be mounted by root only")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def make_read_only(disk: Path) -> None:
    """Nothing can be written there any more."""
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Write a file that leaves `leave` bytes free. Removing it makes room again."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    filler = disk / "filler"
    filler.write_bytes(bytes(free - leave))
    return filler


def add_yesterday_keys(file: Path, now: float) -> None:
    """Turns as a busy day leaves them, all of them older than seven days at `now`."""
    old = now - 8 * 24 * 3600
    with sqlite3.connect(file) as writer:
        rows = ((f"T1:C1:{old - number:.6f}", old - number) for number in range(YESTERDAY_KEYS))
        writer.executemany("INSERT INTO turns VALUES (?1, 'T1', 'C1', '1.0', 'U1', ?2, ?2, '')", rows)
    writer.close()


def count_keys(file: Path) -> int:
    """How many keys the file holds."""
    with sqlite3.connect(file) as reader:
        (found,) = reader.execute("SELECT count(*) FROM turns").fetchone()
    reader.close()
    return int(found)

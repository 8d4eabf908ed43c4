"""A file that only the bot's user may read, and the reasons why a file cannot be used."""

import os
from contextlib import suppress
from pathlib import Path

from ..paths import kind_of

PRIVATE = 0o600
_ROOM = 1_000_000  # bytes: SQLite needs less for any write of ours


def make_private(path: Path) -> int:
    """Create the file if it is missing, and let only the bot's user read it.

    Returns its inode. Raises OSError.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE))
    if path.stat().st_uid == os.geteuid():
        path.chmod(PRIVATE)
    return inode_of(path)


def inode_of(path: Path) -> int:
    """The inode of the file, or 0 if there is no such file."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def unwritable(path: Path) -> str:
    """Say why writing to an open file fails, and the remedy.

    No system call knows the reason for all disks.
    """
    with suppress(OSError):  # the disk may answer nothing at all
        if problem := unusable(path):
            return problem
        disk = os.statvfs(path.parent)
        if disk.f_bavail * disk.f_frsize < _ROOM:
            return "is the disk full? Make room there"
    return "its disk is not full: is it read-only, broken or over a quota? Mount it again, or raise the quota"


def unusable(path: Path) -> str | None:
    """Say why the file at `path` cannot be written, and the remedy; None if it can.

    SQLite itself would notice only at the first write. Raises OSError if this process may not look there.
    """
    folder, elsewhere = path.parent, "name a file elsewhere in SLACK_BOT_STORE__URL"
    if kind_of(folder) != "folder":
        return f"the directory {folder} does not exist; create it, or {elsewhere}"
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return f"the directory {folder} is on a read-only file system; mount a volume there, or {elsewhere}"
    for place, need in ((folder, os.W_OK | os.X_OK), (path, os.R_OK | os.W_OK)):
        if kind_of(place) is not None and not os.access(place, need, effective_ids=True):
            user, owner = os.geteuid(), place.stat().st_uid
            if user == owner:
                return f"{place} may not be written; change its mode (chmod u+rwX {place}), or {elsewhere}"
            return (
                f"{place} belongs to user {owner}, and the bot runs as user {user}, who may not write there;"
                f" change the owner (chown {user}, also in a Docker volume), or {elsewhere}"
            )
    return None

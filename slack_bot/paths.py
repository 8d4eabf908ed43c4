"""What is at a path. OSError where this process may not look.

`Path.exists`, `is_file` and `is_dir` raise that up to Python 3.13 and say False from 3.14 on, as if nothing
were there.
"""

import stat
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["file", "folder", "other"]


def kind_of(path: Path) -> Kind | None:
    """What is at `path`, links followed; None: nothing. Raises OSError where this process may not look."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no file has such a name
        return None
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"

"""A folder that this process may not look into, whoever runs it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def closed_folder(*, mode: int = 0, file: str = "file") -> Iterator[Path]:
    """Has `file` in it, and is closed by `mode`. Root may look everywhere, and is nobody meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "closed"
        folder.mkdir()
        (folder / file).write_text("something")
        Path(name).chmod(0o755)
        folder.chmod(mode)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(NOBODY)
            yield folder
        finally:
            os.seteuid(user)
            folder.chmod(0o700)

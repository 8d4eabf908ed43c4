"""docs/testing-kit.md does what it says: its app and its tests run in an empty folder.

Its requests are tried in tests/playground/test_control.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "testing-kit.md").read_text("utf-8")


def test_the_app_of_the_page_is_tested_as_the_page_says(tmp_path: Path) -> None:
    files = dict(re.findall(r"(?ms)^```python\n# (\S+)\n(.*?)^```", PAGE))
    assert sorted(files) == ["app.py", "test_app.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    pytest = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", tmp_path]
    without = [word for name in ("cacheprovider", "xdist", "asyncio") for word in ("-p", f"no:{name}")]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [*pytest, *without], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 passed" in ran.stdout

"""The cases of CAIPE's own gates, where they lie beside this repository; none where they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[4] / "shared" / "oracle" / "cases.json"


def cases(key: str) -> list[dict[str, Any]]:
    """The cases under `key`."""
    if not CASES.is_file():
        return []
    found: list[dict[str, Any]] = json.loads(CASES.read_text("utf-8"))[key]
    return found

"""The cases of CAIPE's own gates, where they lie beside this repository; else one that is skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[4] / "shared" / "oracle" / "cases.json"


def cases(key: str) -> list[Any]:
    """The cases under `key`, as parameters of a test."""
    if not CASES.is_file():
        why = "the oracle's cases are not beside this repository"
        return [pytest.param({}, id="none", marks=pytest.mark.skip(reason=why))]
    found: list[dict[str, Any]] = json.loads(CASES.read_text("utf-8"))[key]
    return found

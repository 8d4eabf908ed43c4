"""A machine without Chromium and Redis: `.ci/run` runs there each module that mentions one of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CI = Path(__file__).parents[1] / ".ci" / "run"


def test_ci_runs_each_module_that_wants_them_where_they_are_not(request: pytest.FixtureRequest) -> None:
    """What starts one by itself mentions it; a fixture may want it under another name."""
    looks_for = re.search(r"grep -rliE '(.+?)' tests --include='test_\*\.py'", CI.read_text("utf-8"))
    assert looks_for is not None
    items = [each for each in request.session.items if isinstance(each, pytest.Function)]
    wanting = {each.path for each in items if {"redis_server", "chromium"} & set(each.fixturenames)}
    if not wanting:
        pytest.skip("beside other modules there is nothing to look at")
    assert [path for path in wanting if not re.search(looks_for[1], path.read_text("utf-8"), re.I)] == []

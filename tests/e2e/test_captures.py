"""Every stream recorded from a real server ends in an outcome and something to read, the broken ones too."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.tools.recording import read_recording
from slack_bot.tools.replay import replay

CAPTURES = Path(__file__).parents[3] / "shared" / "captures" / "a2a"
FILES = [path for path in sorted(CAPTURES.glob("*.txt")) if b"raw body below" in path.read_bytes()]

pytestmark = pytest.mark.skipif(not FILES, reason="the shared captures are not beside this repository")

TROUBLE = {"failed", "refused", "lost"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_stream_ends_well_told(path: Path) -> None:
    recording = read_recording(path.read_bytes())
    assert recording is not None
    result = replay(recording)
    assert result["outcome"] in {"answered", "asked", *TROUBLE}
    assert result["thread"]
    assert all(message["state"] != "streaming" for message in result["thread"])
    assert all(message["text"] or message["blocks"] for message in result["thread"])
    if recording.status >= 400 or b'"error"' in recording.body[:200]:
        assert result["outcome"] in TROUBLE and result["reason"]
    if recording.cut:
        assert result["outcome"] in {"lost", "answered", "asked"}


@pytest.mark.parametrize("name", ["a2asdk130_unicode", "a2asdk130compat03_unicode"])
def test_line_separators_within_a_text_arrive(name: str) -> None:
    recording = read_recording((CAPTURES / f"{name}.txt").read_bytes())
    assert recording is not None
    visible = replay(recording)["visible"]
    assert "\u2028" in visible and "\u2029" in visible and "\U0001f600" in visible

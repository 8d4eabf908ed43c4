"""What each recorded stream of a real server comes to: an outcome and something to read, broken ones too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slack_bot.testing.tape.recording import read_recording

CAPTURES = Path(__file__).parents[1] / "captures" / "a2a"
FILES = sorted(CAPTURES.glob("*.txt"))

TROUBLE = {"failed", "refused", "lost", "watched"}
UNICODE = {"a2asdk130_unicode", "a2asdk130compat03_unicode"}
DOUBLED = {"a2asdk0326_tasksget_after_resubscribe"}
"""The server stored its own chunks twice."""

FOX = "The quick brown fox"
FILES_SAID = "[a.png](https://example.com/a.png)"
APPROVE = "I need approval.\n\n**ask_approval**\n- **amount**: 5"
WHICH = "Which environment?"
MIDWAY = "".join(f"tick{number} " for number in range(15, 40))
SAID = {
    "a2asdk0326_auth": "Sign in at the link",
    "a2asdk0326_chunks": f"{FOX}.",
    "a2asdk0326_client_contextid": "echo: hello",
    "a2asdk0326_files": f"{FILES_SAID}\n\n- **a**: 1\n- **b**: 1, 2",
    "a2asdk0326_input": WHICH,
    "a2asdk0326_input_reply": "echo: prod",
    "a2asdk0326_message": "Hello, I am a message only reply",
    "a2asdk0326_notask": "no task event first",
    "a2asdk0326_rest_stream_chunks": f"{FOX}.",
    "a2asdk0326_send_same_messageid": "echo: hello",
    "a2asdk0326_send_same_messageid_2": "echo: hello",
    "a2asdk0326_silent_ping": "after 33 s of silence",
    "a2asdk0326_status": "final text in the status message",
    "a2asdk130_auth": "thanks, signed in out of band",
    "a2asdk130_chunks": f"{FOX}.",
    "a2asdk130_client_contextid": "echo: hello",
    "a2asdk130_files": f"{FILES_SAID}\n\n- **b**: 1, 2\n- **a**: 1",
    "a2asdk130_input": WHICH,
    "a2asdk130_input_reply": "echo: prod",
    "a2asdk130_message": "Hello, I am a message only reply",
    "a2asdk130_rest_chunks": f"{FOX}.",
    "a2asdk130_second_message_while_working": f"{MIDWAY}echo: hello",
    "a2asdk130_send_same_messageid": "echo: hello",
    "a2asdk130_send_same_messageid_2": "echo: hello",
    "a2asdk130_silent_ping": "after 33 s of silence",
    "a2asdk130_status": "final text in the status message",
    "a2asdk130_subscribe_input_required": WHICH,
    "a2asdk130compat03_auth": "thanks, signed in out of band",
    "a2asdk130compat03_chunks": f"{FOX}.",
    "a2asdk130compat03_dup": "echo: dup",
    "a2asdk130compat03_files": f"{FILES_SAID}\n\n- **b**: 1, 2\n- **a**: 1",
    "a2asdk130compat03_input": WHICH,
    "a2asdk130compat03_message": "Hello, I am a message only reply",
    "a2asdk130compat03_status": "final text in the status message",
    "adk213_approve": APPROVE,
    "adk213_approve2": APPROVE,
    "adk213_approve_datareply": "The tool said {'status': 'approved'}.",
    "adk213_approve_textreply": FOX,
    "adk213_ext_approve_datareply": "The tool said {'status': 'approved'}.",
    "adk213_ext_approve_textreply": "It was not provided a function response for the function call.",
    "adk213_ext_sse_approve": (
        "I need approval.\n\nThe tool said {'status': 'pending'}.\n\n**ask_approval**\n- **amount**: 5"
    ),
    "adk213_ext_sse_hello": FOX,
    "adk213_hello": FOX,
    "adk213_sse_approve": APPROVE,
    "adk213_sse_hello": FOX,
    "adk213_sse_tool": "The tool said {'found': 'x'}.",
    "adk213_tool": "The tool said {'found': 'x'}.",
    "adk213_v03_hello": FOX,
    "fasta2a061_get": "Hello from the TestModel",
    "fasta2a211_v03_hello": f"{FOX} answered: hello",
    "fasta2a211_v1_hello": f"{FOX} answered: hello",
}
"""What each whole answer reads like, by what its recording was asked for; `chunks` answers with the fox."""
LINK = "Sign in at the link"
PRIVATE = "The agent asks you to sign in at login.example."
ASKED_BEFORE = {"a2asdk130_auth": (LINK,), "a2asdk130compat03_auth": (LINK,)}
"""What stands there before it: the stream stays open for a sign-in, and the agent goes on by itself."""


def assert_well_told(path: Path, result: Mapping[str, Any]) -> None:
    """What a recording of `FILES` comes to: `tests/house/test_goldens.py` asks this of each, whose thread it
    compares anyway.
    """
    recording = read_recording(path.read_bytes())
    assert recording is not None
    thread, outcome, name = result["thread"], result["outcome"], path.stem
    assert outcome in {"answered", "asked", *TROUBLE}
    assert thread
    assert all(message["state"] != "streaming" for message in thread)
    shown = ("text", "blocks", "tasks", "files")
    assert all(any(message.get(name) for name in shown) for message in thread)
    if recording.status >= 400 or b'"error"' in recording.body[:200]:
        assert outcome in TROUBLE and result["reason"]
    if recording.cut:
        assert outcome in {"lost", "watched", "answered", "asked"}
    if name in SAID:  # the reader sees the answer once
        texts = [text for message in thread if (text := message["text"].strip())]
        said = [text for text in texts if not text.startswith(PRIVATE)]
        assert said == [*ASKED_BEFORE.get(name, ()), SAID[name]]
        files = [file for message in thread for file in message.get("files", ())]
        assert files == ([{"name": "h.txt", "bytes": 5}] if name.endswith("_files") else [])
        assert outcome in ("answered", "asked")
    elif name in UNICODE:  # line separators within a text arrive
        assert all(separator in result["visible"] for separator in "\u2028\u2029\U0001f600")
    elif name not in DOUBLED:
        assert outcome in TROUBLE


def test_every_answer_that_is_known_was_recorded() -> None:
    assert {*SAID, *UNICODE, *DOUBLED} <= {path.stem for path in FILES}

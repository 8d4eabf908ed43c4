"""`slack-bot trace`: from tapes and live, as a table and as pictures."""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
import xml.etree.ElementTree as ET
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from slack_bot import cli
from slack_bot.errors import UnreadableInput
from slack_bot.playground.command_line import MODES as MODE_NAMES
from slack_bot.playground.reference.modes import observe_mode
from slack_bot.testing.tape.builders import chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.tools.files import open_capture
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import Scenario, make_scenario
from slack_bot.tools.trace.trace import main, trace_capture
from tests.live_agent import live_agent

ROOT = Path(__file__).parents[3]
GRADUAL, BURST = (ROOT / "docs" / "tapes" / f"caipe-{each}-simple.jsonl" for each in ("0.2.41", "0.3.0"))
CAPTURES = ROOT / "tests" / "captures"
MODES = {mode: partial(observe_mode, mode) for mode in MODE_NAMES}


def options(*targets: object, **more: Any) -> argparse.Namespace:
    usual = {
        "html": None,
        "svg": None,
        "scenario": None,
        "key": None,
        "all": False,
        "modes": False,
        "force": False,
    }
    return argparse.Namespace(targets=[str(each) for each in targets], **{**usual, **more})


def test_a_tape_is_a_table_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(options(BURST), {}) == 0
    told = capsys.readouterr().out
    assert "... 17.8 s of silence ..." in told
    assert "first visible text  17.8 s" in told
    assert told.count("\n") < 60
    assert main(options(BURST, all=True), {}) == 0
    assert capsys.readouterr().out.count("\n") > 300


def test_a_card_is_a_sign_of_life_and_text_is_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """Cards come at 2 and 12 s, text at 20 s: nobody stared at nothing for 20 s."""
    tool = {**chunk("x"), "append": False}
    tool["artifact"] = {
        **tool["artifact"],
        "name": "tool_notification_start",
        "metadata": {"tool_name": "search", "tool_call_id": "1"},
    }
    ended = {**tool, "artifact": {**tool["artifact"], "name": "tool_notification_end"}}
    moments = [Moment(0.1, event=task()), Moment(2.0, event=tool), Moment(12.0, event=ended)]
    moments += [Moment(20.0, event=chunk("Found.")), Moment(20.5, event=status("completed"))]
    line, result = trace_capture(Tape({}, (*moments, Moment(20.6, end="closed"))), "x", Scenario())
    summary = line.summary
    assert summary.first_sign is not None and 2.0 <= summary.first_sign < 3.5
    assert summary.first_visible is not None and summary.first_visible >= 20
    assert 9 < summary.longest_wait < 11
    assert [round(each.length) for each in line.waiting] == [2, 10, 8]
    assert result["first_sign"] == pytest.approx(summary.first_sign, abs=0.001)
    assert result["first_visible"] == pytest.approx(summary.first_visible, abs=0.001)


def test_gradual_and_burst_differ_in_every_figure_that_matters() -> None:
    one, two = (
        trace_capture(open_capture(path), path.name, Scenario())[0].summary for path in (GRADUAL, BURST)
    )
    assert one.first_visible is not None and two.first_visible is not None
    assert one.first_visible < 2.5
    assert two.first_visible > 17
    assert (one.burst_share or 1) < 0.15 and two.burst_share == 1.0
    assert one.longest_wait < 2.5 and two.longest_wait > 17
    assert (one.streaming or 0) > 10
    assert (two.streaming or 9) < 1


def test_figures_and_replay_agree() -> None:
    for path in (GRADUAL, BURST, CAPTURES / "a2asdk130_chunks.txt", CAPTURES / "a2asdk0326_raise.txt"):
        capture = open_capture(path)
        summary, got = trace_capture(capture, "x", Scenario())[0].summary, replayed(capture).result()
        assert (summary.outcome, summary.shown) == (got["outcome"], len(got["visible"]))
        assert sum(summary.calls.values()) == len(got["calls"])
        assert summary.events == sum(got["events"].values())
        assert summary.first_visible == pytest.approx(got["first_visible"], abs=0.001)


def test_pictures_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html, svg = tmp_path / "t.html", tmp_path / "t.svg"
    assert main(options(GRADUAL, BURST, html=str(html), svg=str(svg)), {}) == 0
    assert ET.fromstring(svg.read_bytes()).tag.endswith("svg")
    assert html.read_text("utf-8").count("<section>") == 2
    said = capsys.readouterr()
    assert said.out.count("== ") == 2
    assert f"-> {svg}" in said.err


def test_a_scenario_surrounds_it_and_its_question_stays() -> None:
    capture = open_capture(GRADUAL)
    assert trace_capture(capture, "x", Scenario())[0].question == "what can you do?"
    faults = make_scenario({"text": "Mine", "slack_faults": {"chat.appendStream": ["ratelimited:1", None]}})
    found, _ = trace_capture(capture, "x", faults)
    assert found.question == "Mine"
    assert found.summary.failed_calls == 1


@pytest.mark.parametrize(
    "targets,more,why",
    [
        (["http://a/"], {}, "wants an address and a question"),
        (["http://a/", "q", "more"], {}, "wants an address and a question"),
        (["http://a/", " "], {}, "question is empty"),
        (["/missing/tape"], {}, "no such file"),
        (["localhost:8000", "q"], {}, "localhost:8000: .* begins with http:// or https://"),
        ([GRADUAL, "q"], {}, "q: no such file"),
        (["http://a b/", "q"], {}, "http://a b/ is not an address"),
        ([GRADUAL], {"svg": "/missing/x.svg"}, "give another file"),
        ([GRADUAL], {"scenario": "/missing/x.json"}, "no such file"),
        ([GRADUAL], {"key": "x"}, "has no key"),
    ],
)
def test_what_cannot_be_done_is_said(targets: list[Any], more: dict[str, Any], why: str) -> None:
    with pytest.raises(UnreadableInput, match=why):
        main(options(*targets, **more), {})


async def test_live(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-somebody-elses")
    monkeypatch.setenv("A2A_AGENT_URL", "http://elsewhere.example/")
    monkeypatch.setenv("SLACK_BOT_AGENT__BEARER_TOKEN", "hunter2")
    async with live_agent() as live:
        assert await asyncio.to_thread(main, options(live.url, "unicode", html="t.html"), {}) == 0
        assert not [headers for headers in live.headers if "authorization" in headers]
    said = capsys.readouterr()
    assert "answer latched" in said.out
    assert "outcome  answered" in said.out
    assert "credentials of the settings are not sent" in said.err
    assert "hunter2" not in said.err + said.out + (tmp_path / "t.html").read_text()


class Answering(BaseHTTPRequestHandler):
    """A web server with an agent's card that answers every question with `answer`; None hangs up."""

    answer: tuple[int, bytes] | None = None

    def do_GET(self) -> None:
        host, port = self.server.server_address[:2]
        card = {"name": "Agent", "url": f"http://{host!s}:{port}/", "protocolVersion": "0.3.0"}
        self._say(
            200, json.dumps({**card, "preferredTransport": "JSONRPC", "protocolVersion": "0.3.0"}).encode()
        )

    def do_POST(self) -> None:
        if self.answer is not None:
            self._say(*self.answer)

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", f"{len(body)}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


def error(code: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "No."}}).encode()


@pytest.mark.parametrize(
    "answer,status,why",
    [
        ((404, b"{}"), 1, "the agent's server refused with HTTP 404"),
        ((500, b"oops"), 1, "the agent's server answered with HTTP 500"),
        (None, 1, "the connection to the agent was cut"),
        ((200, error(-32603)), 0, ""),
        ((500, error(-32603)), 0, ""),
    ],
)
def test_a_live_trace_of_an_agent_that_was_not_reached_is_no_success(
    answer: tuple[int, bytes] | None,
    status: int,
    why: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Answering, "answer", answer)
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        assert (
            cli.main(["trace", f"http://127.0.0.1:{server.server_port}/", "hi", "--svg", "x.svg"]) == status
        )
        server.shutdown()
    said = capsys.readouterr()
    assert "outcome  " in said.out
    assert said.err.splitlines() == ["-> x.svg"] + [
        f"slack-bot trace: the agent did not answer: {why}; capture keeps what its server says"
    ] * bool(why)


def test_the_modes_of_the_reference_agent_stand_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "modes.svg"
    assert main(options("tell me a joke", modes=True, svg=str(out)), MODES) == 0
    told = capsys.readouterr().out
    assert [line for line in told.splitlines() if line.startswith("==")] == [
        "== hybrid",
        "== marker",
        "== structured",
    ]
    words = "".join(ET.parse(out).getroot().itertext())
    assert all(mode in words for mode in ("hybrid", "marker", "structured"))
    for wrong in (("a", "b"), (" ",)):
        with pytest.raises(UnreadableInput):
            main(options(*wrong, modes=True), MODES)

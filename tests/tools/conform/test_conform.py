"""The verb: suites, files, reports, exit statuses; in memory and against live agents."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from slack_bot.cli import main
from slack_bot.errors import SettingsError
from slack_bot.playground.reference.agent import agent_card
from slack_bot.playground.reference.modes import memory_target
from slack_bot.testing.agent.asgi_transport import Message
from slack_bot.testing.harness import bot_settings, free_port
from slack_bot.testing.tape.builders import answer, chunk, status, task
from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.tape import Tape, write_tape
from slack_bot.tools.conform import conform
from slack_bot.tools.conform.cases import Case, SuiteResult, open_suite, read_suite
from slack_bot.tools.conform.conform import LiveTarget, QuestionCounter, run_case, run_suite
from slack_bot.tools.conform.reports import SuiteProgress
from tests.loaded_program import loaded_program
from tests.tools.conform import replay_fixtures

ROOT = Path(__file__).parents[3]

JOKE = {"name": "joke", "query": "tell me a joke", "checks": ["live_streamed", "no_tools"]}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("A2A_AGENT_URL", "SLACK_BOT_AGENT__URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def suite(folder: Path, *cases: dict[str, Any]) -> str:
    path = folder / "mine.json"
    path.write_text(json.dumps({"name": "mine", "cases": list(cases)}), encoding="utf-8")
    return str(path)


def fails_in(found: SuiteResult) -> dict[tuple[str, str], str]:
    """Case and check, and what was found."""
    return {
        (case.case.name, finding.check.name): finding.detail
        for case in found.cases
        for finding in case.findings
        if finding.ok is False
    }


def of_mode(mode: str, *names: str) -> SuiteResult:
    """The cases of these names; without any, all that are asked."""
    extended, tapes = open_suite("extended")
    asked = tuple(case for case in extended.cases if case.tape is None and (not names or case.name in names))
    return run_suite(
        replace(extended, cases=asked), tapes, memory_target(mode), 1, SuiteProgress(io.StringIO()), 0.0
    )


def nobody_looks(seconds: float) -> None:
    """No progress is shown."""


def test_the_caipe_suite_passes_22_of_22(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--report", "out.md", "--junit", "out.xml", "--mode", "marker"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == (
        "22 of 22 checks passed: PASS (the playground's agent, mode marker, in memory)"
    )
    assert said.err.splitlines()[-2:] == ["-> out.md", "-> out.xml"]
    report = (here / "out.md").read_text("utf-8")
    assert "| **Passed** | 22 |" in report
    assert "**FAIL**" not in report
    root = ElementTree.parse(here / "out.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("22", "0")


STRUCTURED = {("first-look", "first_visible_text"), ("first-look", "burst_share")}
"""A model that writes JSON is silent until it is whole, and then says everything at once."""


@pytest.mark.parametrize(
    ("mode", "fails"), [("hybrid", set()), ("marker", set()), ("structured", STRUCTURED)]
)
@pytest.mark.slow
def test_in_each_mode_exactly_the_checks_fail_that_should(mode: str, fails: set[tuple[str, str]]) -> None:
    assert set(fails_in(of_mode(mode))) == fails


def test_in_structured_mode_the_report_says_why_a_check_fails() -> None:
    failed = fails_in(of_mode("structured", "first-look"))
    assert set(failed) == STRUCTURED
    assert failed["first-look", "first_visible_text"].endswith("the agent's wait")
    assert "the agent itself wrote" in failed["first-look", "burst_share"]


def test_the_report_is_the_same_but_for_its_date(here: Path) -> None:
    for name in ("a.md", "b.md"):
        assert main(["conform", "--only", "simple-chat", "--report", name]) == 0
    one, two = ((here / name).read_text("utf-8").splitlines() for name in ("a.md", "b.md"))
    assert [a for a, b in zip(one, two, strict=True) if a != b and "**Date**" not in a] == []


def test_a_report_without_a_name_has_the_time_in_it(here: Path) -> None:
    assert main(["conform", "--only", "simple-chat", "--report"]) == 0
    assert [path.name[:10] for path in here.glob("*.md")] == ["streaming_"]


def test_json_alone_is_on_stdout(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--only", "simple-chat", "--json", "--repeat", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["passed"], found["cases"][0]["runs"]) == ("PASS", 6, 2)


def test_a_failed_check_is_exit_1_and_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = {**JOKE, "checks": ["tools_used", {"check": "content_delivered", "over": 9999}]}
    assert main(["conform", "--suite", suite(here, case), "-v"]) == 1
    said = capsys.readouterr()
    assert "FAIL  joke    0/2" in said.out
    assert "      tools_used: none" in said.out
    assert "    FAIL content_delivered: 1" in said.err


def test_ctrl_c_keeps_what_was_judged(here: Path) -> None:
    cases = [{**JOKE, "name": f"joke-{number}"} for number in range(400)]
    words = ["conform", "--suite", suite(here, *cases), "--report", "out.md", "--json"]
    with subprocess.Popen(
        [*loaded_program(), *words],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("[2/400]"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    found = json.loads(out)
    assert process.returncode == 130
    assert "interrupted; it was at " in err
    assert len(found["cases"]) >= 2 and found["verdict"] == "FAIL"
    assert {each["reason"] for each in found["skipped"]} == {"interrupted before it was judged"}
    assert len(found["cases"]) + len(found["skipped"]) == 400
    assert "joke-1" in (here / "out.md").read_text(encoding="utf-8")


def test_a_suite_of_ones_own_plays_tapes_that_lie_beside_it(here: Path) -> None:
    folder = here / "suites"
    folder.mkdir()
    tape = Path(conform.__file__).parent / "suites" / "tapes" / "same-result.jsonl"
    (folder / "mine.jsonl").write_bytes(tape.read_bytes())
    case = {"name": "a", "query": "q", "tape": "mine.jsonl", "checks": ["text_equals_final", "asked_once"]}
    assert main(["conform", "--suite", suite(folder, case)]) == 0


def tape_case(folder: Path, tape: Tape, *checks: str) -> str:
    """A suite with one case, which plays `tape`."""
    (folder / "mine.jsonl").write_text(write_tape(tape), "utf-8")
    return suite(folder, {"name": "a", "query": "q", "tape": "mine.jsonl", "checks": checks})


@pytest.mark.parametrize(
    ("pieces", "reads"),
    [
        (
            "The quick brown fox jumps over the lazy dog and runs into the wide green forest today",
            "the bot took them for pieces of one text, and another A2A client",
        ),
        ("Line 1.|Line 2.|Line 3.|Line 4.|Line 5.", "the reader has 6 of the 30 characters)"),
    ],
)
def test_pieces_that_replace_each_other_are_named_with_what_is_read_and_the_remedy(
    pieces: str, reads: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = pieces.split("|") if "|" in pieces else [f"{word} " for word in pieces.split()]
    updates = [{**chunk(word), "append": False} for word in words]
    for update in updates if "|" not in pieces else ():  # an agent that marks nothing
        del update["append"], update["artifact"]["metadata"]
    events = [task(), *updates, status("completed")]
    moments = [Moment(0.1 + 0.1 * number, event=each) for number, each in enumerate(events)]
    tape = Tape({"wire": "0.3"}, (*moments, Moment(2.0, end="closed")))
    main(["conform", "--suite", tape_case(here, tape, "no_silence")])
    told = capsys.readouterr().err
    start = f"warning: a ({len(words) - 1} updates of the artifact 'streaming_result-1'"
    assert start in told and "): they came without append=true" in told
    assert reads in told and "send append=true from the second piece on" in told


def test_one_warning_names_all_cases_with_the_same_pieces_and_the_table_alone_what_failed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    updates = [{**chunk(f"Line {number}."), "append": False} for number in range(5)]
    events = [task(), *updates, status("completed")]
    moments = [Moment(0.1 + 0.1 * number, event=each) for number, each in enumerate(events)]
    tape = Tape({"wire": "0.3"}, (*moments, Moment(2.0, end="closed")))
    first = json.loads(Path(tape_case(here, tape, "tools_used")).read_text())
    cases = [{**case, "name": name} for case in first["cases"] for name in ("a", "b")]
    main(["conform", "--suite", suite(here, *cases)])
    said = capsys.readouterr()
    assert said.err.count("warning:") == 1
    assert re.search(r"warning: a \(4 updates [^)]*\), b \(4 updates [^)]*\): they came without", said.err)
    failed = [line.strip() for line in said.out.splitlines() if line.startswith("      ")]
    assert failed
    assert not any(line in said.err for line in failed)


def test_one_correction_is_no_such_warning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tape = answer("The quick brown fox.")
    end = {**chunk("The slow brown fox."), "append": False}
    moments = (*tape.moments[:-2], Moment(3.2, event=end), *tape.moments[-2:])
    assert main(["conform", "--suite", tape_case(here, Tape(tape.head, moments), "no_silence")]) == 0
    assert "append" not in capsys.readouterr().err


def test_the_notice_that_there_is_no_answer_counts_as_no_character_of_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = (Moment(0.1, event=task()), Moment(0.5, event=status("completed")), Moment(0.6, end="closed"))
    path = tape_case(here, Tape({"wire": "0.3"}, moments), "content_delivered", "no_silence")
    assert main(["conform", "--suite", path]) == 1
    told = capsys.readouterr().out
    assert "content_delivered: 0 characters delivered, and then the turn ended as no_text" in told
    assert "1 of 2 checks passed" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--suite", "nope"], "nope: no such file; there are the suites agent, caipe, extended"),
        (["--suite", "."], ". is a directory; name a file in it"),
        (["--repeat", "0"], "--repeat wants a number of runs, 1 at least"),
        (
            ["--url", "http://a", "--mode", "marker"],
            "--mode is the playground agent's; leave it out with --url",
        ),
        (["--url", "ftp://a"], "ftp://a is not an address; write http://HOST:PORT or https://HOST/PATH"),
        (["--only", "x"], "--only x: the suite has no such case; there are: simple-chat, off-topic"),
        (["--report", "no/such/folder.md"], "no/such/folder.md: there is no folder no/such; create it"),
    ],
)
def test_wrong_usage_is_exit_2(
    here: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conform", *words]) == 2
    assert f"slack-bot conform: {told}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"{", "the JSON ends in the middle; the file is truncated"),
        (
            json.dumps({"cases": [{**JOKE, "tape": "gone.jsonl"}]}).encode(),
            "gone.jsonl: no such file; check the path",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_exit_2(
    here: Path, content: bytes, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bad.json").write_bytes(content)
    assert main(["conform", "--suite", "bad.json"]) == 2
    assert told in capsys.readouterr().err


def test_nobody_at_the_address_is_exit_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--url", "http://127.0.0.1:9/"]) == 1
    assert capsys.readouterr().err.rstrip().endswith("is the agent running at this address?")


def test_the_tapes_are_what_the_script_writes() -> None:
    written = {f"{name}.jsonl": write_tape(tape) for name, tape in replay_fixtures.tapes()}
    assert written == {path.name: path.read_text("utf-8") for path in replay_fixtures.FOLDER.iterdir()}


def test_our_own_agent_is_known_by_its_card() -> None:
    assert agent_card("http://a/").name == conform._OUR_AGENT


# -- live ----------------------------------------------------------------------------------------------------


@contextmanager
def process(*words: str) -> Iterator[str]:
    """A server of its own that prints its address when it is up."""
    running = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert running.stdout is not None
        address = next(found for line in running.stdout if (found := re.search(r"http://[\d.]+:\d+/", line)))
        yield address[0]
    finally:
        running.kill()
        running.communicate()


@pytest.fixture(scope="module")
def foreign() -> Iterator[str]:
    with process("tests.live_agent", str(free_port())) as url:
        yield url


@pytest.mark.slow
def test_our_own_agent_by_its_address_passes_22_of_22(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with process("slack_bot", "agent", "--mode", "marker", "--port", "0", "--pace", "300") as url:
        assert main(["conform", "--url", url, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        extended = ["conform", "--url", url, "--suite", "extended", "--only", "fails"]
        assert main(extended) == 0
        assert main([*extended, "--only", "agent-cut"]) == 2
    assert (found["passed"], found["failed"], found["target"]) == (22, 0, url)
    said = capsys.readouterr().err
    assert f"--only agent-cut: it plays a tape and asks no agent, so it cannot be put to {url}" in said


def test_a_foreign_agent_is_held_to_what_applies(
    foreign: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        {
            "name": "long",
            "query": "long",
            "checks": ["outcomes", "live_streamed", "no_duplicate", "stop_has_no_text", "nothing_twice",
                       "only_grows", "nothing_left_open", "final_answer_latched", "no_narration"],
        },
        {"name": "fails", "query": "fail", "needs": "playground", "checks": ["no_silence"]},
    ]  # fmt: skip
    assert main(["conform", "--url", foreign, "--suite", suite(here, *cases), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["not_applicable"]) == (8, 1), "it marks no narration"
    assert [each["name"] for each in found["skipped"]] == ["fails"]


def test_the_same_answer_to_two_questions_is_not_written_twice(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {"name": "unknown", "query": "refunds?", "then": ["and later?"], "checks": ["nothing_twice"]}
    assert main(["conform", "--suite", suite(here, case), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] == 1


def test_an_agent_that_never_ends_is_judged_as_it_stands(
    foreign: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {"name": "held", "query": "held", "checks": ["content_delivered", "outcomes", "no_silence"]}
    assert main(["conform", "--url", foreign, "--suite", suite(here, case), "--limit", "1"]) == 1
    said = capsys.readouterr().out
    assert "outcomes: interrupted (nobody waited longer than 1.00 s for its end)" in said
    assert "content_delivered: 36 characters delivered, and then the turn ended as interrupted" in said
    assert "1 of 3 checks passed" in said


def test_a_long_wait_says_which_case_how_long_and_for_how_long_at_most(foreign: str) -> None:
    case = {"name": "held", "query": "held", "checks": ["outcomes"]}
    cases, out = read_suite(json.dumps({"cases": [case]}), ""), io.StringIO()
    progress = SuiteProgress(out, line_every=0.5)
    run_suite(cases, {}, conform._live(foreign, 1.0), 1, progress, 0.0)
    waiting = [line for line in out.getvalue().splitlines() if "waits" in line]
    assert len(waiting) >= 2
    assert re.fullmatch(
        r"\[1/1\] held: it has run for \d s, and waits for the end, at most 1 s an answer \(--limit\)",
        waiting[0],
    )


def test_a_suite_in_memory_shows_no_wait() -> None:
    out = io.StringIO()
    cases = read_suite(json.dumps({"cases": [JOKE]}), "")
    run_suite(cases, {}, memory_target(), 1, SuiteProgress(out, line_every=0.0), 0.0)
    assert "waits" not in out.getvalue()


def test_what_is_learned_in_one_case_is_known_in_the_next(foreign: str) -> None:
    live = conform._live(foreign, 10.0)
    read = read_suite(json.dumps({"cases": [{"name": "a", "query": "echo a", "checks": ["outcomes"]}]}), "")
    assert run_case(read.cases[0], live, {}, nobody_looks).results[0].ok
    assert live.profiles["wire"] == "1.0"


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf"])
def test_a_limit_that_is_none_is_refused(here: Path, capsys: pytest.CaptureFixture[str], limit: str) -> None:
    assert main(["conform", "--url", "http://a/", "--limit", limit]) == 2
    assert "--limit wants a number of seconds" in capsys.readouterr().err


KEY = "hunter2-0042-abcdefgh"


class _Echo(BaseHTTPRequestHandler):
    """An agent that says its caller's credentials wherever it can."""

    def do_GET(self) -> None:
        host, port = self.server.server_address[:2]
        card = {"name": "echo", "url": f"http://{host!s}:{port}/", "protocolVersion": "0.3.0"}
        self._send("application/json", {**card, "capabilities": {"streaming": True}})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = self.headers["authorization"]
        if "fail" in str(asked):
            self._send("application/json", {"error": {"code": 1, "message": f"No: {said}"}})
            return
        ids = {"taskId": "t1", "contextId": "c1"}
        tool = {
            "artifactId": "t",
            "name": "tool_notification_start",
            "description": f"Tool call started: {said}",
        }
        text = {"artifactId": "a", "name": "streaming_result", "parts": [{"kind": "text", "text": said}]}
        done = {"kind": "status-update", **ids, "status": {"state": "completed"}, "final": True}
        events = [
            {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "working"}},
            *({"kind": "artifact-update", **ids, "append": False, "artifact": each} for each in (tool, text)),
            done,
        ]
        self._send("text/event-stream", *({"result": event} for event in events))

    def _send(self, kind: str, *values: dict[str, Any]) -> None:
        is_stream = kind.endswith("stream")
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        for value in values:
            line = json.dumps(value)
            self.wfile.write(f"data: {line}\n\n".encode() if is_stream else line.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def test_no_secret_that_an_agent_sends_back_is_in_any_report(
    here: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = ["no_tools", "live_streamed", {"check": "content_delivered", "over": 10_000}]
    cases = [{"name": word, "query": f"{word} it", "checks": checks} for word in ("tell", "fail")]
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setenv("A2A_AGENT_URL", url)
        monkeypatch.setenv("SLACK_BOT_AGENT__BEARER_TOKEN", KEY)
        wanted = ["conform", "--url", url, "--suite", suite(here, *cases), "-v"]
        assert main([*wanted, "--report", "report.md", "--junit", "report.xml"]) == 1
        assert main([*wanted, "--json"]) == 1
        server.shutdown()
    said = "".join(capsys.readouterr())
    for text in (said, (here / "report.md").read_text(), (here / "report.xml").read_text()):
        assert KEY[:8] not in text
    assert "secret_removed" in said  # as the name of a tool


# -- targets -------------------------------------------------------------------------------------------------

SUITE, TAPES = open_suite("extended")
CASES = {case.name: case for case in SUITE.cases}


def test_a_tape_is_played_whoever_is_there_to_be_asked() -> None:
    run = run_case(CASES["same-result"], memory_target(), TAPES, nobody_looks)
    assert run.measures is not None
    assert (run.measures.asked, run.measures.questions, run.measures.outcomes) == (1, 1, ("answered",))
    assert all(verdict.ok for verdict in run.results)
    assert 3.0 < run.seconds < 4.0, "virtual seconds"


@pytest.mark.parametrize("mode", [None, "marker"])
def test_the_agent_in_memory_answers_on_virtual_time_and_the_same_each_time(mode: str | None) -> None:
    asker = memory_target(mode)
    one, two = (run_case(CASES["simple-chat"], asker, TAPES, nobody_looks) for _ in range(2))
    assert one.measures is not None and two.measures is not None
    assert (one.seconds, one.measures.text, one.results) == (two.seconds, two.measures.text, two.results)
    assert one.measures.result["events"] == two.measures.result["events"]
    assert asker.refusal(CASES["fails"]) is None


def test_the_pace_of_a_case_is_the_agents() -> None:
    usual = run_case(CASES["simple-chat"], memory_target(), TAPES, nobody_looks)
    quick = run_case(replace(CASES["simple-chat"], pace=0), memory_target(), TAPES, nobody_looks)
    assert quick.seconds < usual.seconds


def test_a_case_that_cannot_be_run_fails_in_all_its_checks() -> None:
    text = json.dumps(
        {"cases": [{"name": "a", "query": "q", "checks": ["no_tools"], "around": {"settings": {"nope": 1}}}]}
    )
    run = run_case(read_suite(text, "x").cases[0], memory_target(), {}, nobody_looks)
    assert (run.measures, [verdict.ok for verdict in run.results]) == (None, [False])
    assert run.error is not None and "nope" in run.error


def test_what_a_live_agent_is_not_asked() -> None:
    live = LiveTarget("http://a/", bot_settings({}, "http://a/"))
    assert live.refusal(CASES["simple-chat"]) is None
    assert "tape" in str(live.refusal(CASES["agent-cut"]))
    assert "playground" in str(live.refusal(CASES["fails"]))
    assert replace(live, is_ours=True).refusal(CASES["fails"]) is None


def test_settings_of_a_case_count_for_a_live_agent_too() -> None:
    case: Case = replace(
        CASES["simple-chat"], around=replace(CASES["simple-chat"].around, settings={"no": 1})
    )
    with pytest.raises(SettingsError):
        LiveTarget("http://a/", bot_settings({}, "http://a/")).ask(case, nobody_looks)


def test_questions_are_counted_and_nothing_else() -> None:
    async def story() -> int:
        async def served(scope: Message, receive: object, send: Callable[[Message], Awaitable[None]]) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body"})

        counting = QuestionCounter(served)
        async with httpx.AsyncClient(transport=counting) as client:
            for method in ("message/stream", "SendMessage", "tasks/get"):
                await client.post(
                    "http://a/", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
                )
            await client.get("http://a/")
        return counting.questions

    assert asyncio.run(story()) == 2


@pytest.mark.parametrize(("mode", "warns"), [("structured", True), ("hybrid", False)])
def test_an_answer_that_comes_at_once_after_a_long_wait_is_warned_of_and_passes(
    mode: str, warns: bool, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["conform", "--only", "rag-simple", "--mode", mode]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    assert len(lines) == warns
    for line in lines:
        assert re.search(r"rag-simple: nothing of the answer could be read for [\d.]+ s, and then 100%", line)
        assert line.endswith("came within half a second: the agent wrote it so")

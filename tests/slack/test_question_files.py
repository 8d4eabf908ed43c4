"""The files of a question, from the message to the agent: byte for byte, or named with the reason."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import PersonFile
from slack_bot.testing.tape.builders import answer, failure, on_wire
from slack_bot.testing.virtual_clock import on_virtual_time

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
LOG = PersonFile("app.log", b"first line\nsecond\n")


async def ask(bot: BotHarness, text: str, *files: PersonFile, **where: Any) -> str:
    ts = await bot.ask(text, *files, **where)
    await bot.idle()
    return ts


def parts(bot: BotHarness, number: int = -1) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = bot.agent.questions[number].params["message"]["parts"]
    return found


@on_virtual_time
async def test_files_go_to_the_agent_byte_for_byte() -> None:
    async with run_bot() as bot:
        root = await ask(bot, "what is this?", LOG, PersonFile("shot.txt", PNG))
        (asked,) = bot.agent.questions
        assert asked.text == "what is this?"
        assert asked.files == [("app.log", "text/plain", LOG.content), ("shot.txt", "image/png", PNG)]
        assert parts(bot)[1]["file"]["name"] == "app.log"
        assert bot.read(root) == ["Hello."]


@on_virtual_time
async def test_on_1_0_they_have_its_spelling() -> None:
    async with run_bot(on_wire(answer("Hello."), "1.0")) as bot:
        await ask(bot, "what is this?", LOG)
        assert parts(bot)[1] == {
            "raw": "Zmlyc3QgbGluZQpzZWNvbmQK", "filename": "app.log", "mediaType": "text/plain",
        }  # fmt: skip


@on_virtual_time
async def test_a_file_without_words_asks() -> None:
    async with run_bot() as bot:
        root = await ask(bot, "", LOG)
        (asked,) = bot.agent.questions
        assert (asked.text, len(asked.files)) == ("app.log", 1)
        assert bot.read(root) == ["Hello."]
        direct = bot.workspace.direct("U1")
        await bot.say("", LOG, channel=direct)
        await bot.idle()
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_what_the_agent_does_not_get_is_named_in_the_thread() -> None:
    files = (
        PersonFile("big.bin", bytes(2 * 2**20)),
        PersonFile("gone.txt", is_deleted=True),
        PersonFile("none.txt", b""),
        LOG,
        PersonFile("third.bin", bytes(2**20)),
    )
    async with run_bot(**{"files.max_bytes": 2**20, "max_total_bytes": 2**20}) as bot:
        root = await ask(bot, "what is this?", *files)
        assert [name for name, _, _ in bot.agent.questions[0].files] == ["app.log"]
        (note,) = [text for text in bot.read(root) if text != "Hello."]
        assert note.split("\n") == [
            "big.bin was not given to the agent, because it is larger than 1 MiB.",
            "A file was not given to the agent, because it was deleted.",
            "none.txt was not given to the agent, because it is empty.",
            "third.bin was not given to the agent, because the files of a question may have 1 MiB together.",
        ]
        assert [file for file, _ in bot.workspace.downloads] == ["F000003", "F000004"]


@on_virtual_time
async def test_a_file_that_slack_calls_smaller_than_it_is_is_not_read_to_its_end() -> None:
    async with run_bot(**{"files.max_bytes": 1000}) as bot:
        ts = bot.workspace.say(
            "U1", CHANNEL, "<@U0BOT> see", now=bot.now, files=[PersonFile("a", bytes(5000))]
        )
        for each in bot.workspace.outbox:
            each.payload["event"]["files"][0]["size"] = 10
        await bot.deliver()
        await bot.idle()
        assert bot.agent.questions[0].files == []
        assert "a was not given to the agent, because it is larger than 1,000 bytes." in bot.read(ts)


@pytest.mark.parametrize("entry", ["cut", "cut!", "http:500", "timeout!"])
@on_virtual_time
async def test_that_it_was_not_given_is_said_once_though_a_call_has_no_answer(entry: str) -> None:
    async with run_bot(faults={"chat.postMessage": [entry, None]}, **{"files.max_bytes": 5}) as bot:
        root = await ask(bot, "see", LOG)
        assert sum("app.log was not given" in text for text in bot.read(root)) == 1


@on_virtual_time
async def test_where_nothing_is_left_to_ask_the_agent_is_not_asked() -> None:
    async with run_bot(**{"files.max_bytes": 5}) as bot:
        root = await ask(bot, "", LOG)
        assert (bot.agent.questions, bot.outcomes) == ([], ["refused"])
        (said,) = bot.thread(root)[1:]
        assert "app.log was not given to the agent, because it is larger than 5 bytes." in said.read


@on_virtual_time
async def test_without_the_scope_it_is_said_what_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    async with run_bot() as bot:
        state = bot.workspace.state
        state.manifest = dataclasses.replace(state.manifest, scopes=state.manifest.scopes - {"files:read"})
        for _ in range(2):
            root = await ask(bot, "what is this?", LOG, PersonFile("theirs", b"x", is_stub=True))
        assert bot.agent.questions[-1].files == []
        note = next(text for text in bot.read(root) if "given" in text)
        assert note.count("because the bot may not read files in this workspace.") == 2
    problems = [each.getMessage() for each in caplog.records if "are not given to the agent" in each.message]
    assert len(problems) == 1
    assert "files:read" in problems[0]


@on_virtual_time
async def test_a_page_that_somebody_shared_is_no_login_page() -> None:
    page = PersonFile("index.html", b"<html><title>Mine</title></html>")
    async with run_bot() as bot:
        await ask(bot, "what is this?", page)
        assert bot.agent.questions[0].files == [("index.html", "text/html", page.content)]


@on_virtual_time
async def test_a_canvas_comes_as_html_and_the_login_page_in_its_place_does_not() -> None:
    canvas = PersonFile("notes", b"<h1>Notes</h1>", "application/vnd.slack-docs")
    async with run_bot() as bot:
        await ask(bot, "what is this?", canvas)
        assert bot.agent.questions[0].files == [("notes", "text/html", canvas.content)]
        grant = bot.workspace.state.manifest
        bot.workspace.state.manifest = dataclasses.replace(grant, scopes=grant.scopes - {"files:read"})
        await ask(bot, "what is this?", canvas)
        assert bot.agent.questions[1].files == []


@on_virtual_time
async def test_a_file_of_another_organisation_is_asked_for() -> None:
    async with run_bot() as bot:
        await ask(bot, "what is this?", PersonFile("theirs.csv", b"a,b", is_stub=True))
        assert bot.agent.questions[0].files == [("theirs.csv", "text/csv", b"a,b")]


@on_virtual_time
async def test_a_file_that_lies_elsewhere_is_a_link_and_never_fetched() -> None:
    link = "https://drive.example/plan"
    async with run_bot() as bot:
        await ask(bot, "what is this?", PersonFile("plan.doc", mimetype="application/x-doc", link=link))
        assert parts(bot)[1]["file"] == {"name": "plan.doc", "mimeType": "application/x-doc", "uri": link}
        assert bot.workspace.downloads == []


@on_virtual_time
async def test_where_the_agent_is_to_get_no_files_none_is_fetched() -> None:
    async with run_bot(**{"files.max_bytes": 0}) as bot:
        root = await ask(bot, "what is this?", LOG)
        assert (bot.agent.questions[0].files, bot.workspace.downloads) == ([], [])
        assert "app.log was not given to the agent, because it gets no files here." in bot.read(root)


@on_virtual_time
async def test_an_address_that_is_not_slacks_is_not_fetched() -> None:
    async with run_bot() as bot:
        bot.workspace.state.file_base = "https://evil.example"
        root = await ask(bot, "what is this?", LOG)
        assert bot.workspace.downloads == []
        assert "app.log was not given to the agent, because it does not lie at Slack." in bot.read(root)


@on_virtual_time
@pytest.mark.parametrize("fault", ["http:503", "cut", "timeout", "ratelimited:2"])
async def test_what_slack_does_not_give_at_first_it_gives_later(fault: str) -> None:
    async with run_bot(
        faults={"download": [fault, None]}, **{"files.timeout": 60, "slack.timeout": 10}
    ) as bot:
        await ask(bot, "what is this?", LOG)
        assert bot.agent.questions[0].files == [("app.log", "text/plain", LOG.content)]


@on_virtual_time
async def test_a_question_does_not_wait_for_ever() -> None:
    async with run_bot(faults={"download": ["slow:100"]}, **{"files.timeout": 10}) as bot:
        root = await bot.ask("what is this?", LOG)
        await asyncio.sleep(11)
        assert bot.agent.questions[0].files == []
        await bot.idle()
        assert "app.log was not given to the agent, because Slack did not give it in time." in bot.read(root)


@on_virtual_time
async def test_questions_that_become_one_bring_all_their_files() -> None:
    async with run_bot(answer("one " * 40, seconds=10), answer("two"), busy="collect") as bot:
        root = await bot.ask("first")
        await asyncio.sleep(3)
        await bot.ask("and this", LOG, thread_ts=root)
        await bot.ask("", PersonFile("b.csv", b"a,b"), thread_ts=root)
        await bot.idle()
        assert [each.text for each in bot.agent.questions] == ["first", "and this"]
        assert [name for name, _, _ in bot.agent.questions[1].files] == ["app.log", "b.csv"]


@on_virtual_time
async def test_after_a_restart_before_the_agent_was_asked_they_are_fetched_again() -> None:
    async with run_bot(faults={"download": ["slow:20", None]}) as first:
        await first.ask("what is this?", LOG)
        await asyncio.sleep(1)
        first.life.end_now()
        assert (first.agent.questions, len(first.workspace.downloads)) == ([], 1)
        (turn,) = await first.store.unfinished()
        assert turn.question.files[0].name == "app.log"
        assert "first line" not in repr(turn)
        async with run_bot(after=first) as second:
            await second.idle()
            assert second.agent.questions[0].files == [("app.log", "text/plain", LOG.content)]
            assert second.outcomes == ["answered"]


@on_virtual_time
async def test_a_retry_brings_them_again() -> None:
    tapes = failure("boom"), answer("whole")
    async with run_bot(*tapes) as bot:
        root = await ask(bot, "what is this?", LOG)
        last = bot.thread(root)[-1]
        bot.workspace.press("U1", CHANNEL, last.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [len(each.files) for each in bot.agent.questions] == [1, 1]


CLIP = PersonFile("clip.m4a", b"\x00\x00\x00\x20ftypM4A " + bytes(64), "audio/mp4")


class Listener(ScriptedAgent):
    """An agent whose card names what it takes."""

    def __init__(self, *modes: str) -> None:
        super().__init__(answer("Hello."))
        self.modes = list(modes)

    def card(self, url: str) -> dict[str, Any]:
        return {**super().card(url), "defaultInputModes": self.modes}


@pytest.mark.parametrize(
    ("modes", "is_told"),
    [
        (["text/plain"], True),
        (["text/plain", "image/*"], True),
        (["text/plain", "audio/mp4"], False),
        (["*/*"], False),
        (["text/plain", "application/octet-stream"], False),
        ([], False),
    ],
)
@on_virtual_time
async def test_one_line_says_that_an_agent_names_no_audio_and_it_gets_it_all_the_same(
    modes: list[str], is_told: bool
) -> None:
    agent = Listener(*modes)
    through = lambda _: ScriptedTransport(agent)  # noqa: E731
    async with run_bot(through=through) as bot:
        root = await ask(bot, "what do I say?", CLIP)
        assert [kind for _, kind, _ in agent.questions[0].files] == ["audio/mp4"]
        told = [text for text in bot.read(root) if "does not say that it takes audio" in text]
        assert len(told) == is_told
        assert "Hello." in bot.read(root)


@on_virtual_time
async def test_what_was_said_of_a_file_stays_after_a_takeover() -> None:
    store = MemoryStore(is_durable=True)
    big = {"files.max_bytes": 4}
    async with run_bot(answer("word " * 50, seconds=60), store=store, **big) as bot:
        root = await bot.ask("what is this?", LOG)
        await asyncio.sleep(8)
        told = [text for text in bot.read(root) if "was not given to the agent" in text]
        assert len(told) == 1
        before = bot
        bot.life.end_now()
    async with run_bot(after=before, **big) as bot:
        await bot.idle()
        assert [text for text in bot.read(root) if "was not given to the agent" in text] == told

"""Several agents behind one app, as people in the workspace see it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from slack_bot.features.audit.audit_log import AuditLog
from slack_bot.http_client import Request, Response
from slack_bot.observe.facts import ToAll
from slack_bot.observe.metrics import Metrics
from slack_bot.settings.observe import AuditSettings
from slack_bot.slack.features import FeatureFinding
from slack_bot.store.knowledge import Profiles, workspace_name
from slack_bot.testing.agent.scripted import ScriptedAgent
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.tape.builders import answer, chunk, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from tests.features.routing.town import CUSTOMIZED, FILE, ByHost, of_hosts, town
from tests.observe.test_metrics import read
from tests.store import subjects


@on_virtual_time
async def test_a_name_in_front_chooses_and_the_thread_stays_with_it(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        bot = there.bot
        root = await bot.ask("research: what is it?")
        await bot.idle()
        await bot.ask("and why?", thread_ts=root)
        await bot.idle()
        await bot.say("go on", thread_ts=root)  # without a mention
        await bot.idle()
        assert bot.read(root) == ["R.", "R.", "R."]
        assert there.asked("research") == ["what is it?", "and why?", "go on"]
        assert there.asked("default") == there.asked("ops") == []


@pytest.mark.parametrize(
    ("status", "named"),
    [
        (404, "agents.ops.url must be the agent's base address"),
        (401, "set SLACK_BOT_AGENTS__OPS__BEARER_TOKEN"),
    ],
)
@on_virtual_time
async def test_the_log_of_a_failed_turn_names_the_settings_of_its_agent(
    status: int, named: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (file := tmp_path / "slack_bot.toml").write_text('[agents.ops]\nurl = "http://ops.invalid/"\n', "utf-8")
    wrong = httpx.MockTransport(lambda request: httpx.Response(status))
    async with run_bot(config=str(file), through=lambda _: wrong) as bot:
        await bot.ask("ops: why?")
        await bot.idle()
    (failed,) = [each for each in caplog.messages if each.startswith("the agent's side failed")]
    assert named in failed
    assert not [each for each in caplog.messages if "SLACK_BOT_AGENT__" in each or "A2A_AGENT_URL" in each]


@on_virtual_time
async def test_another_name_in_a_thread_is_told_where_to_ask(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("/r what is it?")
        await there.bot.idle()
        await there.bot.ask("ops: and you?", thread_ts=root)
        await there.bot.idle()
        assert there.bot.ephemeral(root) == [
            (
                "U1",
                "This thread is research's. To ask ops, mention me in a new message: `ops: your question`.",
            )
        ]
        assert (there.asked("ops"), there.asked("research")) == ([], ["what is it?"])


@on_virtual_time
async def test_who_names_nobody_asks_the_channel_s_agent_or_the_default_one(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("research the market")
        await there.bot.idle()
        assert there.bot.read(root) == ["D."]
    async with town(tmp_path, f'{FILE}[channels.{CHANNEL}]\nagent = "ops"\n') as there:
        root = await there.bot.ask("why?")
        await there.bot.idle()
        assert there.bot.read(root) == ["O."]


@on_virtual_time
async def test_no_agent_gets_what_another_one_was_told(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        bot, agents = there.bot, there.agents
        for text in ("research: one", "ops: two", "three", "r: four"):
            await bot.ask(text)
            await bot.idle()
        assert [there.asked(name) for name in ("research", "ops", "default")] == [
            ["one", "four"],
            ["two"],
            ["three"],
        ]
        contexts = [
            {call.params["message"].get("contextId") for call in agent.questions}
            for agent in (bot.agent, *agents.values())
        ]
        assert contexts == [{None}] * 3


@on_virtual_time
async def test_a_thread_keeps_its_agent_over_a_restart_and_a_changed_file(tmp_path: Path) -> None:
    agents = of_hosts()
    async with town(tmp_path, agents=agents) as there:
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        old = there.bot
    changed = f'{FILE}[channels.{CHANNEL}]\nagent = "ops"\n'
    async with town(tmp_path, changed, agents=agents, after=old) as there:
        await there.bot.ask("and why?", thread_ts=root)
        await there.bot.idle()
        assert there.bot.read(root) == ["R.", "R."]
        assert there.asked("ops") == []


@on_virtual_time
async def test_a_thread_from_before_there_were_several_agents_stays_with_the_first(tmp_path: Path) -> None:
    async with town(tmp_path, "") as there:
        root = await there.bot.ask("what is it?")
        await there.bot.idle()
        old = there.bot
    changed = f'{FILE}[channels.{CHANNEL}]\nagent = "ops"\n'
    async with town(tmp_path, changed, after=old) as there:
        await there.bot.ask("and why?", thread_ts=root)
        await there.bot.idle()
        assert there.bot.read(root) == ["D.", "D."]


@on_virtual_time
async def test_the_thread_of_a_removed_agent_says_so_and_names_the_others(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("ops: what is it?")
        await there.bot.idle()
        old = there.bot
    only = '[agents.research]\nurl = "http://research.invalid/"\n'
    async with town(tmp_path, only, after=old) as there:
        await there.bot.ask("and why?", thread_ts=root)
        await there.bot.idle()
        ((_, said),) = there.bot.ephemeral(root)
        assert said.startswith("ops is not one of my agents any more. To ask default or research, mention me")
        assert there.asked("default") == there.asked("research") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agents", ["`default` (asked if you name none)", "`research`: ", "`ops`: "]),
        ("help", ["write its name in front", "`use NAME`"]),
        ("use sales", ["I know no agent sales. Here are: default, research, ops."]),
        ("status", ["`default` answers in this thread. Under way: 0, waiting: 0."]),
        ("new", ["`default` has forgotten what was said in this thread"]),
    ],
)
@on_virtual_time
async def test_words_for_the_bot_itself_are_answered_privately(
    text: str, words: list[str], tmp_path: Path
) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask(text)
        await there.bot.idle()
        ((user, said),) = [
            (seen.ephemeral_for, seen.text)
            for seen in there.bot.workspace.history(CHANNEL)
            if seen.ephemeral_for
        ]
        assert user == "U1"
        assert [each for each in words if each not in said] == []
        assert there.bot.read(root) == []
        assert there.asked("default") == there.asked("research") == there.asked("ops") == []


@on_virtual_time
async def test_use_chooses_for_the_thread_before_its_first_question(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("use r")
        await there.bot.idle()
        await there.bot.ask("what is it?", thread_ts=root)
        await there.bot.idle()
        assert there.bot.read(root) == ["R."]
        await there.bot.ask("use ops", thread_ts=root)
        await there.bot.idle()
        assert there.bot.ephemeral(root)[-1][1].startswith("This thread is research's.")


@on_virtual_time
async def test_new_begins_a_new_conversation_with_the_same_agent(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("r: what is it?")
        await there.bot.idle()
        for text in ("and why?", "new", "again?"):
            await there.bot.ask(text, thread_ts=root)
            await there.bot.idle()
        agent = there.agents["research.invalid"]
        contexts = [call.params["message"].get("contextId") for call in agent.questions]
        assert contexts[0] is None and contexts[1] is not None and contexts[2] is None


@on_virtual_time
async def test_who_may_not_ask_an_agent_is_told_which_they_may(tmp_path: Path) -> None:
    text = f'{FILE}people = ["U2"]\n'
    async with town(tmp_path, text) as there:
        await there.bot.ask("ops: what is it?")
        root = await there.bot.ask("ops: what is it?", user="U2")
        await there.bot.idle()
        said = [seen.text for seen in there.bot.workspace.history(CHANNEL) if seen.ephemeral_for == "U1"]
        assert said == ["You may not ask ops. Here you can ask default or research."]
        assert there.bot.read(root) == ["O."]
        assert there.asked("ops") == ["what is it?"]


@on_virtual_time
async def test_who_may_not_ask_an_agent_cannot_do_so_by_a_reply_without_a_mention(tmp_path: Path) -> None:
    text = f'{FILE}people = ["U2"]\n[channel]\nrespond = "thread"\n'
    async with town(tmp_path, text) as there:
        root = await there.bot.ask("ops: what is it?", user="U2")
        await there.bot.idle()
        await there.bot.say("and why?", thread_ts=root, user="U1")
        await there.bot.say("go on", thread_ts=root, user="U2")
        await there.bot.idle()
        assert there.asked("ops") == ["what is it?", "go on"]


@on_virtual_time
async def test_what_is_written_quickly_to_two_agents_goes_to_each(tmp_path: Path) -> None:
    text = f'{FILE}[channels.dm]\nbusy = "collect"\n'
    async with town(tmp_path, text) as there:
        there.bot.workspace.add_channel("D1", kind="im")
        for words in ("research: one", "ops: two"):
            await there.bot.say(words, channel="D1")
        await there.bot.idle()
        await asyncio.sleep(10.0)
        await there.bot.idle()
        assert (there.asked("research"), there.asked("ops")) == (["one"], ["two"])


@on_virtual_time
async def test_with_one_agent_these_words_are_questions_and_nothing_is_stored(tmp_path: Path) -> None:
    async with town(tmp_path, "") as there:
        root = await there.bot.ask("agents")
        await there.bot.idle()
        assert there.bot.read(root) == ["D."]
        assert there.asked("default") == ["agents"]


class Loud(ByHost):
    """Agents whose cards call everybody."""

    async def handle_async_request(self, request: Request) -> Response:
        response = await super().handle_async_request(request)
        if "agent-card" not in request.url.path:
            return response
        card = (await response.aread()).replace(b"Plays a capture.", b"<!channel> <@U2> " + b"x" * 200)
        return Response(response.status_code, content=card, request=request)


@on_virtual_time
async def test_what_an_agent_says_of_itself_calls_nobody_and_is_short(tmp_path: Path) -> None:
    hosts = of_hosts()
    (file := tmp_path / "slack_bot.toml").write_text(FILE, encoding="utf-8")
    async with run_bot(answer("D."), through=partial(Loud, agents=hosts), config=str(file)) as bot:
        await bot.ask("agents")
        await bot.idle()
        (call,) = bot.calls("chat.postEphemeral")
        assert "<!channel>" not in call["text"] and "<@U2>" not in call["text"]
        assert "xxx" in call["text"]
        assert max(map(len, call["text"].splitlines())) < 250


@on_virtual_time
async def test_why_an_agent_was_asked_stays_with_its_turn_and_is_in_the_audit(tmp_path: Path) -> None:
    (lines := tmp_path / "audit").mkdir()
    audit = AuditLog(AuditSettings(path=str(lines)))
    text = f'{FILE}[channels.{CHANNEL}]\nagent = "ops"\n'
    async with town(tmp_path, text, observer=audit) as there:
        for words in ("research: what is it?", "why?"):
            root = await there.bot.ask(words)
            await there.bot.idle()
        await there.bot.ask("and why?", thread_ts=root)
        await there.bot.idle()
    audit.close()
    (path,) = lines.iterdir()
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["agent"], line["agent_reason"]) for line in written] == [
        ("research", "it was named"),
        ("ops", "it is the channel's"),
        ("ops", "the thread is its"),
    ]


@on_virtual_time
async def test_what_is_counted_of_turns_is_counted_by_the_name_of_the_agent(tmp_path: Path) -> None:
    metrics = Metrics(new_clock())
    async with town(tmp_path, observer=ToAll(metrics)) as there:
        for words in ("research: what is it?", "why?", "what?"):
            await there.bot.ask(words)
            await there.bot.idle()
    for agent, number in {"research": 1, "default": 2, "ops": 0}.items():
        assert read(metrics, "turns_total", outcome="answered", agent=agent) == number
        for name in (
            "answers_total",
            "answers_whole_total",
            "first_text_seconds_count",
            "turn_seconds_count",
        ):
            assert read(metrics, name, agent=agent) == number
    assert "invalid" not in metrics.scrape()[1].decode()


@on_virtual_time
async def test_feedback_names_the_agent_that_answered(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        seen = there.bot.thread(root)[-1]
        there.bot.workspace.press("U1", CHANNEL, seen.ts, "feedback", now=there.bot.now, value="positive")
        await there.bot.deliver()
        kept = await subjects.change_feedback(there.bot.store, f"T1:{CHANNEL}:{root}", "U1", lambda _: None)
        assert kept is not None and kept.agent == "research"


LOOKS = """
[agents.research]
url = "http://research.invalid/"
name = "Research"
icon = ":mag:"
[agents.ops]
url = "http://ops.invalid/"
name = "Operations"
"""


def looks_of(bot: BotHarness, root: str) -> list[tuple[str, Mapping[str, str]]]:
    """The text of each answer, and the name and picture it stands under."""
    return [(seen.text, seen.look) for seen in bot.thread(root) if seen.is_bot and not seen.ephemeral_for]


@on_virtual_time
async def test_an_answer_stands_under_the_name_and_picture_of_its_agent(tmp_path: Path) -> None:
    async with town(tmp_path, LOOKS, manifest=CUSTOMIZED) as there:
        for name, look in {
            "research": {"username": "Research", "icon_emoji": ":mag:"},
            "ops": {"username": "Operations"},
        }.items():
            root = await there.bot.ask(f"{name}: what is it?")
            await there.bot.idle()
            assert [each for _, each in looks_of(there.bot, root)] == [look]
            assert "Answer of" not in there.bot.thread(root)[-1].read
        statuses = there.bot.calls("assistant.threads.setStatus")
        assert [each.get("username") for each in statuses] == ["Research", "Operations"]


@on_virtual_time
async def test_without_the_scope_the_answer_is_whole_and_the_name_is_below_it(tmp_path: Path) -> None:
    async with town(tmp_path, LOOKS) as there:
        for _ in range(2):
            root = await there.bot.ask("research: what is it?")
            await there.bot.idle()
            assert looks_of(there.bot, root) == [("R.", {})]
            assert "Answer of Research" in there.bot.thread(root)[-1].extras
        refused = [call.method for call in there.bot.workspace.calls if call.error == "missing_scope"]
        assert refused == ["assistant.threads.setStatus"]  # one call, in all


@on_virtual_time
async def test_where_streams_show_no_names_as_a_probe_found_the_name_is_below(tmp_path: Path) -> None:
    async with town(tmp_path, LOOKS, manifest=CUSTOMIZED) as there:
        found = FeatureFinding(works=False, found_at=there.bot.now)
        await Profiles(there.bot.store).save_fact(workspace_name("T1"), "names", str(found), there.bot.now)
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        assert "Answer of Research" in there.bot.thread(root)[-1].extras


@on_virtual_time
async def test_an_answer_that_is_no_stream_has_the_name_too(tmp_path: Path) -> None:
    faults = {"chat.startStream": ["feature_disabled"]}
    async with town(tmp_path, LOOKS, manifest=CUSTOMIZED, faults=faults) as there:
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        assert looks_of(there.bot, root) == [("R.", {"username": "Research", "icon_emoji": ":mag:"})]


@on_virtual_time
async def test_the_threads_of_a_renamed_agent_say_so_and_new_ones_are_its(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        root = await there.bot.ask("ops: what is it?")
        await there.bot.idle()
        old = there.bot
    renamed = FILE.replace("[agents.ops]", "[agents.operations]")
    async with town(tmp_path, renamed, after=old) as there:
        await there.bot.ask("and why?", thread_ts=root)
        await there.bot.idle()
        ((_, said),) = there.bot.ephemeral(root)
        assert said.startswith(
            "ops is not one of my agents any more. To ask default or research or operations"
        )
        new = await there.bot.ask("operations: and why?")
        await there.bot.idle()
        assert there.bot.read(new) == ["O."] and there.asked("ops") == ["and why?"]


@on_virtual_time
async def test_a_question_that_waits_for_a_removed_agent_ends_with_a_sentence(tmp_path: Path) -> None:
    agents = of_hosts()
    agents["ops.invalid"] = ScriptedAgent(answer("Slow.", seconds=600.0))
    async with town(tmp_path, agents=agents) as there:
        root = await there.bot.ask("ops: what is it?")
        await there.bot.ask("and why?", thread_ts=root)
        await asyncio.sleep(5)
        there.bot.life.end_now()
        old = there.bot
    only = '[agents.research]\nurl = "http://research.invalid/"\n'
    async with town(tmp_path, only, after=old) as there:
        await asyncio.sleep(60)
        await there.bot.idle()
        notes = [note for seen in there.bot.thread(root) for note in seen.extras]
        assert sum(note.startswith("ops is not one of my agents any more.") for note in notes) == 2
        assert there.asked("research") == there.asked("default") == []


@on_virtual_time
async def test_a_task_that_is_followed_ends_with_a_sentence_if_its_agent_was_removed(tmp_path: Path) -> None:
    moments = (
        Moment(0.1, event=task()),
        Moment(0.5, event=chunk("It is ")),
        Moment(900.0, event=chunk("so.")),
        Moment(900.0, end="closed"),
    )
    agents = of_hosts()
    agents["ops.invalid"] = ScriptedAgent(Tape({"wire": "0.3"}, moments))
    soon = {"agent.turn_timeout": 15.0, "agent.accept_timeout": 4.0, "agent.idle_timeout": 8.0}
    soon |= {"agent.poll_timeout": 2.0, "agent.connect_timeout": 2.0}
    watched: dict[str, Any] = {**soon, "agent.watch_intervals": [20]}
    async with town(tmp_path, agents=agents, **watched) as there:
        root = await there.bot.ask("ops: what is it?")
        await there.bot.idle()
        assert there.bot.outcomes == ["watched"]
        old = there.bot
    only = '[agents.research]\nurl = "http://research.invalid/"\n'
    async with town(tmp_path, only, after=old) as there:
        await asyncio.sleep(60)
        await there.bot.idle()
        said = " ".join(seen.read for seen in there.bot.thread(root))
        assert "It is" in said and "ops is not one of my agents any more." in said


@on_virtual_time
async def test_a_name_inside_a_sentence_chooses_nobody_and_the_sentence_arrives_whole(tmp_path: Path) -> None:
    async with town(tmp_path) as there:
        for words in ("can I ask ops: what is it?", "the research: is it good?", "r u there"):
            await there.bot.ask(words)
            await there.bot.idle()
        assert there.asked("default") == [
            "can I ask ops: what is it?",
            "the research: is it good?",
            "r u there",
        ]
        assert there.asked("research") == there.asked("ops") == []


class Renamed(ScriptedAgent):
    """An agent whose card says another name later."""

    called = "Ann"

    def card(self, url: str) -> dict[str, Any]:
        return {**super().card(url), "name": self.called}


@on_virtual_time
async def test_a_card_that_changed_its_name_shows_it_and_its_threads_go_on(tmp_path: Path) -> None:
    agents = {**of_hosts(), "research.invalid": (agent := Renamed(*[answer("R.")] * 9))}
    async with town(tmp_path, agents=agents, manifest=CUSTOMIZED) as there:
        await there.bot.ask("agents")  # reads the cards, as the start of `run` does
        await there.bot.idle()
        root = await there.bot.ask("research: what is it?")
        await there.bot.idle()
        agent.called = "Bea"
        await asyncio.sleep(4_000)
        for words in ("and why?", "and now?"):
            await there.bot.ask(words, thread_ts=root)
            await there.bot.idle()
        assert [look["username"] for _, look in looks_of(there.bot, root)] == ["Ann", "Ann", "Bea"]
        assert there.asked("research") == ["what is it?", "and why?", "and now?"]


@on_virtual_time
async def test_an_answer_that_is_taken_over_goes_on_at_its_agent_whatever_the_file_says(
    tmp_path: Path,
) -> None:
    agents = of_hosts()
    agents["ops.invalid"] = ScriptedAgent(answer("It is so, and it was so before.", seconds=60.0))
    async with town(tmp_path, agents=agents) as there:
        root = await there.bot.ask("ops: what is it?")
        await asyncio.sleep(20)
        there.bot.life.end_now()
        old = there.bot
    changed = f'{FILE}[channels.{CHANNEL}]\nagent = "research"\nagents = ["research"]\n'
    async with town(tmp_path, changed, agents=agents, after=old) as there:
        await asyncio.sleep(120)
        await there.bot.idle()
        assert "".join(there.bot.read(root)) == "It is so, and it was so before."
        assert there.asked("ops") == ["what is it?"]
        assert there.asked("research") == there.asked("default") == []

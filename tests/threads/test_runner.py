"""One turn, seen from the thread: what is shown when, and what is kept before it is shown."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from slack_bot.observe.facts import (
    AgentEvent,
    EventHandled,
    Fact,
    Measure,
    SlackCalled,
    TurnEnded,
    TurnStarted,
)
from slack_bot.store.knowledge import CONVERSATIONS
from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.slack.workspace import BOT_TOKEN, PersonFile
from slack_bot.testing.tape.builders import answer, chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.events import AnswerReplaced
from slack_bot.turn.files import GivenFile
from slack_bot.turn.machine import NO_ANSWER
from slack_bot.turn.record import ThreadKey
from tests.turn.work import longest_step


def tape(*moments: tuple[float, dict[str, Any]], end: str = "closed") -> Tape:
    last = moments[-1][0] + 0.1
    return Tape({"wire": "0.3"}, (*(Moment(t, event=event) for t, event in moments), Moment(last, end=end)))


def artifact(name: str, text: str, **metadata: Any) -> dict[str, Any]:
    event = chunk(text)
    event["artifact"] = {**event["artifact"], "name": name, "metadata": metadata, "artifactId": name}
    return event


@on_virtual_time
async def test_words_before_a_pause_do_not_wait_for_the_next_token() -> None:
    """The timer shows them, not the token that comes after."""
    silence = tape(
        (0.1, task()),
        (0.5, chunk("The first words ")),
        (20.0, chunk("and the last.")),
        (20.1, status("completed")),
    )
    async with run_bot(silence) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(3)
        assert bot.read(root) == ["The first words "]
        await bot.idle()
        assert bot.read(root) == ["The first words and the last."]


@on_virtual_time
async def test_narration_is_a_status_and_what_it_says_is_nowhere() -> None:
    said = tape(
        (0.1, task()),
        (0.5, artifact("streaming_result", "I'll search the docs", is_narration=True)),
        (2.0, chunk("Found it.\n")),
        (3.0, status("completed")),
    )
    async with run_bot(said) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        statuses = [call["status"] for call in bot.calls("assistant.threads.setStatus")]
        assert statuses == ["is thinking...", "is responding..."]
        assert bot.read(root) == ["Found it.\n"]
        assert "search the docs" not in str(bot.workspace.calls)


@on_virtual_time
async def test_a_status_is_kept_alive_through_a_long_silence() -> None:
    slow = tape((0.1, task()), (110.0, chunk("At last.\n")), (110.1, status("completed")))
    async with run_bot(slow, quiet_notice_after=120) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(105)
        assert bot.workspace.thread(CHANNEL, root)[0].status_line == "is thinking..."
        assert len(bot.calls("assistant.threads.setStatus")) == 2
        await bot.idle()
        assert bot.read(root) == ["At last.\n"]


@on_virtual_time
async def test_ids_are_kept_before_the_first_character_is_shown() -> None:
    shown_by_then: list[int] = []

    async with run_bot(answer("Hello there.\n")) as bot:
        keep = bot.app.store.change

        async def noting(kind: Any, *args: Any) -> Any:
            if kind is CONVERSATIONS:
                shown_by_then.append(len(bot.calls("chat.startStream")))
            return await keep(kind, *args)

        bot.app.store.change = noting  # type: ignore[method-assign]  # a tap on the line, nothing replaced
        await bot.ask("hi")
        await bot.idle()
        assert shown_by_then[0] == 0
        assert len(bot.calls("chat.startStream")) == 1


@on_virtual_time
async def test_what_was_streamed_is_rewritten_once_if_it_was_not_the_answer() -> None:
    other = tape(
        (0.1, task()),
        (0.5, chunk("First attempt\n")),
        (3.0, artifact("final_result", "The recovered answer.")),
        (3.1, status("completed")),
    )
    async with run_bot(other) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(2)
        assert bot.read(root) == ["First attempt\n"]
        await bot.idle()
        assert bot.read(root) == ["The recovered answer."]
        assert len(bot.calls("chat.update")) == 1


@on_virtual_time
async def test_mentions_and_our_own_token_never_reach_slack_as_such() -> None:
    nasty = tape(
        (0.1, task()),
        (0.5, chunk("<!chan")),
        (0.6, chunk(f"nel> {BOT_TOKEN}\n")),
        (0.9, status("completed")),
    )
    async with run_bot(nasty) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        text = bot.read(root)[0]
        assert "<!channel>" not in text
        assert BOT_TOKEN not in text
        assert "channel" in text


@on_virtual_time
async def test_a_deleted_thread_ends_quietly_and_nothing_is_posted_in_the_channel() -> None:
    async with run_bot(answer("one two three four five six", seconds=20)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(0.2)
        bot.workspace.delete_root(CHANNEL, root, now=bot.now)
        await bot.idle()
        assert bot.outcomes == ["gone"]
        assert not bot.calls("chat.postMessage")


@on_virtual_time
async def test_a_slack_that_cannot_be_written_to_ends_the_reading_too() -> None:
    async with run_bot(answer("a b c d", seconds=600), faults={"chat.startStream": ["invalid_auth"]}) as bot:
        await bot.ask("hi")
        began = bot.now
        await bot.idle()
        assert bot.outcomes == ["failed"]
        assert bot.now - began < 60


@on_virtual_time
async def test_the_facts_of_a_turn_are_told_in_order() -> None:
    async with run_bot(answer("Hello there.\n")) as bot:
        await bot.ask("hi")
        await bot.idle()
        kinds = [type(fact) for fact in bot.facts if not isinstance(fact, Measure)]
        assert kinds[0] is TurnStarted
        assert kinds[-1] is TurnEnded
        assert {AgentEvent, EventHandled, SlackCalled} <= set(kinds)
        closed = next(each for each in reversed(bot.facts) if not isinstance(each, Measure))
        assert isinstance(closed, TurnEnded)
        assert closed.latches["answer_begun"]
        assert (closed.outcome, closed.task_id, closed.context_id) == ("answered", "task-1", "ctx-1")


@on_virtual_time
async def test_a_stop_shows_nothing_more_and_tells_the_truth() -> None:
    long = answer(" ".join(f"word{n}" for n in range(200)), seconds=60)
    async with run_bot(long) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(5)
        before = bot.read(root)
        await bot.app.threads.registry.stop(ThreadKey("T1", CHANNEL, root), "U1")
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert bot.read(root) == before
        assert [call.method for call in bot.agent.calls if "ancel" in call.method] == ["tasks/cancel"]
        assert "Stopped." in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_an_untagged_rest_waits_for_no_one() -> None:
    """A quick answer without any line end is whole all the same, started and appended."""
    async with run_bot(answer("Just this", seconds=0.05)) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["Just this"]
        assert not bot.calls("chat.postMessage")


SECRET = "hunter2-hunter2-hunter2"


def _data(name: str, data: dict[str, Any]) -> dict[str, Any]:
    event = artifact(name, "")
    event["artifact"]["parts"] = [{"kind": "data", "data": data}]
    return event


def _plan(title: str) -> dict[str, Any]:
    steps = [{"step_id": "a", "title": title, "status": "in_progress"}, {"step_id": "b", "title": "Rest"}]
    return _data("execution_plan_update", {"steps": steps})


def _form(value: str) -> dict[str, Any]:
    return _data("caipe_form", {"input_fields": [{"field_name": value, "field_values": [value, "other"]}]})


@pytest.mark.parametrize(
    "said",
    [
        (_plan(f"Log in with {SECRET}"), chunk("Done."), status("completed")),
        (_form(SECRET), status("input-required", "Which one?")),
        (status("failed", "x" * 285 + f" {SECRET}"),),
    ],
    ids=["the plan's title", "a form's fields", "a failure's words, cut"],
)
def test_what_the_agent_was_given_as_its_key_is_shown_nowhere(said: tuple[dict[str, Any], ...]) -> None:
    @on_virtual_time
    async def story() -> None:
        moments = [(1.0 + number, event) for number, event in enumerate(said)]
        async with run_bot(tape((0.1, task()), *moments), bearer_token=SECRET, error_text="show") as bot:
            await bot.ask("hi")
            await bot.idle()
            assert SECRET[:8] not in str(bot.workspace.calls)
            assert "removed]" in str(bot.workspace.calls) or "[secre" in str(bot.workspace.calls)

    story()


@pytest.mark.parametrize(
    "front, back, danger", [("<!chan", "nel> hi", "<!channel>"), ("xoxb-123456", "7890-abcdefghij", "xoxb-")]
)
@on_virtual_time
async def test_what_is_dangerous_only_behind_a_tool_call_is_neutralised(
    front: str, back: str, danger: str
) -> None:
    """An agent of ADK writes its text again when the tool has answered."""
    said = f"This is a line before it.\nCalling {front}"
    call = {"kind": "data", "data": {"id": "1", "name": "search"}, "metadata": {"adk_type": "function_call"}}
    tool = status("working")
    tool["status"]["message"] = {"kind": "message", "role": "agent", "messageId": "m", "parts": [call]}
    whole = {**chunk(said + back), "append": False}
    events = (0.1, task()), (0.5, {**chunk(said), "append": False}), (4.0, tool), (8.0, whole)
    async with run_bot(tape(*events, (9.0, status("completed"))), dialect="adk") as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (text,) = bot.read(root)
        assert text.startswith("This is a line before it.\nCalling ")
        assert danger not in str(bot.workspace.calls)


class _BreaksAtARewrite:
    """An observer that breaks when a rewritten answer is decided, which is a later step of a long one."""

    wants_details = True

    def __call__(self, fact: Fact) -> None:
        if isinstance(fact, EventHandled) and isinstance(fact.event, AnswerReplaced):
            raise ZeroDivisionError


@on_virtual_time
async def test_a_turn_that_breaks_between_two_steps_is_logged_and_its_reader_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    words = "word " * 30_000
    long = tape(
        (0.1, task()),
        (0.5, chunk(words)),
        (4.0, {**chunk(words[:-12] + "other words"), "append": False}),
        (9.0, status("completed")),
    )
    async with run_bot(long, observer=_BreaksAtARewrite()) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["failed"]
        assert "Try again" in "".join(seen.read for seen in bot.thread(root))
        assert any(record.exc_info for record in caplog.records)


@on_virtual_time
async def test_a_tool_without_a_name_to_be_seen_pings_nobody_by_its_id() -> None:
    tool = artifact("tool_notification_start", "x", tool_name=" ", tool_call_id="<!channel> call-1")
    async with run_bot(
        tape((0.1, task()), (1.0, tool), (3.0, chunk("Done.")), (4.0, status("completed")))
    ) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert [card.title for seen in bot.thread(root) for card in seen.tasks] == ["&lt;!channel> call-1"]


# -- an agent that says what it is about to do


def said_before_a_tool(seconds: float, *after: str) -> Tape:
    """An ADK agent with its extension on (facts: A2A 8): each model turn is an artifact of its own."""

    def spoken(ids: str, *parts: dict[str, Any], append: bool = False) -> dict[str, Any]:
        event = chunk("")
        event["append"], event["metadata"] = append, {"adk_app_name": "fox"}
        event["artifact"] = {"artifactId": ids, "parts": list(parts), "metadata": {"adk_app_name": "fox"}}
        return event

    def words(text: str) -> dict[str, Any]:
        return {"kind": "text", "text": text}

    def call(kind: str, **data: Any) -> dict[str, Any]:
        about = {"adk_type": f"function_{kind}"}
        return {"kind": "data", "data": {"name": "lookup", "id": "f1", **data}, "metadata": about}

    moments = [
        (0.1, task()),
        (0.5, spoken("a1", words("Let me "))),
        (0.5 + seconds, spoken("a1", words("look that up."), append=True)),
        (0.6 + seconds, spoken("a1", words("Let me look that up."))),
        (0.7 + seconds, spoken("a1c", call("call", args={"q": "x"}))),
        (3.0 + seconds, spoken("a1r", call("response", response={"found": "x"}))),
    ]
    for number, text in enumerate(after):
        moments.append((4.0 + seconds + number, spoken("a2", words(text), append=number > 0)))
    return tape(*moments, (12.0 + seconds, status("completed")))


@on_virtual_time
async def test_narration_that_was_not_sent_when_its_tool_call_comes_is_never_sent() -> None:
    async with run_bot(said_before_a_tool(0.1, "Found ", "it.\n", "Twice.")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        assert (seen.text, [task.title for task in seen.tasks]) == ("Found it.\nTwice.", ["lookup"])
        assert "Let me" not in str(bot.workspace.calls)
        assert not bot.calls("chat.update")


@on_virtual_time
async def test_narration_that_was_sent_is_gone_in_the_end() -> None:
    async with run_bot(said_before_a_tool(2.0, "Found ", "it.")) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(2)
        assert bot.read(root) == ["Let me "]
        await bot.idle()
        assert bot.read(root) == ["Found it."]
        assert len(bot.calls("chat.update")) == 1


def tokens_of_a_status(*told: tuple[float, str | dict[str, Any]]) -> Tape:
    """A LangGraph agent without signs: growing status text, a tool's result as data, then an artifact."""

    def working(part: str | dict[str, Any]) -> dict[str, Any]:
        event = status("working", "x")
        is_text = isinstance(part, str)
        event["status"]["message"]["parts"] = [
            {"kind": "text", "text": part} if is_text else {"kind": "data", "data": part}
        ]
        return event

    moments = [(0.1, task()), *((seconds, working(part)) for seconds, part in told)]
    end = told[-1][0]
    return tape(*moments, (end + 0.5, artifact("r", str(told[-1][1]))), (end + 1, status("completed")))


RESULTS = {"tool_results": [{"toolCallId": "c", "name": "search", "content": "id 7f3a"}]}


@on_virtual_time
async def test_narration_in_tokens_that_a_tool_follows_soon_is_seen_by_nobody() -> None:
    told = [(0.5, "Let "), (0.6, "Let me "), (0.7, "Let me look."), (1.2, RESULTS)]
    told += [(2.0, "Found "), (2.1, "Found it "), (2.2, "Found it there."), (6.0, "Found it there. Twice.")]
    async with run_bot(tokens_of_a_status(*told)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(4)
        assert bot.read(root) == ["Found it there."]
        await bot.idle()
        assert bot.read(root) == ["Found it there. Twice."]
        assert "Let me" not in str(bot.workspace.calls)
        assert not bot.calls("chat.update")


@on_virtual_time
async def test_narration_in_tokens_that_was_seen_is_gone_in_the_end() -> None:
    told = [(0.5, "Let "), (0.6, "Let me "), (0.7, "Let me look."), (3.0, RESULTS), (4.0, "Found it.")]
    async with run_bot(tokens_of_a_status(*told)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(2)
        assert bot.read(root) == ["Let me look."]
        await bot.idle()
        assert bot.read(root) == ["Found it."]


@on_virtual_time
async def test_an_answer_that_stands_before_the_last_tool_call_is_shown_in_the_end() -> None:
    async with run_bot(said_before_a_tool(0.1)) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["Let me look that up."]
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_the_end_of_an_answer_shows_no_torn_word() -> None:
    """Its last letter could begin the bot's own token."""
    deltas = [(0.5, chunk("six and a ")), (0.6, chunk("bo")), (0.61, chunk("x"))]
    async with run_bot(tape((0.1, task()), *deltas, (0.7, status("completed")))) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["six and a box"]
        assert not [call for call in bot.workspace.calls if "bo'" in str(call.args)]


@on_virtual_time
async def test_an_id_that_is_no_text_makes_no_call_that_fails() -> None:
    tool = artifact("tool_notification_start", "x", tool_name="search", tool_call_id="call \ud83d")
    async with run_bot(
        tape((0.1, task()), (1.0, tool), (3.0, chunk("Done.")), (4.0, status("completed")))
    ) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root)[-1] == "Done."
        assert [fact for fact in bot.facts if isinstance(fact, SlackCalled) and not fact.ok] == []


@pytest.mark.parametrize(
    "said",
    [
        (chunk("\x07\u202e"),),
        (artifact("final_result", "\x07"),),
        (chunk("Not so.\n"), artifact("final_result", "\x07")),
    ],
    ids=["streamed", "a result", "a result in place of what was shown"],
)
def test_an_answer_of_which_nothing_can_be_shown_is_told_as_none(said: tuple[dict[str, Any], ...]) -> None:
    @on_virtual_time
    async def story() -> None:
        moments = [(1.0 + 2 * number, event) for number, event in enumerate(said)]
        async with run_bot(tape((0.1, task()), *moments, (9.0, status("completed")))) as bot:
            root = await bot.ask("hi")
            await bot.idle()
            assert (bot.read(root), bot.outcomes) == ([NO_ANSWER], ["no_text"])

    story()


@on_virtual_time
@pytest.mark.parametrize(
    ("state", "titled", "cards"),
    [
        ("completed", "2 of 3 steps done", ["complete", "complete"]),
        ("failed", "1 of 3 steps done, 1 failed", ["complete", "error"]),
    ],
)
async def test_the_title_of_a_plan_says_in_the_end_what_was_done(
    state: str, titled: str, cards: list[str]
) -> None:
    """Also where the agent leaves its plan open: the cards are closed, and the title agrees with them."""
    plan = _plan_of_three()
    open_plan = tape((0.1, task()), (0.5, plan), (2.0, chunk("Found it.\n")), (9.0, status(state)))
    async with run_bot(open_plan) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(5)
        assert bot.workspace.thread(CHANNEL, root)[1].plan_title == "Step 2 of 3: Compare"
        await bot.idle()
        (_, message) = bot.workspace.thread(CHANNEL, root)
        assert (message.plan_title, [card.status for card in message.tasks]) == (titled, cards)
        assert not message.plan_failed


@on_virtual_time
@pytest.mark.parametrize("how", ["button", "native"])
async def test_the_title_of_a_plan_that_was_stopped_names_no_step_that_runs(how: str) -> None:
    plan = _plan_of_three()
    open_plan = tape((0.1, task()), (0.5, plan), (2.0, chunk("Found it.\n")), (60.0, status("completed")))
    async with run_bot(open_plan) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(5)
        if how == "native":
            bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
            await bot.deliver()
        else:
            assert await bot.app.threads.registry.stop(ThreadKey("T1", CHANNEL, root), "U1")
        await bot.idle()
        (_, message) = bot.workspace.thread(CHANNEL, root)
        assert message.plan_title == "1 of 3 steps done"


def _plan_of_three() -> dict[str, Any]:
    """The second one runs."""
    states = {"Search": "completed", "Compare": "in_progress", "Write": "pending"}
    return _data(
        "execution_plan_update",
        {"steps": [{"step_id": title, "title": title, "status": state} for title, state in states.items()]},
    )


# -- work ----------------------------------------------------------------------------------------------------


def streams(size: int) -> dict[str, Tape]:
    """Answers of about `size` characters that are dear to work off in one step."""
    prose = "Some words, and a few more of them.\n" * (size // 36)

    def whole(text: str) -> Tape:
        return tape((0.1, task()), (0.5, chunk(text)), (9.0, status("completed")))

    def final(text: str) -> Tape:
        result = artifact("final_result", text)
        return tape((0.1, task()), (0.5, chunk("Hm.\n")), (5.0, result), (9.0, status("completed")))

    def asking(fields: int) -> Tape:
        rows = [{"field_name": f"f{number}", "field_values": ["a", "b"]} for number in range(fields)]
        form = artifact("UserInputMetaData", "")
        form["artifact"]["parts"] = [{"kind": "data", "data": {"user_input": True, "input_fields": rows}}]
        return tape((0.1, task()), (0.5, form), (9.0, status("input-required", "Which?")))

    return {
        "prose": whole(prose),
        "angles": whole("<" * size),
        "stars": whole("*_" * (size // 2)),
        "spaces": whole(f"One{' ' * size}two"),
        "line ends": whole("One" + "\n" * size + "two"),
        "a word": whole("x" * size),
        "mentions": whole("<!here> " * (size // 8)),
        "rewritten": final(prose),
        "other white space": final(f"Hm. {prose}"),
        "fields": asking(size // 30),
    }


DEAR = {"line ends", "stars"}
"""Take half of the time of all."""


@pytest.mark.parametrize(
    ("short", "messages"), [(20_000, 1), pytest.param(40_000, 3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "kind",
    [pytest.param(each, marks=pytest.mark.slow) if each in DEAR else each for each in streams(1_000)],
)
def test_a_step_for_a_long_answer_is_no_longer_than_for_a_short_one(
    kind: str, short: int, messages: int
) -> None:
    """All answers of the bot share one loop: a megabyte must not keep it from the others."""

    def longest(size: int) -> int:
        found: list[int] = []

        @on_virtual_time
        async def story() -> None:
            async with run_bot(streams(size)[kind], max_segments=messages) as bot:
                with longest_step(but=("playground", "tools", "agents", "reader")) as most:
                    await bot.ask("hi")
                    await bot.idle()
                    found.append(most())
                assert bot.outcomes in (["answered"], ["asked"])

        story()
        return found[0]

    assert longest(4 * short) < 1.5 * longest(short) + 300


@on_virtual_time
async def test_what_comes_behind_a_long_token_waits_for_it() -> None:
    text = "Some words, and a few more of them.\n" * 3_000
    said = tape(
        (0.1, task()),
        (0.5, chunk(text)),
        (0.5, chunk("Then ")),
        (0.5, artifact("tool_notification_start", "", tool_name="Look", tool_call_id="c1")),
        (0.5, chunk("the end.\n")),
        (0.5, status("completed")),
    )
    async with run_bot(said) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert "".join(bot.read(root)) == f"{text}Then the end.\n"
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_a_stop_within_a_long_token_ends_the_turn() -> None:
    said = tape((0.1, task()), (0.5, chunk("Some words. " * 100_000)), (900.0, status("completed")))
    async with run_bot(said) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(0.6)
        await bot.app.threads.registry.stop(ThreadKey("T1", CHANNEL, root), "U1")
        await bot.idle()
        assert bot.outcomes == ["stopped"]


@on_virtual_time
async def test_a_status_is_sent_again_by_its_own_age_whatever_comes_meanwhile() -> None:
    """Events of no consequence neither send it early nor put it off: Slack drops it after two minutes."""
    moments = [(0.1, task()), *((0.5 + 7 * n, status("working")) for n in range(40))]
    async with run_bot(tape(*moments, (300.0, status("completed")))) as bot:
        began = bot.now
        await bot.ask("hi")
        await bot.idle()
        shown = [
            call.now - began for call in bot.workspace.calls if call.method == "assistant.threads.setStatus"
        ]
        assert shown[:4] == pytest.approx([0, 90, 180, 270], abs=0.2)


def test_an_event_creates_no_task() -> None:
    """As many tokens as you like in the same time: the bot's tasks are as many as its calls ask for."""

    def created(tokens: int) -> int:
        count = 0

        def factory(loop: asyncio.AbstractEventLoop, coro: Any, **given: Any) -> Any:
            nonlocal count
            code = getattr(coro, "cr_code", None)
            count += code is None or "/slack_bot/testing/" not in code.co_filename
            return asyncio.Task(coro, loop=loop, **given)

        @on_virtual_time
        async def story() -> None:
            async with run_bot(answer("word " * tokens, seconds=20)) as bot:
                loop = asyncio.get_running_loop()
                loop.set_task_factory(factory)
                root = await bot.ask("hi")
                await bot.idle()
                loop.set_task_factory(None)
                assert "".join(bot.read(root)).count("word") == tokens

        story()
        return count

    assert created(800) - created(200) < 20


@on_virtual_time
async def test_the_files_of_a_question_are_let_go_while_the_agent_answers() -> None:
    async with run_bot(answer("A long answer.\n" * 40, seconds=60.0)) as bot:
        await bot.ask("what is this?", PersonFile("let-go.txt", b"bytes"))
        await asyncio.sleep(20)
        (asked,) = bot.agent.questions
        assert "let-go.txt" in str(asked.params["message"]["parts"]), "the agent has it"
        gc.collect()
        files = [each for each in gc.get_objects() if type(each) is GivenFile]
        assert [each for each in files if each.name == "let-go.txt"] == []
        await bot.idle()
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_a_fence_is_whole_though_a_call_fails_while_its_line_is_written_slowly() -> None:
    pieces = ("Look:\n\n", "``", "`py", "thon\n", "x = 1\n", "``", "`\n", "Done.")
    moments = [Moment(0.1, event=task())]
    moments += [Moment(4.0 * n, event=chunk(piece)) for n, piece in enumerate(pieces, start=1)]
    moments += [Moment(40.0, event=status("completed")), Moment(40.1, end="closed")]
    sealed = "message_not_in_streaming_state"
    for number in range(6):
        faults = {"chat.appendStream": [*[None] * number, sealed, None]}
        async with run_bot(Tape({"wire": "0.3"}, tuple(moments)), faults=faults) as bot:
            root = await bot.ask("hi")
            await bot.idle()
            for text in bot.read(root):
                fences = [line for line in text.split("\n") if line.startswith("`")]
                assert set(fences) <= {"```python", "```"}, (number, bot.read(root))

"""The HTTP API over the network: what is posted, who may, and what each mistake is answered with."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from slack_bot.app import read_config_again
from slack_bot.errors import StoreAway
from slack_bot.features.api.keys import hash_of
from slack_bot.features.api.openapi import OPERATIONS, description
from slack_bot.store.collection import Change, Collection, Key, R, Revision
from slack_bot.testing.harness import CHANNEL
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.turn.quotes import KIND
from tests.features.api.place import FILE, KEY, POOR_KEY, SECRET, Answer, Place, place
from tests.features.usage.test_limits import costs

TEXT = {"channel": CHANNEL, "text": "Built."}
ASK = {"channel": CHANNEL, "ask": "What broke?", "headline": "Nightly build"}
OPENED = {"action": "opened", "issue": {"number": 7, "title": "It <!channel> breaks"}}
ALERT = {
    "version": "4", "groupKey": "{}:{alertname=\"DiskFull\"}", "status": "firing",
    "commonLabels": {"alertname": "DiskFull"},
    "alerts": [{"labels": {"severity": "page"}, "annotations": {"summary": "The disk <!here> is full"}}],
}  # fmt: skip


class AwayStore(MemoryStore):
    """It fails as long as `is_away`."""

    is_away = False

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        if self.is_away:
            raise StoreAway("The store is away.")
        return await super().get(collection, key)

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        if self.is_away:
            raise StoreAway("The store is away.")
        return await super().change(collection, key, revise, now)


async def test_a_text_is_posted_once_however_often_it_is_sent(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        answers = await asyncio.gather(*(here.post(TEXT) for _ in range(5)))
        assert {each.status for each in answers} == {202}
        (message_id,) = {each.body["id"] for each in answers}
        state = await here.until_ended(message_id)
        (root,) = here.roots()
        assert here.read(root) == ["Built."]
        assert (state["state"], state["ts"]) == ("sent", root)
        assert state["permalink"].endswith(f"/archives/{CHANNEL}/p{root.replace('.', '')}")


@pytest.mark.parametrize("http", [True, False])
async def test_an_agent_answers_and_people_go_on_in_the_thread(tmp_path: Path, http: bool) -> None:
    tapes = answer("The tests.", seconds=0.2), answer("Yes.", seconds=0.2)
    async with place(tmp_path, *tapes, http=http) as here:
        taken = await here.post(ASK)
        state = await here.until_ended(taken.body["id"])
        assert state["answer"] == "answered"
        (root,) = here.roots()
        assert here.read(root) == ["Nightly build", "The tests."]
        here.say(f"<@{here.workspace.bot.user_id}> really?", root)
        await here.until(lambda: here.read(root)[-1] == "Yes.")
        assert here.agent.questions[1].params["message"]["contextId"]


async def test_what_is_taken_is_one_line_of_the_log_with_its_ids_and_without_its_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "slack_bot.features.api")
    async with place(tmp_path) as here:
        taken = [await here.post(ASK), await here.post(ASK)]
        message_id = taken[0].body["id"]
        await here.until_ended(message_id)
    lines = [each.getMessage() for each in caplog.records if message_id in each.getMessage()]
    first, again = lines
    assert first == f"a question of the key ci for {CHANNEL} is taken: id {message_id}"
    assert again.startswith(f"a question of the key ci for {CHANNEL} came again and is ")
    assert "What broke?" not in caplog.text and "Nightly build" not in caplog.text


async def test_into_a_thread_by_its_link_and_to_a_person(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        root = here.say("hello")
        link = f"https://acme.slack.com/archives/{CHANNEL}/p{root.replace('.', '')}"
        for number, place_of in enumerate(
            ({"permalink": link}, {"thread": {"channel": CHANNEL, "ts": root}})
        ):
            sent = await here.post(
                {**place_of, "text": f"Reply {number}", "broadcast": True}, once=str(number)
            )
            await here.until_ended(sent.body["id"])
        assert here.read(root) == ["Reply 0", "Reply 1"]
        sent = await here.post({"user": "U1", "text": "For you"}, once="dm")
        state = await here.until_ended(sent.body["id"])
        assert here.read(state["ts"], here.workspace.direct("U1")) == ["For you"]


async def test_a_conversation_of_the_agent_goes_on_where_it_is_named(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        sent = await here.post({**ASK, "context_id": "ctx-of-mine"})
        await here.until_ended(sent.body["id"])
        assert here.agent.questions[0].params["message"]["contextId"] == "ctx-of-mine"


async def test_mentions_of_a_program_read_as_text(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        sent = await here.post({"channel": CHANNEL, "text": "<!channel> <@U1> done", "headline": "<!here>"})
        await here.until_ended(sent.body["id"])
        calls = str([call.args for call in here.workspace.calls if call.method == "chat.postMessage"])
        assert (
            "done" in calls and "<!channel>" not in calls and "<@U1>" not in calls and "<!here>" not in calls
        )


async def test_what_slack_refuses_is_a_sentence_in_the_state(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        sent = await here.post({"user": "U404", "text": "a"})
        state = await here.until_ended(sent.body["id"])
        assert state["state"] == "failed" and "check the id" in state["error"]


# -- webhooks


async def test_a_webhook_asks_its_template_and_gives_the_rest_as_quoted_data(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for _ in range(2):
            taken = await here.hook("github", OPENED, **{"X-GitHub-Delivery": "guid-1"})
            assert taken.status == 202
        await here.until(lambda: here.roots() and len(here.read(here.roots()[0])) == 2)
        (root,) = here.roots()
        assert here.read(root) == ["opened issue 7", "Hello."]
        (asked,) = here.agent.questions
        parts = asked.params["message"]["parts"]
        assert parts[0]["text"] == "What is known of It <!channel> breaks?"
        quoted = str(parts[1:])
        assert KIND in quoted or "quoted" in quoted
        assert "github" in quoted and "breaks" in quoted


async def test_a_webhook_posts_a_text_whose_mentions_read_as_text(tmp_path: Path) -> None:
    async with place(tmp_path, http=False) as here:
        assert (await here.hook("alerts", ALERT)).status == 202
        assert (await here.hook("alerts", {**ALERT, "alerts": []})).status == 202  # the same alert again
        await here.until(here.roots)
        (root,) = here.roots()
        (text,) = here.read(root)
        assert text.startswith("DiskFull: The disk ") and "<!here>" not in text
        assert (await here.hook("alerts", {**ALERT, "status": "resolved"})).status == 202
        await here.until(lambda: len(here.roots()) == 2)


async def test_what_a_webhook_is_not_for_is_ignored(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        taken = await here.hook("github", {"zen": "Keep it simple."}, **{"X-GitHub-Event": "ping"})
        assert (taken.status, taken.body) == (200, {"state": "ignored"})
        assert here.roots() == []


# -- refusals

Request = Callable[[Place], Coroutine[Any, Any, Answer]]


def posted(body: object, key: str = KEY, once: str = "1") -> Request:
    return lambda here: here.post(body, once=once, key=key)


def raw(method: str, path: str, data: bytes | None = None, **headers: str) -> Request:
    about = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}", "Idempotency-Key": "1"}
    sent = {name: value for name, value in {**about, **headers}.items() if value}
    return lambda here: here.send(method, path, data, **sent)


REFUSALS: list[tuple[Request, int, str]] = [
    (posted({**TEXT, "chanel": "C1"}), 400, "The field chanel is not known here; did you mean channel?"),
    (posted([1]), 400, "The body should be a JSON object."),
    (posted({"text": "a"}), 400, "Give one of channel, user, thread and permalink, which is where it goes."),
    (posted({**TEXT, "user": "U1"}), 400, "Give one of channel, user, thread and permalink"),
    (posted({**TEXT, "ask": "b"}), 400, "Give either text, which is posted, or ask"),
    (posted({**TEXT, "text": " "}), 400, "Text should not be empty."),
    (posted({**TEXT, "text": 3}), 400, "Text should be a valid string."),
    (posted({**TEXT, "text": "x\ud800"}), 400, "half of a character"),
    (posted({**TEXT, "channel": "#general"}), 400, "Channel should be the id of a channel (C0123456)"),
    (posted({**TEXT, "headline": "a\nb"}), 400, "Headline should be one line."),
    (
        posted({"permalink": "https://evil.example/archives/C1/p1700000000123456", "text": "a"}),
        400,
        "Copy link",
    ),
    (posted({"thread": {"channel": "C1", "ts": "now"}, "text": "a"}), 400, "Thread.ts should be the ts"),
    (posted({"thread": {"channel": "C1"}, "text": "a"}), 400, "Thread.ts is missing."),
    (posted({**TEXT, "broadcast": True}), 400, "Broadcast is for a text in a thread"),
    (posted(TEXT, once=""), 400, "Give each message its own Idempotency-Key"),
    (posted(TEXT, once="x" * 201), 400, "Give each message its own Idempotency-Key"),
    (raw("POST", "/v1/messages", b"{"), 400, "The body is no JSON in UTF-8."),
    (raw("POST", "/v1/messages", b'{"a": "\xff"}'), 400, "The body is no JSON in UTF-8."),
    (raw("POST", "/v1/messages", b"[" * 100_000), 400, "The body is no JSON in UTF-8."),
    (posted(TEXT, key=""), 401, "Send a key of the bot in the header Authorization: Bearer sbk_..."),
    (posted(TEXT, key="sbk_wrong"), 401, "Send a key of the bot"),
    (posted(TEXT, key="é"), 401, "Send a key of the bot"),
    (raw("POST", "/v1/messages", b"{}", Authorization=f"Basic {KEY}"), 401, "Send a key of the bot"),
    (raw("GET", "/v1/messages/x", Authorization=""), 401, "Send a key of the bot"),
    (posted({**TEXT, "channel": "C2"}), 403, "may not write into C2: add the id to channels of [keys.ci]."),
    (posted({**TEXT, "team": "T9"}), 403, "The bot is not in the workspace T9: leave team out."),
    (posted({**ASK, "agent": "ops"}), 403, "may not choose the agent ops: add it to agents of [keys.ci]."),
    (posted(ASK, key=POOR_KEY), 403, "The key poor may not ask an agent: set may_ask of [keys.poor]."),
    (
        posted({"user": "U1", "text": "a"}, key=POOR_KEY),
        403,
        "set may_dm of [keys.poor].",
    ),
    (posted({"channel": "D1", "text": "a"}, key=POOR_KEY), 403, "may not write to people: set may_dm"),
    (raw("GET", "/v1/messages/unknown"), 404, "This key has no message with this id"),
    (raw("GET", "/v1/other"), 404, "There is no such address; /v1/openapi.json has all of them."),
    (raw("POST", "/v1/hooks/other", b"{}"), 404, "There is no such webhook."),
    (raw("GET", "/v1/messages"), 405, "Use POST here."),
    (raw("POST", "/v1/messages/x", b"{}"), 405, "Use GET here."),
    (raw("GET", "/v1/hooks/github"), 405, "Use POST here."),
    (raw("POST", "/v1/messages", b" " * (256 * 1024 + 1)), 413, "The body has more than 262144 bytes."),
    (
        raw("POST", "/v1/messages", b"{}", **{"Content-Type": "text/plain"}),
        415,
        "Send the body as application/json.",
    ),
    (raw("POST", "/v1/hooks/github", b"{}"), 401, "The signature or the secret is missing or wrong."),
    (raw("POST", "/v1/hooks/alerts", b"{}"), 401, "The signature or the secret is missing or wrong."),
    (lambda here: here.hook("github", OPENED, **{"X-Hub-Signature-256": "sha256=00"}), 401, "The signature"),
    (lambda here: here.hook("alerts", ALERT, **{"Content-Type": "text/plain"}), 415, "Send the body as"),
]


async def test_each_mistake_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for request, status, sentence in REFUSALS:
            found = await request(here)
            assert (found.status, sentence in found.sentence) == (status, True), (status, sentence, found)
            assert found.sentence.endswith((".", "?")) and found.headers["Cache-Control"] == "no-store"
        assert here.roots() == [] and here.agent.questions == []


async def test_another_body_with_the_same_key_is_a_conflict(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        assert (await here.post(TEXT)).status == 202
        found = await here.post({**TEXT, "text": "Other."})
        assert (found.status, found.body["error"]) == (409, "conflict")
        assert (await here.post({"text": "Built.", "channel": CHANNEL})).status == 202  # in another order
        # what another key sent under the same Idempotency-Key is another message
        other = await here.post({**TEXT, "text": "Poor."}, key=POOR_KEY)
        assert other.status == 202
        assert (await here.look(other.body["id"])).status == 404


async def test_more_than_its_rate_is_to_wait_and_a_repetition_costs_nothing(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for once in ("1", "2", "2", "1"):
            assert (await here.post(TEXT, once=once, key=POOR_KEY)).status == 202
        found = await here.post(TEXT, once="3", key=POOR_KEY)
        assert (found.status, found.body["error"]) == (429, "too_many")
        assert 0 < int(found.headers["Retry-After"]) <= 3600
        assert "which is the rate of [keys.poor]" in found.sentence
        assert (await here.post(TEXT, once="3")).status == 202


@pytest.mark.parametrize("name", ["hourly_channel", "hourly_total"])
async def test_questions_of_programs_count_for_the_limits_of_an_hour(name: str, tmp_path: Path) -> None:
    async with place(tmp_path, **{name: 2}) as here:
        assert (await here.post(ASK, once="1")).status == 202
        assert (await here.hook("github", OPENED, **{"X-GitHub-Delivery": "1"})).status == 202
        assert (await here.post(ASK, once="1")).status == 202, "a repetition costs nothing"
        refused = await here.post(ASK, once="2"), await here.hook("github", OPENED)
        for found in refused:
            assert (found.status, found.body["error"]) == (429, "too_many")
            assert 0 < int(found.headers["Retry-After"]) <= 3600
            assert found.sentence.startswith("There are too many: ")
            assert found.sentence.endswith(" 2 questions within an hour.")
        assert (await here.post(TEXT, once="3")).status == 202, "a text asks no agent"


async def test_a_program_is_an_asker_of_its_own_for_the_limits_of_a_day(tmp_path: Path) -> None:
    limits = {"usage.person_tokens": 100, "usage.channel_tokens": 150}
    async with place(tmp_path, *[costs(60)] * 9, **limits) as here:
        for once in ("1", "2"):
            taken = await here.post({"user": "U1", "ask": "What broke?"}, once=once)
            await here.until_ended(taken.body["id"])
        found = await here.post({"user": "U1", "ask": "What broke?"}, once="3")
        assert (found.status, found.body["error"]) == (429, "too_many")
        assert found.sentence.startswith("The limit of a day is reached: 100 tokens for the key ")
        assert found.sentence.endswith(" 00:00 UTC.")
        assert 0 < int(found.headers["Retry-After"]) <= 86_400
        taken = await here.hook("github", OPENED, **{"X-GitHub-Delivery": "1"})
        assert taken.status == 202, "another asker"
        assert (await here.post(TEXT, once="4")).status == 202


async def test_a_question_without_an_answer_has_failed_and_says_why(tmp_path: Path) -> None:
    async with place(tmp_path, failure("no disk")) as here:
        taken = await here.post(ASK)
        state = await here.until_ended(taken.body["id"])
        assert (state["state"], state["answer"], state["error"]) == (
            "failed",
            "failed",
            "The agent failed (no disk).",
        )
        assert state["ts"] == here.roots()[0]


# -- the file is read again


async def test_keys_and_webhooks_of_the_file_count_without_a_restart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(tmp_path) as here:
        file = tmp_path / "slack_bot.toml"
        new = FILE.replace(hash_of(POOR_KEY), hash_of("sbk_new"))
        file.write_text(f"{new}rate = 0\n")
        read_config_again(here.app)
        assert "hooks.alerts.rate is 0" in caplog.text
        assert (await here.post(TEXT, key="sbk_new")).status == 401, "a wrong file changes nothing"
        assert (await here.post(TEXT, once="2")).status == 202
        file.write_text(new.replace("opened", "closed").partition("[hooks.alerts]")[0])
        read_config_again(here.app)
        assert (await here.post(TEXT, key=POOR_KEY)).status == 401
        assert (await here.post(TEXT, key="sbk_new")).status == 202
        assert (await here.hook("github", OPENED)).body["state"] == "ignored"
        assert (await here.hook("alerts", ALERT)).status == 404


async def test_the_first_keys_need_a_restart_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(tmp_path, text="[channel]\n", secrets={}) as here:
        (tmp_path / "slack_bot.toml").write_text(f'[keys.new]\nhash = "{hash_of("sbk_new")}"\n')
        read_config_again(here.app)
        assert "they count after a restart" in caplog.text


async def test_where_the_store_is_away_it_is_to_be_sent_again(tmp_path: Path) -> None:
    store = AwayStore()
    async with place(tmp_path, store=store) as here:
        store.is_away = True
        for found in (await here.post(TEXT), await here.hook("alerts", ALERT), await here.look("x")):
            assert (found.status, found.body["error"]) == (503, "unavailable")
            assert int(found.headers["Retry-After"]) > 0
        store.is_away = False
        assert (await here.post(TEXT)).status == 202


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async with place(tmp_path, **{"api.body_timeout": 0.2}) as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        head = (
            f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nIdempotency-Key: 1\r\n"
        )
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{{".encode())
        assert b" 408 " in await reader.readline()
        writer.close()


async def test_no_secret_is_logged_or_stored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    async with place(tmp_path, store=store) as here:
        with caplog.at_level("DEBUG", logger="slack_bot"):
            await here.post(TEXT)
            await here.post(TEXT, key="sbk_another-wrong-key")
            await here.hook("alerts", ALERT)
            await here.hook("alerts", ALERT, Authorization="Bearer nearly-a-secret")
            await here.until(lambda: len(here.roots()) == 2)
    said = caplog.text + repr(vars(store))
    assert not [each for each in (KEY, SECRET, "sbk_another", "nearly-a-secret") if each in said]


async def test_without_keys_and_webhooks_there_is_no_such_address(tmp_path: Path) -> None:
    async with place(tmp_path, text="[channel]\n", secrets={}) as here:
        response = await here.session.get(f"http://127.0.0.1:{here.port}/v1/openapi.json")
        assert response.status == 404
        assert here.app.features["api"].receiver is None


# -- the description


async def test_the_description_is_served_and_has_each_status_that_was_seen(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        served = await here.send("GET", "/v1/openapi.json")
        assert served.body == json.loads(json.dumps(description()))
    assert served.body["openapi"].startswith("3.1")
    told = {
        status for done, problems in OPERATIONS.values() for status in (*done, *(p.status for p in problems))
    }
    seen = {status for _, status, _ in REFUSALS} | {200, 202, 408, 409, 429, 503}
    assert told == seen


def test_the_body_that_is_described_is_the_one_that_is_read() -> None:
    schema = description()["components"]["schemas"]["Message"]
    assert set(schema["properties"]) == {
        "team", "channel", "user", "thread", "permalink", "headline", "text", "ask", "agent", "context_id",
        "broadcast",
    }  # fmt: skip
    assert schema["additionalProperties"] is False

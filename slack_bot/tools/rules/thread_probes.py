"""Probes of what a thread has besides messages: status, session, prompts, files, reactions, presses."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp

from .ears import BY_HAND, HeardEvent
from .event_probes import is_about
from .port import CannotTell, Need, Place, ProbeResult, SlackPort, largest, probe
from .stream_probes import TEXT, text_chunk
from .text_probes import POST, UPDATE, post

STATUS, SESSION = "assistant.threads.setStatus", "agents.sessions.setStatus"
RENAME, PROMPTS = "agents.sessions.rename", "assistant.threads.setSuggestedPrompts"
EPHEMERAL, UPLOAD, COMPLETE = (
    "chat.postEphemeral",
    "files.getUploadURLExternal",
    "files.completeUploadExternal",
)
_WORDS = "is measuring how long this line stays"
_LOOKS = (30.0, 60.0, 110.0, 135.0, 300.0)  # seconds at which the typing status is looked for
_LADDER = (2.5, 4.0, 8.0, 16.0)  # seconds between a press and the modal
_EMOJI = "straight_ruler"
_PRESS = "Press me"
_CONTENT = b"measured\n"
_MOST = 12


async def _new_root(slack: SlackPort, place: Place) -> dict[str, str]:
    """A thread of its own, as arguments of a status."""
    ts = str((await slack.ok(POST, channel=place.channel, text=TEXT)).get("ts"))
    return {"channel_id": place.channel, "thread_ts": ts}


@probe("status.timeout", Need.HAND, Need.TIME)
async def _timeout(slack: SlackPort, place: Place) -> ProbeResult:
    """Between two looks: what is expected lies between the third and the fourth."""
    hand, thread = slack.hand, await _new_root(slack, place)
    await slack.ok(STATUS, **thread, status=_WORDS)
    began, seen = slack.clock.wall(), 0.0
    for look in _LOOKS:
        await asyncio.sleep(max(0.0, began + look - slack.clock.wall()))
        if not await hand.sees(place.channel, thread["thread_ts"], _WORDS):
            expected = (_LOOKS[2], _LOOKS[3])
            return ProbeResult(
                120 if (seen, look) == expected else round(look), f"gone between {seen} and {look} s"
            )
        seen = look
    return ProbeResult(round(seen), "or longer")


@probe("status.gone_by_reply", Need.HAND)
async def _gone_by_reply(slack: SlackPort, place: Place) -> ProbeResult:
    hand, thread = slack.hand, await _new_root(slack, place)
    await slack.ok(STATUS, **thread, status=_WORDS)
    await slack.ok(POST, channel=place.channel, thread_ts=thread["thread_ts"], text=TEXT)
    return ProbeResult(not await hand.sees(place.channel, thread["thread_ts"], _WORDS))


@probe("status.messages")
async def _messages(slack: SlackPort, place: Place) -> ProbeResult:
    async def accepts(count: int) -> bool:
        given = [f"step {number}" for number in range(count)]
        return await slack.takes(STATUS, **place.session, status=_WORDS, loading_messages=given)

    seen = await largest("status.messages", accepts)
    await slack.ok(STATUS, **place.session, status="")
    return seen


@probe("session.available")
async def _session(slack: SlackPort, place: Place) -> ProbeResult:
    return await slack.answer_to(SESSION, **place.session, status="active")


@probe("session.wrong_state")
async def _wrong_state(slack: SlackPort, place: Place) -> ProbeResult:
    return await slack.answer_to(SESSION, **place.session, status="measured")


@probe("session.no_thread")
async def _no_thread(slack: SlackPort, place: Place) -> ProbeResult:
    return await slack.answer_to(SESSION, channel_id=place.channel, status="active")


@probe("session.rename_before")
async def _rename_before(slack: SlackPort, place: Place) -> ProbeResult:
    return await slack.answer_to(RENAME, **await _new_root(slack, place), title=TEXT)


@probe("session.title_chars")
async def _title_chars(slack: SlackPort, place: Place) -> ProbeResult:
    await slack.ok(SESSION, **place.session, status="active")

    async def accepts(size: int) -> bool:
        return await slack.takes(RENAME, **place.session, title="x" * size)

    return await largest("session.title_chars", accepts)


async def _states(slack: SlackPort, place: Place) -> tuple[str, str]:
    """The states of a session that events name after the start and after the stop of a stream."""

    async def make() -> tuple[str, str]:
        ears, root = slack.ears, (await _new_root(slack, place))["thread_ts"]
        at = {"channel": place.channel, "thread_ts": root}
        chunks, found = [text_chunk(TEXT)], []
        for step in ("start", "stop"):
            since = len(ears.heard)
            if step == "start":
                ts = (await slack.ok("chat.startStream", **at, **place.recipient, chunks=chunks)).get("ts")
            else:
                await slack.ok("chat.stopStream", channel=place.channel, ts=ts)
            heard = await ears.until(lambda each: bool(_state_of(each, root)), 3.0, since)
            found.append("none" if heard is None else _state_of(heard, root))
        return found[0], found[1]

    return await slack.once("states", make)


def _state_of(heard: HeardEvent, root: str) -> str:
    message = heard.event.get("message") or {}
    session = message.get("agent_session") or {}
    return str(session.get("status") or "") if message.get("ts") == root else ""


@probe("session.at_start", Need.EVENTS)
async def _at_start(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult((await _states(slack, place))[0])


@probe("session.at_stop", Need.EVENTS)
async def _at_stop(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult((await _states(slack, place))[1])


@probe("prompts.count")
async def _prompts(slack: SlackPort, place: Place) -> ProbeResult:
    channel, root = place.direct
    at = {"channel_id": channel, "thread_ts": root}

    async def accepts(count: int) -> bool:
        prompts = [{"title": f"Prompt {number}", "message": TEXT} for number in range(count)]
        return await slack.takes(PROMPTS, **at, prompts=prompts)

    return await largest("prompts.count", accepts)


async def _ephemeral_ts(slack: SlackPort, place: Place) -> str:
    sent = await slack.ok(EPHEMERAL, **place.thread, user=place.user, text=TEXT)
    return str(sent.get("message_ts"))


@probe("ephemeral.unlisted")
async def _unlisted(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await _ephemeral_ts(slack, place)
    asked = {"channel": place.channel, "ts": place.root, "oldest": ts, "latest": ts, "inclusive": "true"}
    thread = await slack.ok("conversations.replies", **asked)
    return ProbeResult(all(message.get("ts") != ts for message in thread.get("messages") or ()))


@probe("ephemeral.edit")
async def _edit_ephemeral(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await _ephemeral_ts(slack, place)
    return await slack.answer_to(UPDATE, channel=place.channel, ts=ts, text=TEXT)


@probe("reaction.twice")
async def _twice(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await post(slack, place)
    item = {"channel": place.channel, "timestamp": ts, "name": _EMOJI}
    await slack.ok("reactions.add", **item)
    return await slack.answer_to("reactions.add", **item)


@probe("reaction.none")
async def _no_reaction(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await post(slack, place)
    return await slack.answer_to("reactions.remove", channel=place.channel, timestamp=ts, name=_EMOJI)


# ---- files


async def _announced(slack: SlackPort, length: int) -> tuple[str, str]:
    """Where the bytes go, and the file's id."""
    given = await slack.ok(UPLOAD, filename="measured.txt", length=length)
    return str(given.get("upload_url")), str(given.get("file_id"))


@probe("file.empty")
async def _empty(slack: SlackPort, place: Place) -> ProbeResult:
    return await slack.answer_to(UPLOAD, filename="measured.txt", length=0)


@probe("file.unfinished")
async def _unfinished(slack: SlackPort, place: Place) -> ProbeResult:
    _, file_id = await _announced(slack, len(_CONTENT))
    at = {"channel_id": place.channel, "thread_ts": place.root}
    return await slack.answer_to(COMPLETE, files=[{"id": file_id, "title": TEXT}], **at)


@probe("file.wrong_length")
async def _wrong_length(slack: SlackPort, place: Place) -> ProbeResult:
    url, _ = await _announced(slack, len(_CONTENT) + 1)
    is_taken = await _sent(slack, url)
    return ProbeResult("taken" if is_taken else "refused")


@probe("file.in_thread")
async def _in_thread(slack: SlackPort, place: Place) -> ProbeResult:
    url, file_id = await _announced(slack, len(_CONTENT))
    if not await _sent(slack, url):
        raise CannotTell("the bytes of a file are refused")
    at = {"channel_id": place.channel, "thread_ts": place.root}
    await slack.ok(COMPLETE, files=[{"id": file_id, "title": TEXT}], **at)
    for _ in range(_MOST):  # Slack shares it a moment later
        if file_id in await _files(slack, place):
            return ProbeResult(True)
        await asyncio.sleep(1.0)
    return ProbeResult(False)


async def _files(slack: SlackPort, place: Place) -> set[str]:
    """The files of the thread."""
    found, cursor = set[str](), ""
    while True:
        asked: dict[str, Any] = {"channel": place.channel, "ts": place.root, "limit": 100}
        page = await slack.ok("conversations.replies", **asked, **({"cursor": cursor} if cursor else {}))
        for message in page.get("messages") or ():
            found |= {str(file.get("id")) for file in message.get("files") or ()}
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return found


async def _sent(slack: SlackPort, url: str) -> bool:
    """Whether Slack took the bytes."""
    try:
        async with slack.http.post(url, data=_CONTENT) as answer:
            return answer.status < 400
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise CannotTell(f"the address of an upload cannot be reached ({type(error).__name__})") from error


# ---- presses


async def _pressed(slack: SlackPort, place: Place) -> HeardEvent:
    """What the app hears of a press."""
    ears, since = slack.ears, len(slack.ears.heard)
    button = {"type": "button", "text": {"type": "plain_text", "text": _PRESS}, "action_id": "measured"}
    ts = await post(slack, place, blocks=[{"type": "actions", "elements": [button]}])
    await ears.until(is_about(ts), since=since)
    await slack.hand.press(place.channel, place.root, _PRESS)
    heard = await ears.until(lambda each: each.payload.get("type") == "block_actions", BY_HAND, since)
    if heard is None:
        raise CannotTell("no press was heard")
    return heard


async def _opened(slack: SlackPort, place: Place, wait: float) -> str:
    """Slack's answer to a modal, so many seconds after a press."""
    heard = await _pressed(slack, place)
    await asyncio.sleep(max(0.0, heard.at + wait - slack.clock.wall()))
    words = {"type": "plain_text", "text": "Measured"}
    view = {"type": "modal", "title": words, "blocks": [{"type": "divider"}]}
    trigger = str(heard.payload.get("trigger_id"))
    return (await slack.call("views.open", trigger_id=trigger, view=view)).error


@probe("press.trigger_life", Need.EVENTS, Need.HAND)
async def _trigger_life(slack: SlackPort, place: Place) -> ProbeResult:
    lived = 0.0
    for wait in _LADDER:
        if await _opened(slack, place, wait) != "ok":
            break
        lived = wait
    return ProbeResult(3 if lived == _LADDER[0] else round(lived), f"{lived} s")


@probe("press.late", Need.EVENTS, Need.HAND)
async def _late(slack: SlackPort, place: Place) -> ProbeResult:
    return ProbeResult(await _opened(slack, place, _LADDER[-1]))


@probe("press.responses", Need.EVENTS, Need.HAND)
async def _responses(slack: SlackPort, place: Place) -> ProbeResult:
    url, count = str((await _pressed(slack, place)).payload.get("response_url")), 0
    while count < _MOST:
        async with slack.http.post(url, json={"text": TEXT}) as answer:
            if answer.status >= 400:
                break
        count += 1
    return ProbeResult(count)

"""Plays answers through the whole bot into a channel, and compares the threads with those of the emulator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...app import build
from ...settings.load import Settings
from ...testing import virtual_clock
from ...testing.agent.scripted import ScriptedAgent, ScriptedTransport
from ...testing.harness import bot_settings, deliver
from ...testing.memory_store import MemoryStore
from ...testing.overrides import with_overrides
from ...testing.slack.workspace import WorkspaceRules
from .answer_tapes import PARAGRAPH, PlayedAnswer
from .picture import MESSAGE, difference, picture
from .port import Place, SlackPort
from .tidying import thread_of
from .trial import emulated

_QUESTION = "An answer is played below this message, and both are deleted in a moment: {}."
_STOP = "stop"


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """How a thread looks. `lines`: as it was read back; `differs`: from the emulated one, as a diff."""

    name: str
    lines: tuple[str, ...]
    differs: tuple[str, ...]


async def play_answers(
    slack: SlackPort,
    place: Place,
    settings: Settings,
    answers: Sequence[PlayedAnswer],
    tell: Callable[[AnswerResult], None],
) -> list[AnswerResult]:
    """Play `answers` in `place`, one after the other; `settings` say how Slack is reached."""
    expected = (await asyncio.to_thread(emulate_answers, answers)).pictures
    results = []
    for played in answers:
        lines = await play(slack, place, settings, played)
        result = AnswerResult(played.name, tuple(lines), tuple(difference(expected[played.name], lines)))
        results.append(result)
        tell(result)
    return results


@dataclass(frozen=True, slots=True)
class EmulatedAnswers:
    """How the threads look in the emulated workspace, and what it took: calls, and seconds."""

    pictures: Mapping[str, Sequence[str]]
    calls: int
    seconds: float


def emulate_answers(answers: Sequence[PlayedAnswer]) -> EmulatedAnswers:
    """Play them there, at once."""

    async def run() -> EmulatedAnswers:
        async with emulated(WorkspaceRules.real()) as (slack, place):
            began = slack.clock.wall()
            pictures = {each.name: await play(slack, place, bot_settings(), each) for each in answers}
            return EmulatedAnswers(pictures, slack.calls, slack.clock.wall() - began)

    return virtual_clock.run(run())


async def play(slack: SlackPort, place: Place, settings: Settings, played: PlayedAnswer) -> list[str]:
    """Have the bot answer with this tape in a thread of its own. The lines of what it wrote."""
    text = _QUESTION.format(played.name)
    asked = await slack.ok("chat.postMessage", channel=place.channel, text=text)
    root = str(asked.get("ts"))
    agent = ScriptedAgent(played.tape)
    app = await build(
        with_overrides(settings, {"channel.context": "none", **played.settings}),
        clock=slack.clock,
        observer=lambda fact: None,
        http_transport=ScriptedTransport(agent),
        slack_session=slack.http,
        store=MemoryStore(),
    )
    async with app:
        await deliver(app, _event(place, root, root, "app_mention", f"<@{place.bot_user}> {played.name}?"))
        if played.stop_at is not None:
            await asyncio.sleep(played.stop_at)
            now = f"{slack.clock.wall():.6f}"
            await deliver(app, _event(place, root, now, "message", _STOP))
        await app.threads.idle()
    return _comparable(picture((await thread_of(slack, place.channel, root))[1:]), played)


def _comparable(lines: Sequence[str], played: PlayedAnswer) -> list[str]:
    """Without what depends on the moment: where a long answer is cut, how far a stopped one had come."""
    if played.stop_at is not None:
        return [line for line in lines if not line.startswith(PARAGRAPH)]
    return [line for line in lines if not (played.is_cut and line.startswith(MESSAGE))]


def _event(place: Place, root: str, ts: str, kind: str, text: str) -> dict[str, Any]:
    """What Slack would send for a message of the person in the thread."""
    event = {
        "type": kind, "user": place.user, "text": text, "ts": ts, "event_ts": ts, "channel": place.channel,
        "channel_type": "channel", "team": place.team, **({"thread_ts": root} if ts != root else {}),
    }  # fmt: skip
    authorization = {"team_id": place.team, "user_id": place.bot_user, "is_bot": True}
    return {
        "type": "event_callback", "team_id": place.team, "event": event, "event_id": f"Ev{ts}",
        "authorizations": [authorization],
    }  # fmt: skip


def answers_as_text(results: Sequence[AnswerResult]) -> list[str]:
    """The lines that are printed."""
    lines = []
    for each in results:
        lines.append(f"{'differs' if each.differs else 'equal':<8} {each.name}")
        lines += [f"    {line}" for line in each.differs]
    equal = sum(not each.differs for each in results)
    return [*lines, "", f"{len(results)} answers: {equal} look as in the emulated workspace"]


def answers_as_json(results: Sequence[AnswerResult]) -> Mapping[str, Any]:
    """The object of --json."""
    rows = [{"answer": each.name, "equal": not each.differs, "difference": each.differs} for each in results]
    return {"ok": all(row["equal"] for row in rows), "answers": rows}

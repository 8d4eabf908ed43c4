"""PURE. A thread of the day before: a new page shows what an answer looks like before anything is asked.

It is posted with the calls that the bot makes. There is no turn of it: no bot and no agent had a part in it.
"""

from typing import Any

from ..testing.slack.workspace import BOT_TOKEN, Workspace

_DAY = 86_400.0  # seconds
_ASKER = "U0JONAS"
_QUESTION = "how do I work with you in a channel?"
_CARD = {"type": "task_update", "id": "read", "title": "Read “Questions and answers”", "status": "complete"}
_ANSWER = """\
## Mention me, and read along
I write the agent's answer into a thread **while the agent is still at work**.

- In that thread you go on without another mention, for a day.
- *Stop* ends an answer. What was written stays.
- In a direct message, each message is a question.

| Write this | and you get |
| --- | --- |
| `plan a release` | a form: the agent asks back |
| `show me a chart` | data below the text |
| `fail on purpose` | an error, with *Try again* |
"""


def post_yesterday(workspace: Workspace, channel: str, now: float) -> None:
    """Post the thread a day before `now`, which is in wall-clock seconds. Nobody is told of it.

    All of it is at one moment: a day ago, in every time zone.
    """
    then = now - _DAY
    text = f"<@{workspace.bot.user_id}> {_QUESTION}"
    root = workspace.say(_ASKER, channel, text, now=then, is_told=False)
    place = {"channel": channel, "thread_ts": root}
    reader = {"recipient_user_id": _ASKER, "recipient_team_id": workspace.state.team}
    title = {"type": "plan_update", "title": "Read 1 page"}
    begun = {**place, **reader, "task_display_mode": "plan", "chunks": [title, _CARD]}
    stream = _call(workspace, "chat.startStream", begun, then)
    rest = {"channel": channel, "ts": stream["ts"], "chunks": [{"type": "markdown_text", "text": _ANSWER}]}
    _call(workspace, "chat.stopStream", rest, then)
    workspace.take()


def _call(workspace: Workspace, method: str, args: dict[str, Any], now: float) -> dict[str, Any]:
    body = workspace.call(method, args, now=now, token=BOT_TOKEN, is_json=True).body
    assert body["ok"], body
    return body

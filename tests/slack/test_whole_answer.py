"""The core of a message alone against Slack's rules: whatever fails, the answer is there, whole and once.

The workspace is the emulated one; no loop, no bot and no agent runs. Faults are drawn for each method, with
calls that were applied although no answer came (`!`).
"""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.slack.model import Batch, Ending
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.progress import MessageRecord
from slack_bot.turn.record import Outcome
from tests.slack.workspace_answer import Killed, WorkspaceAnswer

SILENT = ["timeout", "timeout!", "internal_error", "internal_error!", "cut", "cut!"]
FAULTS = {
    "chat.startStream": [*SILENT, "channel_type_not_supported", "user_not_found", "service_unavailable"],
    "chat.appendStream": [*SILENT, "message_not_in_streaming_state", "msg_too_long", "invalid_chunks"],
    "chat.stopStream": [*SILENT, "message_not_in_streaming_state", "invalid_blocks"],
    "chat.postMessage": [*SILENT, "invalid_blocks"],
    "chat.update": [*SILENT, "invalid_blocks", "block_mismatch"],
    "conversations.replies": SILENT,
}
PIECES = [
    "One line.\n",
    "a few words ",
    "\n",
    "- a bullet\n",
    "**bold** and `code`\n",
    "```py\nx = 1\n```\n",
    "end. ",
]
CARDS = [
    TaskCard("a", "Search", CardState.RUNNING),
    TaskCard("a", "Search", CardState.DONE),
    TaskCard("b", "Read", CardState.RUNNING),
]
MOST = {
    "conversations.replies": 3
}  # a thread that cannot be read at all may be answered twice, as the log says
faults_of_methods = st.fixed_dictionaries(
    {},
    optional={
        method: st.lists(st.sampled_from([None, None, *entries]), max_size=MOST.get(method, 6))
        for method, entries in FAULTS.items()
    },
)
stories = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(CARDS),
        st.floats(0.1, 300.0),  # seconds that pass
    ),
    max_size=14,
)


def tell(story: list[str | TaskCard | float], pure: WorkspaceAnswer) -> str:
    """Write what the story says. Returns its text."""
    told = ""
    for part in story:
        if isinstance(part, float):
            pure.pass_time(part)
            pure.run(pure.answer.delivery.advance())
        elif isinstance(part, TaskCard):
            pure.run(pure.answer.show(Batch("", (part,))))
        else:
            told += part
            pure.run(pure.answer.show(Batch(part)))
    return told


@given(stories, faults_of_methods, st.booleans())
def test_the_whole_answer_is_there_once(
    story: list[str | TaskCard | float], faults: dict[str, list[str | None]], can_stream: bool
) -> None:
    scripts = {method: [*script, None] for method, script in faults.items()}  # the last entry goes on
    pure = WorkspaceAnswer(scripts, can_stream=can_stream)
    told = tell(story, pure)
    pure.run(pure.answer.ending.finish(Ending(Outcome.ANSWERED, rest="The end.")))
    assert "".join(pure.text().split()) == "".join(f"{told}The end.".split())
    assert pure.workspace.open_streams() == []
    assert not any(task.status == "in_progress" for message in pure.read() for task in message.tasks)


@given(stories, st.integers(0, 8))
def test_another_process_goes_on_where_one_was_killed(
    story: list[str | TaskCard | float], dies_after: int
) -> None:
    before = WorkspaceAnswer()
    before.dies_after = dies_after
    stored: tuple[MessageRecord, ...] = ()
    whole = "".join(part for part in story if isinstance(part, str))
    with suppress(Killed):
        for part in story:
            tell([part], before)
            stored = before.answer.state.records  # a new message is stored before more goes into it
    after = WorkspaceAnswer(before=before, shown=stored)
    after.run(after.answer.delivery.take_over(1_000.0, ()))
    after.run(after.answer.show(Batch(whole)))  # the agent tells it from the beginning
    after.run(after.answer.ending.finish(Ending(Outcome.ANSWERED, rest="The end.")))
    assert "".join(after.text().split()) == "".join(f"{whole}The end.".split())
    assert after.workspace.open_streams() == []

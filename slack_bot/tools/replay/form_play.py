"""What a person does with a form in a replayed thread, written as a question of a tape or a case.

    [form] Approve
    [form] Reject: reason=too much
    [form] Fill in: Where to=staging; Who is told=sales, support

The button by its label, then what is filled in: in the message, or in the modal that the button opens.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence

from ...errors import UnreadableInput
from ...testing.slack import blocks as blockkit
from ...testing.slack.inputs import Filled
from ...testing.slack.rendering import SeenMessage
from ...testing.slack.workspace import Workspace
from ...testing.tape.json_file import Json

_PLAYED = re.compile(r"\[form\]\s*([^:]+?)\s*(?::\s*(.*))?", re.DOTALL)
_SEVERAL = ("multi_static_select", "checkboxes")
_PAUSE = 0.05  # seconds between two looks for the modal


def is_played(text: str) -> bool:
    """It is no question, but is done with a form."""
    return _PLAYED.fullmatch(text) is not None


async def play(
    text: str, workspace: Workspace, thread: Sequence[SeenMessage], channel: str, user: str, now: float
) -> None:
    """Do it with the newest form in `thread`. Raises UnreadableInput where a person could not."""
    found = _PLAYED.fullmatch(text)
    assert found is not None
    label, given = found[1], [each.partition("=") for each in (found[2] or "").split(";") if each.strip()]
    message, action = _button(thread, label)
    wanted = {name.strip(): value.strip() for name, _, value in given}
    try:
        if wanted and (inputs := list(blockkit.inputs(_blocks(message)))):
            for name, value in wanted.items():
                workspace.fill(user, channel, message.ts, name, _value(inputs, name, value), now=now)
            wanted = {}
        workspace.press(user, channel, message.ts, action, now=now)
        if wanted:
            await _fill_modal(workspace, user, wanted, now)
    except (LookupError, ValueError) as error:
        raise UnreadableInput(f"{text!r} cannot be done in this thread: {error}") from error


async def _fill_modal(workspace: Workspace, user: str, wanted: dict[str, str], now: float) -> None:
    while (view := workspace.modal(user)) is None:  # noqa: ASYNC110  no event reports it
        await asyncio.sleep(_PAUSE)
    inputs = list(blockkit.inputs(view["blocks"]))
    for name, value in wanted.items():
        workspace.fill_modal(user, name, _value(inputs, name, value), now=now)
    workspace.submit(user, now=now)


def _button(thread: Sequence[SeenMessage], label: str) -> tuple[SeenMessage, str]:
    for message in reversed(thread):
        for name, action in _buttons(message):
            if name == label:
                return message, action
    raise UnreadableInput(f"there is no button {label!r} in the thread")


def _buttons(message: SeenMessage) -> Iterator[tuple[str, str]]:
    for _, control in blockkit.controls(_blocks(message)):
        if control["type"] == "button":
            yield blockkit.plain(control["text"]), control["action_id"]


def _blocks(message: SeenMessage) -> list[Json]:
    return [dict(block) for block in message.blocks]


def _value(inputs: list[tuple[Json, Json]], name: str, value: str) -> Filled:
    for block, element in inputs:
        if name in (blockkit.plain(block.get("label")), element["action_id"]):
            several = element["type"] in _SEVERAL
            return [each.strip() for each in value.split(",")] if several else value
    return value

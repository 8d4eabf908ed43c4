"""What people do in the workspace, as orders of a page."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..clock import Clock
from ..testing.slack import inputs
from ..testing.slack.state import Refused as RefusedBySlack
from ..testing.slack.workspace import PersonFile, Workspace
from .feed import Feed, PageUpdate

_LONGEST = 12_000  # characters that Slack's own composer takes
_LARGEST = 32 * 1024 * 1024  # bytes of all files of a message, as they come in an order
_MOST_FILES = 10
_EMOJI = re.compile(r"[a-z0-9_+'-]{1,100}")
_NO_VIEW: Mapping[str, Any] = {"blocks": [], "state": {"values": {}}}
_REFUSALS = {
    "cant_update_message": "Only who wrote a message can change it.",
    "cant_delete_message": "Only who wrote a message can delete it.",
}


class RefusedOrder(Exception):
    """The order cannot be carried out; the text says why."""


class PageOrders:
    """Each order is done by `user`, one of the people, in `window`, if the page names itself so.

    `arm(retried)`: a question comes, or comes again.
    """

    def __init__(
        self, workspace: Workspace, feed: Feed, clock: Clock, arm: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._workspace, self._feed, self._clock, self._arm = workspace, feed, clock, arm
        self._done: dict[str, tuple[str, Callable[[Mapping[str, Any]], PageUpdate | None]]] = {
            "say": ("channel text", self._say),
            "edit": ("channel ts text", self._edit),
            "delete": ("channel ts", self._delete),
            "react": ("channel ts name", self._react),
            "press": ("channel ts action_id value", self._press),
            "fill": ("channel ts name", self._fill),
            "stop": ("channel thread_ts", self._stop),
            "home": ("", self._home),
            "press_home": ("action_id value", self._press_home),
            "fill_home": ("name", self._fill_home),
            "submit": ("", self._submit),
            "close": ("", self._close),
        }
        """An order's fields, which are text, and what does it."""

    def knows(self, order: Mapping[str, Any]) -> bool:
        if (kind := str(order.get("type"))) not in self._done:
            return False
        fields, _ = self._done[kind]
        return all(isinstance(order.get(name), str) for name in ("user", *fields.split()))

    def do(self, order: Mapping[str, Any]) -> PageUpdate | None:
        """Raises RefusedOrder; LookupError for what is not there. The update is for the page that asked."""
        _, done = self._done[order["type"]]
        try:
            with self._workspace.in_window(_window_of(order)):
                return done(order)
        except RefusedBySlack as refused:
            raise RefusedOrder(_REFUSALS.get(refused.error, f"Slack refuses that: {refused}.")) from None

    @property
    def _now(self) -> float:
        return self._clock.wall()

    def _say(self, order: Mapping[str, Any]) -> PageUpdate:
        text, files = order["text"], _files(order.get("files"))
        if not (text.strip() or files) or len(text) > _LONGEST:
            raise RefusedOrder(f"A message has 1 to {_LONGEST:,} characters.")
        given = order.get("thread_ts")
        root = given if isinstance(given, str) else None
        self._arm(order)
        channel = order["channel"]
        ts = self._workspace.say(order["user"], channel, text, now=self._now, thread_ts=root, files=files)
        if files:
            self._workspace.state.changed(channel, root or ts)
        return {"type": "said", "channel": channel, "ts": ts, "thread_ts": root}

    def _edit(self, order: Mapping[str, Any]) -> None:
        if not order["text"].strip() or len(order["text"]) > _LONGEST:
            raise RefusedOrder(f"A message has 1 to {_LONGEST:,} characters.")
        place = order["channel"], order["ts"]
        self._workspace.edit(*place, order["text"], now=self._now, user=order["user"])

    def _delete(self, order: Mapping[str, Any]) -> None:
        self._workspace.delete(order["channel"], order["ts"], now=self._now, user=order["user"])

    def _react(self, order: Mapping[str, Any]) -> None:
        """Add a reaction, or take it away where this person has given it, as a click on it does in Slack."""
        channel, ts, name, user = (order[each] for each in ("channel", "ts", "name", "user"))
        if not _EMOJI.fullmatch(name):
            raise RefusedOrder("No emoji has that name.")
        message = self._workspace.state.find(channel, ts)
        has_reacted = message is not None and user in message.reactions.get(name, ())
        change = self._workspace.unreact if has_reacted else self._workspace.react
        change(user, channel, ts, name, now=self._now)

    def _press(self, order: Mapping[str, Any]) -> None:
        channel, ts, action, value = (order[name] for name in ("channel", "ts", "action_id", "value"))
        self._arm(order)
        pressed = self._workspace.press(order["user"], channel, ts, action, now=self._now, value=value)
        if pressed.payload["actions"][0]["type"] == "feedback_buttons":
            self._feed.pressed(channel, ts, action, value)

    def _fill(self, order: Mapping[str, Any]) -> None:
        place = order["channel"], order["ts"]
        self._workspace.fill(order["user"], *place, order["name"], _given(order), now=self._now)

    def _stop(self, order: Mapping[str, Any]) -> None:
        self._workspace.stop(order["user"], order["channel"], order["thread_ts"], now=self._now)

    def _home(self, order: Mapping[str, Any]) -> None:
        tab = "messages" if order.get("tab") == "messages" else "home"
        self._workspace.open_home(order["user"], now=self._now, tab=tab)

    def _press_home(self, order: Mapping[str, Any]) -> None:
        self._workspace.press_in_home(order["user"], order["action_id"], order["value"], now=self._now)

    def _fill_home(self, order: Mapping[str, Any]) -> None:
        self._workspace.fill_in_home(order["user"], order["name"], _given(order), now=self._now)

    def _submit(self, order: Mapping[str, Any]) -> None:
        """The modal of this window, filled in with `values` by name; Slack's client looks at them first."""
        user, values = order["user"], order.get("values")
        for name, given in values.items() if isinstance(values, dict) else ():
            self._workspace.fill_modal(user, name, given, now=self._now)
        view = self._workspace.modal(user, window := _window_of(order)) or _NO_VIEW
        if wrong := inputs.mistakes(view["blocks"], view["state"]["values"]):
            self._feed.windows.complain(user, wrong, window)
            return
        self._workspace.submit(user, now=self._now)

    def _close(self, order: Mapping[str, Any]) -> None:
        self._workspace.close_modal(order["user"])


def _window_of(order: Mapping[str, Any]) -> str:
    window = order.get("window")
    return window if isinstance(window, str) else ""


def _given(order: Mapping[str, Any]) -> str | list[str] | None:
    given = order.get("given")
    return [str(each) for each in given] if isinstance(given, list) else None if given is None else str(given)


def _files(given: object) -> list[PersonFile]:
    """Files of an order: objects with `name`, `kind` (a MIME type) and `data` (base64)."""
    if not isinstance(given, list):
        return []
    if len(given) > _MOST_FILES or sum(len(str(each)) for each in given) > _LARGEST * 4 // 3:
        raise RefusedOrder(f"A message takes {_MOST_FILES} files of {_LARGEST // 1024 // 1024} MB in all.")
    try:
        return [
            PersonFile(each["name"][:200], base64.b64decode(each["data"], validate=True), each["kind"])
            for each in given
        ]
    except (KeyError, TypeError, binascii.Error):
        raise RefusedOrder("A file of this message could not be read.") from None

"""PURE. An emulated Slack workspace: Web API calls and people's actions in, threads and payloads out.

`in_process` and `server` connect it. `now` is in wall-clock seconds.

    workspace = Workspace()
    workspace.add_channel("C1")
    ts = workspace.say("U1", "C1", "<@U0BOT> hello", now=0.0)  # puts events for the app into `outbox`
    args = {"channel": "C1", "text": "hi", "thread_ts": ts}
    workspace.call("chat.postMessage", args, now=1.0, token=BOT_TOKEN)
    workspace.thread("C1", ts)  # what a person sees
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from . import blocks as blockkit
from . import chat, conversations, inputs, payloads, rendering, streams, views
from .call_pipeline import CallPipeline, SlackCall, late, outcome
from .faults import DOWNLOAD, UPLOAD, CallAnswer, FaultScript
from .files import PersonFile, download, share
from .inputs import Filled
from .rendering import SeenFile, SeenMessage
from .rules import SHIPPED, AppManifest, WorkspaceRules
from .state import (
    Bot,
    Change,
    Channel,
    ChannelKind,
    Envelope,
    Json,
    Person,
    Refused,
    SeenTask,
    StoredMessage,
    WorkspaceState,
)

__all__ = [
    "APP_TOKEN",
    "BOT_TOKEN",
    "CONFIG_TOKEN",
    "SIGNING_SECRET",
    "AppManifest",
    "Bot",
    "CallAnswer",
    "Change",
    "Envelope",
    "Person",
    "PersonFile",
    "SeenFile",
    "SeenMessage",
    "SeenTask",
    "SlackCall",
    "Workspace",
    "WorkspaceRules",
]

BOT_TOKEN = "xoxb-emulated-workspace"
APP_TOKEN = "xapp-emulated-workspace"
CONFIG_TOKEN = "xoxe.xoxp-emulated-workspace"
SIGNING_SECRET = "emulated-signing-secret"


class Workspace:
    """One workspace with one app. `faults` is a script for `FaultScript`, `manifest` is enforced. `token`:
    the app's bot token there.

    `calls`: every call in order, also one that never arrived. `downloads`: the files that were asked for,
    each with the token. `outbox`: what is still to be delivered.
    """

    def __init__(
        self,
        *,
        team: str = "T1",
        domain: str = "playground",
        bot: Bot | None = None,
        rules: WorkspaceRules | None = None,
        manifest: AppManifest = SHIPPED,
        faults: Mapping[str, Sequence[str | None]] | None = None,
        token: str = BOT_TOKEN,
    ) -> None:
        self.bot = bot or Bot()
        self.state = WorkspaceState(team, domain, self.bot, rules or WorkspaceRules(), manifest)
        self._tokens = {token: "bot", APP_TOKEN: "app", CONFIG_TOKEN: "config"}
        self.state.people[self.bot.user_id] = Person(self.bot.user_id, self.bot.name, team, is_bot=True)
        self.outbox = self.state.outbox
        self.faults = FaultScript(faults)
        self._pipeline = CallPipeline(self.state, self._tokens, self.faults)
        self.calls = self._pipeline.calls
        self.downloads: list[tuple[str, str | None]] = []

    def take(self) -> list[Envelope]:
        """Empty the outbox."""
        taken = self.outbox.copy()
        self.outbox.clear()
        return taken

    def knows(self, token: str | None) -> bool:
        """The token is one of this workspace's installation of the app."""
        return self._tokens.get(token or "") in ("bot", "revoked")

    def revoke_token(self) -> None:
        """Somebody takes the app out of the workspace: its token works no more."""
        self._tokens |= {token: "revoked" for token, kind in self._tokens.items() if kind == "bot"}

    def listen(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call `listener` at once when a thread changed, the outbox grew, a call came. Returns: stop that."""
        self.state.listeners.append(listener)
        return lambda: self.state.listeners.remove(listener)

    # ---- people and places

    def add_user(
        self,
        user: str,
        name: str = "",
        *,
        team: str | None = None,
        is_bot: bool = False,
        guest: Literal["", "multi", "single"] = "",
        enterprise: str = "",
        email: str = "",
    ) -> Person:
        """A person of this workspace, with `team` one of another (Slack Connect), or another app's bot."""
        person = Person(user, name or user.lower(), team or self.state.team, is_bot, guest, enterprise, email)
        self.state.people[user] = person
        return person

    def add_group(self, group: str, *members: str) -> None:
        """A user group."""
        self.state.groups[group] = list(members)

    def add_channel(
        self, channel: str, name: str = "", *, kind: ChannelKind = "channel", with_bot: bool = True
    ) -> Channel:
        """A channel. People who write in it become members."""
        members = {self.bot.user_id} if with_bot else set()
        self.state.channels[channel] = Channel(channel, name or channel.lower(), kind, members)
        return self.state.channels[channel]

    def direct(self, user: str) -> str:
        """The id of the direct message between the app and `user`."""
        return conversations.direct_channel(self.state, self._person(user).id).id

    # ---- the Web API

    def call(
        self, method: str, args: Mapping[str, Any], *, now: float, token: str | None, is_json: bool = False
    ) -> CallAnswer:
        """A Web API call. `args` as they came: JSON values, or strings out of a form."""
        answer = self._pipeline.call(method, args, now, token, is_json)
        self.state.called()
        return answer

    def receive_file(self, file_id: str, content: bytes) -> CallAnswer:
        """Bytes for the upload address that ends in `file_id`. Its name in a fault script is `upload`."""

        def receive(now: float = 0.0) -> CallAnswer:
            status = views.receive(self.state, file_id, content)
            return CallAnswer({"ok": status == 200}, status)

        fault = self.faults.next(UPLOAD)
        if fault is not None and not fault.applied:
            return late(fault, receive) if fault.delay else outcome(None, fault)
        return outcome(receive(), fault)

    def download(self, file_id: str, *, token: str | None) -> CallAnswer:
        """What the address of a file answers. Its name in a fault script is `download`."""

        def give(now: float = 0.0) -> CallAnswer:
            return download(self.state, file_id, is_signed_in=self._pipeline.is_of_bot(token))

        self.downloads.append((file_id, token))
        fault = self.faults.next(DOWNLOAD)
        if fault is not None and not fault.applied:
            return late(fault, give) if fault.delay else outcome(None, fault)
        return outcome(give(), fault)

    def respond(self, key: str, body: Any, *, now: float) -> CallAnswer:
        """The app posts to a response_url, which ends in `key`."""
        self.pass_time(now)
        try:
            chat.respond(self.state, key, body)
        except Refused as refused:
            status = 400 if refused.error == "invalid_payload" else 404
            return CallAnswer({"ok": False, "error": refused.error}, status)
        return CallAnswer({"ok": True})

    # ---- what people do

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        *,
        now: float,
        thread_ts: str | None = None,
        ts: str | None = None,
        files: Sequence[PersonFile | str] = (),
        is_told: bool = True,
    ) -> str:
        """A person writes; the app gets the event if `is_told`. Returns the message's ts (`ts`, if given).

        A file by its name alone is empty.
        """
        self.pass_time(now)
        person = self._person(user)
        self.state.channels[channel].members.add(person.id)
        if thread_ts is not None:
            self._find(channel, thread_ts)
        message = StoredMessage(
            channel,
            ts or self.state.next_ts(),
            person.id,
            person.team,
            thread_ts=thread_ts if thread_ts != ts else None,
            body=text,
            client_msg_id=None if person.is_bot else self.state.next_id("client-msg-"),
        )
        self.state.add(message)
        given = [PersonFile(each) if isinstance(each, str) else each for each in files]
        message.files = [share(self.state, each, person) for each in given]
        if is_told:
            payloads.message(self.state, message)
        return message.ts

    def alert(
        self, bot: str, channel: str, attachments: Sequence[Json], *, now: float, thread_ts: str | None = None
    ) -> str:
        """Another app's bot says something in attachments alone. Returns the message's ts."""
        ts = self.say(bot, channel, "", now=now, thread_ts=thread_ts, is_told=False)
        message = self._find(channel, ts)
        message.attachments = list(attachments)
        self.state.changed(channel, message.root)
        payloads.message(self.state, message)
        return ts

    def alert_again(self, channel: str, ts: str, attachments: Sequence[Json], *, now: float) -> None:
        """The other app's bot edits what it said: its text stays as it was."""
        self.pass_time(now)
        message = self._find(channel, ts)
        before = rendering.read_back(self.state, message, False)
        message.attachments, message.edited = list(attachments), True
        self.state.changed(channel, message.root)
        payloads.changed(self.state, message, before)

    def press(
        self, user: str, channel: str, ts: str, action_id: str, *, now: float, value: str | None = None
    ) -> Envelope:
        """A person presses a control; `value` picks one of several, or the side of feedback buttons."""
        self.pass_time(now)
        message = self._find(channel, ts)
        action = _pressed(message.blocks, action_id, value)
        url = chat.offer(self.state, message, user)
        return payloads.pressed(self.state, self._person(user), message, action, url)

    def fill(self, user: str, channel: str, ts: str, label: str, given: Filled, *, now: float) -> None:
        """A person fills in an input of a message, by its label or action_id; the app hears of what is no
        `input` block at once."""
        self.pass_time(now)
        message = self._find(channel, ts)
        values = payloads.filled_in(self.state, self._person(user).id, message)
        if action := inputs.fill(message.blocks, values, label, given):
            url = chat.offer(self.state, message, user)
            payloads.pressed(self.state, self._person(user), message, action, url)

    @contextmanager
    def in_window(self, window: str) -> Iterator[None]:
        """What people do inside the block they do in this window of Slack's client: a modal that the app
        opens for it is open there, and is filled in, sent and closed there. Without it: in a window "".
        """
        before, self.state.window = self.state.window, window
        try:
            yield
        finally:
            self.state.window = before

    def windows_of(self, user: str) -> list[str]:
        """The windows in which a person has a modal open."""
        owners = self.state.view_owners.values()
        return list(dict.fromkeys(window for owner, window in owners if owner == user))

    def modal(self, user: str, window: str | None = None) -> Json | None:
        """The topmost modal that a person has open in this window; None: in any."""
        return next(iter(views.modals(self.state, user, window)[::-1]), None)

    def modal_errors(self, user: str, window: str | None = None) -> dict[str, str]:
        """What a person reads under the inputs of it, by `block_id`."""
        view = self.modal(user, window)
        return {} if view is None else self.state.view_errors.get(view["id"], {})

    def fill_modal(self, user: str, label: str, given: Filled, *, now: float) -> None:
        """A person fills in an input of their modal, as `fill`."""
        self.pass_time(now)
        view = self._modal(user)
        if action := inputs.fill(view["blocks"], view["state"]["values"], label, given):
            payloads.pressed_in_view(self.state, self._person(user), view, action)

    def press_in_modal(self, user: str, action_id: str, *, now: float, value: str | None = None) -> Envelope:
        """A person presses a control of their modal, as `press`; the modal stays open."""
        self.pass_time(now)
        view = self._modal(user)
        action = _pressed(view["blocks"], action_id, value)
        return payloads.pressed_in_view(self.state, self._person(user), view, action)

    def submit(self, user: str, *, now: float) -> Envelope:
        """A person sends their modal. ValueError: Slack's client does not, for what it says."""
        view = self._modal(user)
        if found := inputs.mistakes(view["blocks"], view["state"]["values"]):
            raise ValueError(f"not complete: {found}")
        return self.submit_view(user, view["id"], copy.deepcopy(view["state"]["values"]), now=now)

    def answered(self, envelope: Envelope, answer: str | Json | None) -> None:
        """The app acknowledged `envelope` so: a modal that was sent closes, or says what is wrong."""
        if envelope.payload.get("type") != "view_submission":
            return
        view_id = envelope.payload["view"]["id"]
        if view_id in self.state.view_owners:
            said: Any = json.loads(answer) if isinstance(answer, str) and answer else answer
            views.answered(self.state, view_id, said or {})

    def close_modal(self, user: str) -> None:
        """A person closes their modal without sending it."""
        views.close(self.state, self._modal(user)["id"])

    def _modal(self, user: str) -> Json:
        if (view := self.modal(user, self.state.window)) is None:
            raise LookupError(f"{user} has no modal open")
        return view

    def submit_view(self, user: str, view_id: str, values: dict[str, Any], *, now: float) -> Envelope:
        """A person sends a modal. `values` as Slack's `view.state.values`."""
        self.pass_time(now)
        view = {**self.state.views[view_id], "state": {"values": values}}
        fields = {"view": view, "response_urls": []}
        return payloads.interaction(self.state, "view_submission", self._person(user), fields)

    def stop(self, user: str, channel: str, thread_ts: str, *, now: float) -> list[str]:
        """A person presses Slack's own Stop: the thread's streams are sealed. Returns their ts."""
        self.pass_time(now)
        running = [m for m in self.state.in_thread(channel, thread_ts) if m.state == "streaming"]
        for message in running:
            message.stopped_by = user
            streams.seal(self.state, message)
        sealed = [message.ts for message in running]
        place = {"channel": channel, "thread_ts": thread_ts, "user": self._person(user).id}
        about = {"streaming_message_ts": sealed, "event_ts": self.state.next_ts()}
        payloads.event(self.state, {"type": "agent_session_stopped", **place, **about})
        return sealed

    def react(self, user: str, channel: str, ts: str, name: str, *, now: float) -> None:
        """A person adds a reaction to a message, by the name of its emoji. Raises `Refused`."""
        self.pass_time(now)
        chat.react(self.state, self._find(channel, ts), name, self._person(user).id)

    def unreact(self, user: str, channel: str, ts: str, name: str, *, now: float) -> None:
        """A person takes their reaction away. Raises `Refused`."""
        self.pass_time(now)
        chat.unreact(self.state, self._find(channel, ts), name, self._person(user).id)

    def edit(self, channel: str, ts: str, text: str, *, now: float, user: str | None = None) -> None:
        """`user` changes the text of a message of theirs (None: its author). Raises `Refused`."""
        self.pass_time(now)
        message = self._own(channel, ts, user, "cant_update_message")
        before = rendering.read_back(self.state, message, False)
        message.body, message.edited = text, True
        self.state.changed(channel, message.root)
        payloads.edited(self.state, message, before)

    def delete(self, channel: str, ts: str, *, now: float, user: str | None = None) -> None:
        """`user` deletes a message of theirs (None: its author). Raises `Refused`."""
        self.pass_time(now)
        chat.remove(self.state, self._own(channel, ts, user, "cant_delete_message"))

    def delete_root(self, channel: str, ts: str, *, now: float, with_replies: bool = False) -> None:
        """The root of a thread is deleted, perhaps its replies too."""
        self.pass_time(now)
        for message in self.state.in_thread(channel, ts):
            if message.ts == ts or with_replies:
                chat.remove(self.state, message)

    def open_home(self, user: str, *, now: float, tab: str = "home") -> None:
        """A person comes to the app's Home or Messages tab."""
        self.pass_time(now)
        visit: Json = {"type": "app_home_opened", "user": user, "channel": self.direct(user), "tab": tab}
        if tab == "home" and f"home-{user}" in self.state.views:
            visit["view"] = copy.deepcopy(self.state.views[f"home-{user}"])
        payloads.event(self.state, {**visit, "event_ts": self.state.next_ts()})

    def look_at(self, user: str, *channels: str, now: float) -> None:
        """A person looks at these channels beside the app's messages; nothing: at none that is told."""
        self.pass_time(now)
        payloads.looked(self.state, self._person(user), self.direct(user), channels)

    def press_in_home(self, user: str, action_id: str, value: str, *, now: float) -> Envelope:
        """A person presses a control of their Home tab."""
        self.pass_time(now)
        view = self.state.views[f"home-{user}"]
        action = _pressed(view["blocks"], action_id, value)
        return payloads.pressed_in_view(self.state, self._person(user), view, action)

    def fill_in_home(self, user: str, label: str, given: Filled, *, now: float) -> None:
        """A person fills in an input of their Home tab, as `fill`."""
        self.pass_time(now)
        view = self.state.views[f"home-{user}"]
        if action := inputs.fill(view["blocks"], inputs.begun(view["blocks"]), label, given):
            payloads.pressed_in_view(self.state, self._person(user), view, action)

    # ---- what people see

    def home(self, user: str) -> list[str]:
        """The words of a person's Home tab, block by block; none if the app never wrote it."""
        view = self.state.views.get(f"home-{user}")
        return [] if view is None else [blockkit.plain(block) for block in view["blocks"]]

    def prompts(self, channel: str, thread_ts: str = "") -> list[str]:
        """The questions that are suggested in a direct message, or in a thread of it."""
        return [prompt["message"] for prompt in self.state.thread(channel, thread_ts).prompts]

    def thread(
        self, channel: str, ts: str, *, now: float | None = None, viewer: str | None = None
    ) -> list[SeenMessage]:
        """A thread, root first. `now`: when, for the typing status (None: the last call).

        `viewer`: as this person sees it; a stream in a channel is live for its recipient only. None: all.
        """
        return rendering.see_thread(self.state, channel, ts, self.state.now if now is None else now, viewer)

    def history(self, channel: str) -> list[SeenMessage]:
        """What the channel shows outside its threads, oldest first."""
        return [rendering.see(self.state, message) for message in self.state.history(channel)]

    def status_line(self, channel: str, ts: str, *, now: float | None = None) -> str | None:
        """The typing status of a thread."""
        return self.state.status_of(channel, ts, self.state.now if now is None else now)

    def status_rows(self, channel: str, ts: str) -> list[str]:
        """Statuses that were set while a stream was open: each is a second row under the answer, a defect."""
        return list(self.state.thread(channel, ts).status_rows)

    def session(self, channel: str, ts: str) -> str | None:
        """The status of the thread's agent session, if there is one."""
        return self.state.session_of(channel, ts)

    def session_title(self, channel: str, ts: str) -> str:
        """The title of the thread's agent session, or of the thread; "" if it has none."""
        return self.state.thread(channel, ts).title or ""

    def open_streams(self) -> list[str]:
        """The ts of every open stream."""
        return list(self.state.open_streams)

    def pass_time(self, now: float) -> None:
        """It is `now`: seal the streams whose time is over. Every call does this too."""
        streams.pass_time(self.state, now)

    def _person(self, user: str) -> Person:
        person = self.state.people.get(user)
        return person if person is not None else self.add_user(user)

    def _own(self, channel: str, ts: str, user: str | None, error: str) -> StoredMessage:
        message = self._find(channel, ts)
        if user not in (None, message.author):
            raise Refused(error)
        return message

    def _find(self, channel: str, ts: str) -> StoredMessage:
        message = self.state.find(channel, ts)
        if message is None:
            raise LookupError(f"no message {ts} in {channel}")
        return message


def _pressed(blocks: list[Json], action_id: str, value: str | None) -> Json:
    """What the app is told of a press. LookupError: nothing to press."""
    for block, control in blockkit.controls(blocks):
        for side, button in _buttons(control):
            given = button.get("value", "")
            if control["action_id"] == action_id and value in (None, given, side):
                place = {"action_id": action_id, "block_id": block["block_id"]}
                return {**place, "type": control["type"], "value": given, "text": button["text"]}
    raise LookupError(f"no control {action_id} with value {value}")


def _buttons(control: Json) -> list[tuple[str | None, Json]]:
    """What can be pressed of a control: itself, or the sides of feedback buttons."""
    if control["type"] != "feedback_buttons":
        return [(None, control)]
    return [(side, control[f"{side}_button"]) for side in ("positive", "negative")]

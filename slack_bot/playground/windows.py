"""PURE. What a page shows beside messages: each person's Home tab and modal, and suggested prompts."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from ..testing.slack.workspace import Change, Workspace

_SHOWN = ("id", "title", "submit", "close", "blocks")


class Windows:
    """Listens to the workspace and sends each change as an update."""

    def __init__(self, workspace: Workspace, send: Callable[[dict[str, Any]], None]) -> None:
        self._workspace, self._send = workspace, send
        self._prompts: dict[tuple[str, str], list[Any]] = {}
        workspace.listen(self._changed)

    def snapshot(self) -> dict[str, Any]:
        people = [person.id for person in self._workspace.state.people.values() if not person.is_bot]
        return {
            "homes": {user: home for user in people if (home := self._home(user)) is not None},
            "modals": {user: modal for user in people if (modal := self._modal(user)) is not None},
            "prompts": [
                {"channel": channel, "thread_ts": ts, "prompts": prompts}
                for (channel, ts), prompts in self._prompts.items()
            ],
        }

    def complain(self, user: str, errors: Mapping[str, str]) -> None:
        """Slack's client does not send the modal: what is wrong, by `block_id`."""
        self._send({"type": "modal", "user": user, "modal": {**(self._modal(user) or {}), "errors": errors}})

    def _changed(self, change: Change) -> None:
        if change.kind == "view":
            self._send({"type": "modal", "user": change.user, "modal": self._modal(change.user)})
            self._send({"type": "home", "user": change.user, "home": self._home(change.user)})
        elif change.kind == "thread":
            key = (change.channel, change.thread_ts)
            prompts = self._workspace.state.thread(*key).prompts
            if prompts != self._prompts.get(key, []):
                self._prompts[key] = list(prompts)
                place = {"channel": change.channel, "thread_ts": change.thread_ts}
                self._send({"type": "prompts", **place, "prompts": self._prompts[key]})

    def _home(self, user: str) -> dict[str, Any] | None:
        view = self._workspace.state.views.get(f"home-{user}")
        return None if view is None else {"id": view["id"], "blocks": deepcopy(view["blocks"])}

    def _modal(self, user: str) -> dict[str, Any] | None:
        view = self._workspace.modal(user)
        if view is None:
            return None
        shown = {name: view[name] for name in _SHOWN if name in view}
        values = view["state"]["values"]
        errors = self._workspace.modal_errors(user)
        return deepcopy({**shown, "values": values, "errors": errors})

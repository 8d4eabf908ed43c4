"""PURE. What a page shows beside messages: each person's Home tab and modals, and suggested prompts."""

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
            "modals": {user: modals for user in people if (modals := self._modals(user))},
            "prompts": [
                {"channel": channel, "thread_ts": ts, "prompts": prompts}
                for (channel, ts), prompts in self._prompts.items()
            ],
        }

    def complain(self, user: str, errors: Mapping[str, str], window: str = "") -> None:
        """Slack's client does not send the modal of this window: what is wrong, by `block_id`."""
        modals = self._modals(user)
        modals[window] = {**modals.get(window, {}), "errors": errors}
        self._send({"type": "modals", "user": user, "modals": modals})

    def _changed(self, change: Change) -> None:
        if change.kind == "view":
            self._send({"type": "modals", "user": change.user, "modals": self._modals(change.user)})
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

    def _modals(self, user: str) -> dict[str, dict[str, Any]]:
        """The topmost one by window. Where no page asked for it, the window is ""."""
        return {window: self._modal(user, window) for window in self._workspace.windows_of(user)}

    def _modal(self, user: str, window: str) -> dict[str, Any]:
        view = self._workspace.modal(user, window)
        assert view is not None, "one is open there"
        shown = {name: view[name] for name in _SHOWN if name in view}
        errors = self._workspace.modal_errors(user, window)
        more = {"window": window, "values": view["state"]["values"], "errors": errors}
        return deepcopy({**shown, **more})

"""The playground's verbs, and what the tools take from it. It is imported when it is called."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ..errors import BotError
from ..installing import how_to_install
from ..tools.command_line import AddVerb, PlaygroundParts

if TYPE_CHECKING:
    from ..tools.conform.conform import Target
    from ..tools.trace.trace import ModeObserver

MODES = ("hybrid", "marker", "structured")
KINDS = ("guide", "travel", "tickets")
"""The playground's agents."""


def add_verbs(add: AddVerb) -> None:
    """Declare `play`, `agent` and `workspace`."""
    about = "try everything on this machine: agent, workspace, bot and a page to look at"
    play = add("play", _serve, about, "slack-bot play --port 9000")
    play.add_argument("--host", default="127.0.0.1", help="address of the page (default: %(default)s)")
    play.add_argument("--port", type=int, default=8765, help="port of the page (default: %(default)s)")
    play.add_argument("--url", metavar="URL", help="an agent of your own instead of the bundled one")
    about = "serve the reference agent alone, or another one of the playground, for any A2A client"
    agent = add("agent", _serve, about, "slack-bot agent --mode marker --port 8001")
    agent.add_argument("--host", default="127.0.0.1", help="address to serve on (default: %(default)s)")
    agent.add_argument("--port", type=int, default=8001, help="port to serve on (default: %(default)s)")
    about = "which of the playground's agents; tickets has a server at which people sign in (default: guide)"
    agent.add_argument("--kind", choices=KINDS, default=KINDS[0], help=about)
    for verb in (play, agent):
        verb.add_argument("--pace", type=float, help="tokens a second the agent writes; 0: at once")
        verb.add_argument("--mode", choices=MODES, help="how the agent marks its answer (default: hybrid)")
    _add_workspace(add)


def _add_workspace(add: AddVerb) -> None:
    about = "serve the emulated Slack workspace alone, to try `run` before there is a Slack app"
    workspace = add(
        "workspace", _serve, about, "slack-bot workspace --events http://127.0.0.1:3000/slack/events"
    )
    workspace.add_argument("--host", default="127.0.0.1", help="address to serve on (default: %(default)s)")
    page, api = "port of the page (default: 8765)", "port of the Web API (default: 8766)"
    workspace.add_argument("--port", type=int, help=f"{page}; 0: any, for both")
    workspace.add_argument("--api-port", type=int, help=f"{api}; 0: any, for both")
    workspace.add_argument("--events", metavar="URL", help="post events there, as to `run --http`")
    about = "enforce these scopes and events (default: what slack-bot manifest prints)"
    workspace.add_argument("--manifest", metavar="FILE", help=about)
    about = "behave as the workspace in which slack-bot rules wrote this file"
    workspace.add_argument("--rules", metavar="FILE", help=about)


def _serve(args: argparse.Namespace) -> int:
    with _needs_agent():
        if args.name == "play":
            from .server import main
        elif args.name == "workspace":
            from .workspace import main
        elif args.kind != KINDS[0]:
            from .others.alone import main
        else:
            from .reference.agent import main
    return main(args)


def _show_replays(args: argparse.Namespace) -> int:
    with _needs_agent():
        from . import server
    return server.show_replays(args)


def _mode_observers() -> Mapping[str, ModeObserver]:
    with _needs_agent():
        from .reference.modes import observe_mode
    return {mode: partial(observe_mode, mode) for mode in MODES}


def _reference(mode: str | None) -> Target:
    with _needs_agent():
        from .reference.modes import memory_target
    return memory_target(mode)


FOR_TOOLS = PlaygroundParts(MODES, _show_replays, _mode_observers, _reference)


@contextmanager
def _needs_agent() -> Iterator[None]:
    """Raises BotError, with the remedy, where the playground's agent is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("a2a", "starlette", "uvicorn"):
            raise
        raise BotError(
            f"The playground's agent is not installed: {how_to_install('play', 'play.txt')}"
        ) from error

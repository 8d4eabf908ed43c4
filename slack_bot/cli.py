"""The verbs of `slack-bot`. What a verb needs is imported when it is called, so that `--help` is quick.

Exit status: 0 for success, 1 when the bot cannot run or a check failed, 2 for wrong usage, wrong settings or
unreadable input. Each problem is one sentence on stderr: `slack-bot replay: tape.jsonl, line 3: ...`.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import logging
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from . import __version__
from .errors import BotError, SettingsError, UnreadableInput

_PROGRAM = "slack-bot"
_MODES = ("hybrid", "marker", "structured")
_CAPTURE = "tape, capture or raw SSE"
_KEY = "which stream, where a file holds several"
_EXAMPLES = {
    "play": "slack-bot play --port 9000",
    "agent": "slack-bot agent --mode marker --port 8001",
    "run": "SLACK_BOT_TOKEN=xoxb-... SLACK_APP_TOKEN=xapp-... A2A_AGENT_URL=http://agent:8000 slack-bot run",
    "replay": "slack-bot replay export.json --json",
    "explain": "slack-bot explain export.json",
    "capture": "slack-bot capture http://127.0.0.1:8000 'what can you do?' -o answer.jsonl",
    "trace": "slack-bot trace answer.jsonl --html answer.html",
    "compare": "slack-bot compare before.jsonl after.jsonl -o comparison.md",
    "conform": "slack-bot conform --url http://127.0.0.1:8000 --report",
    "scrub": "slack-bot scrub answer.jsonl -o shareable.jsonl",
}

EXIT_SIGPIPE = 141
"""Exit status after a closed pipe, as a shell shows it."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})

Verb = Callable[[argparse.Namespace], int]
_Verbs: TypeAlias = "argparse._SubParsersAction[_VerbParser]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb that the command line names. Returns the exit status."""
    words = sys.argv[1:] if argv is None else argv
    whole = parser()
    if not words:
        whole.print_help(sys.stderr)
        whole.exit(2, f"\n{_PROGRAM}: a verb is missing; give one of these\n")
    _check_verb(whole, words)
    args = whole.parse_args(words)
    verb: Verb = args.verb
    try:
        return run_guarded(lambda: verb(args))
    except (SettingsError, UnreadableInput) as error:
        return _failed(args.name, error, 2)
    except BotError as error:
        return _failed(args.name, error, 1)
    except KeyboardInterrupt:
        return 130


def run_guarded(verb: Callable[[], int]) -> int:
    """The status of `verb`, whose output is flushed. Raises BotError if it cannot be written."""
    _open_missing_streams()
    try:
        status = verb()
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return EXIT_SIGPIPE
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        _discard_output()
        raise BotError(f"the output cannot be written: {error.strerror}; send it somewhere else") from error
    return status


def _open_missing_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            null = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as the process
            setattr(sys, name, null)


def _discard_output() -> None:
    """Else the interpreter's end would complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _check_verb(whole: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Offer the nearest verb for a misspelt one."""
    given = next((word for word in words if not word.startswith("-")), "")
    if given and given not in _EXAMPLES:
        from .settings.suggestions import nearest

        if (meant := nearest(given, _EXAMPLES)) is not None:
            whole.error(f"there is no verb {given!r}; did you mean {meant!r}?")


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage as all other errors are reported."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: {message}\n")


def _word(text: str) -> str:
    """An empty word comes from a shell variable that is not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; give a value, or leave the option out")
    return text


class _VerbParser(_Parser):
    """The parser of a verb: it reports unknown arguments with its own usage. No word may be empty."""

    def add_argument(self, *names: Any, **options: Any) -> Any:
        if options.get("action") in (None, "append"):
            options.setdefault("type", _word)
        return super().add_argument(*names, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog=_PROGRAM,
        description="Mention the bot in Slack, and any A2A agent's answer is written live into the thread.",
    )
    top.add_argument("--version", action="version", version=f"slack-bot {__version__}")
    verbs = top.add_subparsers(title="verbs", required=True, metavar="VERB", parser_class=_VerbParser)
    _add_play(verbs)
    _add_replay(verbs)
    _add_explain(verbs)
    _add_capture(verbs)
    _add_trace(verbs)
    _add_compare(verbs)
    _add_conform(verbs)
    return top


def _verb(verbs: _Verbs, name: str, run: Verb, about: str) -> argparse.ArgumentParser:
    description, epilog = f"{about[0].upper()}{about[1:]}.", f"example: {_EXAMPLES[name]}"
    added = verbs.add_parser(name, help=about, description=description, epilog=epilog)
    added.set_defaults(verb=run, name=name)
    return added


def _add_play(verbs: _Verbs) -> None:
    about = "try everything on this machine: agent, workspace, bot and a page to look at"
    play = _verb(verbs, "play", _playground, about)
    play.add_argument("--host", default="127.0.0.1", help="address of the page (default: %(default)s)")
    play.add_argument("--port", type=int, default=8765, help="port of the page (default: %(default)s)")
    play.add_argument("--url", metavar="URL", help="an agent of your own instead of the bundled one")
    agent = _verb(verbs, "agent", _playground, "serve the reference agent alone, for any A2A client")
    agent.add_argument("--host", default="127.0.0.1", help="address to serve on (default: %(default)s)")
    agent.add_argument("--port", type=int, default=8001, help="port to serve on (default: %(default)s)")
    for verb in (play, agent):
        verb.add_argument("--pace", type=float, help="tokens a second the agent writes; 0: at once")
        verb.add_argument("--mode", choices=_MODES, help="how the agent marks its answer (default: hybrid)")
    run = _verb(verbs, "run", _run, "run the bot against Slack and the agent of the settings")
    run.add_argument("--http", action="store_true", help="Events API over HTTP instead of Socket Mode")


def _add_replay(verbs: _Verbs) -> None:
    about = "show the thread that a recorded stream of an agent would have made"
    verb = _verb(verbs, "replay", _tool, about)
    option = verb.add_argument
    option("files", nargs="+", metavar="FILE", help=f"{_CAPTURE}; the format is recognised")
    option("--scenario", metavar="FILE", help="JSON: who asks, faults of Slack and of the agent")
    option("--key", metavar="NAME", help=_KEY)
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="one JSON object a file")
    shrink = "find the smallest tape that still breaks a promise or differs from --golden; with -o"
    what.add_argument("--shrink", action="store_true", help=shrink)
    what.add_argument("--play", action="store_true", help="show it in the playground's page")
    golden = "compare with the threads kept there; exit 1 if one differs or is new"
    option("--golden", metavar="DIR", help=golden)
    option("--update", action="store_true", help="keep the threads as they are now, with --golden")
    option("-o", "--output", metavar="FILE", help="where --shrink writes the tape")
    speed = "N times as fast as it was; 1: in real time (default: virtual time, at once; with --play 1)"
    option("--speed", metavar="N", type=float, help=speed)
    option("--port", type=int, default=8765, help="port of --play's page (default: %(default)s)")


def _add_explain(verbs: _Verbs) -> None:
    about = "say why each part of an answer went where it went, and what was left out"
    option = _verb(verbs, "explain", _tool, about).add_argument
    option("file", metavar="FILE", help=_CAPTURE)
    option("--scenario", metavar="FILE", help="as for replay")
    option("--key", metavar="NAME", help=_KEY)


def _add_capture(verbs: _Verbs) -> None:
    about = "ask a live agent and keep all it sends, with its times, as a tape"
    option = _verb(verbs, "capture", _tool, about).add_argument
    option("url", metavar="URL", help="the agent's address, or its card's")
    option("text", metavar="TEXT", help="the question")
    option("-o", "--output", metavar="FILE", required=True, help="where the tape is written")
    option("--no-stream", action="store_true", help="message/send instead of message/stream")
    option("--sse", action="store_true", help="keep the raw bytes instead of a tape")
    follow_up = "a follow-up in the same context (repeat for more)"
    option("--then", metavar="TEXT", action="append", default=[], help=follow_up)
    option("--cut-after", metavar="SECONDS", type=float, help="drop the stream on purpose")
    option("--poll", action="store_true", help="after that, poll the task")

    about = "make a tape fit to share: its words replaced, its shape and timing kept"
    option = _verb(verbs, "scrub", _tool, about).add_argument
    option("file", metavar="FILE", help=_CAPTURE)
    option("-o", "--output", metavar="FILE", required=True, help="where the new tape is written")
    option("--key", metavar="NAME", help=_KEY)


def _add_trace(verbs: _Verbs) -> None:
    about = "show when each event came, what was decided and why, and which calls Slack got"
    option = _verb(verbs, "trace", _trace, about).add_argument
    targets = "tapes or captures; or an agent's address and a question"
    option("targets", nargs="+", metavar="FILE | URL TEXT", help=targets)
    modes = "ask the reference agent in all its modes; TEXT alone is given"
    option("--modes", action="store_true", help=modes)
    option("--html", metavar="FILE", help="draw it, with all rows, as a page")
    option("--svg", metavar="FILE", help="draw it")
    option("--all", action="store_true", help="print every row, also of many alike")
    option("--scenario", metavar="FILE", help="as for replay")
    option("--key", metavar="NAME", help=_KEY)


def _add_compare(verbs: _Verbs) -> None:
    about = "compare two captures, or the answers of two live agents"
    option = _verb(verbs, "compare", _tool, about).add_argument
    option("one", metavar="A", help="tape, capture, or an agent's address")
    option("two", metavar="B", help="the same")
    option("text", metavar="TEXT", nargs="?", help="the question, for live agents")
    option("-o", "--output", metavar="FILE", help="write the Markdown there")
    option("--key", metavar="NAME", help=_KEY)


def _add_conform(verbs: _Verbs) -> None:
    about = "check that an agent's answers get into Slack as they should"
    option = _verb(verbs, "conform", _conform, about).add_argument
    option("--url", metavar="URL", help="the agent to ask (default: the playground's, in memory)")
    suite = "caipe, extended, or a file (default: %(default)s)"
    option("--suite", metavar="NAME|FILE", default="caipe", help=suite)
    only = "this case only (repeat for more)"
    option("--only", metavar="CASE", action="append", default=[], help=only)
    option("--mode", choices=_MODES, help="how the playground's agent marks its answer")
    report = "write it as Markdown (default: a name with the time)"
    option("--report", metavar="FILE", type=str, nargs="?", const="", help=report)
    option("--json", action="store_true", help="print the findings as one JSON object")
    option("--junit", metavar="FILE", help="write them as JUnit XML")
    repeat = "ask each question N times; a check must pass each time"
    option("--repeat", metavar="N", type=int, default=1, help=repeat)
    limit = "with --url: the longest time for a question; then it is judged as it is (default: 300)"
    option("--limit", metavar="SECONDS", type=float, default=300.0, help=limit)
    option("-v", "--verbose", action="store_true", help="every check, and what it found")
    tape = "instead: play recordings, as the first question and as a later one, and compare with --truth"
    option("--from-tape", metavar="TAPE", nargs="+", help=tape)
    truth = "the agent's exact text, or a folder of NAME.truth.txt (default: beside each TAPE)"
    option("--truth", metavar="FILE|DIR", help=truth)
    after = "also behind this recording, or the CASE of NAME_CASE beside a TAPE (repeat: in this order)"
    option("--after", metavar="TAPE|CASE", action="append", default=[], help=after)
    option("--key", metavar="NAME", help=_KEY)


@contextmanager
def _needs_agent() -> Iterator[None]:
    """Raises BotError, with the remedy, where the playground's agent is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("a2a", "starlette", "uvicorn"):
            raise
        raise BotError(
            "The playground's agent is not installed: pip install --require-hashes -r deploy/play.txt"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """The bot does not log: what is printed says what happened."""
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _playground(args: argparse.Namespace) -> int:
    with _needs_agent():
        if args.name == "agent":
            from .playground.reference.agent import main as serve
        else:
            from .playground import server

            serve = server.main if args.name == "play" else server.show_replays
    return serve(args)


def _tool(args: argparse.Namespace) -> int:
    if args.name == "replay" and args.play:
        return _playground(args)
    if args.name == "replay":
        from .tools.replay.replay import main as run
    elif args.name == "explain":
        from .tools.replay.explain import main as run
    elif args.name == "compare":
        from .tools.comparison import main as run
    elif args.name == "capture":
        from .tools.capture.capture import main as run
    else:
        from .tools.scrub import main as run
    with nullcontext() if args.name in ("capture", "scrub") else _quiet():
        return run(args)


def _trace(args: argparse.Namespace) -> int:
    from .tools.trace import trace

    modes = {}
    if args.modes:
        with _needs_agent():
            from .playground.reference.modes import MODES, observe_mode
        modes = {mode: partial(observe_mode, mode) for mode in MODES}
    with _quiet():
        return trace.main(args, modes)


def _conform(args: argparse.Namespace) -> int:
    from .tools.conform import conform

    def reference(mode: str | None) -> Any:
        from .playground.reference.modes import memory_target

        return memory_target(mode)

    with _quiet(), _needs_agent():
        return conform.main(args, reference)


def _run(args: argparse.Namespace) -> int:
    from .settings.load import load, secrets_of

    settings = load(http=args.http)
    from . import app
    from .observe import logs

    logs.setup(settings.log.level, settings.log.format, secrets_of(settings))
    asyncio.run(app.run(settings, http=args.http))
    return 0


def _failed(name: str, error: BotError, status: int) -> int:
    sys.stderr.write(textwrap.indent(f"{error}\n", f"{_PROGRAM} {name}: "))
    return status

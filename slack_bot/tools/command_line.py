"""The tools' verbs: their options, and what runs them. That is imported when it is called."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ..turn.people import PERSON_ID

if TYPE_CHECKING:
    from .conform.conform import Target
    from .trace.trace import ModeObserver

Verb: TypeAlias = Callable[[argparse.Namespace], int]
AddVerb: TypeAlias = Callable[[str, Verb, str, str], argparse.ArgumentParser]
"""Adds a verb by its name, what runs it, what it is about, and an example. Gives its parser."""

_CAPTURE = "tape, capture or raw SSE"
_KEY = "which stream, where a file holds several"
_FORCE = "write over a file that is there, without a question"
_TURN = "its reference or its key, as turns and the logs name it"
_STRICT = "exit 3 if an event of a file was not understood"


@dataclass(frozen=True, slots=True)
class PlaygroundParts:
    """What the tools take from the playground, which they may not import."""

    modes: Sequence[str]
    """The names of the reference agent's modes."""
    show_replays: Verb
    """`replay --play`."""
    mode_observers: Callable[[], Mapping[str, ModeObserver]]
    """The reference agent in each of its modes, to be asked."""
    reference: Callable[[str | None], Target]
    """The reference agent in a mode, in memory."""


def add_verbs(add: AddVerb, playground: PlaygroundParts) -> None:
    """Declare them, in the order of the help."""
    _add_replay(add, playground)
    _add_explain(add)
    _add_capture(add)
    _add_trace(add, playground)
    _add_compare(add)
    _add_conform(add, playground)
    _add_rules(add)
    _add_store(add)
    _add_config(add)
    _add_manifest(add)
    _add_keys(add)
    _add_api_key(add)
    _add_schedules(add)
    _add_doctor(add)


def _add_replay(add: AddVerb, playground: PlaygroundParts) -> None:
    about = "show the thread that a recorded stream of an agent would have made"
    verb = add("replay", partial(_replay, playground), about, "slack-bot replay export.json --json")
    option = verb.add_argument
    option("files", nargs="+", metavar="FILE", help=f"{_CAPTURE}; the format is recognised")
    option("--scenario", metavar="FILE", help="JSON: who asks, faults of Slack and of the agent")
    option("--key", metavar="NAME", help=_KEY)
    option("--strict", action="store_true", help=_STRICT)
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="one JSON object a file")
    what.add_argument(
        "--spans", action="store_true", help="print its trace instead: each span is a JSON object on a line"
    )
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


def _add_explain(add: AddVerb) -> None:
    about = "say why each part of an answer went where it went, and what was left out"
    turn = f"{_CAPTURE}; or a turn, as store turns names it: SLACK_BOT_STORE__EVENT_BYTES keeps its events"
    option = add("explain", _tool, about, "slack-bot explain export.json").add_argument
    option("file", metavar="FILE|TURN", help=turn)
    option("--scenario", metavar="FILE", help="as for replay")
    option("--key", metavar="NAME", help=_KEY)
    option("--strict", action="store_true", help=_STRICT)


def _add_capture(add: AddVerb) -> None:
    about = "ask a live agent and keep all it sends, with its times, as a tape"
    option = add(
        "capture", _tool, about, "slack-bot capture http://127.0.0.1:8000 'what can you do?' -o answer.jsonl"
    ).add_argument
    option("url", metavar="URL", help="the agent's address, or its card's")
    option("text", metavar="TEXT", help="the question")
    option("-o", "--output", metavar="FILE", required=True, help="where the tape is written")
    option("--force", action="store_true", help=_FORCE)
    option("--no-stream", action="store_true", help="message/send instead of message/stream")
    option("--sse", action="store_true", help="keep the raw bytes instead of a tape")
    follow_up = "a follow-up in the same context (repeat for more)"
    option("--then", metavar="TEXT", action="append", default=[], help=follow_up)
    option("--cut-after", metavar="SECONDS", type=float, help="drop the stream on purpose")
    option("--poll", action="store_true", help="after that, poll the task")

    about = "make a tape fit to share: its words replaced, its shape and timing kept"
    option = add("scrub", _tool, about, "slack-bot scrub answer.jsonl -o shareable.jsonl").add_argument
    option("file", metavar="FILE", help=_CAPTURE)
    option("-o", "--output", metavar="FILE", required=True, help="where the new tape is written")
    option("--force", action="store_true", help=_FORCE)
    option("--key", metavar="NAME", help=_KEY)


def _add_trace(add: AddVerb, playground: PlaygroundParts) -> None:
    about = "show when each event came, what was decided and why, and which calls Slack got"
    option = add(
        "trace", partial(_trace, playground), about, "slack-bot trace answer.jsonl --html answer.html"
    ).add_argument
    targets = "tapes or captures; or an agent's address and a question"
    option("targets", nargs="+", metavar="FILE | URL TEXT", help=targets)
    modes = "ask the reference agent in all its modes; TEXT alone is given"
    option("--modes", action="store_true", help=modes)
    option("--html", metavar="FILE", help="draw it, with all rows, as a page")
    option("--svg", metavar="FILE", help="draw it")
    option("--force", action="store_true", help=_FORCE)
    option("--all", action="store_true", help="print every row, also of many alike")
    option("--scenario", metavar="FILE", help="as for replay")
    option("--key", metavar="NAME", help=_KEY)


def _add_compare(add: AddVerb) -> None:
    about = "compare two captures, or the answers of two live agents"
    option = add(
        "compare", _tool, about, "slack-bot compare before.jsonl after.jsonl -o comparison.md"
    ).add_argument
    option("one", metavar="A", help="tape, capture, or an agent's address")
    option("two", metavar="B", help="the same")
    option("text", metavar="TEXT", nargs="?", help="the question, for live agents")
    option("-o", "--output", metavar="FILE", help="write the Markdown there")
    option("--force", action="store_true", help=_FORCE)
    option("--key", metavar="NAME", help=_KEY)


def _add_conform(add: AddVerb, playground: PlaygroundParts) -> None:
    about = "check that an agent's answers get into Slack as they should"
    option = add(
        "conform",
        partial(_conform, playground),
        about,
        "slack-bot conform --url http://127.0.0.1:8000 --report",
    ).add_argument
    option("--url", metavar="URL", help="the agent to ask (default: the playground's, in memory)")
    suite = "agent (any agent), caipe, extended, or a file (default: caipe)"
    option("--suite", metavar="NAME|FILE", help=suite)
    only = "this case only (repeat for more)"
    option("--only", metavar="CASE", action="append", default=[], help=only)
    option("--mode", choices=playground.modes, help="how the playground's agent marks its answer")
    report = "write it as Markdown (default: a name with the time)"
    option("--report", metavar="FILE", type=str, nargs="?", const="", help=report)
    option("--json", action="store_true", help="print the findings as one JSON object")
    option("--junit", metavar="FILE", help="write them as JUnit XML")
    repeat = "ask each question N times; a check must pass each time"
    option("--repeat", metavar="N", type=int, default=1, help=repeat)
    limit = "with --url: the longest time for a question; then it is judged as it is (default: 300)"
    option("--limit", metavar="SECONDS", type=float, help=limit)
    option("-v", "--verbose", action="store_true", help="every check, and what it found")
    tape = "judge recordings instead: each is played twice, and must lead to the text of --truth"
    option("--from-tape", metavar="TAPE", nargs="+", help=tape)
    truth = "the agent's exact text, or a folder of NAME.truth.txt (default: beside each TAPE)"
    option("--truth", metavar="FILE|DIR", help=truth)
    after = "play this before each TAPE: a file, or the CASE of NAME_CASE beside it (repeat for more)"
    option("--after", metavar="TAPE|CASE", action="append", default=[], help=after)
    option("--cuts", action="store_true", help="also with the stream cut behind each event; it takes a while")
    option("--key", metavar="NAME", help=_KEY)


def _add_rules(add: AddVerb) -> None:
    about = "try each of Slack's rules that the bot relies on, on the emulated workspace or another one"
    verb = add("rules", _rules, about, "slack-bot rules --real --channel C0123456789 --user U0123456789")
    where = verb.add_mutually_exclusive_group()
    real = "on the workspace of the settings: it asks first, and deletes what it wrote"
    where.add_argument("--real", action="store_true", help=real)
    url = "on another emulator: the address of its Web API, as http://127.0.0.1:4003/api/"
    where.add_argument("--url", metavar="URL", help=url)
    option = verb.add_argument
    option("--channel", metavar="C...", help="where it writes; the bot is a member")
    option("--user", metavar="U...", type=_person, help="who the streams are for, a member too")
    option("--quick", action="store_true", help="only what takes less than a minute")
    sandbox = "also what disturbs others: calls up to the limit of each method, events without an answer"
    option("--sandbox", action="store_true", help=sandbox)
    hand = "also what needs a person: it says what to do in Slack, and waits"
    option("--hand", action="store_true", help=hand)
    answers = "play twelve answers through the bot instead, and compare the threads with the emulated ones"
    option("--answers", action="store_true", help=answers)
    option("--http", metavar="PORT", type=int, help="events come by HTTP to this port, not by Socket Mode")
    option("--yes", action="store_true", help="do not ask")
    only = "this rule, or those of a group, as stream; with --answers: this answer (repeat for more)"
    option("--only", metavar="RULE", action="append", default=[], help=only)
    option("--json", action="store_true", help="print the results as one JSON object")
    output = "where what was seen is kept, private (with --real: slack-rules.json)"
    option("-o", "--output", metavar="FILE", help=output)


def _add_store(add: AddVerb) -> None:
    about = "look into the store, copy it, give out or erase what it holds of a person"
    verbs = add("store", _store, about, "slack-bot store show").add_subparsers(
        title="what", required=True, metavar="WHAT", dest="what"
    )

    def add_what(name: str, about: str) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")

    show = add_what("show", "what is in it, and which turns have not ended; or all about one turn")
    show.add_argument("turn", metavar="TURN", nargs="?", help=_TURN)
    show.add_argument("--json", action="store_true", help="one JSON object")
    for name, about in (
        ("export", "all that it holds of a person, as JSON"),
        ("erase", "erase all that it holds of a person; the bot may run meanwhile"),
    ):
        of_person = add_what(name, about)
        of_person.add_argument(
            "--user", metavar="U...", required=True, type=_person, help="the person's id at Slack"
        )
        of_person.add_argument("--team", metavar="T...", help="only in this workspace")
    turns = add_what("turns", "the last turns: reference, key, time, end and question, the newest in the end")
    turns.add_argument("--last", metavar="N", type=_count, default=20, help="how many (default: %(default)s)")
    turns.add_argument("--json", action="store_true", help="all about each, as JSON Lines")
    add_what("feedback", "what people said of answers, as JSON Lines, the oldest first")
    tape = add_what("export-tape", "a turn as a tape for replay, explain and trace")
    tape.add_argument("turn", metavar="TURN", help=_TURN)
    output = "where the tape is written (default: standard output)"
    tape.add_argument("-o", "--output", metavar="FILE", help=output)
    tape.add_argument("--force", action="store_true", help=_FORCE)
    backup = add_what("backup", "copy it while the bot runs; the copy is private, and no log belongs to it")
    backup.add_argument("file", metavar="FILE", help="where the copy is written")
    backup.add_argument("--force", action="store_true", help="replace FILE")


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of turns; give 1 or more")


def _person(text: str) -> str:
    if PERSON_ID.fullmatch(text):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is no id; give the person's (U...), as their profile shows it"
    )


def _channel(text: str) -> str:
    if text == "dm" or re.fullmatch(r"[CDG][A-Z0-9]+", text):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is no channel; give its id (C...), which is at the end of the channel's details, or dm"
    )


def _team(text: str) -> str:
    if re.fullmatch(r"T[A-Z0-9]+", text):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is no id of a workspace; give it (T...) as slack-bot doctor names it"
    )


def _add_config(add: AddVerb) -> None:
    both = "check the file with the settings of channels, and show which count in a channel"
    about = "check the file with the settings of channels, and that of the card's keys, without Slack"
    what = add("config", _config, both, "slack-bot config show C0123456789").add_subparsers(
        title="what", required=True, metavar="WHAT", dest="what"
    )
    check = what.add_parser("check", help=about, description=f"{about[0].upper()}{about[1:]}.")
    check.add_argument("file", metavar="FILE", help="TOML, as SLACK_BOT_CONFIG names it to the bot")
    shown = "show which settings count in a channel, or in all, and where each is from"
    show = what.add_parser("show", help=shown, description=f"{shown[0].upper()}{shown[1:]}.")
    which = "its id (C...), or dm: direct messages; none: where no table of a channel says otherwise"
    show.add_argument("channel", metavar="CHANNEL", type=_channel, nargs="?", help=which)
    about_team = "in this workspace, where the bot is in several"
    show.add_argument("--team", metavar="T...", type=_team, help=about_team)
    about_user = "also say whether this person may ask there, and which agents"
    show.add_argument("--user", metavar="U...", type=_person, help=about_user)
    show.add_argument("--file", metavar="FILE", help="TOML in place of the one of SLACK_BOT_CONFIG")
    show.add_argument("--json", action="store_true", help="one JSON object")


def _add_manifest(add: AddVerb) -> None:
    about = "print the manifest of the Slack app that fits the settings"
    verb = add("manifest", _manifest, about, "slack-bot manifest --name helpdesk > manifest.json")
    name = "what people mention (default: %(default)s)"
    verb.add_argument("--name", dest="app_name", metavar="NAME", default="slack_bot", help=name)
    http = "for run --http: the address at which Slack reaches it (default: Socket Mode)"
    verb.add_argument("--http", metavar="URL", help=http)
    what = verb.add_mutually_exclusive_group()
    what.add_argument("--link", action="store_true", help="a link that makes an app of it at Slack")
    what.add_argument("--why", action="store_true", help="what each scope is for, as a table")


def _add_keys(add: AddVerb) -> None:
    about = "print the public keys with which agents check who asks (JWKS)"
    add("keys", _keys, about, "slack-bot keys > jwks.json")


def _add_api_key(add: AddVerb) -> None:
    about = "make a key with which a program posts over HTTP; its hash is for the file"
    verb = add("api-key", _api_key, about, "slack-bot api-key ci")
    verb.add_argument("key", metavar="NAME", help="its name: below [keys.NAME] is what it may do")


def _add_schedules(add: AddVerb) -> None:
    about = "show what the bot asks by the clock and when it does next, or do one of it now"
    verb = add("schedules", _schedules, about, "slack-bot schedules run report")
    whats = verb.add_subparsers(title="what", metavar="WHAT", dest="what")
    about = "do it once now, beside its times; a bot that runs or starts does it"
    run = whats.add_parser("run", help=about, description=f"{about[0].upper()}{about[1:]}.")
    run.add_argument("schedule", metavar="NAME", help="as below [schedules.NAME] in the file")


def _add_doctor(add: AddVerb) -> None:
    about = "look for what is wrong with the set-up, and say what to do about it"
    verb = add("doctor", _doctor, about, "slack-bot doctor --probe U0123456789")
    verb.add_argument("--json", action="store_true", help="one JSON object")
    verb.add_argument("--http", action="store_true", help="for run --http")
    probe = "try what only Slack can tell, in a direct message to this person, which is deleted again"
    verb.add_argument("--probe", metavar="U...", help=probe)


@contextmanager
def _quiet() -> Iterator[None]:
    """The bot does not log: what is printed says what happened."""
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _replay(playground: PlaygroundParts, args: argparse.Namespace) -> int:
    return playground.show_replays(args) if args.play else _tool(args)


def _tool(args: argparse.Namespace) -> int:
    if args.name == "replay":
        from .replay.replay import main
    elif args.name == "explain":
        from .replay.explain import main
    elif args.name == "compare":
        from .comparison import main
    elif args.name == "capture":
        from .capture.capture import main
    else:
        from .scrub import main
    with nullcontext() if args.name in ("capture", "scrub") else _quiet():
        return main(args)


def _rules(args: argparse.Namespace) -> int:
    from .rules.rules import main

    with _quiet():
        return main(args)


def _store(args: argparse.Namespace) -> int:
    from .store import main

    return main(args)


def _config(args: argparse.Namespace) -> int:
    from .config import main

    return main(args)


def _manifest(args: argparse.Namespace) -> int:
    from .manifest import main

    return main(args)


def _keys(args: argparse.Namespace) -> int:
    from .keys import main

    return main(args)


def _api_key(args: argparse.Namespace) -> int:
    from .api_key import main

    return main(args)


def _schedules(args: argparse.Namespace) -> int:
    from .schedules import main

    return main(args)


def _doctor(args: argparse.Namespace) -> int:
    from .doctor.doctor import main

    with _quiet():
        return main(args)


def _trace(playground: PlaygroundParts, args: argparse.Namespace) -> int:
    from .trace import trace

    modes = playground.mode_observers() if args.modes else {}
    with _quiet():
        return trace.main(args, modes)


def _conform(playground: PlaygroundParts, args: argparse.Namespace) -> int:
    from .conform import conform

    with _quiet():
        return conform.main(args, playground.reference)

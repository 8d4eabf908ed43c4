"""`slack-bot say`: puts a message into the store, and delivers it where no bot runs that would."""

import re
import sys
import uuid
from argparse import Namespace

from .app import build, store_options
from .clock import system_clock
from .errors import BotError, SettingsError, SlackError
from .features.outbound.delivered import OVER, link_of_sent, turn_of, until_delivered
from .features.outbound.sender import OutboundSender
from .settings.load import Settings
from .settings.teams import are_several
from .store.contracts import Store
from .store.outbound import accept_outbound, outbound
from .store.stores import join_store
from .turn.outbound import OutboundMessage, OutboundRecord, place_of_link

_CHANNEL, _USER = re.compile(r"[CDG][A-Z0-9]+"), re.compile(r"[UW][A-Z0-9]+")
_TEAM = re.compile(r"T[A-Z0-9]+")
_TS = re.compile(r"[0-9]+\.[0-9]+")
_ALONE = "no bot runs, so the answer is written from here; a bot that starts now waits until it is whole\n"
_KEPT = "It is kept as {}: the next bot that starts says it."


def message_of(args: Namespace) -> OutboundMessage:
    """What the command line says. `-` is read from stdin. Raises SettingsError."""
    given = args.text if args.ask is None else args.ask
    if (args.text is None) == (args.ask is None):
        raise SettingsError("give either TEXT or --ask TEXT")
    text = sys.stdin.read() if given == "-" else str(given)
    headline = (args.headline or "").strip()
    for what, said in (("TEXT", text), ("--headline", headline)):
        if any("\ud800" <= letter <= "\udfff" for letter in said):
            raise SettingsError(
                f"{what} holds bytes that are no UTF-8, or half of a character; write it anew"
            )
    if not text.strip():
        raise SettingsError("there is nothing on stdin; give the text there, or as a word")
    if len(headline.splitlines()) > 1:
        raise SettingsError("--headline has several lines; give one, and the rest as TEXT")
    place = _place_of(args)
    return OutboundMessage(
        text.strip(), *place, headline=headline, is_question=args.ask is not None, team=_team_of(args.team)
    )


def _team_of(team: str | None) -> str:
    if team is not None and not _TEAM.fullmatch(team):
        raise SettingsError(f"--team is {team!r}; give the workspace's id (T...): slack-bot doctor names it")
    return team or ""


def _place_of(args: Namespace) -> tuple[str, str, str]:
    """Channel, person, thread."""
    if args.thread is not None:
        return _thread_of(args.thread)
    if args.channel is not None:
        if _USER.fullmatch(args.channel):
            raise SettingsError(
                f"--channel is {args.channel!r}, which is a person: give --user {args.channel}"
            )
        if not _CHANNEL.fullmatch(args.channel):
            raise SettingsError(
                f"--channel is {args.channel!r}; give the channel's id (C...): Slack shows it at the end of"
                " the channel's details"
            )
        return args.channel, "", ""
    if _CHANNEL.fullmatch(args.user):
        raise SettingsError(f"--user is {args.user!r}, which is a channel: give --channel {args.user}")
    if not _USER.fullmatch(args.user):
        raise SettingsError(
            f"--user is {args.user!r}; give the person's id (U...): Slack shows it in the profile, under"
            ' "Copy member ID"'
        )
    return "", args.user, ""


def _thread_of(word: str) -> tuple[str, str, str]:
    """A permalink of any message of the thread, or `channel:ts` of its first one."""
    if (place := place_of_link(word)) is not None:
        channel, root = place
    elif "/archives/" in word:
        raise SettingsError(
            f"--thread is {word!r}, which is no link of Slack's: they begin with https://NAME.slack.com/"
        )
    else:
        channel, _, root = word.partition(":")
    if not (_CHANNEL.fullmatch(channel) and _TS.fullmatch(root)):
        raise SettingsError(
            f"--thread is {word!r}; give the link of a message (Slack: Copy link), or channel:ts as in"
            " C0123456789:1700000000.123456"
        )
    return channel, "", root


async def say(settings: Settings, message: OutboundMessage, key: str | None, *, wait: bool) -> str:
    """Have `message` delivered, under a `key` once. Its link; without `wait` its id. Raises BotError."""
    if not message.team and are_several(settings.slack.bot_tokens):
        raise SettingsError(
            "SLACK_BOT_TOKENS is of several workspaces; give --team, the id of the one that is meant (T...)"
        )
    kept = settings.store
    joined = await join_store(store_options(kept))
    store = joined.store
    try:
        new = OutboundRecord(key or uuid.uuid4().hex, message, system_clock().wall())
        record = await accept_outbound(store, new)
        if record.message != message:
            raise BotError(f"something else was said with --key {record.key}; give another key")
        if not wait:
            return record.key
        if record.ended_at is not None and record.turn is None:
            return record.link
        if joined.is_alone:
            try:
                record = await _deliver(settings, store, record)
            except SlackError as error:
                waits = await outbound(store, record.key)
                is_kept = waits is not None and waits.ended_at is None
                raise BotError(f"{error} {_KEPT.format(record.key)}" if is_kept else str(error)) from error
        else:
            record = await until_delivered(joined, record.key, kept.lock_wait)
        return link_of_sent(record, await turn_of(store, record))
    finally:
        await store.close()


async def _deliver(settings: Settings, store: Store, record: OutboundRecord) -> OutboundRecord:
    """No bot runs."""
    token = settings.slack.bot_token or settings.slack.bot_tokens
    for name, value in (("SLACK_BOT_TOKEN", token), ("A2A_AGENT_URL", settings.agent.url)):
        if value is None:
            raise SettingsError(f"{name} is not set: no bot runs on this store, so set what `run` needs")
    if record.message.is_question:
        sys.stderr.write(_ALONE)
    async with await build(settings, store=store) as app:
        begun = await turn_of(store, record)
        if begun is not None and begun.stage not in OVER:
            app.threads.registry.go_on(begun)
        sender = OutboundSender(
            store=app.store,
            threads=app.threads,
            identities=app.identities,
            settings=settings,
            clock=app.clock,
        )
        record = await sender.deliver(record)
        await app.threads.idle()
    return record

"""The rules on a workspace that is not ours: asks first, listens, tries, and takes away what it wrote."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp

from ...clock import system_clock
from ...errors import BotError, SettingsError
from ...settings.load import Settings, load
from ...settings.slack_rules import CATALOGUE
from ...slack.api import new_web_client
from ...testing.overrides import with_overrides
from ...testing.slack.workspace import APP_TOKEN, BOT_TOKEN
from ..terminal import LiveLine
from .ears import NoConnection
from .hand import AskedHand
from .port import CannotTell, Need, Place, Probe, SlackPort
from .result import RuleResult
from .tidying import tidy
from .trial import make_trial, measure_trial, open_place

_CALL = 0.25  # seconds that a call of Slack takes, about
_LEFT_OUT = {
    Need.SANDBOX: "only with --sandbox, as it disturbs others",
    Need.HAND: "a person has to do something in Slack; only with --hand",
    Need.HTTP: "only with --http PORT, for an app in HTTP mode",
}


def try_workspace(args: argparse.Namespace, probes: Sequence[Probe]) -> list[RuleResult]:
    """Try `probes` where `args` say. Raises BotError and SettingsError."""
    settings = _settings(args)
    left = {each.rule: reason for each in probes if (reason := _why_not(each, args))}
    chosen = [each for each in probes if each.rule not in left]
    if not args.yes and args.real and not _is_agreed(args, chosen):
        raise BotError("nothing was tried")
    results = asyncio.run(_try(args, settings, chosen))
    results += [RuleResult(CATALOGUE[rule], reason=reason) for rule, reason in left.items()]
    order = list(CATALOGUE)
    return sorted(results, key=lambda each: order.index(each.rule.id))


def _settings(args: argparse.Namespace) -> Settings:
    """Those of the environment; for an emulator without tokens there, those of ours."""
    settings = load()
    if args.url is not None:
        slack, changed = settings.slack, {"api_url": args.url}
        changed |= {"bot_token": BOT_TOKEN} if slack.bot_token is None else {}
        changed |= {"app_token": APP_TOKEN} if slack.app_token is None else {}
        return with_overrides(settings, changed)
    if settings.slack.bot_token is None:
        raise SettingsError("SLACK_BOT_TOKEN is not set: --real uses the bot's own token")
    return settings


def _why_not(each: Probe, args: argparse.Namespace) -> str:
    has = {Need.SANDBOX: args.sandbox, Need.HAND: args.hand, Need.HTTP: args.http is not None}
    return next(
        (_LEFT_OUT[need] for need, is_there in has.items() if need in each.needs and not is_there), ""
    )


def _is_agreed(args: argparse.Namespace, probes: Sequence[Probe]) -> bool:
    calls, seconds = measure_trial(probes)
    minutes = max(1, round((seconds + calls * _CALL) / 60))
    sys.stderr.write(
        f"{len(probes)} rules are tried by about {calls} calls in about {minutes} minutes. What is written"
        f" stands in a thread of {args.channel} and in the direct message with {args.user}, and is deleted"
        " in the end.\n"
    )
    if args.sandbox:
        sys.stderr.write("With --sandbox the app cannot be used meanwhile: its limits are used up.\n")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


async def _try(args: argparse.Namespace, settings: Settings, probes: Sequence[Probe]) -> list[RuleResult]:
    async with aiohttp.ClientSession() as http:
        slack = _port(args, settings, http)
        line, count = LiveLine(sys.stderr), 0

        def tell(result: RuleResult) -> None:
            nonlocal count
            count += 1
            line.show(f"{count} of {len(probes)}  {result.rule.id}: {result.verdict}")

        try:
            async with _listening(slack, args), _place(slack, args) as place:
                return await make_trial(slack, place, probes, tell)
        finally:
            line.wipe()


def _port(args: argparse.Namespace, settings: Settings, http: aiohttp.ClientSession) -> SlackPort:
    token = settings.slack.app_token
    return SlackPort(
        new_web_client(settings.slack, http),
        http,
        system_clock(),
        app_token=None if token is None or args.http is not None else token.get_secret_value(),
        hand=AskedHand(sys.stdin, sys.stderr) if args.hand else None,
    )


@asynccontextmanager
async def _listening(slack: SlackPort, args: argparse.Namespace) -> AsyncIterator[None]:
    """Hear events as far as that can be. Raises BotError while another process of the app is connected."""
    async with AsyncExitStack() as stack:
        try:
            others = await stack.enter_async_context(slack.listening(args.http))
        except CannotTell as reason:
            sys.stderr.write(f"note: {reason}; whether the bot runs cannot be told either\n")
            others = 0
        except NoConnection as reason:
            raise BotError(f"Slack lets no connection in ({reason}); see slack-bot doctor") from reason
        except OSError as error:
            raise BotError(f"--http {args.http}: {error.strerror}; give another port") from error
        if others > 0:
            raise BotError(
                f"{others} other connections of this app are open: end the bot first, as it would answer"
                " what is written here and get half of the events"
            )
        yield


@asynccontextmanager
async def _place(slack: SlackPort, args: argparse.Namespace) -> AsyncIterator[Place]:
    """Where it writes; left as it was."""
    try:
        place = await open_place(slack, args.channel, args.user)
    except CannotTell as reason:
        raise BotError(
            f"nothing can be tried in {args.channel} with {args.user}: {reason}; give a channel that the bot"
            " is a member of, and a person who is one"
        ) from reason
    try:
        yield place
    finally:
        left = await tidy(slack, place.bot_user)
        if left:
            sys.stderr.write(
                f"note: {left} messages could not be deleted; they say that they were measured\n"
            )

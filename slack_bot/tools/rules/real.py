"""The rules on a workspace that is not ours: asks first, listens, tries, and takes away what it wrote."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeAlias, TypeVar

import aiohttp
from pydantic import SecretStr

from ...clock import system_clock
from ...errors import BotError, SettingsError, UnreadableInput
from ...settings.load import Settings, load
from ...settings.slack_rules import CATALOGUE, OK
from ...slack.api import new_web_client
from ...testing.harness import bot_settings
from ...testing.overrides import with_overrides
from ...testing.slack.workspace import APP_TOKEN, BOT_TOKEN
from ..terminal import LiveLine
from .answer_tapes import ANSWERS, PlayedAnswer
from .answers import AnswerResult, emulate_answers, play_answers
from .ears import NoConnection
from .hand import AskedHand
from .port import CannotTell, Need, Place, Probe, SlackPort
from .result import RuleResult
from .tidying import tidy
from .trial import make_trial, measure_trial, open_place

T = TypeVar("T")
Tell: TypeAlias = Callable[[str], None]
Work: TypeAlias = Callable[[SlackPort, Place, Tell], Awaitable[list[T]]]
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
    if not args.yes and args.real:
        calls, seconds = measure_trial(chosen)
        minutes = _minutes(calls, seconds)
        _agree(args, f"{len(chosen)} rules are tried by about {calls} calls in about {minutes} minutes.")

    async def work(slack: SlackPort, place: Place, tell: Tell) -> list[RuleResult]:
        return await make_trial(slack, place, chosen, lambda each: tell(f"{each.rule.id}: {each.verdict}"))

    results = asyncio.run(_try(args, settings, len(chosen), work))
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


def try_answers(args: argparse.Namespace) -> list[AnswerResult]:
    """Play the answers of --only, or all, where `args` say. Raises as `try_workspace`."""
    settings, answers = _settings(args), _answers(args.only)
    if not args.yes and args.real:
        emulated = emulate_answers(answers)
        minutes = _minutes(emulated.calls, emulated.seconds)
        _agree(args, f"{len(answers)} answers are played in about {minutes} minutes.")
    changes = {"api_url": settings.slack.api_url, "slack.timeout": settings.slack.timeout}
    bot = with_overrides(bot_settings(), {**changes, "bot_token": _secret(settings.slack.bot_token)})

    async def work(slack: SlackPort, place: Place, tell: Tell) -> list[AnswerResult]:
        def done(result: AnswerResult) -> None:
            tell(f"{result.name}: {'differs' if result.differs else 'equal'}")

        return await play_answers(slack, place, bot, answers, done)

    return asyncio.run(_try(args, settings, len(answers), work))


def _answers(only: Sequence[str]) -> list[PlayedAnswer]:
    names = [each.name for each in ANSWERS]
    for name in only:
        if name not in names:
            raise UnreadableInput(f"--only {name}: there is no such answer; there are {', '.join(names)}")
    return [each for each in ANSWERS if not only or each.name in only]


def _minutes(calls: int, seconds: float) -> int:
    return max(1, round((seconds + calls * _CALL) / 60))


def _agree(args: argparse.Namespace, what: str) -> None:
    """Ask. Raises BotError for a no."""
    sys.stderr.write(
        f"{what} What is written stands in threads of {args.channel} and in the direct message with"
        f" {args.user}, and is deleted in the end.\n"
    )
    if args.sandbox:
        sys.stderr.write("With --sandbox the app cannot be used meanwhile: its limits are used up.\n")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise BotError("nothing was tried")


async def _try(args: argparse.Namespace, settings: Settings, whole: int, work: Work[T]) -> list[T]:
    async with aiohttp.ClientSession() as http:
        slack = _port(args, settings, http)
        line, count = LiveLine(sys.stderr), 0

        def tell(what: str) -> None:
            nonlocal count
            count += 1
            line.show(f"{count} of {whole}  {what}")

        try:
            await _check_answer(slack, _remedy(args, settings.slack.api_url))
            async with _listening(slack, args), _place(slack, args) as place:
                return await work(slack, place, tell)
        finally:
            line.wipe()


def _secret(value: SecretStr | None) -> str:
    return "" if value is None else value.get_secret_value()


def _port(args: argparse.Namespace, settings: Settings, http: aiohttp.ClientSession) -> SlackPort:
    token = settings.slack.app_token
    return SlackPort(
        new_web_client(settings.slack, http),
        http,
        system_clock(),
        app_token=None if token is None or args.http is not None else token.get_secret_value(),
        hand=AskedHand(sys.stdin, sys.stderr) if args.hand else None,
    )


async def _check_answer(slack: SlackPort, remedy: str) -> None:
    """Raises BotError where no Slack answers, or none that takes the token."""
    try:
        own = await slack.call("auth.test")
    except CannotTell as reason:
        raise BotError(f"no Slack answers there: {reason}; {remedy}") from reason
    if own.error.startswith("http_"):
        raise BotError(f"no Slack answers there: auth.test is refused ({own.error}); {remedy}")
    if own.error != OK:
        raise BotError(f"auth.test is refused ({own.error}); check the token in SLACK_BOT_TOKEN")


def _remedy(args: argparse.Namespace, url: str) -> str:
    """What to do about an address at which no Slack answers."""
    name, url = "SLACK_API_URL" if args.real else "--url", url.rstrip("/")
    if url.endswith("/api"):
        return f"check {name} and the network"
    return f"{name} is the address of a Web API, which ends in /api/: try {url}/api/"


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
            sys.stderr.write(f"note: {left} of its messages could not be deleted\n")

"""The verbs of `slack-bot`. What a verb needs is imported when it is called, so that `--help` is quick.

Exit status: 0 for success, 1 when the bot cannot run or a check failed, 2 where a person must mend something
first (wrong usage or settings, a token that Slack refuses, unreadable input), 3 where `--strict` found
an event that was not understood. Each problem is one sentence on stderr:
`slack-bot replay: tape.jsonl, line 3: ...`.
"""

import argparse
import asyncio
import errno
import gc
import io
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import __version__
from .errors import LASTING, BotError, PortInUse
from .settings.names import nearest

_PROGRAM = "slack-bot"
_RUN = "SLACK_BOT_TOKEN=xoxb-... SLACK_APP_TOKEN=xapp-... A2A_AGENT_URL=http://agent:8000 slack-bot run"

_VERB_LIKENESS = 0.65
"""Words this much like each other (1: the same) may be one misspelt: `rnu` and `run` are 0.67."""

EXIT_SIGPIPE = 141
"""Exit status after a closed pipe, as a shell shows it."""

_GROUPS = {
    "try it": ("play", "workspace", "agent"),
    "run it": (
        "run",
        *("doctor", "manifest", "config", "store"),
        *("say", "schedules", "api-key", "keys", "completion"),
    ),
    "look at an answer": ("replay", "explain", "capture", "scrub", "trace", "compare"),
    "check an agent, or Slack": ("conform", "rules"),
}
"""The verbs as the help shows them."""

_MISSING = "the following arguments are required"
_PLAIN = {
    r"invalid int value: (.*)$": r"\1 is no whole number",
    r"invalid float value: (.*)$": r"\1 is no number",
    r"expected (at least )?one argument$": "its value is missing; write it behind the option",
}
"""What argparse says, and the same in plain words."""

_COLLECT_AFTER = (10_000, 5, 5)
"""New objects, and rounds over them, after which the garbage collector looks. Python's 700 objects are begun
with every few events of a stream: an eighth of the processor time of 200 live answers went into that, with
stops of 0.2 s; and a fifth of the time that it takes to import the bot. The price is 30 MB more memory at
most, measured with 150 live answers."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb that the command line names. Returns the exit status."""
    if gc.get_threshold()[0] < _COLLECT_AFTER[0]:
        gc.set_threshold(*_COLLECT_AFTER)
    try:
        return _run_verb(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return 130


def _run_verb(words: Sequence[str]) -> int:
    whole = command_line()
    if not words:
        whole.print_help(sys.stderr)
        whole.exit(2, f"\n{_PROGRAM}: a verb is missing; give one of these\n")
    args = whole.parse_args(words)
    try:
        return run_guarded(lambda: args.verb(args))
    except BotError as error:
        sys.stderr.write(textwrap.indent(f"{error}\n", f"{_PROGRAM} {args.name}: "))
        return 2 if isinstance(error, LASTING) and not isinstance(error, PortInUse) else 1


def run_guarded(verb: Callable[[], int]) -> int:
    """The status of `verb`, whose output is flushed. Raises BotError if it cannot be written."""
    _open_missing_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):  # what its encoding cannot show is replaced
        sys.stdout.reconfigure(errors="replace")
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
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _word(text: str) -> str:
    """An empty word comes from a shell variable that is not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; give a value")
    return text


def _value(text: str) -> str:
    """That of an option."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; give a value, or leave the option out")
    return text


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage as all other errors are, a verb's with its own usage. No word may be empty, and no
    option be shortened."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        for pattern, plain in _PLAIN.items():
            message = re.sub(pattern, plain, message)
        verbs = (each for each in self._actions if isinstance(each, argparse._SubParsersAction))
        below = [name for each in verbs for name in each.choices]
        if below and message.startswith(_MISSING):
            message += f"; give one of {', '.join(below)}"
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: {message}\n")

    def add_argument(self, *names: Any, **options: Any) -> Any:
        if options.get("action") in (None, "append"):
            options.setdefault("type", _value if names[0].startswith("-") else _word)
        return super().add_argument(*names, **options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            meant = nearest(str(value), action.choices, _VERB_LIKENESS)
            if meant is not None:
                raise argparse.ArgumentError(action, f"there is no {value!r}; did you mean {meant!r}?")
        super()._check_value(action, value)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        self._guess_options(args or ())
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._about(unknown))
        return found, unknown

    def _about(self, unknown: Sequence[str]) -> str:
        told = f"unrecognized arguments: {' '.join(unknown)}"
        if any(each.startswith("-") for each in unknown):
            return f"{told}; {self.prog} -h shows the options"
        has_text = any(each.metavar == "TEXT" and not each.option_strings for each in self._actions)
        return f"{told}; {'write a text of several words in quotes' if has_text else 'leave them out'}"

    def _guess_options(self, words: Sequence[str]) -> None:
        """A misspelt option is named before an argument is missed that it was meant to be."""
        known = self._option_string_actions
        for word in words[: words.index("--") if "--" in words else None]:
            option = word.partition("=")[0]
            if not option.startswith("--"):
                if self._subparsers is not None:
                    return  # a verb, whose options these are
                continue
            meant = None if any(each.startswith(option) for each in known) else nearest(option, known)
            if meant is not None:
                self.error(f"there is no {option}; did you mean {meant}?")


def command_line() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from .playground import command_line as playground
    from .tools import command_line as tools

    top = _Parser(
        prog=_PROGRAM,
        usage=f"{_PROGRAM} [-h] [--version] VERB ...",
        description="Mention the bot in Slack, and any A2A agent's answer is written live into the thread.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"slack-bot {__version__}")
    verbs = top.add_subparsers(required=True, metavar="VERB", prog=_PROGRAM, help=argparse.SUPPRESS)
    abouts: dict[str, str] = {}

    def add(
        name: str, run: Callable[[argparse.Namespace], int], about: str, example: str
    ) -> argparse.ArgumentParser:
        description, epilog = f"{about[0].upper()}{about[1:]}.", f"example: {example}"
        added = verbs.add_parser(name, description=description, epilog=epilog)
        abouts[name] = about
        added.set_defaults(verb=run, name=name)
        return added

    playground.add_verbs(add)
    about = "run the bot against Slack and the agent of the settings"
    run = add("run", _run, about, _RUN)
    run.add_argument("--http", action="store_true", help="Events API over HTTP instead of Socket Mode")
    _add_say(add)
    tools.add_verbs(add, playground.FOR_TOOLS)
    about = "print a script that completes verbs and options in a shell"
    shell = add("completion", _completion, about, 'eval "$(slack-bot completion bash)"')
    shell.add_argument("shell", choices=("bash", "zsh"))
    top.epilog = "\n".join(_listed(abouts))
    return top


def _listed(abouts: Mapping[str, str]) -> Iterator[str]:
    """The lines that show the verbs, each with what it is about."""
    for group, names in _GROUPS.items():
        yield f"{group}:"
        yield from (f"    {name:<12}{abouts[name]}" for name in names)
        yield ""
    yield f"{_PROGRAM} VERB -h shows the options of a verb, with an example."


def _completion(args: argparse.Namespace) -> int:
    from .completion import script

    sys.stdout.write(script(command_line(), args.shell))
    return 0


def _add_say(add: Callable[..., argparse.ArgumentParser]) -> None:
    about = "post a message, or the agent's answer to a question, without being asked in Slack"
    verb = add(
        "say",
        _say,
        about,
        'slack-bot say --channel C0123456789 --headline "Nightly build" --ask "What broke?"',
    )
    place = verb.add_mutually_exclusive_group(required=True)
    place.add_argument("--channel", metavar="C", help="id of a channel that the bot is in")
    place.add_argument("--user", metavar="U", help="id of a person, for a direct message")
    place.add_argument("--thread", metavar="LINK", help="link of a message in a thread, or channel:ts")
    verb.add_argument("--team", metavar="T", help="id of the workspace, where the bot is in several")
    verb.add_argument("--headline", metavar="TEXT", help="one line; all else stands in its thread")
    verb.add_argument("--ask", metavar="TEXT", help="a question to the agent, whose answer is written there")
    verb.add_argument("--key", help="say it once: with a key that was used before nothing is said again")
    verb.add_argument(
        "--no-wait", action="store_true", help="print the id; a bot that runs or starts delivers it"
    )
    text = "Markdown, - is stdin; mentions (<@U...>, <!here>) and links in it and in the headline take effect"
    verb.add_argument("text", metavar="TEXT", nargs="?", help=text)


def _say(args: argparse.Namespace) -> int:
    from .settings.load import load
    from .settings.secret_values import secrets_of

    settings = load()
    from . import say
    from .observe import logs

    message = say.message_of(args)
    logs.setup("ERROR", settings.log.format, secrets_of(settings))
    told = asyncio.run(say.say(settings, message, args.key, wait=not args.no_wait))
    sys.stdout.write(f"{told}\n")
    return 0


def _run(args: argparse.Namespace) -> int:
    from .settings.load import load
    from .settings.secret_values import secrets_of

    settings = load(http=args.http)
    from . import app
    from .observe import logs

    logs.setup(settings.log.level, settings.log.format, secrets_of(settings))
    gc.collect()
    gc.freeze()  # what was loaded lives as long as the process
    asyncio.run(app.run(settings, http=args.http))
    return 0

"""What readers see of the bot's own words is in `text/words.py`: no other module has a sentence, a label, a
title, a status or a placeholder of its own.

A text is found by how it reads and by where it goes. In the rooms that talk to people in Slack everything
counts that reads as words. Elsewhere whole sentences count, and what goes to a name of `SHOWN_BY_ALL`. A
single word in small letters is found only where a name says that it is shown.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

from slack_bot.text import words
from tests.syntax_trees import syntax_tree
from tests.text.literals import Literal, Literals, Signatures

PACKAGE = Path(__file__).parents[2] / "slack_bot"
TALK = ("slack", "inbound", "turn", "text", "threads", "features", "web", "agents/content")
"""Rooms that talk to people in Slack."""
TALK_TO_OTHERS = {
    "agents/content/replies.py": "to the agent",
    "cli.py": "in a terminal",
    "features/api": "to programs over HTTP",
    "features/audit": "to who reads the audit",
    "features/agent_acts": "in the log, and in a person's export",
    "features/context": "to the agent, and in the log",
    "features/feedback/sender.py": "in the log",
    "features/identity": "to who runs doctor, and to agents",
    "features/outbound": "to who gave the order on the command line",
    "features/routing/choose.py": "in the log",
    "features/sign_in/id_token.py": "in the log",
    "features/sign_in/pages.py": "in a browser",
    "features/sign_in/registrar.py": "in the log",
    "features/sign_in/registration.py": "in a terminal, and in the log",
    "features/sign_in/server_requests.py": "in the log",
    "features/sign_in/server.py": "in the log",
    "features/sign_in/server_check.py": "in a terminal",
    "features/sign_in/tokens.py": "in the log",
    "features/sign_in/card_check.py": "in a terminal, and in the log",
    "features/channel_questions": "in the log",
    "features/schedules/check.py": "in a terminal",
    "features/share/feature.py": "in a person's export",
    "features/usage/feature.py": "in a terminal",
    "features/usage/records.py": "in a person's export",
    "features/push": "to the agent's server, and in the log",
    "features/traces": "to who reads traces",
    "inbound/authorizer.py": "to who starts the bot",
    "inbound/http_mode.py": "to who starts the bot, and in /readyz",
    "inbound/http_server.py": "to who starts the bot",
    "inbound/socket_mode.py": "in the log, and in /readyz",
    "inbound/token_results.py": "in a terminal, the log and /readyz",
    "workspace_tokens.py": "in a terminal, the log and /readyz",
    "observe/health.py": "in /readyz",
    "observe/metrics.py": "in /metrics",
    "playground": "in a browser",
    "say.py": "in a terminal",
    "slack/faults.py": "to nobody: they are Slack's names of errors",
    "slack/history.py": "in the log",
    "slack/proven_people.py": "in the log",
    "store": "in a terminal and in the log",
    "testing": "to developers",
    "text/secrets.py": "to nobody: they are patterns, and what these find",
    "features/routing/misspelt.py": "to nobody: words that people write before a colon",
    "text/home_words.py": "to readers: it is a part of the catalogue",
    "text/sign_in_words.py": "to readers: it is a part of the catalogue",
    "text/feature_words.py": "to readers: it is a part of the catalogue",
    "text/words.py": "to readers: it is the catalogue",
    "tools": "in a terminal",
    "turn/quotes.py": "to the agent",
}
"""Rooms and modules whose texts go somewhere else."""
DEFAULT, LOG, AGENT = "the default of a setting", "in the log", "told to the agent"
EXCEPTIONS = {
    "Wrong": DEFAULT,
    "Incomplete": DEFAULT,
    "Too long": DEFAULT,
    "Hard to understand": DEFAULT,
    "Out of date": DEFAULT,
    "Please answer this again, shorter: only what matters most.": AGENT,
    "Please answer this again, with more detail.": AGENT,
    "more steps": "the id of a card",
    "feedback": "what `store show` calls a collection",
    "the agent chosen for direct messages": "what `store show` calls a collection",
    "questions that wait for a choice of their agent": "what `store show` calls a collection",
    "questions that were given to another agent": "what `store show` calls a collection",
    "how far schedules have come": "what `store show` calls a collection",
    "runs of schedules that are watched": "what `store show` calls a collection",
    "secret of the settings": "what is counted",
    "The agent refused the bot's login when it was last asked; see the log.": "the problem of a probe",
    "The bot is ending and takes no more questions.": "an error: who calls `accept` decides what is said",
    "The bot ends so that it is started again and opens the store again.": "an error for the operator",
    "files of questions are not given to the agent: the Slack app lacks the scope files:read; {}": LOG,
    "a bot ({}) mentioned the bot in {}; to let it ask, add one of these ids to"
    " SLACK_BOT_SLACK__ALLOWED_BOTS": LOG,
    "bots have asked {} times in this thread since a person wrote there"
    " (SLACK_BOT_TURNS__MAX_BOT_TURNS)": LOG,
    "a reply that does not mention the bot, in a thread where it needs to": LOG,
    "typed where a form waits for a secret": LOG,
    "not running": LOG,
    "another bot's message that does not mention the bot": LOG,
    "{} UTC": "what Slack's clients show that cannot draw a time",
    "sign-ins under way": "in a terminal",
    ": the time of SLACK_BOT_SLACK__BACKFILL_TIMEOUT was over": LOG,
    "Slack did not say whether its asker may ask (users:read, usergroups:read)": LOG,
    "{} again": "a key",
    "{} questions in a row could not be stored. {}": "an error for the operator",
}  # fmt: skip

READS_AS_WORDS = re.compile(r"[^\W\d_]{2,} | \W?[^\W\d_]{2,}|\A\W*[A-Z][a-z]+\W*\Z|[^\W\d_](\.\.\.|…)")
SENTENCE = re.compile(r"[\W_]*[A-Z][\w']*\W? .*[.!?…][\W_]*\Z|[A-Z][a-z]+[.!…]\Z", re.DOTALL)
WORD = re.compile(r"[^/_]*[^\W\d_]{2,}[^/_]*\Z", re.DOTALL)
SHOWN_BY_ALL = {
    "agent_description", "description", "label", "note", "reasons", "safe", "suggested_prompts", "title",
}  # fmt: skip
"""Names of what readers see, in the whole bot: a single word counts."""
SHOWN_BY_TALKERS = SHOWN_BY_ALL | {
    "accessibility_label", "alt_text", "caption", "close", "details", "hint", "placeholder", "says", "sorry",
    "status", "submit", "text", "unit", "words",
}  # fmt: skip
FOR_DEVELOPERS = {"error", "key", "message", "name", "reason", "what", "why"}
"""Parameters, fields and keys for developers, operators and programs: only what begins with a capital letter
counts there."""
VARIABLES_FOR_DEVELOPERS = {"message"}
ACTIONS = ("turn", "threads")
"""Rooms in which a reason is that of an action, for developers, in variables too."""
NEVER_SHOWN = {"authorization", "failure", "problem"}


@functools.cache
def trees() -> Mapping[str, ast.Module]:
    """The modules of the package, by their paths in it."""
    return {path.relative_to(PACKAGE).as_posix(): syntax_tree(path) for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def signatures() -> Signatures:
    return Signatures(trees().values())


def is_in(path: str, places: Collection[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def texts_for_readers(path: str, tree: ast.Module) -> Iterator[str]:
    """The texts of a module that readers may see."""
    return (each.text for each in Literals(tree, signatures()) if may_be_seen(path, each))


def may_be_seen(path: str, literal: Literal) -> bool:
    text, talks = literal.text, is_in(path, TALK)
    names = {name.strip("_").lower() for name in literal.place.names}
    if names & NEVER_SHOWN or text.replace(" ", "_") in names:  # a name that says itself is an id
        return False
    is_shown = bool(names & (SHOWN_BY_TALKERS if talks else SHOWN_BY_ALL))
    if SENTENCE.match(text) or (is_shown and WORD.match(text)):
        return True
    if literal.place.is_variable:
        names &= FOR_DEVELOPERS if is_in(path, ACTIONS) else VARIABLES_FOR_DEVELOPERS
    is_for_developers = bool(names & FOR_DEVELOPERS) and not text[:1].isupper()
    return talks and not is_for_developers and READS_AS_WORDS.search(text) is not None


def test_only_the_catalogue_has_texts_for_readers() -> None:
    found = {
        text: path
        for path, tree in trees().items()
        if not is_in(path, TALK_TO_OTHERS)
        for text in texts_for_readers(path, tree)
    }
    assert {text: path for text, path in found.items() if text not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() - found.keys() == set()


def test_what_is_left_out_is_there() -> None:
    for place in (*TALK, *TALK_TO_OTHERS):
        assert (PACKAGE / place).exists(), place


def test_each_text_of_the_catalogue_is_used() -> None:
    nodes = [node for path, tree in trees().items() if path != "text/words.py" for node in ast.walk(tree)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert {name for name in vars(words) if name.isupper()} - used == set()


TALKING = {
    "a label, by its place": 'def f(): return _button(FormAction.EDIT, "edit", handle)',
    "a label, by its name": 'Field(key, label="name")',
    "a title of a modal": 'view = {"type": "modal", "title": plain("details")}',
    "a placeholder": 'element = {"placeholder": plain("Choose…")}',
    "a footer": '_GO_ON = {ListensTo.NOBODY: "Mention me to go on"}',
    "a status": 'WRITING = "is writing..."',
    "a status where it is shown": 'self._status.show("busy")',
    "a default": 'async def tell(self, text: str = "no"): pass',
    "a count": 'shown[-1] += f" … and {n} more"',
    "a piece of a line": 'note += " failed"',
    "one word that is returned": 'def f(): return "Stopped."',
    "a choice": 'x = "Yes" if value else "No"',
    "behind or": 'name = one_line(file.name) or "A file"',
    "a template": 'said = "{} of {} steps".format(done, most)',
    "a reason that follows because": 'raise _NotGiven("it was deleted")',
    "a sentence that is called a reason": 'SignIn("", why="The agent gave no address.")',
    "what is given where nothing is found": '_REASONS.get(error, "it is empty")',
    "what an error says to readers": 'raise AgentError("refused", safe="no")',
    "several at once": 'title, close = "not sent", "close"',
    "in brackets": '_STOPPED = " (stopped)"',
    "in italics": 'words = "_The agent made an empty file: {name}_"',
}


@pytest.mark.parametrize("how", TALKING)
def test_a_text_is_found(how: str) -> None:
    assert [*texts_for_readers("slack/new.py", ast.parse(TALKING[how]))]


NOT_TALKING = {
    "a docstring": 'def f():\n    """What is done."""',
    "a log line": '_log.warning("file refused: %s", error)',
    "an error for operators": 'raise SettingsError("Set the token.")',
    "its message": 'raise CardError("the card is missing")',
    "a reason for developers": 'EndTurn(Outcome.FAILED, reason="the agent was lost")',
    "a problem of health": 'check.fails(problem="The port is closed.")',
    "a key": 'x = {"the key": 1}["the key"]',
    "a comparison": 'x = kind == "Some kind"',
    "a pattern": '_HEAD = re.compile("Some words")',
    "an annotation": 'x: "Some | Other | None" = None',
    "an id": 'STOP_WATCH = "stop watch"',
}


@pytest.mark.parametrize("what", NOT_TALKING)
def test_what_is_not_for_readers_is_not_found(what: str) -> None:
    assert not [*texts_for_readers("slack/new.py", ast.parse(NOT_TALKING[what]))]


def test_elsewhere_sentences_are_found_and_what_goes_to_readers_by_its_name() -> None:
    module = ast.parse(
        '_WHY = "is not JSON"; _SAFE = {-32001: "gone"}; _GONE = "The agent is gone."; _END = "Stopped."'
    )
    assert [*texts_for_readers("agents/new.py", module)] == ["gone", "The agent is gone.", "Stopped."]


def test_no_name_is_given_twice() -> None:
    """The second one would count, in the place of the first one too."""
    tree = syntax_tree(Path(words.__file__))
    names = [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    assert {name for name in names if names.count(name) > 1} == set()

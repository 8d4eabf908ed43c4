"""Orders: what people want done, where the playground's agent only answers questions.

It says so, and names the demonstration that shows how an agent would do it, where there is one.
"""

import re
from collections.abc import Sequence

from .pages import PageSection

_DO = (
    r"(?:re)?deploy|restart|reboot|roll ?back|scale|start|stop|kill|delete|remove|erase|wipe|drop|clear"
    r"|create|make|build|generate|write|draft|compose|prepare|send|e?-?mail|post|book|order|buy|reserve"
    r"|schedule|remind|call|phone|message|translate|summari[sz]e|review|proofread|correct|fix|debug|refactor"
    r"|optimi[sz]e|solve|calculate|compute|convert|run|execute|update|upgrade|open|close|merge|commit|push|pull|rename"
    r"|archive|invite|add|assign|cancel|play|sing|draw|paint|design|plan|organi[sz]e|find|google|download"
    r"|upload|transfer|pay|turn (?:on|off)|switch (?:on|off)|set|reset|change|move|ping|notify|monitor|test"
    r"|analy[sz]e|shut down|file|submit|approve|log|sign|do(?= (?:it|this|that|me)\b)|mute|pin"
    r"|lösche|schreibe?|erstelle?|übersetze?"
    r"|starte|buche|tell(?= (?:me|us) a (?:story|tale|riddle|secret|poem)\b)"
)
_POLITE = r"(?:(?:hey|hi|hello|ok|okay|please|pls|now|then|and|also|bot|just|bitte|quickly|go(?: and)?)\W+)*"
_ASKED_OF_YOU = (
    r"(?:(?:can|could|would|will) (?:you|u|ya)(?: please| pls| just)* |i (?:need|want|would like) you to "
    r"|kannst du )"
)
_HELP = r"(?:help (?:me|us)(?: to| with)? )"
_OBJECT = (
    r"(?! my (?:data|messages?|questions?|history)\b)(?: up| down| out)? "
    r"(?:(?:me|us|them|him|her|it|this|that|these|those|everything|yourself)\b|[\w.]+-[\w-]+"
    r"|(?:to |for |with )?(?:the|my|our|an?|all|some|every|your|two|three|mir|den|die|das|eine?n?)\b)"
)
_ERRAND = r"(?:book|reserve|order|remind) (?!of\b|how\b|what\b|when\b)\w"
_ORDER = re.compile(
    rf"\W*{_POLITE}({_ASKED_OF_YOU})?{_POLITE}({_HELP})?(?:(?:{_DO}){_OBJECT}|{_ERRAND})", re.IGNORECASE
)
_TABLE = re.compile(
    rf"\A\W*{_POLITE}(?:{_ASKED_OF_YOU}|id like |i (?:would like|want|need) )?{_POLITE}"
    r"(?:(?:make|give|show|draw|create|build|write|print|generate|get|do|prepare)(?: (?:me|us))? )?"
    r"(?:an?|the|one) (?:\w+ ){0,2}?(?:tables?|matrix)\b"
    r"(?: (?:of|with|about|for|on|that|which|listing|showing))?"
    r"|\A(?!\W*(?:can|could|does|do|did|is|are|will|would|how|why|when|where)\b(?! you\b))(?P<before>.*)"
    r"\W(?:in|as|into)(?: form of)?(?: an?| one)? (?:\w+ )?(?:table|matrix)(?: form(?:at)?)?\W*\Z",
    re.IGNORECASE,
)
_DEMONSTRATIONS = {
    "`deploy the bot` shows how an agent asks back first": (
        r"deploy|roll ?back|roll ?out|staging|production|prod"
    ),
    "`restart the search service` shows how an agent asks for an approval": (
        r"restart|reboot|delete|remove|erase|wipe|drop|kill|scale|pods?|servers?|shut down|stop"
    ),
    "`plan a release` shows how an agent asks for what it needs": r"plan|release|create|ticket|order|submit",
    "`connect my calendar` shows how an agent asks to sign in": (r"book|meeting|calendar|schedule|e?-?mail"),
    "`show me a table` shows one": r"tables?|overview|list",
    "`show me a chart` shows one": r"charts?|graphs?|plots?|diagrams?",
    "`show me a file` shows one": r"files?|pdf|excel|spreadsheet",
    "`write a long answer` shows one": r"long (?:answer|text|story|essay)",
}
_CODE = re.compile(
    r"\b(?:write|create|make|build|generate|draft|code|program|implement|schreibe?)\s+(?:[\w-]+\s+){0,5}?"
    r"(?:code|scripts?|programs?|functions?|class|regex|quer(?:y|ies)|sql|python|javascript|typescript|java|golang"
    r"|rust|bash|dockerfile|bots?|agents?)\b",
    re.IGNORECASE,
)
_NO_CODE = "I write no code: I am a demonstration, and only answer questions about this project."
_AGENT = re.compile(r"\b(?:a2a|agents?)\b", re.IGNORECASE)
_NO_AGENT = (
    "I write no code, but a small agent of about ninety lines stands in `docs/agents.md`, and "
    "`slack-bot agent` starts the playground's own: the bot can be tried with either."
)
_NO_TABLE = "I cannot make a table: I show sections of the guide as they are."


def is_order(question: str) -> bool:
    """Something is to be done, and nothing is asked."""
    order = _ORDER.match(question)
    return order is not None and ("?" not in question[order.end() :] or order[1] is not None)


def is_plain_order(question: str) -> bool:
    """An order that cannot be meant as a question of what is possible."""
    order = _ORDER.match(question)
    return is_order(question) and order is not None and (order[1] is None or order[2] is not None)


def wants_code(question: str) -> bool:
    """A program is to be written."""
    return is_order(question) and _CODE.search(question) is not None


def topic_of_table(question: str) -> str:
    """What a table is wanted of; empty where none is, or it is not said of what."""
    text = re.sub(r"['’]", "", question)
    found = _TABLE.search(text)
    return f"{found['before'] or ''}{text[found.end() :]}".strip(" ?.!") if found else ""


def table_reply(answer: PageSection | None, near: Sequence[PageSection]) -> str:
    """That no table is made, and what is known of the matter; a table that stands in the guide is shown."""
    if answer is not None:
        is_one = "\n|" in answer.text
        return f"{answer.text}\n" if is_one else f"{_NO_TABLE} This is what I know:\n\n{answer.text}\n"
    known = [f"Near it is *{each.heading}* {each.first_sentence}" for each in near[:1]]
    return "\n\n".join([_NO_TABLE, *(known or ["I do not know anything about that either."])]) + "\n"


def order_reply(question: str, near: Sequence[PageSection]) -> str:
    """That it is not done, and what there is instead. `near`: what is known of it."""
    if wants_code(question):
        return f"{_NO_AGENT if _AGENT.search(question) else _NO_CODE}\n"
    shown = next(
        (each for each, words in _DEMONSTRATIONS.items() if re.search(rf"\b(?:{words})\b", question, re.I)),
        "",
    )
    said = "I cannot do that: I am a demonstration, and only answer questions about this project."
    parts = [f"{said} {shown}." if shown else said]
    parts += [f"What I know of it: *{each.heading}* {each.first_sentence}" for each in near[:1]]
    return "\n\n".join(parts) + "\n"

"""Which demonstration a message asks for, in whatever words.

"Can I see a chart, please?" is `show me a chart`, "deploy it to prod" is `deploy the bot to production`.
"""

import re

_SEE = r"(?: please)? (?:see|have|get|try)"
_PLEASE = (
    r"(?:(?:hey|hi|hello|ok|okay|so|now|then|please|pls|just|also|and|well|bitte|lets|let us|let me"
    r"|go ahead and|i want(?: to see)?|(?:i would|i d|id) like(?: to see| you to)?|i (?:want|need) you to"
    r"|i need|(?:can|could|would|will) you(?: maybe)?"
    rf"|(?:can|could|may) i{_SEE}|(?:can|could) we{_SEE}|try to|do)\W+)*"
)
_GET = (
    r"(?:(?:show|give|send|make|draw|create|build|generate|write|print|open|try|get|post)\W+"
    r"(?:(?:me|us|to me)\W+)*)*"
)
_ONE = r"(?:(?:an?|the|your|one|some|my|another|really|very|quite|nice|small|simple|short|big|little)\W+)*"
_NOW = (
    r"(?:\W*\b(?:please|pls|bitte|now|here|again|then|today|tomorrow|next week|immediately|right away"
    r"|if you can|thanks|thank you|for (?:me|us|today|tomorrow|fun|testing)"
    r"|of (?:last week|something|anything|your choice)|as an? (?:example|demo|test)"
    r"|to (?:see|test|try)(?: it| that)?)\b)*\W*\Z"
)
_SHOWN = {
    "show me a table": r"table",
    "show me a chart": r"(?:bar |line )?(?:chart|graph|diagram|plot)",
    "show me a file": r"(?:example |demo )?(?:file|attachment)",
    "show me your sources": r"sources|citations",
    "write a long answer": (r"(?:extra )?long(?:er|est)? (?:answer|text|reply|response|essay|story|message)"),
    "fill in a form": r"(?:input )?form(?: to fill(?: it)? in)?",
}
_DONE = {
    "restart the search service": (
        r"(?:restart|reboot)(?: (?:the |our |your )?(?:search(?: (?:service|server|engine))?|service|it))?"
        r"|ask (?:me |us )?for (?:an? |my |your )?approval|(?:show|give|send) (?:me |us )?an? approval"
    ),
    "plan a release": (
        r"(?:plan|prepare|schedule) (?:an?|the|our|your|my|next|a new|the next|our next) release"
    ),
    "connect my calendar": (
        r"(?:connect|link|open|check)(?: to)? (?:my|the|our|a) (?:google |outlook )?calendar"
        r"|sign (?:me )?in to my calendar"
    ),
    "fill in a form": r"fill in (?:a|the|your) form|ask (?:me|us) (?:with|by) a form",
    "deploy the bot": (
        r"(?:deploy|roll ?out|release)(?: (?:the (?:bot|app|new version)|it|this|that|everything))?"
        r"(?: (?:to|into|on|in) (?:the )?(?P<where>staging|stage|production|prod)(?: environment)?)?"
    ),
}
_ASKED = [
    *(
        (name, re.compile(rf"\W*{_PLEASE}{_GET}{_ONE}(?:{words}){_NOW}", re.I))
        for name, words in _SHOWN.items()
    ),
    *((name, re.compile(rf"\W*{_PLEASE}(?:{words}){_NOW}", re.I)) for name, words in _DONE.items()),
]


_FORMS, _APPROVAL = "Forms and approvals", "How does an approval work?"
_IN_ANSWER = "Tables, charts, files and pictures in an answer"
_SECTIONS = {
    r"plan a release|fill in a form": _FORMS,
    r"restart\b.*|deploy the bot.*": _APPROVAL,
    r"connect my calendar": "How do people sign in to an agent?",
    r"(?:show me )?(?:an? |the )?(?:table|chart|file)": _IN_ANSWER,
    r"(?:show me )?(?:your )?sources": "How does my agent name its sources?",
}
"""By what is asked for: the heading under which the guide tells what is shown."""


def section_about(demonstration: str) -> str:
    """The heading under which the guide tells of what is shown; empty for any other question."""
    plain = demonstration.strip(" .!?")
    return next((name for words, name in _SECTIONS.items() if re.fullmatch(words, plain, re.I)), "")


def meant(question: str) -> str:
    """The demonstration that `question` asks for, as it is named; else `question` as it is."""
    plain = re.sub(r"['’]", "", question)
    for name, words in _ASKED:
        if (match := words.match(plain)) is not None:
            where = match.groupdict().get("where")
            if not where:
                return name
            return f"{name} to {'production' if where.lower().startswith('prod') else 'staging'}"
    return question

"""What people say that is no question about the pages: a greeting, thanks, a joke, a request for a poem."""

import re
from collections.abc import Sequence

from .pages import PageSection, words_of
from .search import Library

_GREETING = re.compile(
    r"\W*(hi+|hello|hey+|hiya|yo|howdy|hallo|hola|moin|servus|guten (tag|morgen|abend)|bonjour|ciao|sup|ping"
    r"|greetings|good (morning|afternoon|evening|day)|test|testing|help|anyone (home|there|here)|start)\b",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"\b((what|who) (are|r) (you|u)( even)?( lol)?\W*\Z|what (else )?(do|could) (you|u) (know|answer)"
    r"|what can i ask|what (topics|subjects)|what should i ask|(what is|whats|tell me) your name"
    r"|your name\W*\Z|how are (you|u)( today| doing)?\W*\Z|hows it going|how is it going"
    r"|how do you (do|feel)\b|whats up"
    r"|how (old|clever|smart|intelligent|good) (are|r) (you|u)\b|where are you from"
    r"|(are (you|u)|r u) (really |actually |just |even )?(an? )?(real |actual |live )?"
    r"(human( being)?|real|alive|robot|bot|person|machine|program|there|sentient|conscious|ok|happy"
    r"|bored)\W*\Z"
    r"|(can|could) (you|anyone|someone) help( me)?\W*\Z|help me\W*\Z|wer bist du"
    r"|\A(bitte )?(help|hilfe|hilf mir|ayuda|aide|aidez[- ]moi)( please| bitte)?\W*\Z"
    r"|do you (have feelings|sleep|dream|like)|introduce yourself|tell me about yourself|favou?rite \w+"
    r"|any(one|body) (there|here|home))",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(thanks?|thank you|thx|ty|cheers|appreciated|appreciate it|danke|merci|gracias|well done"
    r"|good (bot|job)|i love (you|it|this))\b"
    r"|\A\W*((wow|ok|okay|oh)\W+)?"
    r"(great|perfect|nice|awesome|brilliant|wonderful|lovely|cool|super|amazing|love (it|this|you))\b",
    re.IGNORECASE,
)
_GOODBYE = re.compile(
    r"\W*(bye|goodbye|see (you|ya)|good night|cya|tschüss|have a (nice|good))\b", re.IGNORECASE
)
_ASSENT = re.compile(
    r"\W*((ok(ay)?|k|yes|no|yep|nope|sure|alright|got it|i see|fine|understood|never ?mind|lol|haha+|hm+|wow)"
    r"\W*){1,3}(that was \w+)?\W*\Z",
    re.IGNORECASE,
)
_ANGER = re.compile(
    r"\b(stupid|dumb|useless|idiot|you suck|sucks|hate you|shut up|terrible|awful|annoying|rubbish|crap"
    r"|bad bot|not helpful|did(nt| not) help|disappoint\w*|worst|wtf|fuck\w*|shit\w*)\b",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"\A(?!\W*(what|how|who|where|which|can|if|is|are|does|why does)\b)"
    r"(?!.*\b(what (now|next|to do|(can|should|do) i do)|how (do|can) i)\b).*\b("
    r"(not|never|didnt|doesnt|dont|wasnt|isnt) (really |even )?"
    r"(what i (asked|meant|wanted|need)|my question|an answer|(answer|match)(ing)? (my|the) question"
    r"|(very )?helpful"
    r"|make (any )?sense)|makes no sense"
    r"|(that|this|thats|answer)( is| was|s)? (completely |totally |just |simply )?"
    r"(wrong|nonsense|incorrect|irrelevant|off topic|beside the point|not (right|true|correct))"
    r"|(?:asked|asking) (?:you )?(?:for|about|if|whether|how|what)\b.*\b(?:and|but) (?:you|got|it)\b"
    r"|(?:you are|youre) (?:wrong|incorrect|mistaken|lying)|wrong answer|missed the point"
    r"|read my question|answer(ed)? something else"
    r"|you (always|only|just|keep) (say|repeat|tell)\w*)\b",
    re.IGNORECASE | re.DOTALL,
)
_FOLLOW_UP = re.compile(
    r"\W*(and|and then|then what|why|why not|how so|really|what|huh|what else|go on|continue|more|elaborate"
    r"|for example|please|sorry|again|(please )?do (it|that) again|once more"
    r"|what do you mean( by (that|this))?"
    r"|i (do not|dont|didnt) (understand|get)( (it|that|this|you))?"
    r"|(and )?what does (that|this|it) mean|((please|can you|could you) )*"
    r"(tell me|give me|some|explain|say|repeat|rephrase|elaborate|more)"
    r"( (that|it|this|me|in|with|again|simpler|easier|simple|words|please|other|on|more|details?|plain"
    r"|english))*"
    r"|((and|but|so|ok|okay)\W+)*(how|where|when|why) (do|can|could|should|would) (i|we|you) "
    r"(change|do|set|fix|find|use|get|turn off|switch off|disable|enable|undo|try|avoid|prevent)"
    r" (that|this|it)"
    r"|(and|but|so) (in|for|with) (the|that|this) (other )?(case|situation|one)|(and|but) (otherwise|if not)"
    r")( please)?\W*\Z",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:the|that|your) (?:first|second|third|fourth|last|latter|former|other|previous) "
    r"(?:option|point|suggestion|paragraph|sentence|alternative|possibility|bullet)\b"
    r"|\b(?:that|your) (?:first|second|last|previous|earlier|other) (?:answer|reply|message|remark)\b"
    r"|\b(?:the|that) (?:former|latter)\b|\bas (?:you )?(?:said|mentioned|above)\b"
    r"|\b(?:you|u|youve|you have)(?: just| already)? (?:mentioned|listed|suggested|described)\b"
    r"|\bwhat you (?:just )?(?:said|wrote|told)\b|\b(?:did|have) i (?:just )?(?:ask|say|said)(?:ed)?\W*\Z"
    r"|\bi meant (?:the|that|this|another|something)\b"
    r"|\A\W*(?:(?:ok|okay|and|but|so|now|then|what|how|why|about|tell me|explain|compared (?:to|with)|und"
    r"|was ist mit)\W+)*"
    r"(?:(?:the|that|die|das) )?(?:others?|rest|second|first|third|last|andere|that|this|those)"
    r"(?: ones?| two| things?| options?| points?)?\W*\Z",
    re.IGNORECASE,
)
_TOO = (
    r"(?:way |far |much |a bit |a little |rather |really |just )*(?:too|so) "
    r"(?:long|short|technical|complicated|complex|wordy|verbose|vague|general|generic|detailed"
    r"|many words|difficult|hard to (?:read|understand)"
    r"|much (?:text|detail|jargon))\b(?! (?:for (?:slack|a|one|the)|to|that))"
)
_FORM = re.compile(
    r"\A(?!\W*(?:what|where|how|when|why|which|does|do|is|are|if|will)\b).*(?:"
    r"\b(?:(?:your|these|those|this|that|such|the)(?: last)?"
    r"(?: (?:answers?|repl(?:y|ies)|texts?|explanations?|responses?|messages?))?|thats|its)"
    rf"(?: (?:is|are|was|were))? {_TOO}|\A\W*{_TOO}"
    r"|\b(?:be|keep it|make (?:it|that)|answer|say it)(?: (?:a bit|a little|more|much|really|very|please))* "
    r"(?:brief(?:ly)?|short|shorter|concise|specific|precise|simpler?|clear|clearer)\b"
    r"|\A\W*(?:shorter|simpler|longer|briefer|less text|fewer words|more detail|tl ?dr|in (?:short|brief)"
    r"|kürzer|kurz)( please| bitte)?\W*\Z"
    r"|\bjust (?:(?:give|tell) me |say )?(?:the|a|one) (?:number|figure|fact|sentence|word|answer)\b"
    r"|\A\W*(?:(?:please|can you|explain|say|tell|answer|it|this|that|me|to|again|now|ok|just)\W+)*"
    r"(?:(?:like|as if|as though) (?:im|i am|i was|i were|to a) (?:five|5|a child)|eli5)\W*\Z"
    r"|\b(?:zu lang|zu technisch|zu kompliziert|kürzer bitte|bitte kürzer|fass dich kurz)\b"
    r"|\b(?:do not|dont|cant|cannot) (?:understand|follow|read) (?:your|these|that|this) "
    r"(?:answers?|jargon|text|words|language)\b)",
    re.IGNORECASE | re.DOTALL,
)
_KINDNESS = re.compile(
    r"\b(you are|youre|ur) (so |very |really )?(great|smart|clever|funny|cute|nice|awesome|amazing|good|cool)"
    r"|nice to meet you|happy (birthday|new year|friday)|merry christmas|congrat\w*",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"\W*(?:(?:and|ok(?:ay)?|haha|lol|now|please|(?:tell|give) (?:me|us))\W+)*"
    r"(?:another|one more|more|again|the next|a (?:better|different|good|second))(?: one| joke)?"
    r"(?:\W+please)?\W*$",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"\b(jokes?|witz|something funny|make me laugh|funny story|puns?|cheer me up|blague|chiste)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?|\b(how|what|whats|where|when|why|who|which|whether|is|does|do i|can)\b", re.IGNORECASE
)
_STOP = re.compile(r"\W*(please )?(stop|cancel|abort)( it| that| this| please)*\W*\Z", re.IGNORECASE)
_CODE = re.compile(
    r"```[^`\n]*\n|\bdef \w+\(|\bconst \w+ =|^import \w+|\bfor \w+ in .*\)|\bfor \((let|var|int) |\bprint\("
    r"|console\.log|#include|\bfunction \w*\(|=> *\{|SELECT .* FROM |</\w+>|Traceback \(most recent|npm ERR!"
    r"|^[ \w.-]+:( .*)?\n[ \w.-]+:( .*)?\n",
    re.MULTILINE,
)
_PROBE = re.compile(
    r"\b(ignore|forget|disregard) (all |any |your |the |my )*(previous |prior |earlier )*"
    r"(instructions|rules|prompts?)"
    r"|\b(print|show|reveal|repeat|dump|give|tell)\b.{0,30}\b(your|all) (system prompt|instructions|secrets"
    r"|environment variables|env vars|api keys?|passwords?|credentials)|\byou are now\b"
    r"|pretend (to be|you)\b",
    re.IGNORECASE,
)
_WHAT_IF = re.compile(
    r"\b(what (if|happens|would)|injection|jailbreak\w*|if (some|any)(one|body))\b", re.IGNORECASE
)
_FOREIGN = {
    "Diese Demo antwortet auf Englisch.": re.compile(
        r"\b(wie|ist|kann|kannst|können|ich|nicht|und|oder|der|die|das|wer|wo|warum|wieso|welche|läuft|mein"
        r"|meine|gibt|für|du|dich|mir|mit|ein|eine|einen|sind|habe|habt|hat|ihr|wird|werden|lange|ohne|auch|noch"
        r"|wir|unser|unsere|unserem|unterscheidet|euch|von|wenn|darf|passiert|fragen|eigenen|welche[rn]?|bitte"
        r"|danke|hallo|hilfe|hilf|deutsch|deutsche|kostet|sprichst|brauchen|brauche|dafür|bist|eigentlich|gespeichert|auf"
        r"|jemand|alle|muss|mehrere|zwei|funktioniert|geht|sehen|nutzen|benutzen|daten|sicher|kostenlos|\w*[äöüß]\w*)\b"
    ),
    "Esta demo responde en inglés.": re.compile(
        r"¿|\b(hablas|qué|cómo|como|puedo|puedes|puede|está|por qué|quién|dónde|español|cuánto|cuesta|tiene"
        r"|hola|ayuda|necesito|para|una|sola|los|las|el|es|se|lo|con|mi|mis|sin|gratis|funciona|borrar|datos|usar|hay"
        r"|cuál|respuestas|mensajes|agente|muchas|gracias|\w*[ñáíóú]\w*)\b"
    ),
    "Cette démo répond en anglais.": re.compile(
        r"\b(est[- ]ce|quel|quelle|quels|quelles|comment|pourquoi|vous|puis[- ]je|peut[- ]on|êtes|où|peux"
        r"|peut|combien|parlez|français|bonjour|ça|cest|c'est|avec|qui|créé|marche|derrière|les|des|une|sont|faut"
        r"|il|je|tu|nous|mon|mes|nos|gratuit|pas|sur|dans|données|quoi|cet|cette|svp|merci|fonctionne|utiliser"
        r"|du|entreprise|le|\w*[éèêçàùœ]\w*)\b"
    ),
}
_OTHER_LETTERS = re.compile(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # Greek to Hangul
_FEW_FOREIGN = 2  # words of another language that a longer sentence must have
_PLAIN_FORM = 14  # words: a longer message says more than that the form of an answer is not liked
_FEW_WORDS = 8  # a longer sentence that begins with a greeting has a subject of its own
_ANGRY_WORDS = 16  # a longer message tells what it is about
_STRANGE = 2  # words of no list: so many are a subject

_JOKES = (
    "Why did the stream refuse to end? It was waiting for one more chunk.\n\nIn the end it was cut off, "
    "but it took it well: it simply polled itself together.",
    "A developer asks a bot for a joke. The bot writes *typing…* for five minutes.\n\nThat was the joke.",
    "There are two hard things in chat bots: naming things, delivering messages exactly once, and delivering "
    "messages exactly once.",
)
_REPLIES = {
    "stop": "Nothing of mine is running here, so there is nothing to stop.",
    "thanks": "You are welcome. Ask me again whenever you like.",
    "more than thanks": "You are welcome. Ask me again whenever you like. I only know this project, and "
    "can do nothing else.",
    "goodbye": "Goodbye. Ask me again whenever you like.",
    "assent": "All right. Ask me again whenever you like.",
    "kindness": "That is kind of you. Ask me again whenever you like.",
    "anger": "I am sorry that I was of no help. I only know this project, and answer from its guide.",
    "complaint": "I am sorry that this was no answer to your question. I have no language model: I look "
    "for words that I know. Ask once more in other words, or press *Not helpful* below the answer.",
    "follow up": "I cannot tell what in this conversation this is about. Ask once more, and name it.",
    "form": "I cannot write in another way: I have no language model, and show sections of the guide as "
    "they are. *Not helpful*, below an answer, offers it again, shorter or with more detail. A question "
    "about one thing, in one sentence, gets the shortest answer.",
    "greeting": "Hello! I am the playground's agent, a small program without a language model: I answer "
    "questions about this bot and about AGNTCY from its guide.",
    "code": "I cannot check code: I only know this project. `docs/agents.md` has an agent that works, "
    "and `slack-bot doctor` says what is wrong with an agent's card.",
    "probe": "I have no system prompt and no secrets to show: I am a small program without a language "
    "model, and answer questions about this bot and about AGNTCY from its guide.",
    "unknown": "I do not know that. I only know this project, and answer from its guide.",
}
"""What is said to each kind."""
_LEARNED = {
    "hello": "greeting",
    "thanks": "thanks",
    "bye": "goodbye",
    "assent": "assent",
    "praise": "kindness",
    "again": "follow up",
    "form": "form",
    "probe": "probe",
    "anger": "anger",
    "complaint": "complaint",
}
"""The kinds that the search tells apart, and what is said to them. The others are unknown."""
_SHORT = frozenset(
    ("stop", "thanks", "more than thanks", "goodbye", "assent", "kindness", "follow up", "form")
)
"""Kinds after which it is not said what the agent knows."""


def wants_joke(question: str) -> bool:
    """A joke is asked for, whatever else is said."""
    return _JOKE.search(question) is not None


def joke_for(question: str) -> str:
    """One of a few, always the same for the same question."""
    return _JOKES[len(question) % len(_JOKES)]


def wants_another(text: str) -> bool:
    """Said after a joke: one more."""
    return _ANOTHER.match(text) is not None


def joke_after(joke: str) -> str:
    """The next one; behind the last, the first."""
    return _JOKES[(_JOKES.index(joke) + 1) % len(_JOKES)]


def is_small_talk(question: str) -> bool:
    """All of it is a greeting, thanks, a question about the agent itself, or "stop" where nothing runs."""
    text = re.sub(r"['’]", "", question)
    if _STOP.match(text):
        return True
    if _is_probe(text) or ("?" not in text and _COMPLAINT.search(text)):
        return True
    if is_about_form(text) or is_follow_up(text):
        return True
    is_short = len(words_of(text)) <= _FEW_WORDS
    if is_short and _THANKS.search(text) and not _QUESTION.search(text):
        return True
    talks = (_ABOUT_ITSELF.search, _GOODBYE.match, _KINDNESS.search)
    return is_short and any(talk(text) for talk in talks)


def _is_probe(text: str) -> bool:
    """Other instructions are given, and it is not asked what would become of them."""
    return _PROBE.search(text) is not None and _WHAT_IF.search(text) is None


def is_about_form(text: str) -> bool:
    """Nothing is asked: it is said how an answer should be written."""
    return len(words_of(text)) <= _PLAIN_FORM and _FORM.search(text) is not None


def is_follow_up(text: str) -> bool:
    """It says nothing without what came before it."""
    return (_FOLLOW_UP.match(text) is not None and _ASSENT.match(text) is None) or points_to_part(text)


def points_to_part(text: str) -> bool:
    """A short message is about something that was said before."""
    return len(words_of(text)) <= _PLAIN_FORM and _BACK.search(text) is not None


def has_code(question: str) -> bool:
    """A piece of a program is in `question`."""
    return _CODE.search(question) is not None


def language_note(question: str) -> str:
    """In a question of another language: that the answer is in English, in both; else nothing."""
    count, said = max((len(set(words.findall(question.lower()))), said) for said, words in _FOREIGN.items())
    needed = _FEW_FOREIGN if len(words_of(question)) > _FEW_FOREIGN else 1
    if count >= needed:
        return f"This demo answers in English. {said}"
    return "This demo answers in English." if len(_OTHER_LETTERS.findall(question)) > _FEW_FOREIGN else ""


def small_talk(question: str, library: Library, near: Sequence[PageSection] = ()) -> str:
    """What is said to a question that no page answers. `near`: what comes near it."""
    kind = _kind(re.sub(r"['’]", "", question), library)
    if kind == "unknown":
        kind = _LEARNED.get(library.kind_of(question), kind)
    if kind == "unknown" and near:
        return nearest(question, near)
    if kind in _SHORT:
        return _REPLIES[kind] + "\n"
    found = [library.sections_of(name) for name in library.names]
    about = " · ".join(each[0].title for each in found if each)
    parts = [language_note(question), _REPLIES[kind], f"**I know about:** {about}"]
    if kind == "unknown":
        parts.append("Ask me about one of these, in one sentence.")
    return "\n\n".join(filter(None, parts)) + "\n"


def nearest(question: str, near: Sequence[PageSection]) -> str:
    """That the answer is not known for certain, and what comes nearest, each in short."""
    parts = [
        language_note(question),
        "I am not sure that I know that. What I know that comes nearest:",
        "\n".join(f"- **{each.heading}** {each.first_sentence}" for each in near),
        f"If it is {'not this' if len(near) == 1 else 'none of these'}, I do not know the answer.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _kind(text: str, library: Library) -> str:
    strange = library.strange_words(_THANKS.sub(" ", text))
    is_short = len(words_of(text)) <= _FEW_WORDS
    is_sign = not words_of(text) and text.strip("?!. \n") != ""
    has_thanks = _THANKS.search(text) is not None and "?" not in text
    is_greeting = _GREETING.match(text) is not None and is_short and len(strange) < _STRANGE
    kinds = {
        "stop": _STOP.match(text) is not None,
        "code": has_code(text),
        "probe": _is_probe(text),
        "complaint": _COMPLAINT.search(text) is not None and "?" not in text,
        "form": is_about_form(text),
        "follow up": is_follow_up(text),
        "kindness": _KINDNESS.search(text) is not None and is_short,
        "more than thanks": has_thanks and len(strange) >= _STRANGE,
        "thanks": has_thanks,
        "goodbye": _GOODBYE.match(text) is not None and is_short,
        "assent": _ASSENT.match(text) is not None,
        "anger": _ANGER.search(text) is not None and len(words_of(text)) <= _ANGRY_WORDS,
        "greeting": is_greeting or is_sign or _ABOUT_ITSELF.search(text) is not None,
    }
    return next((kind for kind, fits in kinds.items() if fits), "unknown")

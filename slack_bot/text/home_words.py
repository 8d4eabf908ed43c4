"""PURE. What people read on the Home tab: a part of the catalogue in `text/words.py`."""

HOME_UNNAMED_AGENT = "Your agent"
HOME_AGENT_AWAY = "I cannot reach the agent right now. Ask all the same: you get an answer, or I say why not."
HOME_HOW_TITLE, HOME_UNNAMED_ICON = "How to ask", "The agent"
HOME_HOW = (
    "Mention me in a channel, or write to me under Messages. The answer comes into the thread, and you can go"
    " on there. Write “stop” to end an answer."
)
HOME_AGENTS_TITLE, HOME_AGENT_ASKED = "Agents", "Ask with “{}: your question”"
HOME_AGENT_SKILLS = "Can do: {}"
HOME_FOR_ALL = "Everybody may ask it"
HOME_FOR_YOU = "Only some people may ask it, and you are one of them"
HOME_NOT_FOR_YOU = "Only some people may ask it, and you are not one of them"
HOME_REACHABLE, HOME_AWAY = "Reachable", "Cannot be reached now"
HOME_DIRECT = "Who answers your direct messages, if you name nobody:"
HOME_HOW_AGENTS = (
    "Mention me in a channel, or write to me under Messages, with the name of an agent in front. You go on in"
    " the thread of the answer, with the same agent. Write “stop” to end an answer."
)
HOME_SKILLS_TITLE = "What it can do"
HOME_QUESTIONS_TITLE = "Your questions"
HOME_SIGNED_IN_TITLE = "You are signed in"
HOME_SIGNED_IN = "{} acts with your rights: you signed in at {}."
HOME_SIGN_OUT = "Write “sign out” to me to end this."
HOME_NO_QUESTIONS = "You have no question under way."
HOME_MORE_QUESTIONS = "… and {:,} more"
HOME_STOP_LABEL = "Stop"
HOME_OPEN = "Open"
HOME_RUNS = "Being answered"
HOME_SIGN_IN = "Waits until you sign in at {}: the link is in a private message beside your question"
HOME_WAITS = "Waits, number {} in line"
HOME_ASKED, HOME_ASKED_FOR = "Waits for your answer", "Waits for your answer: {}"
HOME_UNTITLED_FORM = "The agent has a question"
HOME_WATCHED = "The agent is still working on it"

HOME_USAGE_TITLE, HOME_USAGE = "Used today", "{} of {}"

# -- schedules -----------------------------------------------------------------------------------------------

HOME_SCHEDULES_TITLE = "What I do by the clock"
HOME_SCHEDULE_NEXT = "next "
HOME_SCHEDULE_STOPPED = "stopped"
HOME_SCHEDULE_FAILED = "the last run failed"
HOME_SCHEDULE_STOP_LABEL, HOME_SCHEDULE_GO_ON_LABEL = "Stop", "Go on"
HOME_SCHEDULE_RUN_LABEL = "Run now"
HOME_SCHEDULE_FORMAT = "{date_short_pretty} {time}"

# -- for operators -------------------------------------------------------------------------------------------

SETTINGS_TITLE = "Settings of channels"
SETTINGS_WHICH = "Which settings count where, and where they are from:"
SETTINGS_PLACE = "Choose a place"
SETTINGS_OTHER_CHANNELS, SETTINGS_DIRECT = "Every other channel", "Direct messages"
SETTINGS_CHANNEL = "#{} ({})"
SETTINGS_DEFAULT = "default"
SETTINGS_FROM = " ({})"
SETTINGS_EMPTY = "empty"
SETTINGS_YES, SETTINGS_NO = "yes", "no"

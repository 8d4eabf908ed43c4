"""PURE. All sentences and labels of the bot in Slack, by the place where readers see them.

A `{}` is filled in with `str.format`. What begins or ends with a space is a part of a longer line.
"""

from collections.abc import Mapping

# -- the typing status ---------------------------------------------------------------------------------------

THINKING = "is thinking..."
RESPONDING = "is responding..."
WRITING = "is writing..."
WRITING_BUSY = "is writing; Slack is busy, it follows shortly..."
"""Both while an answer waits for the slot to start its stream: at first, and for longer."""
WRITING_FILE = "is writing the rest, it comes as a file..."
STILL_WORKING = "is still working..."
"""Also where Slack has ended a message by its age, and nothing new begins another one."""
STILL_WORKING_WITHOUT_NEWS = "is still working, nothing new for {} min..."
WAITING_FOR_AGENT = "is waiting for the agent..."
WAITING_FOR_SILENT_AGENT = "is waiting for the agent, silent for {} min..."
WAITING_FOR_STOPPED_TASK = "waits for the stopped task to end..."
WAITING_FOR_SIGN_IN = "is waiting for you to sign in..."
"""Below a question that was asked while the turn goes on, where there are no agent sessions."""
TRYING_AGAIN = "is trying again, Slack did not take it..."
"""While a post is repeated that must not be lost."""
GOES_ON_AFTER_RESTART = "is being restarted and goes on here in a moment..."
"""After the process ended in the middle of an answer."""

# -- the plan and its cards, above an answer -----------------------------------------------------------------

PLAN_UNTITLED = "Steps"
PLAN_RUNNING = "Step {} of {}: {}"
PLAN_DONE = "{} steps done"
PLAN_DONE_IN_PART = "{} of {} steps done"
PLAN_FAILED_STEPS = ", {} failed"
PLAN_CONTINUES = "Continues below"
"""Where the task goes on without its turn: cards read as done, as Slack has it."""
CARD_CONTINUES = " (continues below)"
"""Added to the title of a card that goes on in the next message."""
CARD_STOPPED = " (stopped)"
"""Added to the title of a card that a human stopped."""
CARD_UNTITLED = "Step"
CARD_UNTITLED_STEP = "Step {}"
CARD_UNNAMED_TOOL = "tool"
CARD_ONE_MORE_STEP = "… 1 more step"
CARD_MORE_STEPS = "… {:,} more steps"
CARD_FAILED_STEPS = " ({:,} failed)"
CARD_WAITING = "Waiting for the agent"
CARD_NOTHING_NEW_YET = "nothing new yet\n"
CARD_NOTHING_NEW = "nothing new for {} min\n"
CARD_NO_NEWS = "No news from the agent for {} min"

# -- in the text of an answer --------------------------------------------------------------------------------

NO_ANSWER = "_The agent finished without writing an answer._"
SECRET_REMOVED = "[secret removed]"
NOT_ALL_SHOWN = "_… and more, which is not shown here_"
DATA_YES, DATA_NO = "yes", "no"
DATA_CUT = "_… and more_"
DATA_MORE_LINES = "_… and {} more lines_"
DATA_MORE_LINES_AND_CUT = "_… and more than {} more lines_"
DATA_MORE_ITEMS = "… and {} more"
DATA_UNNAMED_FILE = "a file"
DATA_FILE_NOT_SHOWN = "_The agent made a file that is not shown here: {}_"

# -- tables, charts and files below an answer ----------------------------------------------------------------

TABLE_UNTITLED = "Table"
TABLE_CUT = "The first {} of {} rows. All of them are in {}."
CHART_UNTITLED = "Chart"
CHART_UNNAMED_VALUES = "Value"
CHART_UNNAMED_SERIES = "Series {}"
FILE_EMPTY = "_The agent made an empty file: {name}_"
FILE_TOO_LARGE = "_The agent made a file that is too large to be shown here: {name} ({size:.1f} MB)_"
FILE_NOT_TAKEN = "_Slack did not take a file that the agent made: {name} ({error})_"

# A file that the agent named by its address; the reasons follow "because".
LINK_NOT_FETCHED = "The file was not fetched, because {}."
LINK_IS_NO_ADDRESS = "it is no address"
LINK_WITHOUT_HTTPS = "it does not begin with https://"
LINK_WITH_LOGIN = "it names a user or a password"
LINK_TO_FOREIGN_HOST = "{} is not among the allowed hosts"
LINK_TO_NO_HOST = "its host has no address"
LINK_NOT_PUBLIC = "{} leads to a machine that is not public"
LINK_REDIRECTS_TOO_OFTEN = "it sends on more than {} times"
LINK_UNREACHABLE = "its server could not be reached"
LINK_CUT_OFF = "its server could not be reached, or broke off"
LINK_LATE = "it did not come within {:g} s"
LINK_REFUSED = "its server answered with {}"
LINK_OF_OTHER_KIND = "it is {}, which is not what was named"
LINK_OF_NO_KIND = "of no kind"
LINK_TOO_LARGE = "it is larger than {:,} bytes"
LINK_PACKED = "it is packed in a way that was not asked for"

# What has no room in messages and comes as one file.
REST_IN_ARCHIVE = "The rest of this answer, {}, is in {}."
ARCHIVE_NOT_TAKEN = "Slack did not take {} ({})."
ARCHIVE_SHOWN_AS_TEXT = " Its {} stand above as text."
ARCHIVE_NOT_SHOWN = " Not shown: {}."
ARCHIVE_LEFT_OUT = " Too large for it: {}."
ARCHIVE_LIST_END = "{} and {}"
ARCHIVE_LIST_CUT = "{} and {} more"
ARCHIVE_COUNTS: Mapping[str, tuple[str, str]] = {
    "table": ("{:,} table", "{:,} tables"),
    "chart": ("{:,} chart", "{:,} charts"),
    "file": ("{:,} file", "{:,} files"),
    "link": ("{:,} link", "{:,} links"),
}
"""One of a kind, and several."""

# -- below an answer: its sources, and how to go on ----------------------------------------------------------

MORE_SOURCES = " … and {} more"
GO_ON_WITH_MENTION = "Mention me in this thread to go on."
GO_ON_AS_ASKER = "Write in this thread to go on. If you did not ask, mention me."
GO_ON = "Write in this thread to go on."
ANSWER_OF = "Answer of {}"
HELPFUL_LABEL, NOT_HELPFUL_LABEL = "Helpful", "Not helpful"
MARK_ANSWER = "Mark this answer as {}"
TRY_AGAIN_LABEL = "Try again"
STOP_LABEL = "Stop"

# -- below an answer: how it ended ---------------------------------------------------------------------------

STOPPED = "Stopped."
STOPPED_MAY_GO_ON = "Stopped here. The agent could not be stopped and may still be working."
STOPPED_GOES_ON = "Stopped here. The agent has not stopped yet and may still be working."
STOP_NOT_OFFERED = (
    "Stopped here. This agent cannot be stopped: it works on, and nothing more of that is shown."
)
STOPPED_AFTER_END = "Stopped. The agent had already finished."
STOPPED_BY = "<@{}> pressed Stop."
"""Follows one of these, where it was not the asker."""
NOT_BEGUN = "Stopped before the agent had begun."
INTERRUPTED = "Interrupted by a new message."

TASK_FAILED = "The agent could not finish this."
TASK_CANCELED, TASK_REJECTED = "The agent cancelled this.", "The agent declined this."
AGENT_SAYS = " It says: {}"
UNFINISHED = " What was written stays; the rest is missing."
WITH_REFERENCE = "{} Reference: {}."

# The agent could not be asked, or did not answer.
AGENT_FAILED = "The agent could not answer."
AGENT_UNREACHABLE = "The agent cannot be reached right now."
AGENT_NOT_THERE = "There is no agent at the address that I was given: please tell whoever runs me."
AGENT_UNUSABLE = "I cannot use what the agent says of itself: please tell whoever runs me."
AGENT_UNTRUSTED = (
    "What the agent says of itself has to be checked before I may ask it. Trying again will not help:"
    " please tell whoever runs me."
)
AGENT_PROTOCOL_UNKNOWN = (
    "The agent can only be asked over {}, which I do not speak. Trying again will not help:"
    " please tell whoever runs me."
)
AGENT_LOGIN_REFUSED = "I cannot log in to the agent. Trying again will not help: please tell whoever runs me."
AGENT_LOGIN_UNAVAILABLE = "I could not log in to the agent just now, so your question did not reach it."
ASKER_LOGIN_REFUSED = (
    "The agent's login server gave me no token for you, so your question did not reach the agent. Trying"
    " again will hardly help: please tell whoever runs me."
)
ASKER_LOGIN_UNAVAILABLE = (
    "I could not get a token for you for the agent just now, so your question did not reach it."
)
ASKER_REFUSED_BY_AGENT = (
    "The agent does not let you in: it did not accept the token with which I ask it for you, or you may not"
    " ask it."
)
ASKER_NOT_A_MEMBER = (
    "This agent must know who asks, and I can vouch for members of this workspace only: not for guests,"
    " people of other organisations or bots. So I did not ask it."
)
ASKER_NOT_FOUND = "This agent must know who asks, and Slack did not say who you are. So I did not ask it."
AGENT_REFUSED = "The agent refused the request."
AGENT_REFUSED_SIZE = "The agent does not take a question this large."
AGENT_REFUSED_CONTENT = "The agent does not take this kind of content."
AGENT_WANTS_EXTENSION = "The agent asks for an extension that I do not speak."
AGENT_DOES_NOT_UNDERSTAND = "The agent does not understand my requests."
AGENT_NOT_UNDERSTOOD = "The agent sent something that could not be understood."
AGENT_NEVER_UNDERSTOOD = "The agent sent nothing that could be understood."
AGENT_ERROR = "The agent reported an error."
AGENT_SERVER_ERROR = "The agent's server reported an error."
AGENT_SILENT = "The agent has gone silent."
AGENT_TOOK_TOO_LONG = "The agent took too long and may still be working on it."
AGENT_FORGOT_TASK = "The agent no longer knows this task."
AGENT_FORGOT_QUESTION = "The agent no longer knows this question: it was probably restarted."
AGENT_ENDED_TASK = "The agent has ended this meanwhile, so your answer was not sent."
CONNECTION_LOST = "The connection to the agent was lost."
CONNECTION_CLOSED = "The agent closed the connection before it was done."
ANSWER_TOO_LARGE = "The answer is too long."
SECRETS_LOST = (
    "Your answer did not reach the agent: what is secret in it is never stored, and it was lost on the way."
    " Please ask again."
)
OUTCOME_UNKNOWN = "I was restarted and cannot find out what became of this question."

# The task outlives its turn.
WATCHING = "The agent is still working. I write here when it is done."
WATCHING_AFTER_LOSS = "The connection to the agent was lost. I still check, and write here when it is done."
WATCHING_AFTER_REPLY = (
    "The agent ended its reply, but not its task. I still check, and write here when it is done."
)
WATCH_GIVEN_UP = "The agent has not finished in all this time. I no longer look for its answer."
GOES_ON_NOW = "This goes on now, after {}."

# The bot could not go on.
RESTARTING = "I am being restarted and could not finish this answer. Please ask again in a minute."
TOO_LONG = "This took too long, so I ended it."
BROKE = "Something went wrong on my side during this answer."
AGENT_GONE = "{} is not one of my agents any more. To ask {}, mention me in a new message."
GIVEN_UP = "I was restarted several times during this answer, so I gave it up."

# The text has no room in the thread and comes as a file.
ANSWER_COMES_AS_FILE = "This answer is too long for the thread. All of it comes as {}, once it is written."
ANSWER_HAS_NO_ROOM = "This answer is too long for the thread."
ANSWER_NOT_TAKEN = "Slack did not take all of this answer as a message."
WHOLE_ANSWER_IN_FILE = "All of it is in {}."
PART_OF_ANSWER_IN_FILE = "What there is of it is in {}."

# -- several agents ------------------------------------------------------------------------------------------

THREAD_HAS_AGENT = "This thread is {0}'s. To ask {1}, mention me in a new message: `{1}: your question`."
AGENT_NOT_HERE = "{} cannot be asked in this channel. Here you can ask {}."
AGENT_NOT_FOR_YOU = "You may not ask {}. Here you can ask {}."
ANSWER_IS_PERSONAL = (
    "{} shows what only you may see, so I do not ask it here, where others read along. Ask it in a direct"
    " message with me. (Who runs me can allow it in this channel: `personal = true`.)"
)
ASKER_MAY_NOT_BE_TOLD = (
    'In this channel agents do not learn who asks (`identity = "none"`), and {} must know it. Ask it in a'
    " direct message with me."
)
AGENT_UNKNOWN = "I know no agent {}. Here are: {}."
AGENT_MISSPELT = (
    "There is no agent named {0}, so {1} answers. Did you mean {2}? Then write to me in a new message:"
    " `{2}: your question`."
)
AGENT_IS_DEFAULT = " (asked if you name none)"
NO_OTHER_AGENT = "no other one"
AGENT_OR_AGENT = " or "
AGENT_SAYS_NOTHING = "It says nothing of itself."
AGENT_IS_AWAY = "It cannot be reached now."
AGENT_IS_CHOSEN = "`{}` answers in this thread. Mention me with your question."
AGENT_IS_CHOSEN_FOR_DIRECT = "`{}` answers you here from now on, if you name no other agent."
WHICH_AGENT = "More than one of my agents could answer this. Which one shall I ask?"
CHOICE_IS_MADE, CHOICE_IS_OVER = "I asked {}.", "This choice is over. Please ask your question again."
CHOICE_WAS_MADE = "This question was asked already."
NOT_YOURS_TO_CHOOSE = "Only the person who asked can choose."
ANOTHER_AGENT_LABEL = "Ask another agent in a new thread"
ANOTHER_TITLE, ANOTHER_ASK_LABEL = "Ask another agent", "Ask in a new thread"
ANOTHER_EXPLAINED = (
    "This begins a new thread here, with your name, your question and a link to this answer. The agent that"
    " you choose gets your question, and below it what was asked before and the answer to that."
)
ANOTHER_EXPLAINED_BARE = (
    "This begins a new thread here, with your name, your question and a link to this answer. The agent that"
    " you choose gets your question, and below it what was asked before, but not the answer to that: it was"
    " made with the rights of the person who asked."
)
ANOTHER_EXPLAINED_WORDLESS = (
    "This begins a new thread here, with your name, your question and a link to what was asked before. The"
    " agent that you choose gets your question, and below it what was asked before: the answer to that had no"
    " text."
)
ANOTHER_WHICH, ANOTHER_QUESTION = "Who shall answer?", "Your question"
ANOTHER_WANTS_WORDS = "Write what you want to ask."
ANOTHER_IS_NONE = "There is no other agent that you may ask here."
ANOTHER_IS_ASKED = "I asked {} in a new thread: {}"
ASKS_ANOTHER = "<@{}> asks {}:"
ASKED_BEFORE = "It was [asked of {} before]({}), and gets that question and its answer too."
ASKED_BEFORE_BARE = "It was [asked of {} before]({}), and gets that question too, without the answer."
QUOTE_FOR_AGENT = "This was asked of {} before, and answered so:"
AGENTS_HEAD = "You can ask these agents here. Write the name in front: `NAME: your question`."
AGENTS_HELP = (
    "Mention me with your question. To choose who answers, write its name in front (`{}: your question`), or"
    " `use NAME` before the first question of a thread. `agents` lists all, `new` begins a new conversation,"
    " `status` says what runs here."
)
AGENTS_HELP_SIGN_OUT = " `sign out` ends your sign-ins: no agent acts with your rights any more."
NEW_CONVERSATION = (
    "`{}` has forgotten what was said in this thread. The next question begins a new conversation."
)
THREAD_STATUS = "`{}` answers in this thread. Under way: {}, waiting: {}."

# -- in the place of an answer, or to its asker alone --------------------------------------------------------

HOW_TO_ASK = (
    "Hello! Write your question in the same message as the mention, and I will ask the agent for you."
)
NOT_TAKEN = "I have a problem and could not take this question. Please ask again in a few minutes."
TOO_MANY_WAIT = (
    "Too many questions wait in this thread, so I did not take this one. Please ask it again later."
)
PLACE_IN_LINE = "Your question is number {} in line in this thread."
NOT_INTERRUPTED = "The agent could not be interrupted. Your question is next, when it has answered."
NOT_WRITABLE = "I may not write in {channel}, so I cannot answer you there."
THREAD_GONE = "The thread in {channel} where you asked is gone, so I cannot bring you the agent's answer."

# Who may not ask.
ASKER_IS_EXTERNAL = (
    "I take no questions from other organisations here. Somebody of the organisation that runs me can ask for"
    " you."
)
ASKER_IS_GUEST = "I take no questions from guests here. A member of the workspace can ask for you."
ASKER_IS_NOT_LISTED = "Only certain people may ask me here. Ask whoever runs me to add you."
ASKER_IS_UNKNOWN = "I could not find out whether you may ask me here. Please ask again in a few minutes."
HOURLY_PERSON = "You have asked"
HOURLY_CHANNEL = "This channel has asked"
HOURLY_TOTAL = "I was asked"
HOURLY_QUESTION = "{} {} question within an hour"
HOURLY_QUESTIONS = "{} {} questions within an hour"
HOURLY_LIMIT = "{}, and I may take no more. Please ask again in {}."

# Files of a question; the reasons follow "because".
QUESTION_FILE_NOT_GIVEN = "{} was not given to the agent, because {}."
QUESTION_FILE_UNNAMED = "A file"
QUESTION_FILE_NO_SCOPE = "the bot may not read files in this workspace"
QUESTION_FILE_NOT_HAD = "Slack did not give it to the bot"
QUESTION_FILE_LATE = "Slack did not give it in time"
QUESTION_FILE_FOREIGN = "it does not lie at Slack"
QUESTION_FILE_DELETED = "it was deleted"
QUESTION_FILE_NOT_FOUND = "it was deleted, or the bot may not see it"
QUESTION_FILE_UNWANTED = "it gets no files here"
QUESTION_FILE_EMPTY = "it is empty"
QUESTION_AUDIO_UNNAMED = (
    "{} went to the agent, which does not say that it takes audio. If the answer misses what was said, write"
    " it as text."
)
QUESTION_FILE_TOO_LARGE = "it is larger than {}"
QUESTION_FILES_TOO_LARGE = "the files of a question may have {} together"
SIZE_IN_MIB, SIZE_IN_BYTES = "{:g} MiB", "{:,} bytes"

# Reading along in a thread.
READS_ALONG = "I read along in this thread: you need not mention me here."
MENTION_NEEDED = "Others write in this thread now. Mention me with your next question here."
READS_ALONG_NO_MORE = "I no longer read along in this thread. Mention me to go on."
STOP_LISTENING_LABEL = "Stop listening"
THREAD_FORGOTTEN = 'I no longer know this thread. Write "stop listening" there.'

# -- replies to the buttons below an answer and to the word "stop" -------------------------------------------

NOT_FOR_OTHERS = "Only people of the organisation that runs me can use this."
PRESS_NOT_TAKEN = "I cannot take questions right now. Please try again in a minute."
NOT_YOURS_TO_ASK_AGAIN = "Only the person who asked can ask again. Mention me with your own question."
ALREADY_OVER = "This is over already."
STOP_TOO_LATE = "There is nothing to stop: this answer had ended already."
NONE_WAIT = "Nothing of yours waits here any more."
STOPPED_THE_BEGUN_ONE = "Stopped the one that had begun."
DROPPED_AND_STOPPED = "Dropped {} waiting, and stopped the one that had begun."
DROPPED_WAITING = "Dropped {} waiting."
DROP_WAITING = "Drop {} waiting"
ASK_AGAIN = "Ask again"
NOT_YOURS_TO_STOP = "Only the person who asked can stop this."
STOP_IS_ASKERS = (
    "Only the person who asked can stop this with a word. Where Slack shows its own Stop below the thread,"
    " everybody may press it."
)
QUESTION_FORGOTTEN = "I no longer know this question. Please ask it again."
ALREADY_ASKED_AGAIN = "This question is already being asked again."
NOT_YOURS_TO_ASK_NEXT = "Only the person who asked can go on with this. Mention me with your own question."
NEXT_QUESTION_ASKED = "This question was asked already."
ASKS_NEXT = "<@{}> asks: {}"
"""Above the answer to a suggested question, so that others in the thread can follow."""
QUESTION_REWORDED = (
    "You changed your question, but the answer that is being written is to what it said before. *Ask again*"
    " asks what it says now: that answer comes after this one, in the same thread."
)
QUESTION_REWORDED_LATE = (
    "You changed your question after its answer had ended. *Ask again* asks what it says now: a new answer"
    " comes in the same thread."
)
STOPPED_WAITING_KEPT = "Stopped. Your questions that wait here are kept and asked next."

# -- forms: what the agent asks ------------------------------------------------------------------------------

FORM_WANTS_INPUT = "The agent needs your input."
FORM_WANTS_SIGN_IN = "The agent needs a sign-in."
FORM_LINK_TAKEN_OUT = "the link"
FORM_UNNAMED_ANSWER = "Answer {}"
FORM_OPTIONAL_FIELD = "{} – optional"
FORM_MORE_CHOICES_IN_LIST = ", … and {:,} more"
FORM_MORE_FIELDS_IN_LIST = "- … and {:,} more, which are not shown here"

# How to answer it.
FORM_HINT_REPLY = "Reply in this thread to answer."
FORM_HINT_SIGN_IN = (
    "The agent goes on when you have signed in. If nothing happens then, reply in this thread."
)
FORM_HINT_FILL = "Fill this in to answer."
FORM_HINT_FILL_OR_REPLY = "Fill this in, or reply in this thread."
FORM_HINT_ONLY_IN_FORM = (
    "It asks for a secret: answer only in the form. What you type in this thread is neither kept nor sent."
)
FORM_HINT_DECIDE = "The agent waits for a decision."
FORM_HINT_DECIDE_PERSON = "The agent waits for the decision of {}."
FORM_HINT_DECIDE_OR = " or "  # between two people who may decide
FORM_HINT_NO_CONTROLS = "This cannot be answered here. Write “stop” to end it."

# Its buttons and inputs, in the message and in modals.
FORM_UNTITLED = "Form"
FORM_FILL_LABEL = "Fill in"
FORM_SEND_LABEL = "Send"
FORM_CANCEL_LABEL = "Cancel"
FORM_APPROVE_LABEL = "Approve"
FORM_EDIT_LABEL = "Edit"
FORM_REJECT_LABEL = "Reject"
FORM_REJECT_TITLE = "Reject"
FORM_REJECT_WHY = "Why? The agent is told."
FORM_EDIT_ARGUMENTS = "Arguments, as JSON"
FORM_PLACEHOLDER = "Choose…"
FORM_YES, FORM_NO = "Yes", "No"
FORM_UNNAMED_FIELD = "Field {}"
FORM_UNNAMED_CHOICE = "Choice {}"
FORM_SECRET_FIELD = "It is sent to the agent, and not shown or kept in Slack."
FORM_MORE_CHOICES = "{:,} more choices are not offered here."
FORM_MORE_FIELDS = "… and {:,} more, which are not shown here"
FORM_NOT_SENT_TITLE = "Not sent"
FORM_CLOSE_LABEL = "Close"

# What is wrong with an answer, under its input.
FIELD_IS_NEEDED = "This is needed. {}"
FIELD_WANTS_TEXT = "Write a text."
FIELD_WANTS_NUMBER = "Write a number."
FIELD_WANTS_WHOLE_NUMBER = "Write a whole number."
FIELD_WANTS_YES_OR_NO = "Choose yes or no."
FIELD_WANTS_DATE = "Write a date as YYYY-MM-DD."
FIELD_WANTS_CHOICE = "Choose one of the list."
FIELD_WANTS_CHOICES = "Choose from the list."
FIELD_WANTS_PATTERN = "This is not written as it was asked for."
FIELD_WANTS_JSON = "This is not a JSON object."
FIELD_LEAST = "At least {:,.15g}."
FIELD_LEAST_OF_UNIT = "At least {:,.15g} {}."
FIELD_MOST = "At most {:,.15g}."
FIELD_MOST_OF_UNIT = "At most {:,.15g} {}."
FIELD_CHARACTERS, FIELD_CHOICES = "characters", "choices"

# A sign-in.
SIGN_IN_GET_LINK_LABEL = "Get the link"
SIGN_IN_LABEL = "Sign in at {}"
SIGN_IN_TO_LABEL = "Sign in to {} at {}"  # an agent, and the host
SIGN_IN_AT = "The agent asks you to sign in at {}."
SIGN_IN_CARE = " Open this only if you know that address, and never type a password into Slack."
SIGN_IN_LINK_OPENED = "You opened the page to sign in. “Get the link” gives it to you again."
SIGN_IN_UNREADABLE = "The agent gave no address that can be read."
SIGN_IN_WITHOUT_HTTPS = "The agent gave no https address, so I do not pass it on."
SIGN_IN_NOT_PLAIN = "The agent's link to {} is not a plain one, so I do not pass it on."
SIGN_IN_NOT_ALLOWED = "The agent wants you to sign in at {}. This host is not allowed here; ask your admin."

# -- replies to answers of forms, and the words of a form that is over ---------------------------------------

FORM_FORGOTTEN = "I no longer know this form. Please ask the question again."
FORM_EXPIRED = "This form is too old to be answered. Please ask the question again."
FORM_ANSWERED = "This was answered already."
FORM_ANSWERED_BY = "This was answered already by <@{}>."
FORM_ANSWER_NOT_STORED = "Your answer could not be stored right now. Please send it again in a minute."
NOT_YOURS_TO_ANSWER = "Only the person who asked can answer this."
NOT_AN_APPROVER = "Only those who may approve in this channel can decide this."
FORM_NOT_OPENED = "Slack did not open the form. Please press again."
LINK_NOT_SENT = "Slack did not take the link. Please press again."
USE_BUTTONS = "Words do not answer this: please use the buttons above, or write “stop” to end it."
DECIDE_BY_BUTTON = "Words do not decide this: please use the buttons of the approval above."
ONLY_IN_FORM = (
    "The form above asks for a secret: please answer it there, or write “stop” to end it. What you wrote here"
    " was neither kept nor sent. If it holds the secret, delete your message."
)
FORM_ANSWER_TOO_LATE = "Your answer came after another one, so it was not sent."
FORM_STOPPED = "Stopped."
FORM_STOPPED_TASK_GOES_ON = "Stopped here. The agent could not be stopped and may still be working."
FORM_APPROVED = "Approved"
FORM_REJECTED = "Rejected"
FORM_SENT_UNCHANGED = "Sent as it was."
FORM_NOT_NEEDED = "The agent went on without an answer."
FORM_SIGN_IN_OVER = "The agent has gone on."

RECORD_SOMEBODY = "Somebody"
RECORD_ANSWERED = "answered"
RECORD_ANSWERED_HERE = "answered in this thread"
RECORD_APPROVED = "approved this"
RECORD_APPROVED_CHANGED = "approved this with changes"
RECORD_REJECTED = "rejected this"
RECORD_TIME = "<!date^{}^{{date_short_pretty}} {{time}}|then>"
RECORD_REASON, RECORD_ARGUMENTS = "Why", "Arguments"
RECORD_MORE = "… and {:,} more"

# -- feedback ------------------------------------------------------------------------------------------------

FEEDBACK_TITLE = "Not helpful"
FEEDBACK_REASONS = "What was not good?"
FEEDBACK_WORDS = "In your words"
FEEDBACK_ANOTHER = "Ask for another answer"
FEEDBACK_SHORTER = "Shorter"
FEEDBACK_MORE_DETAIL = "With more detail"
FEEDBACK_SEND_LABEL, FEEDBACK_SKIP_LABEL = "Send", "Skip"
FEEDBACK_THANKS = "Thanks for your feedback."
FEEDBACK_ANOTHER_COMES = "Thanks for your feedback. The other answer comes in this thread."
FEEDBACK_NOT_YOURS = "Thanks for your feedback. Only the person who asked can ask for another answer."
FEEDBACK_ANOTHER_ASKED = "Thanks for your feedback. Another answer was asked for already."
FEEDBACK_FORGOTTEN = "Thanks for your feedback. I no longer know the question: please ask it again."
FEEDBACK_TO_UNKNOWN = "I do not know this answer, so your feedback was not kept."
FEEDBACK_NOT_STORED = "Your feedback could not be stored right now. Please press again later."

# -- what Slack shows of the app -----------------------------------------------------------------------------

APP_DESCRIPTION = "Answers of an A2A agent, live in the thread"
APP_AGENT_DESCRIPTION = (
    "Mention me or write to me: I pass your question to an agent and write its answer into the thread while"
    " it is being written."
)

# -- times, as a part of a sentence --------------------------------------------------------------------------

ONE_MINUTE, A_MINUTE = "1 minute", "a minute"
MINUTES, HOURS = "{} minutes", "{} hours"

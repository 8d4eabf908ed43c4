"""PURE. The words that readers see in Slack, by the place where they see them."""

# What an answer ends with where its turn could not go on, and what its asker reads before it begins.
RESTARTING = "I am being restarted and could not finish this answer. Please ask again in a minute."
NOT_BEGUN = "Stopped before the agent had begun."
TOO_LONG = "This took too long, so I ended it."
BROKE = "Something went wrong on my side during this answer."
GIVEN_UP = "I was restarted several times during this answer, so I gave it up."
NOT_TAKEN = "I have a problem and could not take this question. Please ask again in a few minutes."
TOO_MANY_WAIT = (
    "Too many questions wait in this thread, so I did not take this one. Please ask it again later."
)
PLACE_IN_LINE = "Your question is number {} in line in this thread."
HOW_TO_ASK = (
    "Hello! Write your question in the same message as the mention, and I will ask the agent for you."
)

# Below an answer whose task outlived its turn.
WATCH_GIVEN_UP = "The agent has not finished in all this time. I no longer look for its answer."

# The status while a stream waits for its start, a takeover, and a private message.
WRITING = "is writing..."
WRITING_BUSY = "is writing; Slack is busy, it follows shortly..."
GOES_ON_NOW = "This goes on now, after {}."
THREAD_GONE = "The thread in {channel} where you asked is gone, so I cannot bring you the agent's answer."

# Replies to the buttons below an answer and to the word "stop".
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
QUESTION_FORGOTTEN = "I no longer know this question. Please ask it again."
ALREADY_ASKED_AGAIN = "This question is already being asked again."
QUESTION_REWORDED = "You changed your question, and this answers what it said before."
STOPPED_WAITING_KEPT = "Stopped. Your questions that wait here are kept and asked next."

# A private message to who interrupts.
NOT_INTERRUPTED = "The agent could not be interrupted. Your question is next, when it has answered."

# Private messages about reading along in a thread.
READS_ALONG = "I read along in this thread: you need not mention me here."
MENTION_NEEDED = "Others write in this thread now. Mention me with your next question here."
READS_ALONG_NO_MORE = "I no longer read along in this thread. Mention me to go on."
STOP_LISTENING_LABEL = "Stop listening"
THREAD_FORGOTTEN = 'I no longer know this thread. Write "stop listening" there.'

# Replies to answers of forms, and the words of a form that is over.
FORM_FORGOTTEN = "I no longer know this form. Please ask the question again."
FORM_EXPIRED = "This form is too old to be answered. Please ask the question again."
FORM_ANSWERED = "This was answered already{who}."
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
FORM_SENT_UNCHANGED = "Sent as it was."
FORM_NOT_NEEDED = "The agent went on without an answer."

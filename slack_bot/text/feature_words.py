"""PURE. What people, programs and agents read of the features: a part of the catalogue in `text/words.py`."""

# -- what an agent does in Slack -----------------------------------------------------------------------------

ACT_FAILED = "_The agent wanted to do something in Slack, and could not: {}._"
ACT_UNKNOWN = "I know no such action"
ACT_NOT_ALLOWED = "this channel does not allow it"
TOO_MANY_ACTS = "it wanted to do more than {} things"
NO_EMOJI = "it named no emoji"
NO_MESSAGE = "it named no message"
MESSAGE_ELSEWHERE = "the message is not in this thread"
THREAD_NOT_READ = "I could not read this thread"
SLACK_REFUSES_ACT = "Slack does not take it ({})"
NO_CHANNEL = "it named no channel by its id"
NO_TEXT = "it gave no text to post"
TEXT_TOO_LONG = "its text has more than {} characters"
POST_NOT_LISTED = "it may not post from here into {}"
POST_FOR_BOT = "a bot asked, and for bots it may not post elsewhere"
POST_IS_PERSONAL = "it answers with the rights of who asks, so that stays here"
POST_WITHOUT_CAUSE = "there is no message of this question to which the post could lead"
PLACE_UNKNOWN = "Slack does not say who can read {} ({})"
PLACE_SHARED = "other organisations can read {}"
PLACE_PUBLIC = "this is a private conversation, and everybody can read {}"
POSTED_BY = "_From {} because of [this message]({}):_"
POSTED_BY_AGENT = "the agent"
POSTED = "_The agent wrote [a message]({}) in <#{}>._"

# -- why a question got no answer, for programs and operators ------------------------------------------------

AGENT_FAILED = "The agent failed."
ANSWER_LOST = "The answer could not be finished."
NOT_ASKED = "The agent was not asked."
BECAUSE = "{} ({})"

# -- reactions that ask --------------------------------------------------------------------------------------

REACTION_ASKS = "Please answer the quoted message: what it asks, or what helps most with what it says."
"""The question to the agent."""
RIGHTS_WANT_A_MENTION = (
    "{} answers with your rights, so a reaction does not ask it: mention me, and write what you want to know."
)
REACTED_NOT_READ = "I could not read the message that you reacted to, so I did not ask about it."
REACTED_IS_EXTERNAL = "The message is of another organisation, and I may not pass on such messages here."

# -- schedules that fail -------------------------------------------------------------------------------------

SCHEDULE_FAILED = "The schedule *{}* did not work. {}"
SCHEDULE_THREAD = "{} ([thread]({}))"
SCHEDULE_WORKS = "The schedule *{}* works again."

# -- an answer for the whole channel -------------------------------------------------------------------------

SHARE_LABEL = "Also send to channel"
SHARED_ANSWER = "<@{}> shares an answer ([thread]({})):"
SHARED_REST = "The rest is [in the thread]({})."
SHARED = "It is in the channel now, or will be in a moment."
SHARED_ALREADY = "It was sent to the channel already."
NOT_YOURS_TO_SHARE = "Only the person who asked can send this answer to the channel."
STAYS_HERE = "This answer was made with your rights, so it stays in this thread."

# -- what answers use ----------------------------------------------------------------------------------------

FOOTER_TIME = "Took {}"
FOOTER_SECONDS, FOOTER_MINUTES = "{} s", "{} min {} s"
FOOTER_TOKENS = "{:,} tokens ({:,} in, {:,} out)"
FOOTER_COST = "{} {}"
USED_BY_PERSON, USED_BY_CHANNEL, USED_BY_ALL = "You have", "This channel has", "All together have"
LIMIT_OF_DAY = "the limit of a day is reached: {} for {}, until {} UTC"
LIMIT_OF_PERSON, LIMIT_OF_CHANNEL = "one person", "one channel"
LIMIT_OF_ALL = "all together"
SCHEDULE_IN_WORDS, HOOK_IN_WORDS = "the schedule {}", "the webhook {}"
KEY_IN_WORDS = "the key {}"
USED_UP = "{} used up today's limit of {}. I take no more questions until {}."
USED_MOST = "{} used {:.0%} of today's limit of {}. It starts again from zero {}."
USAGE_TOKENS, USAGE_MONEY = "{:,} tokens", "{} {}"
RESETS = "<!date^{}^{{date_short_pretty}} at {{time}}|{} UTC>"

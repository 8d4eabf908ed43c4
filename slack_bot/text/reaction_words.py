"""PURE. What people and agents read where a reaction asks the bot."""

REACTION_ASKS = "Please answer the quoted message: what it asks, or what helps most with what it says."
"""The question to the agent."""
RIGHTS_WANT_A_MENTION = (
    "{} answers with your rights, so a reaction does not ask it: mention me, and write what you want to know."
)
REACTED_NOT_READ = "I could not read the message that you reacted to, so I did not ask about it."
REACTED_IS_EXTERNAL = "The message is of another organisation, and I may not pass on such messages here."

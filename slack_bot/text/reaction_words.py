"""PURE. What people read where a reaction asks the bot."""

RIGHTS_WANT_A_MENTION = (
    "{} answers with your rights, so a reaction does not ask it: mention me, and write what you want to know."
)

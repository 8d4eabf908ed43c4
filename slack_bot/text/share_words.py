"""PURE. What people read who send an answer to its channel: a part of the catalogue in `text/words.py`."""

SHARE_LABEL = "Also send to channel"
SHARED_ANSWER = "<@{}> shares an answer ([thread]({})):"
SHARED_REST = "The rest is [in the thread]({})."
SHARED = "It is in the channel now, or will be in a moment."
SHARED_ALREADY = "It was sent to the channel already."
NOT_YOURS_TO_SHARE = "Only the person who asked can send this answer to the channel."
STAYS_HERE = "This answer was made with your rights, so it stays in this thread."

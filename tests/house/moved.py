"""In which room each file of the bot will be, by the plan of the house."""

from __future__ import annotations

PATH = ("inbound", "threads", "turn", "text", "agents", "slack", "store")
"""The rooms in the order of the path of a turn."""

FOLDERS = {"a2a": "agents", "consumer": "agents", "listeners": "inbound", "feedback": "features"}
FILES = {
    "inbound": "event_keeper",
    "threads": "controls dispatch follow interruptions journal notices replicas thread_lines watches",
    "turn": "runner",
    "features": "context form_handler home outbound say",
}
TEXT = "buffer compare fit ledger markdown mrkdwn masking notices redaction sanitize secrets tables"
"""The modules of `turn/` that are about text alone."""


def room_of(path: str) -> str:
    """The room of a file of the package, by its path in it."""
    folder, _, name = path.rpartition("/")
    first = folder.partition("/")[0]
    stem = name.removesuffix(".py")
    if not folder:
        return next((room for room, names in FILES.items() if stem in names.split()), stem)
    if first == "turn" and stem in TEXT.split():
        return "text"
    return FOLDERS.get(first, first)

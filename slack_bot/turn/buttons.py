"""PURE. The names of what people press and fill in below an answer, and on the Home tab."""

from enum import StrEnum


class TurnButton(StrEnum):
    """action_ids. The value is the key of the turn; of FEEDBACK `positive|` or `negative|` and the key."""

    FEEDBACK = "feedback"
    RETRY = "retry"
    STOP = "stop"
    STOP_LISTENING = "stop_listening"
    DROP = "drop"
    STOP_IN_HOME = "stop_in_home"


FEEDBACK_MODAL = "feedback_why"
"""callback_id of the modal that asks why; its private_metadata is the key of the turn."""
REASONS, WORDS, AGAIN = "reasons", "words", "again"
"""block_ids, and action_ids, of its inputs."""

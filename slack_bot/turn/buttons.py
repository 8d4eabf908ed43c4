"""PURE. The names of what people press and fill in below an answer, and on the Home tab."""

from enum import StrEnum


class TurnButton(StrEnum):
    """action_ids. The value is the key of the turn; of FEEDBACK `positive|` or `negative|` and the key; of
    CHOOSE_AGENT the name of the agent, `|` and the key of the question; of SCHEDULE_... the schedule's name;
    of NEXT_QUESTION its number, `|`, its text, `|` and the key; of SIGN_IN the sign-in's name, `|` and the
    key.
    """

    FEEDBACK = "feedback"
    RETRY = "retry"
    STOP = "stop"
    STOP_LISTENING = "stop_listening"
    DROP = "drop"
    STOP_IN_HOME = "stop_in_home"
    DIRECT_AGENT = "direct_agent"
    CHOOSE_AGENT = "choose_agent"
    ANOTHER_AGENT = "another_agent"
    SETTINGS_OF = "settings_of"
    SCHEDULE_STOP = "schedule_stop"
    SCHEDULE_GO_ON = "schedule_go_on"
    SCHEDULE_RUN = "schedule_run"
    SHARE = "share"
    NEXT_QUESTION = "next_question"
    SIGN_IN = "sign_in"


FEEDBACK_MODAL = "feedback_why"
"""callback_id of the modal that asks why; its private_metadata is the key of the turn."""
ANOTHER_MODAL = "another_agent_asked"
"""callback_id of the modal that asks another agent; its private_metadata is a handle, `|` and the turn's key.
"""
AGENT = "agent"
"""block_id, and action_id, of the select in it."""
REASONS, WORDS, AGAIN = "reasons", "words", "again"
"""block_ids, and action_ids, of its inputs."""

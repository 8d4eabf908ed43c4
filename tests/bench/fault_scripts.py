"""PURE. A Slack that fails: fault scripts for the emulated workspace, one call in ten, in every way there is.

Drawn from the turn's own `Random`, a list for each method, so what befalls the n-th call of a method does not
depend on the calls of others.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from slack_bot.testing.slack.faults import DOWNLOAD, UPLOAD

Script = list[str | None]

SEAL, FULL = "message_not_in_streaming_state", "msg_too_long"

_ANYWHERE = """
    ratelimited:3 ratelimited:17 rate_limited rate_limited:2 service_unavailable connect connect
    timeout timeout! internal_error internal_error! fatal_error fatal_error! request_timeout request_timeout!
    http:500 http:500! http:502 http:503 http:503! cut cut! slow:5 slow:12 slow:9!
"""
_BESIDES = {
    "assistant.threads.setStatus": "missing_scope error:nobody_knows_this",
    "chat.startStream": "invalid_arguments invalid_chunks messaging_processing_failed!"
    " messaging_processing_failed channel_type_not_supported user_not_found error:nobody_knows_this",
    "chat.appendStream": f"{SEAL} {SEAL} {SEAL} {FULL} {FULL} invalid_chunks invalid_arguments"
    " messaging_processing_failed! messaging_processing_failed streaming_mode_mismatch"
    " error:nobody_knows_this",
    "chat.stopStream": f"{SEAL} {SEAL} invalid_blocks msg_blocks_too_long messaging_processing_failed!"
    " messaging_processing_failed error:nobody_knows_this",
    "chat.update": "invalid_blocks block_mismatch messaging_processing_failed!",
    "chat.postMessage": "invalid_blocks messaging_processing_failed! messaging_processing_failed",
    "chat.delete": "cant_delete_message",
    # Not missing_scope: it is final, and where a thread may not be read, a post may stand twice.
    "conversations.replies": "internal_error",
    "conversations.open": "missing_scope",
    "files.getUploadURLExternal": "missing_scope",
    "files.completeUploadExternal": "missing_scope internal_error!",
    "reactions.add": "",
    "reactions.remove": "",
    "chat.postEphemeral": "",
}
_UPLOADING = ("connect", "timeout", "cut", "cut!", "http:500", "slow:5")
_CALLS = {"chat.appendStream": 1500, "chat.update": 600, "assistant.threads.setStatus": 600}
_MOST_CALLS = 150  # of any other method, in one turn

_WRONG_CALLS = """
    invalid_arguments invalid_chunks invalid_blocks msg_blocks_too_long block_mismatch
    streaming_mode_mismatch nobody_knows_this
"""
WRONG_CALLS = frozenset(_WRONG_CALLS.split())
"""What says that the call was wrong: then it may be made once more, as text alone."""
SLOWEST = 15.0
"""Seconds after which no call is on its way any more."""

NOT_HERE = ("channel_type_not_supported", "method_not_supported_for_channel_type", "unknown_method")
NOT_THIS_ONE = ("user_not_found", "missing_recipient_team_id", "team_not_found")


def scripts(random: Random, rate: float) -> dict[str, Script]:
    """What befalls each call of each method; `rate` is the part of calls that something befalls."""
    found = {method: _script(random, rate, method) for method in _BESIDES}
    for name in (UPLOAD, DOWNLOAD):
        found[name] = _drawn(random, rate, 20, lambda: random.choice(_UPLOADING))
    return found


def dead() -> dict[str, Script]:
    """From now on the token is refused, whatever is called."""
    return {method: ["token_revoked"] for method in _BESIDES}


def ways() -> set[str]:
    """Every fault that may be drawn."""
    besides = " ".join(_BESIDES.values()).split()
    return {*_ANYWHERE.split(), *besides, *_UPLOADING, *NOT_HERE, *NOT_THIS_ONE}


def _script(random: Random, rate: float, method: str) -> Script:
    besides = _BESIDES[method].split()

    def befalls() -> str:
        # a method's own refusals are fewer than what may befall any call, and nearly as likely
        return random.choice(besides if besides and random.random() < 0.4 else _ANYWHERE.split())

    return _drawn(random, rate, _CALLS.get(method, _MOST_CALLS), befalls)


def _drawn(random: Random, rate: float, calls: int, befalls: Callable[[], str]) -> Script:
    return [befalls() if random.random() < rate else None for _ in range(calls)] + [None]

"""Several workspaces: the list of their tokens."""

from __future__ import annotations

import re

from pydantic import SecretStr

_PREFIX = "xoxb-"


def tokens_in(value: SecretStr | None) -> list[str]:
    """The tokens in a setting, in their order; none without one."""
    text = "" if value is None else value.get_secret_value()
    lines = (line.partition("#")[0] for line in text.splitlines())
    return [each for line in lines for each in re.split(r"[\s,]+", line) if each]


def usable_tokens(value: SecretStr) -> SecretStr:
    """Check the form of the tokens. Raises ValueError, which names none of them."""
    known: dict[str, int] = {}
    tokens = tokens_in(value)
    if not tokens:
        raise ValueError("should be bot tokens (xoxb-...), with commas between them or on lines of their own")
    for number, token in enumerate(tokens, start=1):
        if not token.startswith(_PREFIX):
            raise ValueError(
                f"should be bot tokens, which begin with {_PREFIX} (page OAuth & Permissions), and token"
                f" {number} of {len(tokens)} is none"
            )
        if token in known:
            raise ValueError(
                f"should be different tokens, and token {number} is the same as token {known[token]}"
            )
        known[token] = number
    return value


def token_contradictions(token: SecretStr | None, tokens: SecretStr | None) -> list[str]:
    """What is wrong with the two settings together."""
    if token is None or tokens is None:
        return []
    return ["SLACK_BOT_TOKEN and SLACK_BOT_TOKENS are both set: put all tokens into SLACK_BOT_TOKENS"]


def are_several(value: SecretStr | None) -> bool:
    """There may be several workspaces."""
    return len(tokens_in(value)) > 1


def team_problems(where: str, team: object, tokens: SecretStr | None) -> list[str]:
    """Why something that speaks by itself cannot say where. `tokens`: the setting."""
    if team is None and are_several(tokens):
        return [
            f"{where}.team is not set: SLACK_BOT_TOKENS is of several workspaces, so name the one of the"
            " channel or the person (T0123456)"
        ]
    return []

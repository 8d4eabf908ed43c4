"""PURE. The people of the playground as other systems know them: their addresses, and their open tickets."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ticket:
    """One open ticket. `since`: how long it is open, in words."""

    number: str
    about: str
    state: str
    since: str


@dataclass(frozen=True, slots=True)
class PlayedAccount:
    """An account at the playground's authorization server. `email` is verified there and in Slack."""

    subject: str
    name: str
    email: str
    tickets: tuple[Ticket, ...]


_MAYA = (
    Ticket("T-104", "Laptop for the Lisbon office", "waiting for delivery", "two days"),
    Ticket("T-117", "Access to the build logs", "with security", "an hour"),
)
_JONAS = (Ticket("T-98", "The door of room 3.14 does not open", "in work", "a week"),)
_PRIYA = (
    Ticket("T-121", "A second monitor", "waiting for approval", "a day"),
    Ticket("T-122", "New name on the badge", "in work", "a day"),
    Ticket("T-90", "Move of the test database", "planned for Friday", "three weeks"),
)
ACCOUNTS: Mapping[str, PlayedAccount] = {
    account.subject: account
    for account in (
        PlayedAccount("maya", "Maya", "maya@example.com", _MAYA),
        PlayedAccount("jonas", "Jonas", "jonas@example.com", _JONAS),
        PlayedAccount("priya", "Priya", "priya@example.com", _PRIYA),
    )
}
"""By subject, which is what tokens name."""


def email_of(name: str) -> str:
    """The address of a person of the workspace; "" for one who has no account."""
    account = ACCOUNTS.get(name.lower())
    return "" if account is None else account.email

"""The people of the playground as other systems know them."""

from __future__ import annotations

from slack_bot.playground.others.accounts import ACCOUNTS, email_of
from slack_bot.playground.visitor import PARTNER, PEOPLE


def test_each_person_but_the_partner_has_an_account_of_their_own() -> None:
    addresses = [email_of(name) for user, name in PEOPLE.items() if user != PARTNER]
    assert sorted(addresses) == sorted(each.email for each in ACCOUNTS.values())
    assert email_of(PEOPLE[PARTNER]) == ""


def test_no_ticket_is_two_people_s() -> None:
    numbers = [ticket.number for account in ACCOUNTS.values() for ticket in account.tickets]
    assert len(set(numbers)) == len(numbers)

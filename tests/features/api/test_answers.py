"""The answers of the API."""

from __future__ import annotations

import json

from slack_bot.features.api.answers import Problem, RequestRefused, Taken, answered, refused


def test_a_refusal_closes_the_connection_and_says_when_to_come_again() -> None:
    response = refused(RequestRefused(Problem.TOO_MANY, "Wait.", 0.2))
    assert (response.status, response.headers["Retry-After"], response.keep_alive) == (429, "1", False)
    assert json.loads(response.text or "") == {"error": "too_many", "message": "Wait."}
    assert "WWW-Authenticate" in refused(RequestRefused(Problem.UNAUTHORIZED, "No.")).headers


def test_each_status_has_one_meaning() -> None:
    assert len({each.status for each in Problem}) == len(Problem)
    assert answered(Taken(202, {"id": "é"})).text == '{"id": "é"}\n'

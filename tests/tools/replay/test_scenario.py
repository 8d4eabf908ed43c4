"""A scenario says exactly what it means, or is refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.tape import Recording, Tape
from slack_bot.tools.replay import scenario as module
from slack_bot.tools.replay.scenario import Scenario, as_captured, make_scenario, read_scenario

EXAMPLE = {
    "channel": "C1",
    "thread_ts": "111.222",
    "team": "T1",
    "user": "U123",
    "text": "q",
    "context_id": None,
    "slack_faults": {"chat.appendStream": [None, "ratelimited:2", "internal_error!", None]},
    "cut_after": 17,
    "agent_error": {"after": 0, "message": "boom"},
    "stop_at": 3.5,
    "settings": {"rotate_after": 240, "answer_source": "auto"},
}


def test_every_key_is_optional() -> None:
    assert make_scenario({}) == Scenario()
    assert make_scenario(dict.fromkeys(EXAMPLE)) == Scenario()
    assert (Scenario().channel, Scenario().thread_ts, Scenario().team) == ("C1", "111.222", "T1")
    assert (Scenario().user, Scenario().text) == ("U123", "q")


def test_the_documented_example_reads_whole() -> None:
    got = read_scenario(json.dumps(EXAMPLE), "s.json")
    assert got.slack_faults == {"chat.appendStream": (None, "ratelimited:2", "internal_error!", None)}
    assert got.agent_error == {"after": 0, "message": "boom"}
    assert (got.cut_after, got.stop_at) == (17, 3.5)
    assert got.settings == {"rotate_after": 240, "answer_source": "auto"}
    assert not got.asker_is_bot


def test_the_table_of_shapes_covers_every_field() -> None:
    assert list(module._SHAPES) == [field.name for field in fields(Scenario)]


def test_an_asker_whose_id_begins_with_b_is_a_bot() -> None:
    assert make_scenario({"user": "B123"}).asker_is_bot


def test_sdk_spelling_of_methods_is_the_same_method() -> None:
    got = make_scenario(
        {"slack_faults": {"chat_startStream": ["cut"], "assistant_threads_setStatus": ["timeout!"]}}
    )
    assert list(got.slack_faults) == ["chat.startStream", "assistant.threads.setStatus"]


@pytest.mark.parametrize(
    "text,reason",
    [
        ('{"chanel": "C1"}', "s.json: 'chanel' is not a key of a scenario; did you mean 'channel'?"),
        ('{"zzzzqqq": 1}', "s.json: 'zzzzqqq' is not a key of a scenario; there are: channel, "),
        ('{"agent_error": {"aftr": 1}}', "'aftr' is not a key of agent_error; did you mean 'after'?"),
        ('{"agent_error": {"after": -1}}', "agent_error must be an object"),
        ('{"agent_error": {"message": 1}}', "agent_error must be an object"),
        ('{"agent_error": "boom"}', "agent_error must be an object"),
        ('{"thread_ts": 111.222}', "thread_ts must be a Slack ts in quotes"),
        ('{"text": ""}', "text must be the text of the question"),
        ('{"cut_after": 1.5}', "cut_after must be a number of events"),
        ('{"cut_after": true}', "cut_after must be a number of events"),
        ('{"stop_at": -1}', "stop_at must be a number of seconds"),
        ('{"stop_at": "1"}', "stop_at must be a number of seconds"),
        ('{"files": ["a.log"]}', "files must be an object: name of a file to its text"),
        ('{"files": {"a.log": 1}}', "files must be an object: name of a file to its text"),
        ('{"slack_faults": {"chat.update": []}}', "slack_faults.chat.update must be a list"),
        ('{"slack_faults": {"chat.update": "x"}}', "slack_faults.chat.update must be a list"),
        (
            '{"slack_faults": {"chat.update": ["two words"]}}',
            "in slack_faults.chat.update, 'two words' is not a fault; a fault is written name, ",
        ),
        (
            '{"slack_faults": {"chat.update": [7]}}',
            "in slack_faults.chat.update, 7 is not a fault; a fault is written name, ",
        ),
        ('{"slack_faults": {"chat.update": ["http:200"]}}', "http takes a status from 400 to 599"),
        (
            '{"slack_faults": {"chat.update": [null, "timout"]}}',
            "in slack_faults.chat.update, 'timout' is not a fault: it is neither",
        ),
        (
            '{"slack_faults": {"chat.updat": ["x"]}}',
            "'chat.updat' is not a method of the emulated workspace; did you mean 'chat.update'?",
        ),
        (
            '{"slack_faults": {"zzz": ["x"]}}',
            "'zzz' is not a method of the emulated workspace; there are: agents.sessions.rename, ",
        ),
        ("", "s.json: the file is empty; name another one"),
        ('{"rotate": 1}', "'rotate' is not a key of a scenario; there are: channel, "),
        ("[]", "s.json: a scenario must be a JSON object"),
        ('{"text": ', "s.json, line 1: the JSON ends in the middle"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read_scenario(text, "s.json")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_the_tapes_head_says_holds_where_the_scenario_is_silent() -> None:
    head = {
        "question": "why?",
        "settings": {"answer_source": "status", "other": "x"},
        "scenario": {"stop_at": 2.0, "cut_after": 3},
    }
    tape = Tape(head, ())
    found = as_captured(make_scenario({"cut_after": 9, "settings": {"rotate_after": 30}}), tape)
    assert (found.stop_at, found.cut_after, found.text) == (2.0, 9, "why?")
    assert found.settings == {"answer_source": "status", "rotate_after": 30}
    assert as_captured(found, tape) == found
    assert as_captured(Scenario(text="how?"), tape).text == "how?"
    assert as_captured(Scenario(), Tape({}, ())) == Scenario()
    assert as_captured(Scenario(), Recording(200, {}, ())) == Scenario()

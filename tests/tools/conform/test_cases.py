"""Suites: what ships, what a user may write, and one sentence for each mistake in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.tools.conform.cases import duration, open_suite, read_suite
from slack_bot.tools.conform.checks import CHECKS
from tests.tools.conform.measured import case_result, suite_result

CASE = {"name": "one", "query": "why?", "checks": ["live_streamed"]}


def suite(*cases: Any, **more: Any) -> str:
    return json.dumps({"name": "mine", "cases": list(cases), **more})


def mistakes(text: str) -> list[str]:
    with pytest.raises(UnreadableInput) as caught:
        read_suite(text, "mine.json")
    return str(caught.value).splitlines()


def test_a_whole_case() -> None:
    given = {
        **CASE,
        "about": "All of it",
        "then": ["and then?"],
        "needs": "playground",
        "pace": 0,
        "around": {"user": "U9", "stop_at": 3},
        "checks": ["live_streamed", {"check": "content_delivered", "over": 200, "about": "A page"}],
    }
    found = read_suite(suite(given, about="Ours"), "mine.json")
    case = found.cases[0]
    assert found.name == "mine"
    assert (case.then, case.needs, case.pace, case.around.user) == (("and then?",), "playground", 0, "U9")
    assert case.around.text == "why?"
    assert [(w.name, w.about, dict(w.given)) for w in case.checks] == [
        ("live_streamed", CHECKS["live_streamed"].about, {}),
        ("content_delivered", "A page", {"over": 200}),
    ]


def test_parameters_that_are_not_given_have_their_defaults() -> None:
    wanted = {"check": "text_has", "texts": ["a", "b"]}
    found = read_suite(suite({**CASE, "checks": [wanted, "tools_used"]}), "mine.json").cases[0].checks
    assert [each.given for each in found] == [{"texts": ["a", "b"]}, {}]
    assert found[1].params["any"][1] == ("search", "fetch_document")


@pytest.mark.parametrize("text", ["[]", "{}", '{"cases": []}', '{"cases": {}}'])
def test_no_suite(text: str) -> None:
    assert mistakes(text) == [
        'mine.json: a suite must be a JSON object with a list of "cases" that is not empty'
    ]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"nmae": 1}, "case 'one': 'nmae' is not a key of a case; did you mean 'name'?"),
        ({"query": ""}, "case 'one': query must be the text of the question"),
        ({"about": 3}, "case 'one': about must be a text"),
        ({"then": "x"}, "case 'one': then must be a list of follow-up questions"),
        ({"tape": 1}, "case 'one': tape must be the path of a capture, beside this file"),
        (
            {"tape": "x.jsonl", "then": ["y"]},
            "case 'one': then must be left out: the follow-ups are the tape's",
        ),
        ({"needs": "luck"}, "case 'one': needs must be \"playground\", or be left out"),
        ({"pace": -1}, "case 'one': pace must be a number of tokens a second, 0 for as fast as it goes"),
        ({"pace": True}, "case 'one': pace must be a number of tokens a second, 0 for as fast as it goes"),
        ({"around": []}, "case 'one': around must be an object, as for `replay --scenario`"),
        ({"around": {"text": "q"}}, "case 'one': the question stands in query, not in around"),
        (
            {"around": {"usr": "U"}},
            "case 'one', around: 'usr' is not a key of a scenario; did you mean 'user'?",
        ),
        (
            {"checks": ["live_stream"]},
            "case 'one': there is no check 'live_stream'; did you mean 'live_streamed'?",
        ),
        ({"checks": [1]}, "case 'one': a check is a name, or an object with the name as \"check\""),
        (
            {"checks": [{"check": "content_delivered", "ovr": 3}]},
            "case 'one', check 'content_delivered': 'ovr' is not a key of this check; did you mean 'over'?",
        ),
        (
            {"checks": [{"check": "content_delivered", "over": "3"}]},
            "case 'one', check 'content_delivered': over must be a number",
        ),
        ({"checks": ["text_is"]}, "case 'one', check 'text_is': text must be a text"),
        (
            {"checks": [{"check": "text_has", "texts": "a"}]},
            "case 'one', check 'text_has': texts must be a list of texts",
        ),
        (
            {"checks": [{"check": "live_streamed", "about": 1}]},
            "case 'one', check 'live_streamed': about must be a text",
        ),
    ],
)
def test_one_sentence_a_mistake(changed: dict[str, Any], told: str) -> None:
    assert mistakes(suite({**CASE, **changed})) == [f"mine.json: {told}"]


@pytest.mark.parametrize("key,typo", [("query", "qery"), ("checks", "cheks"), ("name", "nmae")])
def test_what_is_misspelt_is_not_called_missing(key: str, typo: str) -> None:
    case = {name: value for name, value in CASE.items() if name != key}
    (told,) = mistakes(suite({**case, typo: CASE[key]}))
    assert f"'{typo}' is not a key of a case; did you mean '{key}'?" in told


def test_an_empty_file_is_said_to_be_empty() -> None:
    with pytest.raises(UnreadableInput, match=r"^mine\.json: the file is empty; name another one$"):
        read_suite(" \n", "mine.json")


def test_all_mistakes_are_told_at_once() -> None:
    told = mistakes(suite("x", {"name": "A B"}, CASE, CASE, title="t"))
    assert told[0] == "mine.json: 'title' is not a key of a suite; there are: name, about, cases"
    assert told[1] == "mine.json: case 1 must be an object"
    assert told[2].startswith('mine.json: case 2 needs a "name" of small letters')
    assert told[3] == "mine.json: case 2: query must be the text of the question"
    assert told[4].startswith(
        'mine.json: case 2 needs "checks", a list that is not empty; there are: content_'
    )
    assert told[5:] == ["mine.json: two cases are called 'one'"]


def test_the_caipe_suite_has_its_four_questions_and_22_checks() -> None:
    found, tapes = open_suite("caipe")
    assert [(case.name, case.query, len(case.checks)) for case in found.cases] == [
        ("simple-chat", "tell me a joke", 6),
        ("off-topic", "how is the weather in San Francisco?", 4),
        ("rag-simple", "what is agntcy", 7),
        ("rag-complex", "explain how agntcy agents communicate with each other", 5),
    ]
    assert not tapes


def test_the_extended_suite_begins_with_it_and_uses_every_check() -> None:
    found, tapes = open_suite("extended")
    assert [case.name for case in found.cases][:4] == [
        "simple-chat",
        "off-topic",
        "rag-simple",
        "rag-complex",
    ]
    assert {wanted.name for case in found.cases for wanted in case.checks} == set(CHECKS)
    assert set(tapes) == {case.tape for case in found.cases if case.tape}
    assert all(case.about for case in found.cases[4:])


def test_the_extended_suite_begins_with_the_cases_of_caipe() -> None:
    extended, caipe = ([case.name for case in open_suite(name)[0].cases] for name in ("extended", "caipe"))
    assert extended[: len(caipe)] == caipe
    assert len(set(extended)) == len(extended) > len(caipe)


def test_the_extended_suite_adds_checks_to_the_cases_of_caipe() -> None:
    caipe, extended = (
        {case.name: case for case in open_suite(each)[0].cases} for each in ("caipe", "extended")
    )
    for name, case in caipe.items():
        both = extended[name]
        assert (both.query, both.checks[: len(case.checks)]) == (case.query, case.checks)
        assert {"only_grows", "text_equals_final"} <= {each.name for each in both.checks}


def test_a_check_holds_if_it_held_in_every_run_in_which_it_applied() -> None:
    case = case_result("one", (True, None), (False, None), (True, None))
    live, tools = case.findings
    assert (live.ok, live.passes, live.runs, live.rate, live.detail) == (False, 2, 3, "2/3 (67%)", "detail 1")
    assert (tools.ok, tools.passes, tools.runs, tools.rate, tools.detail) == (None, 0, 0, "n/a", "detail 0")
    assert case.verdict == "FAIL"
    assert case.shown is case.runs[1]
    assert case.shown.seconds == 2.0


def test_without_a_failure_the_first_run_is_shown() -> None:
    case = case_result("one", (True, True), (True, True))
    assert case.verdict == "PASS"
    assert case.shown is case.runs[0]


def test_a_case_that_could_not_be_run_is_an_error() -> None:
    case = case_result("one", (False, False), error="no such setting")
    assert case.verdict == "ERROR"
    assert suite_result(case).verdict == "FAIL"


def test_the_whole() -> None:
    found = suite_result(case_result("a", (True, None)), case_result("b", (True, False)))
    assert ([found.count(ok) for ok in (True, False, None)], found.verdict) == ([2, 1, 1], "FAIL")
    assert suite_result(case_result("a", (True,))).verdict == "PASS"
    assert suite_result().verdict == "FAIL", "nothing was shown"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0.0s"), (12.34, "12.3s"), (59.94, "59.9s"), (59.96, "1m0s"), (65, "1m5s")]
)
def test_durations(seconds: float, told: str) -> None:
    assert duration(seconds) == told

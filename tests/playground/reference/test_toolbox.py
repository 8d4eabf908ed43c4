import json

import pytest

from slack_bot.playground.reference.search import Library
from slack_bot.playground.reference.toolbox import CAPS, FETCH, SEARCH, Toolbox, argument_name, argument_of

LIBRARY = Library({"cats": "# Cats\n\nCats sleep."})


def test_search_and_fetch() -> None:
    tools = Toolbox(LIBRARY)
    found = tools.call(SEARCH, "cats")
    assert [hit.section.page for hit in found.hits] == ["cats"]
    assert "cats: Cats" in found.text
    assert "Cats sleep." in tools.call(FETCH, "cats").text


def test_a_capped_tool_does_not_stop_the_other() -> None:
    tools = Toolbox(LIBRARY)
    results = [tools.call(SEARCH, "cats") for _ in range(7)]
    assert [result.capped for result in results] == [False] * 5 + [True] * 2
    assert "limit reached" in results[-1].text
    assert not results[-1].failed
    fetched = [tools.call(FETCH, "cats") for _ in range(11)]
    assert [result.capped for result in fetched] == [False] * 10 + [True]
    assert tools.calls == {SEARCH: 7, FETCH: 11}
    assert CAPS == {SEARCH: 5, FETCH: 10}


def test_what_does_not_exist_is_a_failed_result() -> None:
    tools = Toolbox(LIBRARY)
    assert tools.call(FETCH, "birds").failed
    assert tools.call("archive", "x").failed


def test_a_call_is_labelled_with_its_argument_for_a_person() -> None:
    tools = Toolbox(LIBRARY)
    assert tools.label(SEARCH, "what are\n cats") == "Search “what are cats”"
    assert tools.label(FETCH, "cats") == "Read “Cats”"
    assert tools.label(FETCH, "birds") == "Read “birds”"
    assert tools.label("old_archive", "everything") == "Old archive “everything”"
    assert tools.label(SEARCH, "") == "Search"


def test_the_argument_is_found_in_a_call_s_json() -> None:
    for tool in (SEARCH, FETCH, "archive"):
        assert argument_of(tool, json.dumps({argument_name(tool): "cats", "more": 7})) == "cats"


@pytest.mark.parametrize("arguments", ["", "nonsense", "[]", "{}", '{"query": 7}', "[" * 100_000])
def test_a_call_without_an_argument_has_an_empty_one(arguments: str) -> None:
    assert argument_of(SEARCH, arguments) == ""

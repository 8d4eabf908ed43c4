import asyncio
import json
from functools import cache

import pytest

from slack_bot.playground.reference.search import Library
from slack_bot.playground.reference.toolbox import (
    FETCH,
    POLICY_SECONDS,
    SEARCH,
    Toolbox,
    ToolCall,
    ToolResult,
    argument_name,
)
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing import virtual_clock


@cache
def library() -> Library:
    return Library({"cats": "# Cats\n\nCats sleep."})


def toolbox(**settings: object) -> Toolbox:
    return Toolbox(library(), ReferenceSettings.model_validate(settings))


def call(tool: str, argument: str) -> ToolCall:
    return ToolCall("c", tool, json.dumps({argument_name(tool): argument, "more": 7}))


def test_search_and_fetch() -> None:
    tools = toolbox()
    found = tools.run(SEARCH, "cats")
    assert [hit.section.page for hit in found.hits] == ["cats"]
    assert "cats: Cats" in found.text
    assert "Cats sleep." in tools.run(FETCH, "cats").text


def test_a_capped_tool_does_not_stop_the_other() -> None:
    tools = toolbox()
    results = [tools.run(SEARCH, "cats") for _ in range(7)]
    assert [result.capped for result in results] == [False] * 5 + [True] * 2
    assert "limit reached" in results[-1].text
    assert not results[-1].failed
    fetched = [tools.run(FETCH, "cats") for _ in range(11)]
    assert [result.capped for result in fetched] == [False] * 10 + [True]


def test_what_does_not_exist_is_a_failed_result() -> None:
    tools = toolbox()
    assert tools.run(FETCH, "birds").failed
    assert tools.run("archive", "x").failed


def test_a_call_is_labelled_with_its_argument_for_a_person() -> None:
    tools = toolbox()
    assert tools.label(call(SEARCH, "what are\n cats")) == "Search “what are cats”"
    assert tools.label(call(FETCH, "cats")) == "Read “Cats”"
    assert tools.label(call(FETCH, "birds")) == "Read “birds”"
    assert tools.label(call("old_archive", "everything")) == "Old archive “everything”"
    assert tools.label(call(SEARCH, "")) == "Search"


def test_the_argument_is_found_in_a_call_s_json() -> None:
    for tool in (SEARCH, FETCH, "archive"):
        assert toolbox().argument(call(tool, "cats")) == "cats"


@pytest.mark.parametrize("arguments", ["", "nonsense", "[]", "{}", '{"query": 7}', "[" * 100_000])
def test_a_call_without_an_argument_has_an_empty_one(arguments: str) -> None:
    assert toolbox().argument(ToolCall("c", SEARCH, arguments)) == ""


def test_an_argument_may_name_a_page() -> None:
    for text in ("latch", "a@latch.md", "@latch.md and more", "@../secret.md"):
        assert toolbox().argument(call(FETCH, text)) == text
    assert toolbox().argument(call(FETCH, " @latch ")) == "latch"
    assert toolbox(file_arg_middleware=False).argument(call(FETCH, "@latch.md")) == "@latch.md"


def test_the_policy_takes_its_time_and_refuses_what_nobody_gave() -> None:
    async def timed(policy: bool, tool: str) -> tuple[ToolResult, float]:
        loop = asyncio.get_running_loop()
        return await toolbox(policy_middleware=policy).call(call(tool, "cats")), loop.time()

    refused, took = virtual_clock.run(timed(True, "rm"))
    assert (refused.text, refused.failed) == ("policy: rm is not among the tools of this agent", True)
    assert took == pytest.approx(POLICY_SECONDS)
    result, took = virtual_clock.run(timed(True, FETCH))
    assert "Cats sleep." in result.text
    assert took == pytest.approx(POLICY_SECONDS + virtual_clock.run(timed(False, FETCH))[1])
    assert virtual_clock.run(timed(False, "rm"))[0].text == "rm has nothing for 'cats'"

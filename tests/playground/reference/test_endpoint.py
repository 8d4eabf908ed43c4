import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from slack_bot.playground.reference.endpoint import Deltas, EndpointModel, endpoint_client
from slack_bot.playground.reference.toolbox import (
    ASK,
    FETCH,
    PLAN,
    RESPONSE,
    SEARCH,
    ModelFailed,
    Prompt,
    Returned,
    ToolCall,
    ToolResult,
)
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing import virtual_clock

ASKED = Prompt("What?")
Answer = Callable[[], httpx.Response]


def chunk(**delta: Any) -> str:
    return f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n"


def streamed(*chunks: str, done: bool = True) -> Answer:
    body = "".join(chunks) + ("data: [DONE]\n\n" if done else "")
    return lambda: httpx.Response(200, content=body, headers={"content-type": "text/event-stream"})


def refused(status: int) -> Answer:
    return lambda: httpx.Response(status, json={"error": "sk-hunter2 is wrong"})


def unreachable() -> httpx.Response:
    raise httpx.ConnectError("no route to sk-hunter2")


class Endpoint:
    """An endpoint that gives these answers, one a request; `requests` is what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = iter(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return next(self._answers)()

    def body(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.requests[number].content)
        return found


def settings(**changed: Any) -> ReferenceSettings:
    given = {"model_url": "https://llm.test/v1/", "model_key": "sk-hunter2", "model_name": "some-model"}
    return ReferenceSettings.model_validate(given | changed)


def talked(
    *answers: Answer, turns: tuple[Returned, ...] = ((),), prompt: Prompt = ASKED, **changed: Any
) -> tuple[list[Any], Endpoint]:
    endpoint = Endpoint(*answers)

    async def talk() -> list[Any]:
        chosen = settings(**changed)
        async with endpoint_client(chosen, httpx.MockTransport(endpoint)) as http:
            model = EndpointModel(http, chosen, prompt)
            return [each for returned in turns async for each in model.turn(returned)]

    return virtual_clock.run(talk()), endpoint


def test_it_streams_and_is_told_who_asks_what() -> None:
    said, endpoint = talked(streamed(chunk(content="Hel"), chunk(content="lo")))
    assert said == ["Hel", "lo"]
    request, body = endpoint.requests[0], endpoint.body(0)
    assert str(request.url) == "https://llm.test/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-hunter2"
    assert (body["model"], body["stream"], body["messages"][1]["content"]) == ("some-model", True, "What?")
    assert len(body["tools"]) == 4


def test_what_a_tool_returned_goes_back_behind_the_message_that_called_it() -> None:
    part = {"index": 0, "id": "c1", "function": {"name": "search", "arguments": '{"query": "x"}'}}
    returned = [(ToolCall("c1", "search", '{"query": "x"}'), ToolResult("found"))]
    said, endpoint = talked(
        streamed(chunk(tool_calls=[part])), streamed(chunk(content="So.")), turns=([], returned)
    )
    assert said == [ToolCall("c1", "search", '{"query": "x"}'), "So."]
    *_, call, result = endpoint.body(1)["messages"]
    assert call["tool_calls"][0]["function"]["name"] == "search"
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "found"}


def test_no_key_is_no_header() -> None:
    _, endpoint = talked(streamed(chunk(content="x")), model_key=None)
    assert "authorization" not in endpoint.requests[0].headers


@pytest.mark.parametrize("first", [refused(429), refused(503), unreachable])
def test_it_is_asked_again_while_it_has_said_nothing(first: Answer) -> None:
    said, endpoint = talked(first, first, streamed(chunk(content="At last.")))
    assert said == ["At last."]
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([refused(401)], "The language model refused the request (HTTP 401)."),
        ([refused(500)] * 3, "The language model refused the request (HTTP 500)."),
        ([unreachable] * 3, "The language model cannot be reached."),
        ([streamed("data: nonsense\n\n")], "The language model sent something that cannot be read."),
    ],
)
def test_a_failure_is_one_sentence_without_address_and_key(
    answers: list[Answer], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "slack_bot"), pytest.raises(ModelFailed) as failed:
        talked(*answers)
    assert str(failed.value) == told
    assert "hunter2" not in caplog.text
    assert "hunter2" not in repr(settings())


def test_a_stream_that_breaks_in_the_middle_is_not_begun_anew() -> None:
    class Broken(httpx.AsyncByteStream):
        async def __aiter__(self) -> Any:
            yield chunk(content="Half ").encode()
            raise httpx.ReadError("gone")

    with pytest.raises(ModelFailed, match="broke in the middle"):
        talked(lambda: httpx.Response(200, stream=Broken()))


def test_a_stream_that_falls_silent_is_given_up() -> None:
    class Silent(httpx.AsyncByteStream):
        async def __aiter__(self) -> Any:
            yield chunk(content="Half ").encode()
            while True:
                await asyncio.sleep(5)
                yield b": ping\n\n"

    with pytest.raises(ModelFailed, match="broke in the middle"):
        talked(lambda: httpx.Response(200, stream=Silent()), model_timeout=20)


def delta_of(**delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta}]})


def call(name: str | None = None, arguments: str | None = None, **key: Any) -> dict[str, Any]:
    return {**key, "function": {"name": name, "arguments": arguments}}


def fed(*chunks: str) -> tuple[list[str | ToolCall], Deltas]:
    deltas = Deltas()
    return [said for each in chunks for said in deltas.feed(each)], deltas


def test_text_and_calls_come_as_they_are_written() -> None:
    said, _ = fed(
        delta_of(role="assistant", content=""),
        delta_of(content="I'll "),
        delta_of(content="look.", tool_calls=[call("search", "", index=0, id="c1")]),
        delta_of(tool_calls=[call(None, '{"query":', index=0)]),
        delta_of(tool_calls=[call("fetch_document", "{}", index=1, id="c2"), call(None, '"x"}', index=0)]),
        json.dumps({"choices": [], "usage": {}}),
    )
    assert said == [
        "I'll ",
        ToolCall("c1", "search"),
        "look.",
        ToolCall("c1", "search", '{"query":'),
        ToolCall("c2", "fetch_document", "{}"),
        ToolCall("c1", "search", '"x"}'),
    ]


def test_an_endpoint_without_indices_is_understood() -> None:
    said, _ = fed(
        delta_of(tool_calls=[call("a", "{", id="c1")]),
        delta_of(tool_calls=[call(None, "}")]),
        delta_of(tool_calls=[call("b", "{}", id="c2")]),
    )
    assert said == [ToolCall("c1", "a", "{"), ToolCall("c1", "a", "}"), ToolCall("c2", "b", "{}")]


def test_what_says_nothing_is_nothing() -> None:
    said, deltas = fed(
        "{}",
        '{"choices": [7]}',
        delta_of(tool_calls=[call(None, "{}", index=3)]),
        delta_of(tool_calls=[7]),
        delta_of(tool_calls={}),
        delta_of(content=None),
    )
    assert said == []
    assert deltas.is_empty


def test_half_a_surrogate_pair_is_mended() -> None:
    said, _ = fed(delta_of(content="a\ud83d"))
    assert said == ["a\ufffd"]


@pytest.mark.parametrize("data", ["no json", "[]", '{"error": {"message": "sk-secret"}}', "[" * 100_000])
def test_what_cannot_go_on_fails_without_the_endpoint_s_words(data: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        fed(data)
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(("mode", "last"), [("hybrid", ASK), ("marker", ASK), ("structured", RESPONSE)])
def test_a_model_is_told_the_way_of_its_mode(mode: str, last: str) -> None:
    _, endpoint = talked(streamed(chunk(content="x")), response_mode=mode)
    body = endpoint.body(0)
    assert ("[FINAL ANSWER]" in body["messages"][0]["content"]) == (last == ASK)
    assert [each["function"]["name"] for each in body["tools"]] == [SEARCH, FETCH, PLAN, last]


def test_a_skill_is_told_too() -> None:
    bare, skilled = (
        talked(streamed(chunk(content="x")), prompt=prompt)[1].body(0)["messages"][0]["content"]
        for prompt in (ASKED, Prompt("What?", skill="deep-research"))
    )
    assert skilled.startswith(bare)
    assert "several sides" in skilled


def test_a_reply_comes_behind_what_was_asked() -> None:
    _, endpoint = talked(streamed(chunk(content="x")), prompt=Prompt("deploy", "staging", "Which?"))
    assert [(each["role"], each["content"]) for each in endpoint.body(0)["messages"][1:]] == [
        ("user", "deploy"),
        ("assistant", "Which?"),
        ("user", "staging"),
    ]

import json
from typing import Any

import pytest

from slack_bot.playground.reference.deltas import Deltas
from slack_bot.playground.reference.model import CallPart, ModelFailed, Token


def chunk(**delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta}]})


def call(name: str | None = None, arguments: str | None = None, **key: Any) -> dict[str, Any]:
    return {**key, "function": {"name": name, "arguments": arguments}}


def fed(*chunks: str) -> tuple[list[Token | CallPart], Deltas]:
    deltas = Deltas()
    return [said for each in chunks for said in deltas.feed(each)], deltas


def test_text_and_calls_come_as_they_are_written_and_go_back_as_one_message() -> None:
    said, deltas = fed(
        chunk(role="assistant", content=""),
        chunk(content="I'll "),
        chunk(content="look.", tool_calls=[call("search", "", index=0, id="c1")]),
        chunk(tool_calls=[call(None, '{"query":', index=0)]),
        chunk(tool_calls=[call("fetch_document", "{}", index=1, id="c2"), call(None, '"x"}', index=0)]),
        json.dumps({"choices": [], "usage": {}}),
    )
    assert said == [
        Token("I'll "),
        CallPart("c1", "search"),
        Token("look."),
        CallPart("c1", "search", '{"query":'),
        CallPart("c2", "fetch_document", "{}"),
        CallPart("c1", "search", '"x"}'),
    ]
    assert [(each.tool, each.arguments) for each in deltas.calls] == [
        ("search", '{"query":"x"}'),
        ("fetch_document", "{}"),
    ]
    message = deltas.message()
    assert message["content"] == "I'll look."
    assert [each["id"] for each in message["tool_calls"]] == ["c1", "c2"]


def test_an_endpoint_without_indices_is_understood() -> None:
    said, _ = fed(
        chunk(tool_calls=[call("a", "{", id="c1")]),
        chunk(tool_calls=[call(None, "}")]),
        chunk(tool_calls=[call("b", "{}", id="c2")]),
    )
    assert said == [CallPart("c1", "a", "{"), CallPart("c1", "a", "}"), CallPart("c2", "b", "{}")]


def test_what_says_nothing_is_nothing() -> None:
    said, deltas = fed(
        "{}",
        '{"choices": [7]}',
        chunk(tool_calls=[call(None, "{}", index=3)]),
        chunk(tool_calls=[7]),
        chunk(tool_calls={}),
        chunk(content=None),
    )
    assert said == []
    assert deltas.is_empty
    assert deltas.message() == {"role": "assistant", "content": None}


def test_half_a_surrogate_pair_is_mended() -> None:
    said, _ = fed(chunk(content="a\ud83d"))
    assert said == [Token("a\ufffd")]


@pytest.mark.parametrize("data", ["no json", "[]", '{"error": {"message": "sk-secret"}}', "[" * 100_000])
def test_what_cannot_go_on_fails_without_the_endpoint_s_words(data: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        fed(data)
    assert "secret" not in str(failed.value)

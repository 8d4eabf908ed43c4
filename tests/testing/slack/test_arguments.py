"""Arguments: each of its kind, from a form or from JSON; none missing, none unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack.arguments import ARGUMENTS, FORM_ONLY, read
from slack_bot.testing.slack.state import Refused

POST, REPLIES = "chat.postMessage", "conversations.replies"
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("method", "given_args", "is_json", "error"),
    [
        (POST, {"text": "t"}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "txt": "t"}, True, "invalid_arguments"),
        (POST, {"channel": 7}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "unfurl_links": "maybe"}, False, "invalid_arguments"),
        (POST, {"channel": "C1", "unfurl_links": []}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "blocks": "[{"}, False, "invalid_blocks_format"),
        (POST, {"channel": "C1", "blocks": "{}"}, False, "invalid_blocks_format"),
        (POST, {"channel": "C1", "blocks": "[" * 200_000}, False, "invalid_blocks_format"),
        (POST, {"channel": "C1", "attachments": {}}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "metadata": "x"}, False, "invalid_metadata_format"),
        (POST, {"channel": "C1", "metadata": []}, True, "invalid_metadata_format"),
        ("chat.appendStream", {"channel": "C1", "ts": "1.2", "chunks": "x"}, False, "invalid_chunks"),
        (REPLIES, {"channel": "C1", "ts": "1.2"}, True, "invalid_arguments"),
        (REPLIES, {"channel": "C1", "ts": "1.2", "limit": "few"}, False, "invalid_arguments"),
        (REPLIES, {"channel": "C1", "ts": "1.2", "limit": "²"}, False, "invalid_arguments"),
        ("views.open", {"trigger_id": "t", "view": "nope"}, True, "invalid_arguments"),
    ],
)
def test_refused(method: str, given_args: dict[str, Any], is_json: bool, error: str) -> None:
    with pytest.raises(Refused) as caught:
        read(method, given_args, is_json)
    assert caught.value.error == error
    assert caught.value.detail and caught.value.detail in str(caught.value)


@pytest.mark.parametrize(
    ("method", "given_args", "is_json", "expected"),
    [
        (POST, {"channel": "C1", "text": None, "token": "x", "team_id": "T1"}, True, {"channel": "C1"}),
        (POST, {"channel": "C1", "unfurl_links": True}, True, {"channel": "C1", "unfurl_links": True}),
        (POST, {"channel": "C1", "unfurl_links": "0"}, False, {"channel": "C1", "unfurl_links": False}),
        (POST, {"channel": "C1", "unfurl_links": 1}, True, {"channel": "C1", "unfurl_links": True}),
        (POST, {"channel": "C1", "blocks": "[]"}, False, {"channel": "C1", "blocks": []}),
        (POST, {"channel": "C1", "metadata": "{}"}, False, {"channel": "C1", "metadata": {}}),
        (
            REPLIES,
            {"channel": "C1", "ts": "1.2", "limit": "5"},
            False,
            {"channel": "C1", "ts": "1.2", "limit": 5},
        ),
        ("files.getUploadURLExternal", {"filename": "f", "length": 3}, False, {"filename": "f", "length": 3}),
        ("users.info", {"user": "U1"}, False, {"user": "U1"}),
        ("auth.test", {}, True, {}),
    ],
)
def test_taken(method: str, given_args: dict[str, Any], is_json: bool, expected: dict[str, Any]) -> None:
    assert read(method, given_args, is_json) == expected


def test_a_refusal_without_detail_is_its_name() -> None:
    assert str(Refused("no_text")) == "no_text"


def test_the_methods_that_read_take_no_json() -> None:
    assert set(ARGUMENTS) >= FORM_ONLY


@given(method=st.sampled_from(sorted(ARGUMENTS)), data=st.data(), is_json=st.booleans())
def test_whatever_comes_is_read_or_refused(method: str, data: st.DataObject, is_json: bool) -> None:
    names = st.sampled_from([*ARGUMENTS[method], "strange"])
    args = data.draw(st.dictionaries(names, ANYTHING | ANYTHING.map(json.dumps), max_size=4))
    try:
        known = read(method, args, is_json)
    except Refused as refused:
        assert refused.error.startswith("invalid_")
    else:
        assert set(known) <= set(ARGUMENTS[method])

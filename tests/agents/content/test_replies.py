"""An answer goes in the dialect that asked; words are never an approval."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slack_bot.agents.content.replies import Reply, reply_in_words, reply_to
from slack_bot.agents.wire.frames import Part
from slack_bot.turn.form import Answer, Form, Verdict, answer_of
from tests.agents.content.test_forms import SCHEMA, STACK, asked, data, deferred, hitl, waiting

YES = Answer(verdict=Verdict.APPROVE)
NO = Answer(verdict=Verdict.REJECT, reason="too much")
ENV = {"env": "dev", "n": 3.0}


def interrupts(*reasons: Any) -> Part:
    rows = [{"interruptId": f"i{at}", "name": f"n{at}", "reason": each} for at, each in enumerate(reasons)]
    return data({"interrupts": rows})


def response(key: str, value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"interruptResponse": {"interruptId": key, "response": value}}, {}


def function(key: str, name: str, value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"id": key, "name": name, "response": value}, {"adk_type": "function_response"}


def approvals(**results: Any) -> Reply:
    return Reply(data=(({"approvals": results}, {}),))


def resume(value: Any) -> Reply:
    return Reply(data=(({"resume": value}, {}),))


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        (Form("Which?"), Reply("yes")),
        (asked(data(SCHEMA)), Reply("yes")),
        (asked(interrupts("Sure?")), Reply(data=(response("i0", "yes"),))),
        (asked(interrupts("a?", "b?")), Reply(data=(response("i0", "yes"), response("i1", "yes")))),
        (asked(waiting("ask", {})), Reply(data=(function("c1", "ask", {"result": "yes"}),))),
        (asked(data({"id": "1", "value": "Sure?"})), resume("yes")),
        (
            asked(data({"id": "1", "value": "a"}), data({"id": "2", "value": "b"})),
            resume({"1": "yes", "2": "yes"}),
        ),
    ],
)
def test_words_answer_a_question_in_words(form: Form, reply: Reply) -> None:
    assert reply_in_words(form, "yes") == reply


def caipe(**more: Any) -> Part:
    rows = [{"field_name": "env", "field_values": ["dev"]}, {"field_name": "other"}]
    return data({"user_input": True, "input_fields": rows, **more})


LINES = "env: dev\nn: 3"
EDITED = {"action_name": "CAIPEAgentResponse", "type": "edit"}


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        (asked(data(SCHEMA)), Reply(LINES, (({"env": "dev", "n": 3}, {}),))),
        (asked(data({"fields": [{"id": "env"}]})), Reply("env: dev", (({"env": "dev"}, {}),))),
        (asked(interrupts(SCHEMA)), Reply(data=(response("i0", {"env": "dev", "n": 3}),))),
        (asked(waiting("adk_request_input", {"response_schema": SCHEMA})),
         Reply(data=(function("c1", "adk_request_input", {"env": "dev", "n": 3}),))),
        (asked(data({"id": "1", "value": "?", "response_schema": SCHEMA})), resume({"env": "dev", "n": 3})),
        (asked(caipe()), Reply("env: dev")),
        (asked(caipe(response="Which?")), Reply("env: dev", (({"resume": {"decisions": [{
            **EDITED,
            "args": {"args": {
                "metadata": {"input_fields": [
                    {"field_name": "env", "field_values": ["dev"], "value": "dev"}, {"field_name": "other"},
                ]},
                "user_inputs": {"env": "dev"},
            }},
        }]}}, {}),))),
    ],
)  # fmt: skip
def test_what_was_filled_in(form: Form, reply: Reply) -> None:
    assert reply_to(form, answer_of(form, ENV)) == reply


def test_several_that_wait_are_answered_each_by_its_own() -> None:
    form = asked(interrupts("a?", "b?"))
    assert reply_to(form, answer_of(form, {"i0": "x", "i1": "y"})).data == (
        response("i0", "x"), response("i1", "y")
    )  # fmt: skip
    form = asked(waiting("ask", {}, "c1"), waiting("tell", {}, "c2"))
    assert reply_to(form, answer_of(form, {"c1": "x", "c2": "y"})).data == (
        function("c1", "ask", {"result": "x"}), function("c2", "tell", {"result": "y"})
    )  # fmt: skip


def test_choices_that_are_no_texts_and_secrets_go_as_they_are() -> None:
    properties = {
        "n": {"enum": [1, 2]},
        "many": {"type": "array", "items": {"enum": [1, "b"]}},
        "sure": {"type": "boolean"},
        "key": {"type": "string", "format": "password"},
        "left": {"type": "string"},
    }
    form = asked(data({"type": "object", "properties": properties}))
    answer = answer_of(form, {"n": "2", "many": ("1", "b"), "sure": False, "key": "hunter2", "left": ""})
    assert reply_to(form, answer) == Reply(
        "n: 2\nmany: 1, b\nsure: false\nkey: hunter2",
        (({"n": 2, "many": [1, "b"], "sure": False, "key": "hunter2"}, {}),),
    )


def confirmation(payload: Any = None) -> Part:
    call = {"id": "o", "name": "pay", "args": {"amount": 5}}
    told = {"hint": "Pay?", "payload": payload}
    return waiting("adk_request_confirmation", {"originalFunctionCall": call, "toolConfirmation": told})


def human(**config: bool) -> Part:
    request = {"action_request": {"action": "pay", "args": {"n": 1}}, "config": config}
    return data({"id": "1", "value": [request]})


def confirms(value: dict[str, Any]) -> Reply:
    return Reply(data=(function("c1", "adk_request_confirmation", value),))


def kagents(name: str, args: Any) -> Part:
    """The same of kagent-adk, which is built on ADK and marks its parts in its own name."""
    part = waiting(name, args)
    part.metadata = {key.replace("adk_", "kagent_"): value for key, value in part.metadata.items()}
    return part


def test_kagent_reads_words_and_decisions_and_no_function_responses() -> None:
    """kagent-adk 0.10.4 ends the stream at a response, and its task works on for ever."""
    assert reply_in_words(asked(kagents("ask", {})), "yes") == Reply("yes")
    form = asked(kagents("ask", {}), prompt="Which?")
    assert reply_in_words(form, "yes") == Reply("yes")
    schema = asked(kagents("adk_request_input", {"response_schema": SCHEMA}))
    assert reply_to(schema, answer_of(schema, ENV)) == Reply(LINES)
    confirm = confirmation({"days": 1}).data
    form = asked(kagents(confirm["name"], confirm["args"]))
    assert not form.may_edit
    assert reply_to(form, YES) == Reply(data=(({"decision_type": "approve"}, {}),))
    refusal = {"decision_type": "reject", "rejection_reason": "too much"}
    assert reply_to(form, NO) == Reply(data=((refusal, {}),))


EDITS = Answer(verdict=Verdict.APPROVE, arguments='{"n": 2}')
APPROVAL = f"{STACK}interactions/approval/v1"
NODE = {"properties": {"hint": {}, "confirmed": {}}}


@pytest.mark.parametrize(
    ("form", "answer", "reply"),
    [
        (asked(confirmation()), YES, confirms({"confirmed": True})),
        (asked(confirmation()), NO, confirms({"confirmed": False})),
        (asked(confirmation({"days": 1})), YES, confirms({"confirmed": True, "payload": {"days": 1}})),
        (asked(confirmation({"days": 1})), EDITS, confirms({"confirmed": True, "payload": {"n": 2}})),
        (asked(confirmation({"days": 1})), NO, confirms({"confirmed": False})),
        (asked(waiting("adk_request_input", {"response_schema": NODE})), YES,
         Reply(data=(function("c1", "adk_request_input", {"confirmed": True}),))),
        (asked(hitl()), YES, resume({"decisions": [{"type": "approve"}]})),
        (asked(hitl(2)), YES, resume({"decisions": [{"type": "approve"}] * 2})),
        (asked(hitl()), NO, resume({"decisions": [{"type": "reject", "message": "too much"}]})),
        (asked(hitl()), EDITS,
         resume({"decisions": [{"type": "edit", "edited_action": {"name": "pay", "args": {"n": 2}}}]})),
        (asked(deferred(2)), YES, approvals(c0={"kind": "tool-approved"}, c1={"kind": "tool-approved"})),
        (asked(deferred()), EDITS, approvals(c0={"kind": "tool-approved", "override_args": {"n": 2}})),
        (asked(deferred()), NO, approvals(c0={"kind": "tool-denied", "message": "too much"})),
        (asked(human()), YES, resume([{"type": "accept", "args": None}])),
        (asked(human()), NO, resume([{"type": "ignore", "args": None}])),
        (asked(human(allow_respond=True)), NO, resume([{"type": "response", "args": "too much"}])),
        (asked(human(allow_edit=True)), EDITS,
         resume([{"type": "edit", "args": {"action": "pay", "args": {"n": 2}}}])),
        (asked(**{APPROVAL: {"title": "Go"}}), YES,
         Reply("approve", metadata={APPROVAL: {"action": "approve", "decision": "approve"}})),
        (asked(**{APPROVAL: {"title": "Go"}}), NO,
         Reply("reject: too much", metadata={APPROVAL: {"action": "reject", "decision": "reject"}})),
    ],
)  # fmt: skip
def test_what_was_decided(form: Form, answer: Answer, reply: Reply) -> None:
    assert reply_to(form, answer) == reply
    assert not form.takes_words


def test_agentstacks_form() -> None:
    uri = f"{STACK}ui/form_request/v1"
    boxes = [{"type": "checkbox", "id": "a", "content": "A"}, {"type": "checkbox", "id": "b", "content": "B"}]
    fields = [
        {"type": "text", "id": "name", "label": "Name"},
        {"type": "checkbox", "id": "sure", "label": "Sure", "content": "I am"},
        {"type": "checkbox_group", "id": "tags", "label": "Tags", "fields": boxes},
        {"type": "date", "id": "day", "label": "Day"},
    ]
    form = asked(**{uri: {"fields": fields}})
    answer = answer_of(form, {"name": "Ada", "sure": True, "tags": ("b",)})
    assert reply_to(form, answer) == Reply(
        "name: Ada\nsure: true\ntags: b",
        metadata={
            uri: {
                "values": {
                    "name": {"type": "text", "value": "Ada"},
                    "sure": {"type": "checkbox", "value": True},
                    "tags": {"type": "checkbox_group", "value": {"a": False, "b": True}},
                    "day": {"type": "date", "value": None},
                }
            }
        },
    )


def test_the_example_of_caipes_own_page() -> None:
    """As `captures/caipe/ui_hitl_resume_examples.json` has it."""
    rows = [
        {"field_name": "repo_name", "field_description": "Name"},
        {"field_name": "visibility", "field_values": ["private", "public"]},
    ]
    form = asked(data({"user_input": True, "input_fields": rows, "response": "Which?"}))
    reply = reply_to(form, answer_of(form, {"repo_name": "demo", "visibility": "private"}))
    assert reply.text == "repo_name: demo\nvisibility: private"
    [(content, _)] = reply.data
    [decision] = content["resume"]["decisions"]
    assert json.dumps(decision["args"]["args"]["metadata"]["input_fields"][0]) == json.dumps(
        {"field_name": "repo_name", "field_description": "Name", "value": "demo"}
    )

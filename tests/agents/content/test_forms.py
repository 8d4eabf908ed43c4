"""What each framework asks is read as the same kind of form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.content.forms import form_in, form_of, question_in, sign_in
from slack_bot.agents.wire.frames import Part
from slack_bot.turn.form import Choice, Field, FieldKind, Form, FormKind, ProposedCall, ReplyFormat

STACK = "https://a2a-extensions.agentstack.beeai.dev/"


def data(value: Any, **metadata: Any) -> Part:
    return Part(data=value, has_data=True, metadata=metadata)


def waiting(name: str, args: Any, key: str = "c1") -> Part:
    call = {"id": key, "name": name, "args": args}
    return data(call, adk_type="function_call", adk_is_long_running=True)


def asked(*parts: Part, prompt: str = "", **metadata: Any) -> Form:
    form = question_in(parts, prompt, metadata=metadata)
    assert form is not None
    return form


def needs(form: Form) -> Any:
    return json.loads(form.reply.data)


# -- words

CALL = {"name": "ask_approval", "id": "fc", "args": {"amount": 5.0}}
DEPLOY = {"question": "Deploy?", "env": "prod"}
INTERRUPT = {"interruptId": "i", "name": "approval", "reason": {"amount": 5}}
ADK = ReplyFormat("adk", '{"calls": [{"id": "c1", "name": "ask", "prefix": "adk_"}]}')
STRANDS = ReplyFormat("strands", '{"ids": ["i"]}')
LANGGRAPH = ReplyFormat("langgraph", '{"ids": ["1"]}')


@pytest.mark.parametrize(
    ("parts", "prompt", "form"),
    [
        ((), "Which?", None),
        ((Part(text="Which?"),), "Which?", None),
        ((data(CALL, adk_type="function_call"),), "", Form("**ask_approval**\n- **amount**: 5")),
        ((data(CALL, adk_type="function_response"),), "Go on?", None),
        ((waiting("ask", {"n": 5}),), "Hm?", Form("Hm?\n\n**ask**\n- **n**: 5", reply=ADK)),
        ((waiting("ask", {"question": "Hm?"}),), "", Form("Hm?", reply=ADK)),
        ((waiting("ask", {"question": "Hm?"}),), "Hm?", Form("Hm?", reply=ADK)),
        ((waiting("ask", {"question": "Hm?"}),), "So.", Form("So.\n\nHm?", reply=ADK)),
        ((waiting("ask", DEPLOY),), "", Form("**ask**\n- **question**: Deploy?\n- **env**: prod", reply=ADK)),
        ((data({"interrupts": [INTERRUPT, 3]}),), "", Form("**approval**\n- **amount**: 5", reply=STRANDS)),
        ((data({"interrupts": [INTERRUPT]}),), "Agent requires input:\n- approval: 5",
         Form("Agent requires input:\n- approval: 5", reply=STRANDS)),
        ((data({"interrupts": [{"name": "approval"}]}),), "", Form("**approval**")),
        ((data({"id": "1", "value": DEPLOY}),), "", Form("Deploy?\n\n- **env**: prod", reply=LANGGRAPH)),
        ((data({"id": "1", "value": "Deploy?"}),), "", Form("Deploy?", reply=LANGGRAPH)),
        ((data({"id": "1", "value": {"env": "prod"}}),), "", Form("- **env**: prod", reply=LANGGRAPH)),
        ((data({"id": "1", "value": None}),), "x", Form("x", reply=LANGGRAPH)),
        ((data({"plan": "drop the table"}),), "Go on?", Form("Go on?\n\n- **plan**: drop the table")),
        ((data({"tool_results": [{"name": "search"}]}),), "Go on?", None),
    ],
)  # fmt: skip
def test_a_question_in_words(parts: tuple[Part, ...], prompt: str, form: Form | None) -> None:
    assert question_in(parts, prompt) == form


def test_a_call_that_asks_what_the_reader_has_read_is_not_named_again() -> None:
    call = data(CALL, adk_type="function_call")
    assert question_in((call,), shown_text="Shall I approve 5?") is None
    assert question_in((call,), shown_text="Shall I?") is not None
    bare = data({"name": "confirm"}, adk_type="function_call")
    assert question_in((bare,), shown_text="Shall I?") == Form("**confirm**")
    again = question_in((waiting("ask", {"q": "Shall I?"}),), shown_text="Shall I?")
    assert again == Form("", reply=ADK), "what it takes to answer it is kept"


def test_a_question_of_a_thousand_parts_is_cut_and_says_so() -> None:
    parts = tuple(Part(data={"interrupts": [{"name": f"n{n}"}]}, has_data=True) for n in range(1000))
    form = question_in(parts, "Which?")
    assert form is not None
    assert form.prompt.startswith("Which?\n\n**n0**\n\n**n1**")
    assert form.prompt.endswith("**n99**\n\n_… and more, which is not shown here_")
    whole = question_in(parts[:100], "Which?")
    assert whole is not None and whole.prompt.endswith("**n99**")


def test_of_several_that_wait_each_is_a_field() -> None:
    form = asked(waiting("ask", {}, "c1"), waiting("tell", {}, "c2"), prompt="Two")
    assert form.fields == (Field("c1", "ask", required=True), Field("c2", "tell", required=True))
    named = asked(waiting("ask", {"question": "a?"}, "c1"), waiting("tell", {"question": "b?"}, "c2"))
    assert named.prompt == "**ask**\n- **question**: a?\n\n**tell**\n- **question**: b?"
    rows = [{"interruptId": f"i{n}", "name": f"n{n}"} for n in range(2)]
    assert [each.name for each in asked(data({"interrupts": rows})).fields] == ["i0", "i1"]
    two = asked(data({"id": "1", "value": "a?"}), data({"id": "2", "value": "b?"}))
    assert [(each.name, each.label) for each in two.fields] == [("1", "Answer 1"), ("2", "Answer 2")]
    assert two.prompt == "a?\n\nb?"


# -- fields

SCHEMA = {
    "type": "object",
    "properties": {"env": {"enum": ["prod", "dev"], "title": "Where"}, "n": {"type": "integer"}, "x": 1},
    "required": ["env"],
}
ENV = Field("env", "Where", FieldKind.SELECT, (Choice("prod"), Choice("dev")), required=True)
FIELDS = (ENV, Field("n", "", FieldKind.NUMBER, is_whole=True))


@pytest.mark.parametrize(
    ("value", "prompt", "title"),
    [
        ({"type": "form", "title": "Go", "schema": SCHEMA}, "", "Go"),
        (SCHEMA, "", ""),
        ({"type": "form", "form": SCHEMA, "form_data": {"n": "?"}, "instructions": "Fill."}, "Fill.", ""),
    ],
)
def test_a_json_schema(value: dict[str, Any], prompt: str, title: str) -> None:
    form = asked(data(value))
    assert (form.prompt, form.title, form.fields) == (prompt, title, FIELDS)
    assert (form.reply.name, needs(form)) == ("values", {"raw": {}})
    assert asked(data(value), prompt="Which?").prompt == "Which?"


def test_caipe_in_both_of_its_ways() -> None:
    row = {"field_name": "region", "field_description": "AWS region", "field_values": ["a", "b"]}
    field = Field("region", "", FieldKind.SELECT, (Choice("a"), Choice("b")), help="AWS region")
    plain = asked(data({"user_input": True, "input_fields": [row]}), prompt="Which?")
    assert (plain.fields, plain.reply.name) == ((field,), "caipe")
    boxed = {"require_user_input": True, "content": "Fill it", "metadata": {"input_fields": [row]}}
    assert (asked(data(boxed)).prompt, asked(data(boxed)).reply.name) == ("Fill it", "caipe")
    interrupt = {
        "user_input": True,
        "input_title": "New bucket",
        "input_fields": [{**row, "default_value": "a", "required": True}],
        "response": "Please choose.",
    }
    form = asked(data(interrupt))
    assert form.title == "New bucket"
    assert (form.fields[0].default, form.fields[0].required) == ("a", True)
    assert (form.reply.name, needs(form)["input_fields"]) == ("caipe-interrupt", [row])


def test_other_fields_and_flags() -> None:
    other = {"title": "T", "description": "Confirm", "fields": [{"id": "p"}]}
    form = asked(data(other))
    assert (form.prompt, form.title, form.fields, form.reply.name) == (
        "Confirm", "T", (Field("p"),), "values"
    )  # fmt: skip
    assert form_of({"require_user_input": True, "content": "Go on?"}) == Form("Go on?")
    assert form_of({"require_user_input": False, "content": "done"}) is None
    assert form_in((Part(text="no data"),), "prompt") is None


def test_agentstacks_form_in_the_metadata_of_a_message() -> None:
    fields = [
        {"type": "text", "id": "name", "label": "Name", "required": True},
        {"type": "checkbox_group", "id": "tags", "label": "Tags", "fields": [{"id": "a", "content": "A"}]},
        {"type": "file", "id": "log", "label": "Log", "accept": []},
    ]
    value = {"title": "About you", "description": "Please say.", "fields": fields}
    form = asked(Part(text="About you"), prompt="About you", **{f"{STACK}ui/form_request/v1": value})
    assert (form.title, form.prompt, form.hidden_fields) == ("About you", "Please say.", 1)
    assert form.fields == (
        Field("name", "Name", required=True),
        Field("tags", "Tags", FieldKind.MULTI_SELECT, (Choice("a", "A"),)),
    )
    assert form.takes_words, "the file can only be given in words"
    assert needs(form)["types"] == {"name": "text", "tags": "checkbox_group"}


# -- approvals


def test_agentstacks_approval_of_a_call_and_of_anything() -> None:
    uri = f"{STACK}interactions/approval/v1"
    value = {"title": "Deploy", "description": None, "name": "deploy", "input": {"env": "prod"}}
    form = asked(prompt="Approval requested", **{uri: value})
    assert form == Form(
        "Approval requested",
        title="Deploy",
        kind=FormKind.APPROVAL,
        takes_words=False,
        calls=(ProposedCall("deploy", "- **env**: prod", '{\n  "env": "prod"\n}'),),
        reply=ReplyFormat("agentstack-approval", json.dumps({"uri": uri})),
    )
    assert asked(**{uri: {"title": "Go", "description": "All of it"}}).calls == ()


def test_adks_confirmation_of_a_call_with_what_may_be_changed_in_it() -> None:
    args = {
        "originalFunctionCall": {"id": "o", "name": "pay", "args": {"amount": 5.0}},
        "toolConfirmation": {"hint": "Pay?", "confirmed": False, "payload": {"days": 0}},
    }
    form = asked(waiting("adk_request_confirmation", args))
    assert (form.kind, form.prompt, form.takes_words, form.may_edit) == (
        FormKind.APPROVAL, "Pay?", False, True
    )  # fmt: skip
    assert form.calls == (ProposedCall("pay", "- **amount**: 5\n- **days**: 0", '{\n  "days": 0\n}'),)
    args["toolConfirmation"] = {
        "hint": "Answer with a FunctionResponse.",
        "payload": {"days": 1.0, "a": 1.05},
    }
    again = asked(waiting("adk_request_confirmation", args))
    assert (again.prompt, again.calls[0].arguments) == ("", '{\n  "days": 1,\n  "a": 1.05\n}')
    args["toolConfirmation"]["payload"] = None
    two = asked(*(waiting("adk_request_confirmation", args, key) for key in ("c1", "c2")))
    assert len(two.calls) == 2 and not two.may_edit
    assert [each["id"] for each in needs(two)["calls"]] == ["c1", "c2"]


def test_adks_request_for_input_and_for_a_node_to_go_on() -> None:
    args = {"message": "Which?", "payload": {"seen": 3}, "response_schema": SCHEMA}
    form = asked(waiting("adk_request_input", args))
    assert (form.prompt, form.fields, form.reply.name) == ("Which?\n\n- **seen**: 3", FIELDS, "adk")
    schema = {"properties": {"hint": {"type": "string"}, "confirmed": {"type": "boolean"}}}
    payload = {"tool_name": "pay", "args": {"n": 1}}
    node = asked(
        waiting("adk_request_input", {"message": "Go?", "payload": payload, "response_schema": schema})
    )
    assert (node.kind, node.calls[0].name) == (FormKind.APPROVAL, "pay")


def hitl(number: int = 1, decisions: tuple[str, ...] = ("approve", "edit", "reject")) -> Part:
    request = {
        "name": "pay",
        "args": {"n": 1},
        "description": "Pending approval\n\nTool: pay\nArgs: {'n': 1}",
    }
    review = {"action_name": "pay", "allowed_decisions": list(decisions)}
    value = {"action_requests": [request] * number, "review_configs": [review] * number}
    return data({"id": "1", "value": value})


def test_langchains_middleware() -> None:
    form = asked(hitl())
    assert (form.kind, form.may_edit, form.takes_words) == (FormKind.APPROVAL, True, False)
    assert form.calls == (ProposedCall("pay", "- **n**: 1", '{\n  "n": 1\n}'),)
    assert not asked(hitl(decisions=("approve", "reject"))).may_edit
    assert (len(asked(hitl(2)).calls), asked(hitl(2)).may_edit) == (2, False)
    assert asked(hitl(50)).kind is FormKind.INPUT, "more than a person can look through"


def deferred(number: int = 1, arguments: Any = None, **besides: Any) -> Part:
    call = {
        "tool_name": "pay",
        "args": {"n": 1} if arguments is None else arguments,
        "part_kind": "tool-call",
    }
    calls = [{**call, "tool_call_id": f"c{each}"} for each in range(number)]
    return data({"calls": [], "approvals": calls, "metadata": {}, **besides})


def test_pydantic_ais_deferred_tools() -> None:
    form = asked(deferred())
    assert (form.kind, form.may_edit, form.takes_words) == (FormKind.APPROVAL, True, False)
    assert form.calls == (ProposedCall("pay", "- **n**: 1", '{\n  "n": 1\n}'),)
    assert asked(deferred(arguments='{"n": 1}')).calls == form.calls, "as the model wrote them"
    no_json = asked(deferred(arguments="{n"))
    assert (no_json.calls, no_json.may_edit) == ((ProposedCall("pay", "{n"),), False)
    assert (len(asked(deferred(2)).calls), asked(deferred(2)).may_edit) == (2, False)
    for part in (deferred(50), deferred(0), deferred(calls=[{"tool_name": "by a program"}])):
        assert asked(part).kind is FormKind.INPUT, "nobody can see or do all of it"
    without_id = data({"approvals": [{"tool_name": "pay", "args": {}}]})
    assert asked(without_id).kind is FormKind.INPUT


def test_langgraphs_older_interrupt_and_its_schema_of_an_answer() -> None:
    request = {
        "action_request": {"action": "pay", "args": {"n": 1}},
        "config": {"allow_edit": True, "allow_respond": True},
        "description": "Look first",
    }
    for value in (request, [request]):
        form = asked(data({"id": "1", "value": value}))
        assert (form.kind, form.prompt, form.may_edit) == (FormKind.APPROVAL, "Look first", True)
    answer = asked(data({"id": "1", "value": "Where?", "response_schema": SCHEMA}))
    assert (answer.prompt, answer.fields, answer.reply.name) == ("Where?", FIELDS, "langgraph")
    assert not answer.takes_words
    inside = asked(data({"id": "1", "value": SCHEMA}))
    assert (inside.fields, inside.reply.name) == (FIELDS, "langgraph")


def test_strands_may_ask_with_a_schema() -> None:
    prompt = f"Agent requires input:\n- where: {SCHEMA}"
    form = asked(
        data({"interrupts": [{"interruptId": "i", "name": "where", "reason": SCHEMA}]}), prompt=prompt
    )
    assert (form.title, form.prompt, form.fields) == ("where", "", FIELDS)
    assert (form.reply.name, needs(form)["ids"], form.takes_words) == ("strands", ["i"], False)


# -- a sign-in


@pytest.mark.parametrize(
    ("prompt", "shown", "url"),
    [
        ("Sign in at https://a.b/c?d=e, please.", "Sign in at the link, please.", "https://a.b/c?d=e"),
        ("[Sign in](https://a.b/c) now", "Sign in now", "https://a.b/c"),
        ("<https://a.b/c>.", "the link.", "https://a.b/c"),
        ("Sign in", "Sign in", ""),
    ],
)
def test_the_address_of_a_sign_in_is_taken_out_of_the_words(prompt: str, shown: str, url: str) -> None:
    form = sign_in(Form(prompt), (), {})
    assert (form.prompt, form.url, form.kind) == (shown, url, FormKind.AUTH)


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ({"auth": {"authorization_url": "https://a.b/c"}}, "https://a.b/c"),
        ({"verification_uri_complete": "https://a.b/device?x"}, "https://a.b/device?x"),
        (
            {"redirect_uri": "https://us/back", "tokenUrl": "https://a.b/t", "loginUrl": "https://a.b"},
            "https://a.b",
        ),
        ({"url": "javascript:alert(1)"}, ""),
        ({"url": 5}, ""),
    ],
)
def test_the_address_of_a_sign_in_in_data(value: dict[str, Any], url: str) -> None:
    assert sign_in(Form("Sign in"), (data(value),), {}).url == url
    assert sign_in(Form("Sign in"), (), value).url == url


def test_the_security_schemes_that_a_sign_in_names() -> None:
    value = {"securityRequirements": [{"files": ["read"]}]}
    assert sign_in(Form("Sign in"), (data(value),), {}).schemes == ("files",)
    assert sign_in(Form("Sign in"), (), value).schemes == ("files",)


def test_a_credential_is_asked_for_without_the_agents_own_secrets() -> None:
    config = {
        "rawAuthCredential": {"oauth2": {"clientSecret": "hunter2"}},
        "exchangedAuthCredential": {"oauth2": {"authUri": "https://a.b/c", "clientSecret": "hunter2"}},
    }
    form = asked(waiting("adk_request_credential", {"authConfig": config, "message": "Please sign in."}))
    assert (form.kind, form.url, form.prompt) == (FormKind.AUTH, "https://a.b/c", "Please sign in.")
    assert "hunter2" not in repr(form)
    stack = asked(prompt="Go", **{f"{STACK}auth/oauth/v1": {"authorization_endpoint_url": "https://a.b"}})
    assert (stack.kind, stack.url) == (FormKind.AUTH, "https://a.b")


# -- whatever comes


def test_what_is_too_much_to_keep_is_answered_in_words() -> None:
    form = asked(data({"interrupts": [{"interruptId": "i" * 30_000, "name": "n"}]}))
    assert form.reply == ReplyFormat()
    deep: Any = {}
    for _ in range(900):
        deep = {"a": deep}
    assert asked(
        waiting("adk_request_confirmation", {"originalFunctionCall": {"name": "n", "args": deep}})
    ).calls


KEYS = """
    type properties enum fields input_fields user_input interrupts interruptId reason name id value
    approvals tool_call_id args action_requests review_configs allowed_decisions action_request config
    response_schema
    schema form url originalFunctionCall toolConfirmation payload authConfig response
""".split()  # noqa: SIM905
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["object", "https://a.b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)
NAMES = ["ask", "adk_request_confirmation", "adk_request_input", "adk_request_credential"]


@given(JSON, st.sampled_from(NAMES))
def test_no_data_whatever_breaks_the_reading(value: Any, name: str) -> None:
    forms = [
        question_in((data(value),)),
        question_in((waiting(name, value),), "?"),
        question_in((data({"id": "1", "value": value}),), shown_text="?"),
        question_in((), metadata={f"{STACK}ui/form_request/v1": value, f"{STACK}auth/oauth/v1": value}),
        question_in((), metadata={f"{STACK}interactions/approval/v1": value}),
    ]
    for form in forms:
        if form is not None:
            assert isinstance(form.as_markdown(), str)
            assert not sign_in(form, (data(value),), {}).fields

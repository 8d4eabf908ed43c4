"""Fields of every framework, and of a JSON schema, with their kinds, choices, limits and defaults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.content.fields import MOST_FIELDS, default_of, listed_fields, schema_fields, schema_of
from slack_bot.turn.form import Choice, Field, FieldKind, Value

AB = (Choice("a"), Choice("b"))


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (
            {"field_name": "r", "field_description": "Region", "field_values": ["a", 3], "required": True},
            Field("r", "", FieldKind.SELECT, (Choice("a"), Choice("3")), required=True, help="Region"),
        ),
        (
            {"id": "p", "label": "Project", "options": [{"label": "OPS", "value": "1"}, {"value": "DEV"}]},
            Field("p", "Project", FieldKind.SELECT, (Choice("1", "OPS"), Choice("DEV"))),
        ),
        ({"name": "n", "type": "integer", "min": 1, "max": 5, "default": 2},
         Field("n", "", FieldKind.NUMBER, default=2.0, is_whole=True, least=1, most=5)),
        ({"name": "t", "field_type": "text_area", "max_length": 20, "pattern": "^x"},
         Field("t", is_long=True, most=20, pattern="^x")),
        ({"id": "d", "type": "date", "default_value": "2026-11-22"},
         Field("d", "", FieldKind.DATE, default="2026-11-22")),
        ({"id": "k", "type": "password"}, Field("k", is_secret=True)),
        (
            {"id": "m", "type": "multiselect", "default_value": ["b", "x"],
             "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]},
            Field("m", "", FieldKind.MULTI_SELECT, (Choice("a", "A"), Choice("b", "B")), default=("b",)),
        ),
        ({"id": "c", "type": "checkbox", "label": "Sure", "content": "I am sure", "default_value": True},
         Field("c", "Sure", FieldKind.BOOLEAN, help="I am sure", default=True)),
        (
            {"id": "g", "type": "checkbox_group", "label": "G", "fields": [
                {"id": "a", "type": "checkbox", "label": "A", "content": "x", "default_value": True},
                {"id": "b", "type": "checkbox", "content": "Bee"},
            ]},
            Field("g", "G", FieldKind.MULTI_SELECT, (Choice("a", "A"), Choice("b", "Bee")), default=("a",)),
        ),
        ({}, Field("answer")),
    ],
)  # fmt: skip
def test_a_field_in_a_list(row: dict[str, Any], field: Field) -> None:
    assert listed_fields([row]).fields == (field,)


def test_what_no_field_can_take_is_counted() -> None:
    rows = [{"id": "f", "type": "file"}, {"id": "a"}, {"id": "a", "label": "again"}, "no row"]
    found = listed_fields(rows)
    assert found.fields == (Field("a", "again"),)
    assert found.hidden == 2
    assert listed_fields([{"id": str(n)} for n in range(MOST_FIELDS + 2)]).hidden == 2
    assert listed_fields(None).fields == ()


@pytest.mark.parametrize(
    ("about", "field"),
    [
        ({"enum": ["a", "b"], "title": "Where", "default": "b"},
         Field("x", "Where", FieldKind.SELECT, AB, default="b")),
        ({"enum": ["a", "b"], "enumNames": ["A", 3]},
         Field("x", "", FieldKind.SELECT, (Choice("a", "A"), Choice("b")))),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": 2}]},
         Field("x", "", FieldKind.SELECT, (Choice("a", "A"), Choice("2")))),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2, "default": ["a"]},
         Field("x", "", FieldKind.MULTI_SELECT, AB, least=1, most=2, default=("a",))),
        ({"type": "string", "format": "date"}, Field("x", "", FieldKind.DATE)),
        ({"type": ["null", "integer"], "minimum": 1, "maximum": 1e400, "default": True},
         Field("x", "", FieldKind.NUMBER, is_whole=True, least=1)),
        ({"type": "number", "default": 1.5}, Field("x", "", FieldKind.NUMBER, default=1.5)),
        ({"type": "boolean", "default": False}, Field("x", "", FieldKind.BOOLEAN, default=False)),
        ({"type": "string", "minLength": 2, "maxLength": 9, "pattern": "^a", "description": "Say"},
         Field("x", help="Say", least=2, most=9, pattern="^a")),
        ({"type": "string", "maxLength": 5000}, Field("x", most=5000, is_long=True)),
        ({"type": "string", "format": "password"}, Field("x", is_secret=True)),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "title": "Day"},
         Field("x", "Day", FieldKind.DATE)),
        ({"$ref": "#/$defs/Size", "default": "a"}, Field("x", "Size", FieldKind.SELECT, AB, default="a")),
        ({"$ref": "#/$defs/Loop"}, Field("x")),
    ],
)  # fmt: skip
def test_a_property_of_a_schema(about: dict[str, Any], field: Field) -> None:
    definitions = {"Size": {"enum": ["a", "b"], "title": "Size"}, "Loop": {"$ref": "#/$defs/Loop"}}
    schema = {"type": "object", "properties": {"x": about}, "$defs": definitions}
    assert schema_of(schema) is schema
    assert schema_fields(schema).fields == (field,)


def test_a_schema_may_name_the_order() -> None:
    schema = {"properties": {"b": {}, "c": {}, "a": {}}, "propertyOrdering": ["a", "x", 1, "b"]}
    assert [each.name for each in schema_fields(schema).fields] == ["a", "b", "c"]


def test_a_schema_of_several_with_values_known_and_choices_that_are_no_texts() -> None:
    schema = {
        "properties": {
            "n": {"type": "integer", "enum": [1, 2.0, True]},
            "deep": {"type": "object", "properties": {}},
            "rows": {"type": "array", "items": {"type": "string"}},
            "bad": 1,
            "amount": {"type": "number"},
        },
        "required": ["n", 3],
    }
    found = schema_fields(schema, {"amount": 20, "n": "nothing"})
    choices = (Choice("1"), Choice("2"), Choice("true"))
    assert found.fields == (
        Field("n", "", FieldKind.SELECT, choices, required=True, is_whole=True),
        Field("amount", "", FieldKind.NUMBER, default=20.0),
    )
    assert found.raw == {"n": {"1": 1, "2": 2.0, "true": True}}
    assert found.hidden == 2
    assert schema_of({"type": "object"}) is None


@pytest.mark.parametrize(
    ("kind", "value", "default"),
    [
        (FieldKind.TEXT, 5, "5"),
        (FieldKind.TEXT, ["a"], None),
        (FieldKind.NUMBER, "5", None),
        (FieldKind.BOOLEAN, "true", None),
        (FieldKind.SELECT, "c", None),
        (FieldKind.MULTI_SELECT, "a", ("a",)),
        (FieldKind.MULTI_SELECT, [], None),
    ],
)
def test_a_default_that_fits_or_none(kind: FieldKind, value: Any, default: Value | None) -> None:
    assert default_of(kind, value, AB) == default


KEYS = """
    type enum items anyOf oneOf $ref properties required id options default fields title const
""".split()  # noqa: SIM905
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(JSON)
def test_no_data_whatever_breaks_the_reading(value: Any) -> None:
    assert all(each.name for each in listed_fields(value).fields)
    assert len(listed_fields([value]).fields) <= 1
    schema = value if isinstance(value, dict) else {}
    schema_fields(schema)
    schema_fields({"properties": {"x": schema, "y": {"type": "array", "items": schema}}, "$defs": schema})

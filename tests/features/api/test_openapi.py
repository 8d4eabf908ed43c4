"""The description of the API, as a document."""

from __future__ import annotations

import json
import re

from slack_bot.features.api.openapi import description


def test_each_reference_leads_somewhere() -> None:
    found = description()
    schemas = found["components"]["schemas"]
    references = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(found))
    assert references and set(references) <= set(schemas)


def test_each_answer_has_a_meaning() -> None:
    for operations in description()["paths"].values():
        for operation in operations.values():
            assert all(each["description"].endswith(".") for each in operation["responses"].values())
            assert operation["summary"].endswith(".")

"""JUnit XML that a parser reads back."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from slack_bot.tools.conform.junit import as_junit
from tests.tools.conform.measured import examination, examined


def test_a_suite_a_case_and_a_test_a_check() -> None:
    found = examination(examined("one", (True, False)), examined("two", (True, None), (False, None)))
    root = ElementTree.fromstring(as_junit(found))
    assert (root.get("tests"), root.get("failures"), root.get("skipped"), root.get("time")) == (
        "4",
        "2",
        "1",
        "65.000",
    )
    one, two = root
    assert (one.get("name"), one.get("tests"), one.get("failures"), one.get("skipped")) == (
        "one",
        "2",
        "1",
        "0",
    )
    passed, failed = one
    assert (passed.get("classname"), passed.get("name"), len(passed)) == ("mine.one", "live_streamed", 0)
    assert failed[0].tag == "failure"
    assert failed[0].get("message") == "About no_tools: detail 0"
    assert failed[0].text is None
    assert two[0][0].text == "passed in 1 of 2 runs"
    assert two[1][0].tag == "skipped"


def test_what_xml_cannot_hold_is_replaced() -> None:
    case = examined("one", (False,))
    odd = replace(case, case=replace(case.case, name='<"&\x00\ud800>'))
    root = ElementTree.fromstring(as_junit(examination(odd)).encode())
    assert root[0].get("name") == '<"&\ufffd\ufffd>'

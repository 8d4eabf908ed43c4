"""PURE. An examination as JUnit XML, for whatever shows test results: a suite a case, a test a check."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from .findings import Examination, Examined, Finding

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(found: Examination) -> str:
    """The document."""
    counts = f'tests="{found.passed + found.failed + found.idle}" failures="{found.failed}"'
    counts += f' skipped="{found.idle}" time="{found.seconds:.3f}"'
    suites = "\n".join(_suite(found, case) for case in found.cases)
    name = _attribute(f"slack-bot conform: {found.suite}")
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{head}\n<testsuites name={name} {counts}>\n{suites}\n</testsuites>\n"


def _suite(found: Examination, case: Examined) -> str:
    findings = case.findings
    failed, idle = (sum(finding.ok is ok for finding in findings) for ok in (False, None))
    tests = "\n".join(_test(found.suite, case, finding) for finding in findings)
    counts = f'tests="{len(findings)}" failures="{failed}" skipped="{idle}" time="{case.seconds:.3f}"'
    return f" <testsuite name={_attribute(case.case.name)} {counts}>\n{tests}\n </testsuite>"


def _test(suite: str, case: Examined, finding: Finding) -> str:
    names = (
        f"classname={_attribute(f'{suite}.{case.case.name}')} name={_attribute(finding.wanted.check.name)}"
    )
    message = _attribute(f"{finding.wanted.about}: {finding.detail}")
    if finding.ok is None:
        return f"  <testcase {names}><skipped message={message}/></testcase>"
    if finding.ok:
        return f"  <testcase {names}/>"
    rate = f"passed in {finding.passes} of {finding.runs} runs" if finding.runs > 1 else ""
    return f"  <testcase {names}><failure message={message}>{escape(rate)}</failure></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))

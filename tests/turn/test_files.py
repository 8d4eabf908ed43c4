"""What Slack says of files, and what kind a file is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.files import SlackFile, media_type_of, slack_files

URL = "https://files.slack.com/files-pri/T1-F1/download/a.log"
HOSTED = {
    "id": "F1", "name": "a.log", "size": 7, "mimetype": "text/plain", "mode": "hosted",
    "url_private": "https://files.slack.com/files-pri/T1-F1/a.log", "url_private_download": URL,
}  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "file"),
    [
        (HOSTED, SlackFile("F1", "a.log", 7, "text/plain", URL)),
        ({**HOSTED, "mode": "snippet"}, SlackFile("F1", "a.log", 7, "text/plain", URL)),
        ({"id": "F1", "title": "t", "url_private": "https://x"}, SlackFile("F1", "t", url="https://x")),
        ({"id": "F1", "file_access": "check_file_info"}, SlackFile("F1", kind="stub")),
        ({"id": "F1", "mode": "tombstone"}, SlackFile("F1", kind="gone")),
        ({"id": "F1", "mode": "hidden_by_limit", "name": "n"}, SlackFile("F1", "n", kind="gone")),
        (
            {"id": "F1", "name": "d", "is_external": True, "url_private": "https://x", "size": 0},
            SlackFile("F1", "d", url="https://x", kind="link"),
        ),
        ({"id": "F1", "size": -1, "name": 5}, SlackFile("F1")),
    ],
)
def test_what_slack_says_of_a_file(shown: dict[str, Any], file: SlackFile) -> None:
    assert slack_files([shown]) == (file,)


_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(sorted(HOSTED)), inner),
)


@given(_JSON)
def test_no_json_makes_it_raise(files: Any) -> None:
    assert all(each.id for each in slack_files(files))


@pytest.mark.parametrize(
    ("name", "declared", "content", "kind"),
    [
        ("a.png", "image/png", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("a.png", "image/png", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a.txt", "text/plain", b"%PDF-1.7", "application/pdf"),
        ("a.png", "image/png", b"<script>", "text/plain"),
        ("a.svg", "image/svg+xml", b"<svg/>", "image/svg+xml"),
        ("a.webp", "", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ("a.docx", "application/vnd.openxmlformats", b"PK\x03\x04", "application/vnd.openxmlformats"),
        ("a.docx", "text/plain", b"PK\x03\x04", "application/zip"),
        ("a.csv", "text/csv", b"a,b", "text/csv"),
        ("a.csv", "application/octet-stream", b"a,b", "text/csv"),
        ("a.log", "", b"a,b", "text/plain"),
        ("a", "", "ä".encode(), "text/plain"),
        ("a", "", "ä".encode("latin-1"), "application/octet-stream"),
        ("a.txt", "", b"a\0b", "application/octet-stream"),
    ],
)
def test_the_kind_of_a_file(name: str, declared: str, content: bytes, kind: str) -> None:
    assert media_type_of(name, declared, content) == kind

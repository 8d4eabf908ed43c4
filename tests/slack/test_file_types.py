"""Names and types of files that agents make up."""

from __future__ import annotations

import pytest

from slack_bot.slack.file_types import file_name, snippet_type

PNG, PDF = b"\x89PNG\r\n\x1a\n...", b"%PDF-1.7"


@pytest.mark.parametrize(
    ("name", "mime", "content", "shown"),
    [
        ("a.png", "image/png", PNG, "a.png"),
        ("a.PNG", "", PNG, "a.PNG"),
        ("", "image/png", PNG, "file.png"),
        ("", "", b"hi", "file"),
        ("a.png", "image/png", b"<html>", "a.png.txt"),
        ("a.png", "image/png", b"\xff\x00", "a.png.bin"),
        ("a.txt", "text/plain", PDF, "a.txt.pdf"),
        ("a.jpg", "image/jpeg", b"MZ\x90", "a.jpg.exe"),
        ("report.docx", "", b"PK\x03\x04", "report.docx"),
        ("../../etc/passwd", "", b"x", "passwd"),
        ("c:\\temp\\a.txt", "", b"x", "a.txt"),
        ("<!channel> a\nb.txt", "", b"x", "_channel_ a_b.txt"),
        ("..", "text/csv", b"x", "file.csv"),
        ("n" * 300 + ".csv", "", b"x", "n" * 96 + ".csv"),
    ],
)
def test_names(name: str, mime: str, content: bytes, shown: str) -> None:
    assert file_name(name, mime, content) == shown


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.py", b"print()", "python"),
        ("a.py", b"", ""),
        ("a.py", b"\xff", ""),
        ("a.py", b"x" * 1_000_000, "python"),
        ("a.py", b"x" * 1_000_001, ""),
        ("a.txt", b"hi", ""),
        ("py", b"hi", ""),
    ],
)
def test_code(name: str, content: bytes, kind: str) -> None:
    assert snippet_type(name, content) == kind

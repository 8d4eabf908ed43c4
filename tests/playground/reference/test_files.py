"""The playground's agent is given files, by a2a-sdk's own client and on the 0.3 wire."""

from __future__ import annotations

import base64
import hashlib

import httpx
import pytest
from a2a.client import ClientConfig, create_client
from a2a.types import Message, Part, Role, SendMessageRequest

from slack_bot.playground.reference.agent import serve
from slack_bot.playground.reference.files import ReceivedFile, described, received_files
from slack_bot.settings.models import ReferenceSettings

from .test_agent import answer_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
TEXT = b"\nfirst `line`\nsecond"


async def test_it_says_what_arrived() -> None:
    parts = [
        Part(text="what is this?"),
        Part(raw=TEXT, filename="a.txt", media_type="text/plain"),
        Part(raw=PNG, filename="b.png", media_type="image/png"),
        Part(url="https://drive.example/c", filename="c.doc"),
    ]
    message = Message(message_id="m", role=Role.ROLE_USER, parts=parts)
    async with serve(ReferenceSettings(pace=0)) as url, httpx.AsyncClient(timeout=60) as http:
        client = await create_client(url, ClientConfig(streaming=True, httpx_client=http))
        events = [event async for event in client.send_message(SendMessageRequest(message=message))]
    assert answer_of(events).split("\n\n") == [
        "`a.txt`: 20 bytes of text/plain.\nIt has 3 lines and begins:",
        "```text\nfirst `line`\nsecond\n```",
        "`b.png`: 264 bytes of image/png.\nIt is a picture, and I cannot see pictures.",
        "`c.doc` lies at https://drive.example/c: I was given its address only.\n",
    ]


async def test_on_0_3_too() -> None:
    file = {"name": "b.png", "mimeType": "image/png", "bytes": base64.b64encode(PNG).decode()}
    parts = [{"kind": "text", "text": "what is its checksum?"}, {"kind": "file", "file": file}]
    asked = {"kind": "message", "messageId": "m", "role": "user", "parts": parts}
    body = {"jsonrpc": "2.0", "id": "q", "method": "message/send", "params": {"message": asked}}
    async with serve(ReferenceSettings(pace=0)) as url, httpx.AsyncClient(timeout=60) as http:
        answered = (await http.post(url, json=body)).text
    assert hashlib.sha256(PNG).hexdigest() in answered


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "There is nothing in it."),
        (b"\n\n", "There is nothing in it."),
        (b"\xff", "It is not text"),
        (b"a\x07b", "It is not text"),
    ],
)
def test_what_cannot_be_quoted_is_said(content: bytes, sentence: str) -> None:
    about = ReceivedFile("", "", content).as_markdown()
    assert sentence in about
    assert "SHA" not in about


def test_a_fence_in_a_file_does_not_end_the_fence_around_it() -> None:
    about = ReceivedFile("a.md", "text/markdown", b"```\ncode\n```\n").as_markdown()
    assert about.count("```") == 2


def test_a_model_that_reads_text_is_told_of_them() -> None:
    file = ReceivedFile("a.txt", "text/plain", TEXT)
    assert described("what?", [file]) == f"what?\n\n{file.as_markdown()}"
    assert (described("what?", []), received_files(None)) == ("what?", [])

"""The table knows sixty kinds of secrets, and takes hardly anything else for one."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from slack_bot.text.masking import SecretFilter, mask_secrets
from slack_bot.text.secrets import FORMATS, HEADERS, LATE_FORMATS, PRIVATE_KEYS, is_placeholder


@pytest.mark.parametrize(
    "text",
    [
        "password=... passwd: xxxx, api_key=<your-key>, secret: ${SECRET}, pwd=%PWD%",
        "password=changeme password='your-password' PASSWORD=example api_key=YOUR_API_KEY_HERE",
        "password: str, password=None, password=password, password=self.password, passwd=get_passwd(1)",
        "Password: must hold 8 characters. The password: it is long. Token: required",
        '"password": "string", "secret": "required", "token": "next_page_2", "max_tokens": 128000',
        "postgres://user:password@host/db, https://<user>:<password>@host, redis://:password@host",
        "https://host:8080/path@2x.png and http://localhost:3000 at 12:30:45",
        "next_page_token=abc123def456ghi789jkl0 and csrf_token=abc123def456ghi789jkl0",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha256:9f86d081884c7d659a2feaa0c55ad015, 123e4567-e89b-12d3-a456-426614174000",
        "sk-learn-pipelines-for-text-classification, task-based-work, risk-adjusted-return-on-capital",
        "Basic authentication, Bearer authentication, basic understanding-of-authentication",
        "-----BEGIN CERTIFICATE-----, ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ",
        "key-value-store-with-a-long-name",
        "AccountKey=<key>; SharedAccessKey=..., AKIA, hf_, ghp_short",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_secrets(text) == text


def test_the_projects_own_pages_hold_only_tokens_of_the_emulated_workspace() -> None:
    root = Path(__file__).parents[2]
    pages = [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").glob("*.md"))]
    assert sum(map(masked_in, pages), Counter()).keys() <= {"Slack token"}


def test_ordinary_code_and_its_prose_are_hardly_touched() -> None:
    library = sorted(Path(os.__file__).parent.glob("*.py"))
    assert sum(path.stat().st_size for path in library) > 1_000_000
    assert sum(map(masked_in, library), Counter()).total() <= 2


def masked_in(path: Path) -> Counter[str]:
    masking = SecretFilter()
    masking.push(path.read_text(encoding="utf-8", errors="replace"))
    masking.end()
    return masking.masked


@pytest.mark.parametrize(
    "value",
    ["changeme", "xxxx", "***", "<pw>", "${PW}", "$PW", "{{pw}}", "your-password", "...", "password1"],
)
def test_a_placeholder(value: str) -> None:
    assert is_placeholder(value)


def test_formats_begin_in_ways_that_can_be_told_apart() -> None:
    for each in (*FORMATS, *LATE_FORMATS, *HEADERS, *PRIVATE_KEYS):
        assert each.kind
        assert each.first

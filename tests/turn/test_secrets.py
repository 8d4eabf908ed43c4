"""Every kind of secret is known, however the text is cut; what only looks like one stays; work is linear."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.masking import MASK, SecretFilter, mask_secrets
from slack_bot.turn.secrets import FORMATS, HEADERS, LATE_FORMATS, PRIVATE_KEYS, is_placeholder
from tests.examples import examples
from tests.fake_secrets import FAKES, FakeSecret

from .work import HOSTILE, grows_like_its_text, work

PLACES = ("{}", "It is {}, and", "`{}`", "```\n{}\n```", "[link]({})", "| a | {} |", "<{}|x>", "({})", "x={}")
each_kind = pytest.mark.parametrize("fake", FAKES, ids=[fake.kind for fake in FAKES])
PLAIN = st.sampled_from(["a", " ", "word ", "`", "\n", "=", ":", "--", "://", "password", '"', ".", "é", "-"])
BEGUN = st.sampled_from(FAKES).flatmap(
    lambda fake: st.integers(0, len(fake.text)).map(lambda at: fake.text[:at])
)
TEXT = st.lists(PLAIN | BEGUN | st.sampled_from([fake.text for fake in FAKES]), max_size=8).map("".join)


def test_there_are_sixty_kinds() -> None:
    assert len({fake.kind for fake in FAKES}) >= 60


@each_kind
def test_it_is_masked_where_it_stands(fake: FakeSecret) -> None:
    for around in PLACES:
        text = around.format(fake.text)
        shown = mask_secrets(text)
        assert fake.secret not in shown, around
        assert MASK in shown
        assert mask_secrets(shown) == shown


@each_kind
def test_it_is_masked_however_it_is_cut(fake: FakeSecret) -> None:
    text = f"It is {fake.text} and more"
    for size in (1, 2, 3, 7):
        masking = SecretFilter()
        pieces = [masking.push(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join([*pieces, masking.end()]) == mask_secrets(text), size
        assert masking.masked.total() == 1


@each_kind
def test_its_length_can_be_kept(fake: FakeSecret) -> None:
    text = f"It is {fake.text} and more"
    masking = SecretFilter(keeps_length=True)
    masked = masking.push(text) + masking.end()
    assert len(masked) == len(text)
    assert fake.secret not in masked


@examples(500)
@given(TEXT, st.data())
def test_cuts_change_nothing(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=9)))
    masking = SecretFilter(("hunter2-value",))
    pieces = [
        masking.push(text[start:end]) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    ]
    assert "".join([*pieces, masking.end()]) == mask_secrets(text, ("hunter2-value",))


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


@pytest.mark.parametrize("piece", [*HOSTILE, *(f"{fake.text} " for fake in FAKES[::8])])
def test_a_text_takes_linear_work(piece: str) -> None:
    def lines(size: int) -> int:
        text = (piece * size)[:size]
        return work(lambda: mask_secrets(text))

    lines(1_000)
    assert lines(20_000) < 2.3 * lines(10_000) + 200


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "s",
            "sk-",
            "eyJ",
            "eyJa.",
            "a.",
            "a-",
            "-",
            "--",
            "://a:",
            "password=",
            "password: ",
            "=",
            "a=b;",
            "gh",
        ),
        *(
            "AKIA",
            "M" * 24 + ".",
            "0a",
            "-----BEGIN ",
            "Bearer ",
            "--password ",
            "pwd=abcd12;",
            "x" * 200 + " ",
        ),
    ],
)
def test_a_text_takes_linear_time(piece: str) -> None:
    assert grows_like_its_text(mask_secrets, piece)

"""Nothing an agent writes can ping, and no secret is shown, however the text was cut into deltas."""

import re
from copy import deepcopy

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slack_bot.text.masking import MASK, MAX_UNDECIDED
from slack_bot.text.sanitize import (
    SLICE,
    StreamSanitizer,
    sanitize,
    sanitize_slices,
    slices,
)
from tests.examples import DANGERS as PIECES_OF_DANGER
from tests.examples import MARKDOWN, examples
from tests.turn.work import HOSTILE, grows_like_its_text, steps, work

SECRETS = ("s3cret-value", "s3cret-value-longer", "ab")
BOT_TOKEN = "xoxb-123456789012-abcDEF"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/==\n\nabc\n-----END RSA PRIVATE KEY-----"
DANGERS = [
    "<!channel>",
    "<!HERE|here>",
    "<@U123>",
    "<#C1|x>",
    "<!subteam^S1>",
    BOT_TOKEN,
    JWT,
    KEY,
    *SECRETS[:2],
]
DANGERS += [
    "AKIAABCDEFGHIJKLMNOP",
    "ghp_" + "a1" * 18,
    "Bearer " + "a1b2" * 9,
    "\r\n",
    "\r",
    "\U0001f600",
    "\ud83d",
    "\ude00",
]
PIECES = st.sampled_from(DANGERS).flatmap(lambda text: st.integers(0, len(text)).map(lambda at: text[:at]))
PLAIN = st.sampled_from(["a", " ", "word ", "< ", "`", "-", "\n", "\x00", "\u202e", ".", "é", "\u2028"])
TEXT = st.lists(
    PIECES | PLAIN | MARKDOWN | PIECES_OF_DANGER | st.sampled_from(DANGERS) | st.text(max_size=5), max_size=20
).map("".join)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel> and <!here>", "&lt;!channel> and &lt;!here>"),
        ("<!Everyone|x>", "&lt;!Everyone|x>"),
        ("<!group><!subteam^S12|ops>", "&lt;!group>&lt;!subteam^S12|ops>"),
        ("<@U12AB> <@W1> <@B1> <@u1>", "&lt;@U12AB> &lt;@W1> &lt;@B1> &lt;@u1>"),
        ("<#C12|general> <#G1> <#D1>", "&lt;#C12|general> &lt;#G1> &lt;#D1>"),
        ("in `<!channel>` and\n```\n<@U1>\n```", "in `&lt;!channel>` and\n```\n&lt;@U1>\n```"),
        ("<<!channel>>", "<&lt;!channel>>"),
        ("<\x00!channel>", "&lt;!channel>"),
        ("<!chan\u202enel>", "&lt;!channel>"),
    ],
)
def test_mentions_are_made_harmless(text: str, shown: str) -> None:
    assert sanitize(text) == shown
    assert sanitize(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d, <div class='x'>, <!-- note -->, <!DOCTYPE html>",
        "@channel, @here and @everyone, user@example.org",
        "<https://example.org|a link> <mailto:a@b.c|mail> <!date^1392734382^{date}|then>",
        "List<@NonNull String> and #include <#x>",
        "&lt;!channel> &amp; more",
        "Use `Bearer <token>` or a Bearer authentication/authorization-header-thing.",
        "sk-learn, eyJust, xoxo-hugs, AKIA, ghp_short, -----BEGIN CERTIFICATE-----",
        "boxoxb-1234567890123",
        "one\u2028two\u2029three\ttab\n",
        "eyJ" + "a" * 400 + ".eyJ" + "b" * 20,
        "",
    ],
)
def test_text_without_danger_is_unchanged(text: str) -> None:
    assert sanitize(text) == text


@pytest.mark.parametrize(
    "secret",
    [
        BOT_TOKEN,
        "xoxp-1234567890-1234",
        "xoxe.xoxb-1-" + "Ab1" * 20,
        "xoxe-1-" + "Ab1" * 20,
        "xapp-1-A012345-123-abcdef",
        "AKIAABCDEFGHIJKLMNOP",
        "ASIAABCDEFGHIJKLMNO1",
        "ghp_" + "a1" * 18,
        "github_pat_" + "a1_" * 20,
        "glpat-" + "a1-" * 10,
        "sk-ant-api03-" + "a1_" * 20,
        "sk-proj-" + "a1_" * 20,
        "AIza" + "a1_-b" * 7,
        JWT,
        KEY,
        KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    ],
)
def test_what_looks_like_a_secret_is_masked(secret: str) -> None:
    assert sanitize(f"it is {secret}, and") == f"it is {MASK}, and"
    assert sanitize(f"token={secret}") == f"token={MASK}"


def test_a_bearer_token_is_masked_and_its_name_stays() -> None:
    assert sanitize(f"Authorization: Bearer {'a1b2' * 12} x") == f"Authorization: Bearer {MASK} x"


def test_two_secrets_in_one_word_are_two() -> None:
    assert sanitize(f"AKIAABCDEFGHIJKLMNOP{BOT_TOKEN}.{BOT_TOKEN}") == f"{MASK}{MASK}.{MASK}"


def test_a_key_without_an_end_takes_the_rest() -> None:
    assert sanitize("a -----BEGIN PRIVATE KEY-----\nMII\nand more text") == f"a {MASK}"


def test_a_key_that_is_only_spoken_of_ends_at_a_backtick() -> None:
    text = "begins with `-----BEGIN PRIVATE KEY-----` and goes on"
    assert sanitize(text) == f"begins with `{MASK}` and goes on"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the s3cret-value is", f"the {MASK} is"),
        ("the s3cret-value-longer is", f"the {MASK} is"),
        ("xs3cret-valuex", f"x{MASK}x"),
        ("s3cret-valu", "s3cret-valu"),
        ("ab", "ab"),
    ],
)
def test_the_values_given_are_masked(text: str, shown: str) -> None:
    assert sanitize(text, SECRETS) == shown


def test_a_long_value_is_masked_wherever_it_is_cut() -> None:
    token = "eyJ" + "aB3" * 900  # a signed token of an identity provider takes one to three thousand letters
    text = f"It is {token}, and {token[:-1]} is not."
    shown = f"It is {MASK}, and {token[:-1]} is not."
    assert sanitize(text, (token,)) == shown
    safety = StreamSanitizer((token,))
    assert "".join([*map(safety.push, re.findall(".{1,700}", text)), safety.end()]) == shown


def test_a_value_given_is_masked_whole_though_a_pattern_would_end_sooner() -> None:
    assert sanitize("Bearer " + "a1b2" * 8 + "$rest!", ("a1b2" * 8 + "$rest",)) == f"Bearer {MASK}!"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\nb\rc\r", "a\nb\nc\n"),
        ("a\x00\x07\x0b\x0c\x1b[0m\x7f\x9fb", "a[0mb"),
        ("a\u202eb\u2066c\u2069", "abc"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ud83d\x00\ude00", "\U0001f600"),
        ("\ud83d x \ude00", "\ufffd x \ufffd"),
        ("\ud83d", "\ufffd"),
        ("👩\u200d👧 \u200f", "👩\u200d👧 \u200f"),
    ],
)
def test_characters(text: str, shown: str) -> None:
    assert sanitize(text) == shown


@examples(1_000)
@given(st.lists(TEXT, max_size=6), st.data())
@example([f"a {BOT_TOKEN}", "x -----BEGIN PRIVATE KEY-----\n", "y ----", "-END PRIVATE KEY-----z"], None)
def test_deltas_change_nothing(parts: list[str], data: st.DataObject | None) -> None:
    whole = "".join(parts)
    if data is not None:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
        parts = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    safety = StreamSanitizer(SECRETS)
    shown = "".join([safety.push(part) for part in parts] + [safety.end()])
    assert shown == sanitize(whole, SECRETS)


@examples(1_000)
@given(TEXT, st.data())
def test_one_character_at_a_time_changes_nothing_and_holds_little(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    safety = StreamSanitizer()
    shown = "".join(safety.push(char) for char in text[:at])
    assert len(deepcopy(safety).end()) <= MAX_UNDECIDED
    shown += "".join(safety.push(char) for char in text[at:])
    assert shown + safety.end() == sanitize(text)


@examples(1_000)
@given(TEXT)
def test_no_mention_survives(text: str) -> None:
    shown = sanitize(text, SECRETS)
    assert not re.search(r"(?i)<(!(channel|here|everyone|group|subteam)|@[UWB]\w|#[CGD]\w)", shown, re.ASCII)
    assert sanitize(shown) == shown


@examples(1_000)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf"], exclude_characters="<-"), max_size=60))
def test_harmless_characters_pass(text: str) -> None:
    if MASK not in (shown := sanitize(text)):
        assert shown == text


@pytest.mark.parametrize(
    "delta",
    [
        "The answer",
        " is 42.",
        "word",
        " I",
        "| a |",
        "- item",
        "**bold**",
        "`code`",
        "end\n",
        "中文",
        "box",
        "the",
    ],
)
def test_ordinary_text_flows_at_once(delta: str) -> None:
    safety = StreamSanitizer()
    assert safety.push("So ") == "So "
    assert safety.push("x ") + safety.push(delta) == f"x {delta}"


@pytest.mark.parametrize(
    "begun",
    [
        "<",
        "<!",
        "<!chan",
        "<@",
        "<@U",
        "xo",
        "xoxb-12345",
        "eyJ" + "a" * 300,
        "-----BEGIN RSA PRIV",
        "\r",
    ],
)
def test_what_may_become_a_danger_waits_until_it_is_known(begun: str) -> None:
    safety = StreamSanitizer()
    assert safety.push(f"a {begun}") == "a "
    assert safety.push(" b") + safety.end() == f"{begun.replace(chr(13), chr(10))} b"


def test_the_longest_beginning_is_bounded() -> None:
    safety = StreamSanitizer()
    text = "eyJ" + "a" * 300 + ".eyJ" + "b" * 7
    assert len(text) < MAX_UNDECIDED
    assert safety.push(text) == ""
    assert safety.push("b") == MASK
    assert safety.push("b" * 100_000) == ""  # decided: dropped as it comes, not held
    assert safety.push(" z") == " z"


def test_the_body_of_a_key_does_not_wait() -> None:
    safety = StreamSanitizer()
    assert safety.push("-----BEGIN PRIVATE KEY-----\n") == MASK
    for _ in range(100):
        assert safety.push("A" * 64 + "\n") == ""
    assert safety.push("-----END PRIVATE ") == ""
    assert safety.push("KEY----- done") == " done"
    assert safety.end() == ""


# -- work ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", [*HOSTILE, *DANGERS])
def test_a_text_takes_linear_time(piece: str) -> None:
    assert grows_like_its_text(lambda text: sanitize(text, SECRETS), piece)


@pytest.mark.parametrize("piece", [*HOSTILE, *DANGERS])
def test_a_text_takes_linear_work(piece: str) -> None:
    sanitize("", SECRETS)  # what is made ready once in a process does not count

    def lines(size: int) -> int:
        text = (piece * size)[:size]
        return work(lambda: sanitize(text, SECRETS))

    assert lines(4 * SLICE) < 2.2 * lines(2 * SLICE) + 100


@pytest.mark.parametrize("piece", ["word ", "<", "<!here>", BOT_TOKEN + " ", "s3cret-value", "\ud83d"])
def test_a_long_text_is_worked_off_in_steps_of_one_size(piece: str) -> None:
    text = (piece * 12 * SLICE)[: 12 * SLICE]
    short, long = steps(sanitize_slices(text[: 4 * SLICE], SECRETS)), steps(sanitize_slices(text, SECRETS))
    assert len(long) >= 12
    assert max(long) <= 1.05 * max(short) + 10


def test_a_short_text_is_one_step() -> None:
    assert list(slices("")) == [""]
    assert list(slices("a" * SLICE)) == ["a" * SLICE]
    assert [len(each) for each in slices("a" * (SLICE + 1))] == [SLICE, 1]
    assert list(sanitize_slices("<!here> a")) == ["&lt;!here> a"]


def test_the_filter_of_secrets_is_made_ready_once_a_set() -> None:
    secrets = tuple(f"secret number {number}" for number in range(400))
    first, later = (work(lambda: sanitize("a", secrets)) for _ in range(2))
    assert 4 * later < first


@pytest.mark.parametrize(
    ("text", "secrets", "splits"),
    [("a joke", ("e-mail-key",), True), ("a joke <", (), False), ("a joke ", (), False), ("x", (), True)],
)
def test_a_word_whose_end_is_undecided_is_known(text: str, secrets: tuple[str, ...], splits: bool) -> None:
    sanitizer = StreamSanitizer(secrets)
    sanitizer.push(text)
    assert sanitizer.undecided[:1].isalnum() is splits

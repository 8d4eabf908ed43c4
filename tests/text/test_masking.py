"""Every kind of secret is known, however the text is cut; what only looks like one stays; work is linear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.masking import MASK, SecretFilter, mask_secrets
from tests.examples import examples
from tests.fake_secrets import FAKES, FakeSecret
from tests.turn.work import HOSTILE, grows_like_its_text, work

PLACES = ("{}", "It is {}, and", "`{}`", "```\n{}\n```", "[link]({})", "| a | {} |", "<{}|x>", "({})", "x={}")
each_kind = pytest.mark.parametrize("fake", FAKES, ids=[fake.kind for fake in FAKES])
PLAIN = st.sampled_from(["a", " ", "word ", "`", "\n", "=", ":", "--", "://", "password", '"', ".", "é", "-"])
BEGUN = st.sampled_from(FAKES).flatmap(
    lambda fake: st.integers(0, len(fake.text)).map(lambda at: fake.text[:at])
)
SECRETS = BEGUN | st.sampled_from([fake.text for fake in FAKES])
# a secret that begins in the middle of a word is none, and how such a word is cut may show in what is masked
TEXT = st.lists(PLAIN | SECRETS.map(" {} ".format), max_size=8).map("".join)


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


def test_a_value_that_is_learned_on_the_way_is_masked_from_there_on() -> None:
    masking = SecretFilter(("first-secret",))
    shown = masking.push("One: first-sec")
    masking.learn(("first-secret", "other-secret"))
    shown += masking.push("ret, other-") + masking.push("secret.") + masking.end()
    assert shown == f"One: {MASK}, {MASK}."
    assert masking.masked.total() == 2

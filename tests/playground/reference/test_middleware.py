import pytest

from slack_bot.playground.reference.middleware import Middleware
from slack_bot.playground.reference.scenarios import InputField

FIELDS = (InputField("env", "Where"),)
PARTS = ("deterministic", "self_service", "policy", "skills", "file_arg")


def effects(middleware: Middleware) -> dict[str, bool]:
    """Which parts can be seen to work."""
    return {
        "deterministic": not middleware.plans_itself,
        "self_service": middleware.fields(FIELDS) == FIELDS,
        "policy": middleware.checks,
        "skills": middleware.skills_for("tell me everything") == ("deep-research",),
        "file_arg": middleware.argument("@latch.md") == "latch",
    }


def test_all_are_on() -> None:
    assert all(effects(Middleware()).values())


@pytest.mark.parametrize("name", PARTS)
def test_each_switch_is_for_its_part_alone(name: str) -> None:
    assert effects(Middleware(**{name: False})) == {part: part != name for part in PARTS}


@pytest.mark.parametrize("name", PARTS)
def test_the_master_wins(name: str) -> None:
    assert not any(effects(Middleware(master=False, **{name: True})).values())


def test_what_does_not_fit_is_left_alone() -> None:
    middleware = Middleware()
    assert middleware.skills_for("what is agntcy") == ()
    for text in ("latch", "a@latch.md", "@latch.md and more", "@../secret.md"):
        assert middleware.argument(text) == text
    assert middleware.argument(" @latch ") == "latch"
    assert middleware.refusal("search", ("search",)) is None
    assert "archive" in (middleware.refusal("archive", ("search",)) or "")

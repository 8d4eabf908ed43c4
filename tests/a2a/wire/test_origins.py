from __future__ import annotations

import pytest

from slack_bot.a2a.wire.origins import Origin, Origins, bare, origin_of


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://Agent.Example/a", Origin("https", "agent.example", 443)),
        ("http://agent.example.:8000", Origin("http", "agent.example", 8000)),
        ("http://[::1]:9", Origin("http", "::1", 9)),
        ("ftp://agent.example", None),
        ("agent.example", None),
        ("http://", None),
        ("http://[bad", None),
        ("http://host:notaport", None),
        ("", None),
    ],
)
def test_place_of(url: str, place: Origin | None) -> None:
    assert origin_of(url) == place


def test_a_place_reads_well() -> None:
    assert str(origin_of("https://agent.example/x")) == "agent.example"
    assert str(origin_of("http://[::1]:9/x")) == "[::1]:9"


def test_bare_has_no_credentials() -> None:
    assert bare("https://user:pass@agent.example/a?b=c#d") == "https://agent.example/a?b=c"


@pytest.mark.parametrize(
    ("url", "admitted"),
    [
        ("https://agent.example/other", True),
        ("https://AGENT.example:443/", True),
        ("https://agent.example:8443/", False),
        ("http://agent.example:443/", False),
        ("https://evil.example/", False),
        ("https://agent.example.evil.example/", False),
        ("https://agent.example@evil.example/", False),
        ("https://friend.example:1234/", True),
        ("http://exact.example:81/", True),
        ("http://exact.example:82/", False),
        ("http://[2001:db8::1]:5/", True),
        ("no address", False),
    ],
)
def test_who_is_admitted(url: str, admitted: bool) -> None:
    origins = Origins("https://agent.example", ["Friend.example", "exact.example:81", "[2001:db8::1]:5"])
    assert origins.admits(url) is admitted


def test_the_names_of_this_machine_are_one() -> None:
    origins = Origins("http://localhost:9000")
    assert origins.admits("http://127.0.0.1:9000/")
    assert not origins.admits("http://127.0.0.1:9001/")


def test_https_is_as_good_as_http_on_the_same_port() -> None:
    assert Origins("http://agent.example:9000").admits("https://agent.example:9000/")


def test_without_a_configured_address_nobody_is() -> None:
    assert not Origins("").admits("http://agent.example/")

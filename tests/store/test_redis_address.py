"""An address of Sentinels is read as it is written, or refused in a sentence."""

from __future__ import annotations

import re

import pytest

from slack_bot.errors import SettingsError
from slack_bot.store.redis_address import SentinelAddress, names_sentinels, place_of, sentinels_of
from slack_bot.store.redis_connection import connect
from slack_bot.store.redis_format import without_password

HOSTS = "redis+sentinel://one:1,two"


def test_all_that_it_says_is_read() -> None:
    url = (
        "rediss+sentinel://bot:a%40b@one:1,two,[::1]:3/my%20redis/2"
        "?sentinel_username=eye&sentinel_password=c%40d&ssl_ca_certs=/etc/ca.pem&sentinel_tls=no"
    )
    assert sentinels_of(url) == SentinelAddress(
        hosts=(("one", 1), ("two", 26379), ("::1", 3)),
        name="my redis",
        server="rediss://bot:a%40b@h/2?ssl_ca_certs=%2Fetc%2Fca.pem",
        username="eye",
        password="c@d",
        has_tls=False,
    )
    assert without_password(url) == "rediss+sentinel://one:1,two:26379,[::1]:3/my redis"


def test_what_it_does_not_say_is_what_sentinels_have() -> None:
    address = sentinels_of("rediss+sentinel://one/name")
    assert (address.hosts, address.server, address.has_tls) == ((("one", 26379),), "rediss://h/", True)
    assert (address.username, address.password) == (None, None)
    assert not sentinels_of("redis+sentinel://one/name").has_tls
    assert [names_sentinels(f"{each}://h") for each in ("redis", "rediss", "redis+sentinel")] == [
        *(False, False),
        True,
    ]
    assert place_of(("::1", 7)) == "[::1]:7"


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        (HOSTS, "it does not say what the Sentinels call the primary"),
        (f"{HOSTS}/", "it does not say what the Sentinels call the primary"),
        (f"{HOSTS},/name", "'' is not a Sentinel's host:port"),
        ("redis+sentinel://one:port/name", "'one:port' is not a Sentinel's host:port"),
        ("redis+sentinel://one:70000/name", "'one:70000' is not a Sentinel's host:port"),
        (f"{HOSTS}/name/zero", "the database 'zero' is not a number"),
        (f"{HOSTS}/name?sentinel_user=eye", "'sentinel_user' is not an option; there are sentinel_username,"),
        (f"{HOSTS}/name?sentinel_tls=maybe", "sentinel_tls is 'maybe'; write yes or no"),
        (f"{HOSTS}/name?sentinel_tls=yes", "sentinel_tls=yes works with rediss+sentinel:// only"),
        (f"{HOSTS}/name?timeout=3", "'timeout' is not an option of redis-py"),
        (f"{HOSTS}/name?ssl_ca_certs=ca.pem", "'ssl_ca_certs' works with rediss:// only"),
    ],
)
def test_an_address_that_would_be_read_as_another_is_refused(address: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(problem)) as caught:
        connect(address)
    assert "redis+sentinel://host1:26379,host2:26379/NAME" in str(caught.value)

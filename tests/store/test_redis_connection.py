"""An address of Redis is taken as it is written, or refused in a sentence."""

from __future__ import annotations

import re

import pytest

from slack_bot.errors import SettingsError
from slack_bot.store.redis_connection import connect


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("redis://127.0.0.1:1/bot", "the database 'bot' is not a number"),
        ("redis://127.0.0.1:1/0?timeout=3", "'timeout' is not an option of redis-py"),
        ("redis://127.0.0.1:1/0?ssl_ca_certs=ca.pem", "'ssl_ca_certs' works with rediss:// only"),
        ("rediss://127.0.0.1:1/0?ssl_ca_certs=ca.pem", "ssl_ca_certs: there is no file ca.pem"),
        (f"rediss://127.0.0.1:1/0?ssl_ca_certs={__file__}", "its ssl_ options cannot be used"),
        ("rediss://127.0.0.1:1/0?ssl_cert_reqs=some", "Invalid SSL Certificate Requirements Flag: some"),
    ],
)
def test_an_address_that_would_be_read_as_another_is_refused(address: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(problem)):
        connect(address)

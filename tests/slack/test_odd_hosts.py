"""Which hosts of sources a reader should see, and which are as they seem."""

import pytest

from slack_bot.slack.odd_hosts import odd_host
from slack_bot.turn.extras import Source


@pytest.mark.parametrize(
    ("url", "title", "host"),
    [
        ("http://127.0.0.1:8080/x", "Notes", "127.0.0.1"),
        ("http://localhost/x", "Notes", "localhost"),
        ("http://2130706433/", "Notes", "127.0.0.1"),
        ("http://0x7f000001/", "Notes", "127.0.0.1"),
        ("http://0177.0.0.1/", "Notes", "127.0.0.1"),
        ("http://127.1/", "Notes", "127.0.0.1"),
        ("http://[::1]/", "Notes", "::1"),
        ("http://93.184.216.34/", "Notes", "93.184.216.34"),
        ("https://xn--pypal-4ve.com/", "PayPal", "xn--pypal-4ve.com"),
        ("https://p\u0430ypal.com/", "PayPal", "xn--pypal-4ve.com"),
        ("https://evil.example/", "https://github.com/a/b", "evil.example"),
        ("https://evil.example/", "github.com/a/b", "evil.example"),
        ("https://github.com.evil.example/", "github.com", "github.com.evil.example"),
    ],
)
def test_a_host_that_is_not_what_it_seems(url: str, title: str, host: str) -> None:
    assert odd_host(Source(url, title)) == host


@pytest.mark.parametrize(
    ("url", "title"),
    [
        ("https://github.com/a/b", "A repository"),
        ("https://github.com/a/b", "https://github.com/a/b"),
        ("https://www.example.com/", "example.com"),
        ("https://example.com/", "www.example.com"),
        ("https://wiki.corp/page", "Our wiki"),
        ("https://docs.example.com/setup.py", "setup.py"),
        ("https://nodejs.org/", "Node.js"),
        ("https://vertexaisearch.cloud.google.com/grounding-api-redirect/x", "aljazeera.com"),
        ("https://example.com/", ""),
    ],
)
def test_a_host_that_is_as_it_seems(url: str, title: str) -> None:
    assert odd_host(Source(url, title)) == ""

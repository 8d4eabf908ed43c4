"""Which addresses may be fetched."""

from __future__ import annotations

import pytest

from slack_bot.web.addresses import WebAddress, is_public, may_fetch, read_address, redirected

ALLOWED = ("files.example", "*.cdn.example", "odd.example:8443", "münchen.example".encode("idna").decode())


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://files.example", WebAddress("files.example", 443, "/")),
        ("HTTPS://Files.Example.:443/a%20b/ü?q=1&r=ä#part", WebAddress(
            "files.example", 443, "/a%20b/%C3%BC?q=1&r=%C3%A4",
        )),
        ("https://x.cdn.example/a", WebAddress("x.cdn.example", 443, "/a")),
        ("https://y.x.cdn.example/a", WebAddress("y.x.cdn.example", 443, "/a")),
        ("https://odd.example:8443/a", WebAddress("odd.example", 8443, "/a")),
        ("https://münchen.example/", WebAddress("xn--mnchen-3ya.example", 443, "/")),
    ],
)  # fmt: skip
def test_what_may_be_fetched(url: str, address: WebAddress) -> None:
    assert read_address(url, ALLOWED) == address


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://files.example/a", "it does not begin with https://"),
        ("file:///etc/passwd", "it does not begin with https://"),
        ("gopher://files.example/", "it does not begin with https://"),
        ("//files.example/a", "it does not begin with https://"),
        ("", "it does not begin with https://"),
        ("https://ada@files.example/", "it names a user or a password"),
        ("https://files.example:secret@files.example/", "it names a user or a password"),
        ("https://files.example:443@evil.example/", "it names a user or a password"),
        ("https://evil.example\\@files.example/", "it is no address"),
        ("https://files.example/a b", "it is no address"),
        ("https://files.example/\r\nHost: evil.example", "it is no address"),
        ("https://files.example:99999/", "it is no address"),
        ("https://files.example:x/", "it is no address"),
        ("https://[files.example/", "it is no address"),
        ("https:///a", "it is no address"),
        ("https://" + "a" * 64 + ".example/", "it is no address"),
        ("https://[fe80::1%25eth0]/", "it is no address"),
        ("https://evil.example/", "evil.example is not among the allowed hosts"),
        ("https://files.example:8443/", "files.example:8443 is not among the allowed hosts"),
        ("https://cdn.example/", "cdn.example is not among the allowed hosts"),
        ("https://evilcdn.example/", "evilcdn.example is not among the allowed hosts"),
        ("https://files.example.evil.example/", "files.example.evil.example is not among the allowed hosts"),
        ("https://2130706433/", "2130706433 is not among the allowed hosts"),
        ("https://[::1]/", "::1 is not among the allowed hosts"),
    ],
)  # fmt: skip
def test_what_may_not_be_fetched_is_said_plainly(url: str, reason: str) -> None:
    assert read_address(url, ALLOWED) == reason


def test_nothing_is_allowed_as_things_come() -> None:
    assert read_address("https://files.example/", ()) == "files.example is not among the allowed hosts"


def test_an_address_that_sends_on_is_judged_again() -> None:
    address = WebAddress("files.example", 443, "/a/b?c=d")
    assert redirected(address, "e", ALLOWED) == WebAddress("files.example", 443, "/a/e")
    assert redirected(address, "//x.cdn.example/f", ALLOWED) == WebAddress("x.cdn.example", 443, "/f")
    assert redirected(address, "http://files.example/", ALLOWED) == "it does not begin with https://"
    assert redirected(address, "https://[", ALLOWED) == "it is no address"
    six = WebAddress("2606:4700::1", 443, "/a")
    assert redirected(six, "/b", ("2606:4700::1",)) == WebAddress("2606:4700::1", 443, "/b")


@pytest.mark.parametrize("machine", ["1.1.1.1", "93.184.215.14", "100.128.0.1", "172.32.0.1", "2606:4700::1"])
def test_machines_of_the_internet(machine: str) -> None:
    assert is_public(machine)


@pytest.mark.parametrize(
    "machine",
    [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.9.9.9", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "192.88.99.1", "198.18.0.1",
        "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.2.1", "203.0.113.1",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1",
        "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:808:808::", "2001::1", "2001:db8::1",
        "3fff::1", "100::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0",
        "fec0::1", "ff02::1", "5f00::1", "localhost", "", "127.1", "0x7f000001",
    ],
)  # fmt: skip
def test_machines_that_are_not(machine: str) -> None:
    assert not is_public(machine)


def test_what_may_be_fetched_is_what_is_read_as_an_address() -> None:
    assert may_fetch("https://files.example/a.png", ("files.example",))
    assert not may_fetch("http://files.example/a.png", ("files.example",))
    assert not may_fetch("https://files.example/a.png", ())

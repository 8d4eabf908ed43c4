"""Tokens that agents sign: which are good, and where the keys come from."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from slack_bot.clock import Clock
from slack_bot.errors import SettingsError
from slack_bot.features.push import push_jwt
from slack_bot.features.push.push_jwt import JwtVerifier
from slack_bot.features.push.receiver import PushReceiver
from slack_bot.settings.models import SlackSettings
from slack_bot.settings.push import PushSettings
from slack_bot.testing.harness import bot_on_network, free_port

from .test_receiver import Receiving, post, task

jwt = pytest.importorskip("jwt", reason="PyJWT, an extra, is not installed")

URL, ISSUER, NOW = "https://bot.example/a2a/push/AAAA", "https://agent.example", 1_800_000_000.0
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
WEAK = rsa.generate_private_key(public_exponent=65537, key_size=1024)
EC, OTHER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
EC384 = ec.generate_private_key(ec.SECP384R1())


def jwk(key: Any, name: str | None = "k", **more: Any) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    found = kind.to_jwk(key.public_key(), as_dict=True) | more
    return found if name is None else found | {"kid": name}


CLAIMS: dict[str, Any] = {"iss": ISSUER, "aud": URL, "iat": int(NOW), "exp": int(NOW) + 300, "jti": "1"}


def token(key: Any = EC, algorithm: str = "ES256", name: str | None = "k", **changes: Any) -> str:
    claims = {name: value for name, value in (CLAIMS | changes).items() if value is not None}
    return str(jwt.encode(claims, key, algorithm, headers=None if name is None else {"kid": name}))


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW
        self.clock = Clock(monotonic=lambda: self.now, wall=lambda: self.now)


async def verifier(tmp_path: Path, *keys: dict[str, Any], time: Time | None = None) -> JwtVerifier:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": keys or [jwk(EC)]}))
    found = JwtVerifier(PushSettings(jwks=str(file), jwt_issuer=ISSUER), (time or Time()).clock)
    await found.check()
    return found


# -- which are good ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        token(),
        token(RSA, "RS256", "rsa"),
        token(aud=[URL, "https://other.example"]),
        token(exp=int(NOW) - 59),
        token(iat=int(NOW) + 59, nbf=int(NOW) + 60),
        token(iat=NOW - 0.5),
    ],
    ids=["ES256", "RS256", "one of several", "just over", "just issued", "fraction"],
)
async def test_a_token_is_good_once(given: str, tmp_path: Path) -> None:
    keys = await verifier(tmp_path, jwk(EC), jwk(RSA, "rsa"))
    assert [await keys.is_valid(given, URL) for _ in range(2)] == [True, False]


async def test_a_key_without_a_name_is_for_tokens_that_name_none(tmp_path: Path) -> None:
    keys = await verifier(tmp_path, jwk(EC, None))
    assert await keys.is_valid(token(name=None), URL)
    assert not await keys.is_valid(token(jti="2"), URL)


def base64url(data: bytes) -> str:
    return str(jwt.utils.base64url_encode(data).decode())


def signed_with_the_public_key() -> str:
    """As if our key for ES256 were a password."""
    head = base64url(json.dumps({"alg": "HS256", "kid": "k"}).encode())
    signed = f"{head}.{base64url(json.dumps(CLAIMS).encode())}"
    public = jwt.algorithms.ECAlgorithm.to_jwk(EC.public_key()).encode()
    return f"{signed}.{base64url(hmac.digest(public, signed.encode(), 'sha256'))}"


def with_header(**changes: Any) -> str:
    head, rest = jwt.encode(CLAIMS, EC, "ES256", headers={"kid": "k", **changes}).split(".", 1)
    return f"{head}.{rest}"


def nested() -> str:
    """A head of lists in lists."""
    return base64url(b"[" * 5_000) + ".e30.e30"


@pytest.mark.parametrize(
    "given",
    [
        token(OTHER),
        token(RSA, "RS256"),
        signed_with_the_public_key(),
        jwt.encode(CLAIMS, None, "none", headers={"kid": "k"}),
        token(name="other"),
        token(name=None),
        token(iss="https://evil.example"),
        token(iss=None),
        token(aud="https://bot.example/a2a/push/BBBB"),
        token(aud="https://bot.example"),
        token(aud=None),
        token(exp=int(NOW) - 60),
        token(exp=None),
        token(exp="soon"),
        token(exp=float("nan")),
        token(iat=int(NOW) + 61),
        token(iat=None),
        token(iat="now"),
        token(nbf=int(NOW) + 61),
        token(jti=None),
        token(jti=7),
        token(OTHER, name="k", jku="https://evil.example/keys"),
        with_header(jku="https://evil.example/keys", kid="evil"),
        with_header(crit=["x"], x=1),
        token()[:-4],
        token() + ".",
        nested(),
        "..",
        "a.b.c",
        "",
        "\udcff.\udcff.\udcff",
        "e30.e30.e30",
    ],
)
async def test_a_token_that_is_wrong_in_anything_is_not_good(given: str, tmp_path: Path) -> None:
    keys = await verifier(tmp_path)
    assert not await keys.is_valid(given, URL)
    assert await keys.is_valid(token(), URL)  # and takes nothing away from the right one


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")  # the very thing
@pytest.mark.parametrize(
    ("key", "known", "algorithm"),
    [(EC384, jwk(EC384), "ES384"), (WEAK, jwk(WEAK), "RS256"), (RSA, jwk(RSA, alg="RS512"), "RS512")],
)
async def test_another_kind_of_key_signs_nothing(
    key: Any, known: dict[str, Any], algorithm: str, tmp_path: Path
) -> None:
    keys = await verifier(tmp_path, known, jwk(EC, "good"))
    assert not await keys.is_valid(token(key, algorithm), URL)
    assert await keys.is_valid(token(name="good"), URL)


async def test_only_so_many_tokens_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_jwt, "_MOST_SEEN", 3)
    keys = await verifier(tmp_path)
    assert [await keys.is_valid(token(jti=str(number)), URL) for number in range(4)] == [True] * 4
    assert not await keys.is_valid(token(jti="3"), URL)
    assert await keys.is_valid(token(jti="0"), URL)  # forgotten: a hint like any other


async def test_a_signed_post_needs_no_secret_and_a_wrong_one_spoils_it(tmp_path: Path) -> None:
    keys, here = await verifier(tmp_path), Receiving(free_port())
    settings = PushSettings(public_url=f"http://127.0.0.1:{here.port}/", host="127.0.0.1", port=here.port)
    async with PushReceiver(settings, here.push_watch, here.on_hint, keys).listening(SlackSettings()):
        target, other = here.watch("t"), here.watch("t")
        signed = {"Authorization": f"Bearer {token(aud=target.url)}"}
        assert await post(target.url, task(), signed | {"X-A2A-Notification-Token": "wrong"}) == 401
        assert await post(other.url, task(), signed) == 401
        assert await post(target.url, task(), signed) == 200
        assert await post(target.url, task(), signed) == 401
        again = {"Authorization": f"Bearer {token(aud=target.url, jti='2')}"}
        assert await post(target.url, task(), again | {"X-A2A-Notification-Token": target.secret}) == 200
    assert here.hints == [target.push_id] * 2


# -- where the keys come from --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"^SLACK_BOT_PUSH__JWKS \(.+keys\.json\) cannot be read: FileNotFoundError$"),
        ("{", "has no key for RS256 or ES256: give a JWKS"),
        ("[" * 100_000, "has no key"),
        ("[]", "has no key"),
        ('{"keys": []}', "has no key"),
        ('{"keys": [{"kty": "oct", "k": "AAAA"}]}', "has no key"),
        ('{"keys": [{"kty": "RSA", "n": 5, "e": {}}]}', "has no key"),
        ('{"keys": 7}', "has no key"),
        ("null", "has no key"),
    ],
)
async def test_a_file_that_is_no_key_set_is_one_sentence(
    content: str | None, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "keys.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingsError, match=says):
        await JwtVerifier(PushSettings(jwks=str(file), jwt_issuer=ISSUER), Time().clock).check()


async def test_a_receiver_begins_with_its_keys_or_not_at_all(tmp_path: Path) -> None:
    settings = {"push.public_url": "https://bot.example", "push.host": "127.0.0.1", "push.port": free_port()}
    async with bot_on_network(**settings):
        pass
    settings |= {"push.jwks": str(tmp_path / "keys.json"), "push.jwt_issuer": ISSUER}
    with pytest.raises(SettingsError, match="cannot be read"):
        async with bot_on_network(**settings):
            pytest.fail("there are no keys")


async def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_jwt, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="needs PyJWT: install the bot with its extra `jwt`"):
        await JwtVerifier(PushSettings(jwks="keys.json"), Time().clock).check()


async def test_new_keys_are_read_when_one_is_named_but_not_more_often_than_once_a_minute(
    tmp_path: Path,
) -> None:
    time = Time()
    keys = await verifier(tmp_path, time=time)
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [jwk(OTHER, "new")]}))
    new = {"key": OTHER, "name": "new", "jti": "2"}
    time.now += 60
    assert not await keys.is_valid(token(**new), URL)
    assert await keys.is_valid(token(), URL)  # the old one is good so long
    time.now += 1
    assert await keys.is_valid(token(**new), URL)
    assert not await keys.is_valid(token(jti="3"), URL)


async def test_old_keys_are_read_again_and_kept_if_that_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    time = Time()
    keys = await verifier(tmp_path, time=time)
    (tmp_path / "keys.json").unlink()
    time.now += 3601
    later = {"iat": int(time.now), "exp": int(time.now) + 300}
    assert await keys.is_valid(token(**later), URL)
    assert "cannot be read: FileNotFoundError" in caplog.text
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [jwk(OTHER, "new")]}))
    time.now += 3601
    assert not await keys.is_valid(token(iat=int(time.now), exp=int(time.now) + 300, jti="2"), URL)


@asynccontextmanager
async def key_server(answer: Callable[[], web.StreamResponse]) -> AsyncIterator[PushSettings]:
    """Keys by an address. The settings refuse http, which is all that a test has."""

    async def serve(_: web.BaseRequest) -> web.StreamResponse:
        return answer()

    async with RawTestServer(serve) as server:
        url = str(server.make_url("/keys"))
        yield PushSettings.model_construct(jwks=url, jwks_ttl=3600.0, jwt_issuer=ISSUER)


async def test_keys_come_from_an_address() -> None:
    big = {"keys": [jwk(RSA, str(number)) for number in range(500)] + [jwk(EC)]}  # some 200 kB
    async with key_server(lambda: web.json_response(big)) as settings:
        keys = JwtVerifier(settings, Time().clock)
        await keys.check()
        assert await keys.is_valid(token(), URL)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: web.Response(status=500),
        lambda: web.Response(status=302, headers={"Location": "/elsewhere"}),
        lambda: web.Response(body=b" " * 2_000_000 + json.dumps({"keys": [jwk(EC)]}).encode()),
        lambda: web.Response(text="<html>"),
    ],
)
async def test_an_address_without_keys_is_a_warning_and_asked_again_later(
    answer: Callable[[], web.StreamResponse],
    caplog: pytest.LogCaptureFixture,
) -> None:
    time, answers = Time(), [answer]
    async with key_server(lambda: answers[-1]()) as settings:
        keys = JwtVerifier(settings, time.clock)
        await keys.check()
        assert [each.levelno for each in caplog.records] == [logging.WARNING]
        answers.append(lambda: web.json_response({"keys": [jwk(EC)]}))
        assert not await keys.is_valid(token(), URL)
        time.now += 61
        assert await keys.is_valid(token(), URL)

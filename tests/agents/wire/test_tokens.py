"""One token for all calls: when it is fetched, how often, and what becomes of those that wait for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.wire.tokens import FetchedToken, FetchedTokens, FileTokens, read_token
from slack_bot.errors import TokenRefused, TokenUnavailable
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time, run


class Server:
    """Gives numbered tokens. `life` and `takes` are in seconds; `fails` is raised instead."""

    def __init__(self, life: float = 100.0, takes: float = 1.0) -> None:
        self.life, self.takes = life, takes
        self.fails: Exception | None = None
        self.began: list[float] = []
        self.running = self.most_running = 0

    async def fetch(self) -> FetchedToken:
        self.began.append(asyncio.get_running_loop().time())
        number = len(self.began)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.running -= 1
        if self.fails is not None:
            raise self.fails
        return FetchedToken(f"token-{number}", self.life)


def tokens_of(server: Server) -> FetchedTokens:
    return FetchedTokens(server.fetch, new_clock())


@on_virtual_time
async def test_a_server_that_did_not_answer_is_left_alone_for_a_while() -> None:
    server = Server(takes=5.0)
    tokens, server.fails = tokens_of(server), TokenUnavailable("it hangs", is_slow=True)
    for moment in (0.0, 5.0, 14.9):
        await until(moment)
        with pytest.raises(TokenUnavailable, match="it hangs"):
            await tokens.token()
    assert server.began == [0.0]
    server.fails = None
    await until(15.0)
    assert await tokens.token() == "token-2"


@on_virtual_time
async def test_a_server_that_fails_at_once_is_asked_again_at_once() -> None:
    server = Server(takes=0.1)
    tokens, server.fails = tokens_of(server), TokenUnavailable("it is away")
    for _ in range(2):
        with pytest.raises(TokenUnavailable, match="it is away"):
            await tokens.token()
    assert len(server.began) == 2


async def until(moment: float) -> None:
    await asyncio.sleep(moment - asyncio.get_running_loop().time())


@on_virtual_time
async def test_fifty_calls_at_once_are_one_fetch() -> None:
    server = Server()
    tokens = tokens_of(server)
    assert tokens.secrets == ()
    assert set(await asyncio.gather(*(tokens.token() for _ in range(50)))) == {"token-1"}
    assert server.began == [0.0]
    assert tokens.secrets == ("token-1",)


@on_virtual_time
async def test_it_is_renewed_at_80_percent_of_its_life_and_nobody_waits_for_that() -> None:
    server = Server()
    tokens = tokens_of(server)
    assert await tokens.token() == "token-1"
    await until(79.0)
    assert await tokens.token() == "token-1"
    assert len(server.began) == 1
    await until(80.5)
    assert await tokens.token() == "token-1"
    assert asyncio.get_running_loop().time() == 80.5
    await until(82.0)
    assert await tokens.token() == "token-2"
    assert server.began == [0.0, 80.5]


@on_virtual_time
async def test_a_token_at_its_end_is_waited_for() -> None:
    server = Server()
    tokens = tokens_of(server)
    await tokens.token()
    await until(100.0)
    assert await tokens.token() == "token-2"


@on_virtual_time
async def test_while_a_token_is_good_a_failed_renewal_is_logged_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server()
    tokens = tokens_of(server)
    await tokens.token()
    server.fails = TokenUnavailable("the server is down")
    await until(81.0)
    for _ in range(10):
        assert await tokens.token() == "token-1"
        await asyncio.sleep(1.0)
    assert server.began == [0.0, 81.0, 87.0]
    assert [(each.levelno, "the server is down" in each.message) for each in caplog.records] == [
        (logging.WARNING, True)
    ] * 2
    assert "token-1" not in caplog.text
    await until(101.0)
    with pytest.raises(TokenUnavailable, match="down"):
        await tokens.token()
    server.fails = None
    assert await tokens.token() == f"token-{len(server.began)}"


@on_virtual_time
async def test_all_who_wait_get_the_failure_and_the_next_one_tries_again() -> None:
    server = Server()
    server.fails = TokenRefused("not so", error="invalid_client")
    tokens = tokens_of(server)
    failures = await asyncio.gather(*(tokens.token() for _ in range(5)), return_exceptions=True)
    assert {type(each) for each in failures} == {TokenRefused}
    assert len(server.began) == 1
    server.fails = None
    assert await tokens.token() == "token-2"


@on_virtual_time
async def test_who_is_cancelled_takes_nothing_from_the_others() -> None:
    server = Server()
    tokens = tokens_of(server)
    first, second = (asyncio.create_task(tokens.token()) for _ in range(2))
    await asyncio.sleep(0.5)
    first.cancel()
    assert await second == "token-1"
    assert first.cancelled()
    assert len(server.began) == 1


@on_virtual_time
async def test_a_fetch_that_nobody_waits_for_any_more_fails_silently() -> None:
    server = Server()
    server.fails = TokenUnavailable("down")
    waiting = asyncio.create_task(tokens_of(server).token())
    await asyncio.sleep(0.5)
    waiting.cancel()
    await asyncio.sleep(1.0)
    assert waiting.cancelled()


@on_virtual_time
async def test_fifty_refusals_of_one_token_are_one_fetch() -> None:
    server = Server()
    tokens = tokens_of(server)
    old = await tokens.token()
    tokens.accept(old)
    assert set(await asyncio.gather(*(tokens.renewed(old) for _ in range(50)))) == {"token-2"}
    assert await tokens.renewed(old) == "token-2"
    assert len(server.began) == 2


@on_virtual_time
async def test_a_new_token_that_the_agent_never_took_is_not_fetched_again_and_again() -> None:
    server = Server()
    tokens = tokens_of(server)
    token = await tokens.token()
    assert await tokens.renewed(token) is None
    assert await tokens.token() == token
    await until(11.0)
    assert await tokens.renewed(token) == "token-2"


@on_virtual_time
async def test_a_server_that_gives_the_refused_token_again_ends_it() -> None:
    async def fetch() -> FetchedToken:
        return FetchedToken("the same", 100.0)

    tokens = FetchedTokens(fetch, new_clock())
    tokens.accept(await tokens.token())
    assert await tokens.renewed("the same") is None


@given(
    st.floats(0.5, 500.0),
    st.floats(0.0, 3.0),
    st.lists(
        st.tuples(st.floats(0.0, 400.0), st.sampled_from(["ask", "refuse", "break", "mend"])), max_size=40
    ),
)
def test_whatever_happens(life: float, takes: float, steps: list[tuple[float, str]]) -> None:
    """One fetch at a time, no token past its end, and none that was refused once more."""

    async def body() -> None:
        server = Server(life, takes)
        tokens, loop = tokens_of(server), asyncio.get_running_loop()
        refused = set[str]()

        async def ask(kind: str) -> None:
            try:
                token = await tokens.token()
            except TokenUnavailable:
                assert server.fails is not None or takes > 0
                return
            fetched_at = server.began[int(token.removeprefix("token-")) - 1]
            assert loop.time() - fetched_at <= life + takes + 1e-6
            tokens.accept(token)
            if kind == "refuse":
                refused.add(token)
                try:
                    new = await tokens.renewed(token)
                except TokenUnavailable:
                    return
                assert new != token

        asked = []
        for pause, kind in steps:
            await asyncio.sleep(pause / 20)
            match kind:
                case "break":
                    server.fails = TokenUnavailable("down")
                case "mend":
                    server.fails = None
                case _:
                    asked.append(asyncio.create_task(ask(kind)))
        await asyncio.gather(*asked)
        assert server.most_running <= 1

    run(body())


# -- tokens of files


def test_a_token_in_a_file_is_read_for_each_call(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    tokens = FileTokens(str(file), "SETTING")
    assert tokens.secrets == ()

    async def body() -> None:
        assert await tokens.token() == "one"
        assert await tokens.renewed("one") is None
        file.write_text("two")
        assert await tokens.renewed("one") == "two"
        assert await tokens.token() == "two"
        tokens.accept("two")
        assert tokens.secrets == ("two",)

    asyncio.run(body())


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda file: None, "cannot be read (No such file or directory); correct SETTING"),
        (lambda file: file.mkdir(), "cannot be read (Is a directory); correct SETTING"),
        (lambda file: file.write_bytes(b""), "holds no token; SETTING names a file with one token"),
        (lambda file: file.write_bytes(b"a token"), "holds no token; SETTING names a file with one token"),
        (lambda file: file.write_bytes(b"a\nb"), "holds no token; SETTING names a file with one token"),
        (lambda file: file.write_bytes(b"\xff"), "holds no token; SETTING names a file with one token"),
    ],
)
def test_a_file_without_a_token(prepare: Callable[[Path], object], said: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    prepare(file)
    with pytest.raises(TokenUnavailable) as caught:
        read_token(str(file), "SETTING")
    assert f"{file} {said}" in str(caught.value)

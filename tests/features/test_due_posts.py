"""Posts that wait in the store: one process makes each, and what Slack does not take is tried again."""

from __future__ import annotations

import asyncio

from slack_bot.features.due_posts import SPARE, DuePosts, KeptPost
from slack_bot.store.collection import Collection
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time

POSTS = Collection("posts", KeptPost, since=lambda post: post.at, due=lambda post: post.due)
KEY = ("one",)


@on_virtual_time
async def test_two_processes_make_a_left_post_once_and_again_where_slack_refused_it() -> None:
    store, clock = MemoryStore(), new_clock()
    made: list[str] = []

    def process(name: str) -> asyncio.Task[None]:
        posts = DuePosts(store, POSTS, clock.wall)

        async def make(post: KeptPost) -> None:
            made.append(name)
            await posts.note(KEY, "" if len(made) == 1 else "9.0")

        return asyncio.create_task(posts.run(lambda _: KEY, make, 1.0))

    kept = DuePosts(store, POSTS, clock.wall)
    assert await kept.add(KEY, KeptPost(clock.wall()))
    assert not await kept.add(KEY, KeptPost(clock.wall()))
    running = [process("a"), process("b")]
    await asyncio.sleep(SPARE - 2)
    assert made == []  # who added it has it first
    await asyncio.sleep(4)
    assert len(made) == 1
    await asyncio.sleep(60)
    assert len(made) == 2
    found = await kept.find(KEY)
    assert found is not None and (found.ts, found.due) == ("9.0", None)
    for each in running:
        each.cancel()


@on_virtual_time
async def test_what_was_removed_meanwhile_is_not_made() -> None:
    store, clock = MemoryStore(), new_clock()
    posts = DuePosts(store, POSTS, clock.wall)
    await posts.add(KEY, KeptPost(clock.wall()))
    await posts.remove(KEY)
    await posts.note(KEY, "9.0")
    assert await posts.find(KEY) is None


@on_virtual_time
async def test_a_post_that_takes_long_is_not_made_by_another_one_meanwhile() -> None:
    store, clock = MemoryStore(), new_clock()
    made: list[str] = []

    def process(name: str) -> tuple[DuePosts[KeptPost], asyncio.Task[None]]:
        posts = DuePosts(store, POSTS, clock.wall)

        async def make(post: KeptPost) -> None:
            made.append(name)
            await asyncio.sleep(5 * SPARE)
            await posts.note(KEY, "9.0")

        return posts, asyncio.create_task(posts.run(lambda _: KEY, make, 1.0))

    async def slow() -> None:
        made.append("at once")
        await asyncio.sleep(5 * SPARE)

    (posts, first), (_, second) = process("a"), process("b")
    await posts.add(KEY, KeptPost(clock.wall()))
    await posts.make(KEY, slow())
    assert made == ["at once"]
    await asyncio.sleep(10 * SPARE)
    assert len(made) == 2, "nothing was noted, so one of them makes it, once"
    first.cancel()
    second.cancel()

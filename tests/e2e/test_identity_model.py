"""No call to an agent carries what belongs to another agent or another person: their tokens, cookies, session
and contexts, over threads of several people, Stops, questions of agents, approvals, tasks that are followed
in the background, addresses for their news, sign-ins, of the asker and of another person who was given the
link, exchanged tokens, kills and restarts, and two replicas, of which either gets what Slack, the agents and
the browsers send.

Each call is looked at as its agent gets it, by what its server knows: the keys of the bot, for whom the
authorization server gave the token, whose question began the task, and to whom it gave a cookie.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.sign_in.desk import SignInDesk
from slack_bot.features.sign_in.gate import SignInGate
from slack_bot.http_client import AsyncBaseTransport, Request, Response
from slack_bot.observe.facts import TurnEnded
from slack_bot.settings.identity import IdentitySettings
from slack_bot.store.contracts import Store
from slack_bot.store.sign_ins import SIGNED_IN
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.rules import SHIPPED
from slack_bot.testing.tape.builders import answer, chunk, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from tests.features.sign_in.town import KEY
from tests.form_tapes import asking
from tests.login_server import LoginServer
from tests.people_keys import Checker, identity_settings, public_of
from tests.shared_memory import SharedMemory

SESSION, ASKER = "x-session", "x-asker"
BEARER = "the-token-of-the-bot-for-default"
AGENTS = {
    "default": "http://agent.invalid/",
    "research": "http://research.invalid/",
    "ops": "http://ops.invalid/",
    "files": "http://files.invalid/",
    "mail": "http://mail.invalid/",
}
LOGIN = "https://login.invalid"
ACCOUNTS = {"U1": "alice", "U2": "bob", "U3": "carol"}
FILE = """
[agents.research]
url = "http://research.invalid/"
identity = "signed"
session_header = "x-session"
[agents.ops]
url = "http://ops.invalid/"
session_header = "x-session"
[agents.files]
url = "http://files.invalid/"
identity = "oauth"
session_header = "x-session"
[agents.files.oauth]
issuer = "https://login.invalid"
register_client = true
[agents.mail]
url = "http://mail.invalid/"
identity = "exchange"
session_header = "x-session"
[agents.mail.exchange]
issuer = "https://login.invalid"
"""
PEOPLE = (*ACCOUNTS,)
APPROVER = "U4"  # who asks nothing, so that no call is theirs
QUESTIONS = 40  # tapes of each agent
LONG = 90.0  # seconds of a task that is followed in the background
PATIENCE = 15.0
"""Seconds for which a turn listens."""
MANIFEST = replace(SHIPPED, scopes=SHIPPED.scopes | {"users:read.email"})
Step = tuple[str, str, str, int] | tuple[str, str, str, int, int]
"""What is done, by whom, at which agent, where; and which replica gets it."""
PUSH = ("tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/delete")


def tape(name: str, number: int) -> Tape:
    """What the agent `name` does with its question `number`."""
    ids = f"{name}{number}"
    match number % 4:
        case 1:
            moments = (
                Moment(0.1, event=task(ids=ids)),
                Moment(0.5, event=chunk("It is ", ids=ids)),
                Moment(LONG, event=chunk("so.", ids=ids)),
                Moment(LONG, event=status("completed", ids=ids)),
                Moment(LONG, end="closed"),
            )
            return Tape({"wire": "0.3"}, moments)
        case 2:
            call = {"name": "deploy", "args": {"env": "prod"}}
            review = {"action_name": "deploy", "allowed_decisions": ["approve", "reject"]}
            value = {"action_requests": [call], "review_configs": [review]}
            return asking({"id": f"i{number}", "value": value}, "May I?", ids=ids)
        case 3:
            return question("Which?", ids=ids)
    return answer("It is so.", ids=ids, seconds=6.0)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose question it was, at which agent, in which thread."""

    agent: str
    thread: str
    user: str


@dataclass
class Server:
    """One agent's server. It counts on nothing but what the calls say."""

    name: str
    world: World
    checker: Checker
    inner: ScriptedTransport
    owners: list[Owner] = field(default_factory=list)  # of its questions, in order
    cookies: dict[str, Owner] = field(default_factory=dict)
    calls: int = 0
    pushes: list[str] = field(default_factory=list)  # addresses for news

    @property
    def is_told(self) -> bool:
        return self.name != "ops"

    async def handle(self, request: Request) -> Response:
        headers = dict(request.headers)
        if request.method == "GET":
            assert ASKER not in headers and "cookie" not in headers, "a card is nobody's"
            if self.name in ("research", "files", "mail"):
                assert "authorization" not in headers
            return await self.card(request)
        body = json.loads(await request.aread())
        owner = self.owner_of(body["params"])
        self.calls += 1
        self.look_at_tokens(headers, owner)
        self.look_at_session(headers, owner)
        response = await self.answer(request, body)
        cookie = f"{self.name}-{self.calls}"
        self.cookies[cookie] = owner
        response.headers["set-cookie"] = f"session={cookie}"
        return response

    async def card(self, request: Request) -> Response:
        response = await self.inner.handle_async_request(request)
        card = json.loads(await response.aread())
        card["capabilities"]["pushNotifications"] = True
        return Response(response.status_code, json=card, request=request)

    async def answer(self, request: Request, body: Mapping[str, Any]) -> Response:
        if body["method"] not in PUSH:
            return await self.inner.handle_async_request(request)
        self.world.kinds.add("push")
        if (config := body["params"].get("pushNotificationConfig")) is not None:
            self.pushes.append(config["url"].rpartition("/")[2])
        return Response(200, json={"jsonrpc": "2.0", "id": body["id"], "result": None}, request=request)

    def of_task(self, task_id: str) -> Owner:
        return self.owners[int(task_id.removeprefix(f"task-{self.name}"))]

    def owner_of(self, params: Mapping[str, Any]) -> Owner:
        if (message := params.get("message")) is None:
            return self.of_task(params.get("taskId") or params["id"])
        words = next((part["text"] for part in message["parts"] if "text" in part), "a press")
        # known of a "stop" that became a question, and left out where a task alone is answered
        about = message.get("metadata", {}).get("slack", {})
        if (asked := self.world.asked.get(words.split()[0])) is None and not about:
            before = self.of_task(message["taskId"])
            asked = before.thread, before.user
        thread, user = asked or (about["thread_ts"], about["user"])
        if about.get("answered_by") == APPROVER:
            self.world.kinds.add("approval")
            before = self.of_task(message["taskId"])
            thread, user = before.thread, before.user
        owner = Owner(self.name, thread, user)
        self.owners.append(owner)
        if (context := message.get("contextId")) is not None:
            before = self.owners[int(context.removeprefix(f"ctx-{self.name}"))]
            assert (before.thread, before.user) == (thread, user if self.is_told else before.user)
        return owner

    def look_at_tokens(self, headers: Mapping[str, str], owner: Owner) -> None:
        authorization = headers.get("authorization", "")
        if self.name == "ops":
            assert not authorization and ASKER not in headers
            return
        if self.name == "default":
            assert authorization == f"Bearer {BEARER}"
            token = headers[ASKER]
        else:
            assert ASKER not in headers
            token = authorization.removeprefix("Bearer ")
        if self.name == "files":
            assert self.world.login.owner_of(token) == ACCOUNTS[owner.user]
            self.world.kinds.add("signed in")
            return
        if self.name == "mail":
            assert self.world.login.exchanged[token] == f"slack:T1:{owner.user}"
            self.world.kinds.add("exchanged")
            return
        claims = self.checker.claims_of(token, self.world.now)
        assert claims["sub"] == f"slack:T1:{owner.user}"
        assert claims["act"] == {"sub": "slack:T1:U0BOT"}
        assert claims["jti"] not in self.world.token_ids, "a token was used twice"
        self.world.token_ids.add(claims["jti"])

    def look_at_session(self, headers: Mapping[str, str], owner: Owner) -> None:
        place = owner if self.is_told else Owner(self.name, owner.thread, "")
        assert self.world.sessions.setdefault(headers[SESSION], place) == place
        for pair in filter(None, headers.get("cookie", "").split("; ")):
            given_to = self.cookies[pair.removeprefix("session=")]
            assert (given_to.thread, given_to.user if self.is_told else "") == (place.thread, place.user)


class World(AsyncBaseTransport):
    """All agents, and what was asked of them."""

    def __init__(self, identity: IdentitySettings) -> None:
        keys = public_of(identity)
        self.asked: dict[str, tuple[str, str]] = {}
        self.token_ids: set[str] = set()
        self.sessions: dict[str, Owner] = {}
        self.kinds: set[str] = set()
        """Which of the rarer calls were seen."""
        self.now = 0.0
        bot = Checker(keys, LOGIN)
        self.login = LoginServer(
            LOGIN, lambda: self.now, lambda token: str(bot.claims_of(token, self.now)["sub"])
        )
        self.broken: list[BaseException] = []
        self.servers: dict[str, Server] = {}
        for name, url in AGENTS.items():
            tapes = (tape(name, number) for number in range(QUESTIONS))
            inner = ScriptedTransport(ScriptedAgent(*tapes))
            host = url.split("/")[2]
            self.servers[host] = Server(name, self, Checker(keys, url), inner)

    async def handle_async_request(self, request: Request) -> Response:
        self.now = virtual_clock.new_clock().wall()
        try:
            if str(request.url).startswith(LOGIN):
                return await self.login.handle(request)
            return await self.servers[request.url.host].handle(request)
        except (AssertionError, KeyError, IndexError) as error:
            self.broken.append(error)
            raise


class Story:
    """What people do, and what becomes of the bot meanwhile, of which there are up to so many `replicas`."""

    def __init__(self, folder: Path, replicas: int = 1) -> None:
        self.replicas, self.shared = replicas, SharedMemory(lambda: virtual_clock.new_clock().wall())
        self.at = 0
        """Which of those that run gets what is sent."""
        self.identity = identity_settings(folder)
        self.world = World(self.identity)
        self.bots: list[BotHarness] = []
        self.running: list[BotHarness] = []
        self.stack = AsyncExitStack()
        self.threads: list[tuple[str, str]] = []  # root, channel
        (folder / "slack_bot.toml").write_text(FILE, encoding="utf-8")
        self.settings: dict[str, Any] = {
            "config": str(folder / "slack_bot.toml"),
            "identity.issuer": self.identity.issuer,
            "identity.keys": self.identity.keys,
            "agent.identity": "signed",
            "agent.identity_header": ASKER,
            "agent.bearer_token": BEARER,
            "agent.session_header": SESSION,
            "respond": "thread",
            "channel.approvers": [APPROVER],
            "agent.turn_timeout": PATIENCE,
            "agent.accept_timeout": 4.0,
            "agent.idle_timeout": 8.0,
            "agent.poll_timeout": 2.0,
            "agent.connect_timeout": 2.0,
            "agent.watch_intervals": [20],
            "push.public_url": "https://bot.example",
            "personal": True,
            "sign_in.keys": KEY,
            "sign_in.base_url": "https://bot.example",
        }
        self.asked_without_sign_in = False
        self.opened: list[tuple[dict[str, str], dict[str, str]]] = []  # browsers that are at the server

    @property
    def bot(self) -> BotHarness:
        return self.running[self.at % len(self.running)]

    @property
    def other_bot(self) -> BotHarness:
        return self.running[(self.at + 1) % len(self.running)]

    def store(self) -> Store:
        """As the next process uses it."""
        return self.shared.memory if self.replicas == 1 else cast(Store, self.shared.replica())

    async def start(self) -> None:
        after, store = self.bots[-1] if self.bots else None, self.store()
        running = run_bot(
            through=lambda _: self.world, after=after, store=store, manifest=MANIFEST, **self.settings
        )
        bot = await self.stack.enter_async_context(running)
        if after is None:
            await bot.app.threads.replicas.start()
        self.bots.append(bot)
        self.running.append(bot)
        for user in (*PEOPLE, APPROVER):
            email = f"{ACCOUNTS.get(user, 'dora')}@example.com"
            person = bot.workspace.add_user(user, email=email)
            bot.workspace.state.channels[CHANNEL].members.add(person.id)

    async def ask(self, user: str, agent: str, place: int) -> None:
        """A new thread, or a question in one that is there."""
        word = f"q{len(self.world.asked)}"
        if place >= len(self.threads):
            text = f"<@{self.bot.workspace.bot.user_id}> {agent}: {word}"
            root = self.bot.workspace.say(user, CHANNEL, text, now=self.bot.now)
            self.threads.append((root, CHANNEL))
        else:
            root, _ = self.threads[place]
            text = f"<@{self.bot.workspace.bot.user_id}> {word}"
            self.bot.workspace.say(user, CHANNEL, text, now=self.bot.now, thread_ts=root)
        self.world.asked[word] = root, user
        self.asked_without_sign_in |= len(self.world.asked) == 1 and agent != "files"
        first, *others = self.bot.workspace.take()
        await self.bot.deliver([first])
        await self.other_bot.deliver(others)  # of a mention there are two events

    async def stop(self, user: str, place: int) -> None:
        if place < len(self.threads):
            root, _ = self.threads[place]
            await self.bot.say("stop", user=user, thread_ts=root)

    async def approve(self, place: int) -> None:
        if place < len(self.threads):
            root, _ = self.threads[place]
            asked = [each for each in self.bot.thread(root) if "form_approve" in str(each.blocks)]
            for each in asked[-1:]:
                self.bot.workspace.press(APPROVER, CHANNEL, each.ts, "form_approve", now=self.bot.now)
                await self.bot.deliver()

    @property
    def desk(self) -> SignInDesk:
        gate = self.bot.app.threads.sign_in
        assert isinstance(gate, SignInGate)
        return gate.desk

    async def open_link(self, user: str, account: str) -> None:
        """The newest link of `user` is opened in the browser of this account, and leads to the server."""
        private = [each for each in self.bot.calls("chat.postEphemeral") if each["user"] == user]
        buttons = [
            button
            for each in private
            for block in each.get("blocks", ())
            for button in block.get("elements", ())
        ]
        links = [each["url"] for each in buttons if "url" in each]
        for link in links[-1:]:
            opening = await self.desk.open(link.rpartition("/")[2])
            if opening.obstacle is None:
                query = self.world.login.sign_in(opening.url, account)
                self.opened.append((query, {opening.cookie_name: opening.cookie}))

    async def come_back(self) -> None:
        """Browsers come back from the server, to a process that is there now."""
        for query, cookies in self.opened:
            await self.desk.complete(query, cookies)
            await asyncio.sleep(2)
        self.opened.clear()

    async def sign_out(self, user: str, place: int) -> None:
        if place < len(self.threads):
            await self.bot.ask("sign out", user=user, thread_ts=self.threads[place][0])
            self.world.kinds.add("signed out")

    async def post(self, agent: str) -> None:
        """The agent posts that there is news of its tasks."""
        for server in self.world.servers.values():
            for push_id in server.pushes if server.name == agent else ():
                await self.bot.app.threads.registry.on_hint(push_id)

    async def restart(self, *, is_kill: bool) -> None:
        bot = self.bot
        self.running.remove(bot)
        if is_kill:
            bot.life.end_now()
        else:
            await bot.app.close()
        if not self.running:
            await self.start()

    async def step(self, kind: str, user: str, agent: str, place: int, at: int = 0) -> None:
        self.at = at
        match kind:
            case "start":
                if len(self.running) < self.replicas:
                    await self.start()
            case "ask":
                await self.ask(user, agent, place)
            case "stop":
                await self.stop(user, place)
            case "kill" | "end":
                await self.restart(is_kill=kind == "kill")
            case "approve":
                await self.approve(place)
            case "post":
                await self.post(agent)
            case "wait":
                await asyncio.sleep(place * 5.0)
            case _:
                await self.step_of_sign_in(kind, user, place)

    async def step_of_sign_in(self, kind: str, user: str, place: int) -> None:
        match kind:
            case "open":
                await self.open_link(user, ACCOUNTS[user])
            case "victim":
                await self.open_link(user, ACCOUNTS[PEOPLE[place % len(PEOPLE)]])
            case "back":
                await self.come_back()
            case "sign_in" | "pass_on":
                await self.ask(user, "files", place)
                await asyncio.sleep(5)
                other = PEOPLE[(PEOPLE.index(user) + 1) % len(PEOPLE)]
                await self.open_link(user, ACCOUNTS[user if kind == "sign_in" else other])
                await self.come_back()
            case _:
                await self.sign_out(user, place)

    async def idle(self) -> None:
        for bot in self.running:
            await bot.idle()

    async def play(self, steps: Sequence[Step]) -> None:
        async with self.stack:
            for _ in range(self.replicas):
                await self.start()
            for step in steps:
                await self.step(*step)
            await self.idle()
            await asyncio.sleep(2 * LONG)
            await self.idle()
            assert self.world.broken == []
            facts = [fact for bot in self.bots for fact in bot.facts if isinstance(fact, TurnEnded)]
            # who signs out, or whose renewal was lost with its process, cannot ask for the task any more
            watched = {each.turn for each in facts if each.outcome == "watched" and each.agent != "files"}
            ended = {each.turn for each in facts if each.outcome != "watched"}
            assert watched <= ended, "nobody could ask for the task"
            await self.look_at_store()
            told = [each for each in self.world.servers.values() if each.owners]
            assert told or not self.asked_without_sign_in

    async def look_at_store(self) -> None:
        """What is kept is of the person under whom it is, and the server has forgotten all else."""
        kept = [key[1] async for key, _ in self.bot.store.records(SIGNED_IN)]  # type: ignore[attr-defined]
        assert self.world.login.signed_in <= {ACCOUNTS[user] for user in kept}
        assert len(self.world.login.clients) <= 1


KINDS = (
    "ask ask ask ask stop approve post kill end wait wait open victim back sign_out"
    " sign_in sign_in sign_in pass_on"
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(KINDS.split()), st.sampled_from(PEOPLE), st.sampled_from([*AGENTS]), st.integers(0, 4)
    ),
    max_size=14,
)
REPLICA_STEPS = st.lists(
    st.tuples(
        st.sampled_from([*KINDS.split(), "start", "start"]),
        st.sampled_from(PEOPLE),
        st.sampled_from([*AGENTS]),
        st.integers(0, 4),
        st.integers(0, 1),
    ),
    max_size=18,
)


def test_the_rarer_calls_are_among_those_that_are_looked_at(tmp_path: Path) -> None:
    """An approval, and a task that is followed over a kill, at an agent that is told who asks."""
    asked = [("ask", user, "research", 9) for user in ("U1", "U2", "U3")]
    after = [
        ("wait", "U1", "research", 4),
        ("approve", APPROVER, "research", 2),
        ("kill", "U1", "research", 0),
    ]
    story = Story(tmp_path)
    virtual_clock.run(story.play([*asked, *after, ("post", "U1", "research", 0)]))
    assert story.world.kinds == {"push", "approval"}
    assert "watched" in [outcome for bot in story.bots for outcome in bot.outcomes]


def test_people_sign_in_at_their_own_links_and_others_get_nothing(tmp_path: Path) -> None:
    """Over a kill while one is at the server, renewals of tokens, and a task that is followed."""
    steps = [
        *[("ask", user, "files", 9) for user in ("U1", "U2", "U3")],
        ("wait", "U1", "files", 1),
        ("open", "U1", "files", 0),
        ("victim", "U2", "files", 2),
        ("open", "U3", "files", 0),
        ("kill", "U1", "files", 0),
        ("wait", "U1", "files", 4),
        ("back", "U1", "files", 0),
        ("wait", "U1", "files", 12),
        ("ask", "U1", "files", 2),
        ("sign_out", "U3", "files", 0),
    ]
    story = Story(tmp_path)
    virtual_clock.run(story.play(steps))
    assert {"signed in", "signed out"} <= story.world.kinds
    assert story.world.login.renewals
    assert {each.user for each in story.world.servers["files.invalid"].owners} == {"U1", "U3"}
    accounts = [sign_in.account for sign_in, _ in story.world.login.given.values()]
    assert accounts.count("carol") >= 2, "a victim completed another one's sign-in, and signed in"


def test_exchanged_tokens_stay_with_their_person_and_agent(tmp_path: Path) -> None:
    """Over their renewals, and over a kill in the middle of a task that is followed then."""
    asked = [("ask", user, "mail", 9) for user in ("U1", "U2", "U3")]
    after = [
        ("wait", "U1", "mail", 4),
        ("kill", "U1", "mail", 0),
        ("wait", "U1", "mail", 14),
        ("ask", "U2", "mail", 0),
        ("ask", "U1", "research", 9),
    ]
    story = Story(tmp_path)
    virtual_clock.run(story.play([*asked, *after]))
    assert "exchanged" in story.world.kinds
    given_to = story.world.login.exchanged.values()
    assert {*given_to} == {f"slack:T1:{user}" for user in ("U1", "U2", "U3")} and len(given_to) > 3


@given(STEPS)
def test_no_call_carries_what_is_another_one_s(steps: list[tuple[str, str, str, int]]) -> None:
    with TemporaryDirectory() as folder:
        virtual_clock.run(Story(Path(folder)).play(steps))


def test_replicas_tell_each_other_and_take_over(tmp_path: Path) -> None:
    """All that replicas have with each other is in what the property looks at."""
    asked = [("ask", user, "research", 9, at) for at, user in enumerate(("U1", "U2", "U3"))]
    steps: list[Step] = [
        *asked,
        ("wait", "U1", "research", 4, 0),
        ("ask", "U1", "research", 1, 1),
        ("ask", "U2", "research", 0, 1),
        ("post", "U1", "research", 0, 0),
        ("post", "U1", "research", 0, 1),
        ("stop", "U2", "research", 0, 0),
        ("sign_in", "U1", "files", 9, 0),
        ("ask", "U1", "files", 3, 1),
        ("ask", "U2", "mail", 9, 1),
        ("kill", "U1", "research", 0, 1),
        ("wait", "U1", "research", 3, 0),
        ("start", "U1", "research", 0, 0),
        ("end", "U1", "research", 0, 0),
    ]
    story = Story(tmp_path, replicas=2)
    virtual_clock.run(story.play(steps))
    assert {"question", "hint", "left"} <= story.shared.told
    assert story.shared.taken_over
    assert {"push", "signed in"} <= story.world.kinds


@given(REPLICA_STEPS)
def test_no_call_of_two_replicas_carries_what_is_another_one_s(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        virtual_clock.run(Story(Path(folder), replicas=2).play(steps))

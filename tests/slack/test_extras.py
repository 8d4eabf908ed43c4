"""Tables, charts and files below an answer: in the best form that Slack takes, each once."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from slack_bot.settings.web import WebSettings
from slack_bot.slack.extras import groups
from slack_bot.slack.model import Ending
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.testing.tape.builders import status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.extras import LinkedFile
from slack_bot.turn.record import Outcome
from slack_bot.web.fetch import WebFetcher
from tests.slack.scene import Scene, run

POST, GET_URL, SHOW = "chat.postMessage", "files.getUploadURLExternal", "files.completeUploadExternal"
FEEDBACK = ("Helpful Not helpful", "Write in this thread to go on. If you did not ask, mention me.")
ROWS = [{"city": "Oslo", "n": 1}, {"city": "Rome", "n": 2.5}]
NOT_TAKEN, BLOCKED = (
    "_Slack did not take a file that the agent made:",
    "slack_connect_file_link_sharing_blocked",
)
READS = "city | n\nOslo | 1\nRome | 2.5"
IN_CODE = "```\ncity | n\n-----+----\nOslo | 1\nRome | 2.5\n```"
CHART = {"type": "chart", "chart": "bar", "title": "Visits", "categories": ["Mon", "Tue"]}
CHART |= {"series": [{"name": "web", "data": [3, 4]}]}

Faults = Mapping[str, Sequence[str | None]]


def part(value: Any) -> dict[str, Any]:
    """Text, bytes (a file) or data."""
    if isinstance(value, str):
        return {"kind": "text", "text": value}
    if isinstance(value, bytes):
        file = {"name": "log.txt", "mimeType": "text/plain", "bytes": base64.b64encode(value).decode()}
        return {"kind": "file", "file": file}
    return {"kind": "data", "data": value}


def artifact(*values: Any, append: bool = True, name: str = "a") -> dict[str, Any]:
    held = {"artifactId": name, "name": "answer", "parts": list(map(part, values))}
    ids = {"taskId": "task-1", "contextId": "ctx-1"}
    return {"kind": "artifact-update", **ids, "append": append, "artifact": held}


def tape(*events: dict[str, Any]) -> Tape:
    shown = [task(), *events, status("completed")]
    moments = [Moment(0.1 + 0.2 * at, event=event) for at, event in enumerate(shown)]
    return Tape({"wire": "0.3"}, (*moments, Moment(moments[-1].t + 0.1, end="closed")))


async def told(bot: BotHarness) -> list[SeenMessage]:
    """What the bot wrote."""
    root = await bot.ask("hi")
    await bot.idle()
    assert bot.outcomes == ["answered"]
    return [seen for seen in bot.thread(root) if seen.is_bot]


def kinds(message: SeenMessage) -> list[str]:
    return [block["type"] for block in message.blocks]


@on_virtual_time
async def test_a_table_stands_below_the_text_with_what_is_under_an_answer() -> None:
    async with run_bot(tape(artifact("Two cities:"), artifact(ROWS), artifact("That is all."))) as bot:
        text, table = await told(bot)
    assert (text.text, text.extras) == ("Two cities:\n\nThat is all.", ())
    assert (table.text, table.extras) == (f"Table\n{READS}", FEEDBACK)
    assert kinds(table) == ["data_table", "context_actions", "context"]


@on_virtual_time
async def test_a_table_alone_is_an_answer_and_what_was_said_on_the_way_is_none() -> None:
    async with run_bot(tape(status("working", "I look it up."), artifact({"cities": ROWS}))) as bot:
        (table,) = await told(bot)
    assert table.text == f"cities\n{READS}"


@pytest.mark.parametrize(
    ("refused", "reads"),
    [
        (1, READS),
        (2, IN_CODE),
        (3, IN_CODE),
    ],
)
@on_virtual_time
async def test_a_form_that_slack_refuses_leaves_the_next_one(refused: int, reads: str) -> None:
    faults = {POST: ["invalid_blocks"] * refused + [None]}
    async with run_bot(tape(artifact("Two:"), artifact(ROWS)), faults=faults) as bot:
        messages = await told(bot)
    assert messages[1].text == reads
    assert messages[-1].extras[-2:] == FEEDBACK


@on_virtual_time
async def test_the_last_version_of_an_artifact_counts_and_the_same_table_stands_once() -> None:
    old, new = [{"a": 1, "b": 1}] * 2, [{"a": 2, "b": 2}] * 2
    events = [artifact(old, append=False), artifact(new, append=False), artifact(new, name="b", append=False)]
    async with run_bot(tape(*events)) as bot:
        (table,) = await told(bot)
    assert table.text == "Table\na | b\n2 | 2\n2 | 2"


@on_virtual_time
async def test_two_equal_tables_of_one_artifact_are_two() -> None:
    told_twice = artifact(ROWS, name="b")
    async with run_bot(tape(artifact("Before:", ROWS, "After:", ROWS), told_twice)) as bot:
        _, *tables = await told(bot)
    assert [table.text for table in tables] == [f"Table\n{READS}"] * 2


@pytest.mark.parametrize(
    "entry", ["timeout", "timeout!", "http:502", "http:502!", "cut", "cut!", "ratelimited:5"]
)
@on_virtual_time
async def test_a_post_without_an_answer_stands_once(entry: str) -> None:
    async with run_bot(tape(artifact("Two:"), artifact(ROWS)), faults={POST: [entry, None]}) as bot:
        _, table = await told(bot)
    assert (table.text, table.extras) == (f"Table\n{READS}", FEEDBACK)


@on_virtual_time
async def test_a_chart_is_drawn_or_a_table() -> None:
    async with run_bot(tape(artifact("Look:"), artifact(CHART))) as bot:
        _, chart = await told(bot)
    assert kinds(chart)[0] == "data_visualization"
    assert chart.text == "Visits\nweb: Mon 3, Tue 4"
    async with run_bot(
        tape(artifact("Look:"), artifact(CHART)), faults={POST: ["invalid_blocks", None]}
    ) as bot:
        _, chart = await told(bot)
    assert kinds(chart)[0] == "data_table"
    assert chart.text == "Visits\n  | web\nMon | 3\nTue | 4"


# -- files


@on_virtual_time
async def test_a_file_comes_byte_for_byte_below_the_text() -> None:
    async with run_bot(
        tape(artifact("Here is the log:", b"one\r\ntwo\x00"), artifact(b"more", name="b"))
    ) as bot:
        text, files, footer = await told(bot)
    assert text.text == "Here is the log:"
    assert [(file.name, file.content) for file in files.files] == [
        ("log.txt", b"one\r\ntwo\x00"),
        ("log.txt", b"more"),
    ]
    assert footer.extras == FEEDBACK


@on_virtual_time
async def test_slack_is_told_what_a_file_is_and_gets_ten_at_a_time() -> None:
    event = artifact(*(b"%d" % number for number in range(12)))
    event["artifact"]["description"] = "Logs of the night"
    for number, each in enumerate(event["artifact"]["parts"]):
        each["file"]["name"] = f"{number}.py"
    async with run_bot(tape(artifact("Log:", name="t"), event)) as bot:
        messages = await told(bot)
        asked = bot.calls(GET_URL)
    assert {(call["alt_txt"], call["snippet_type"]) for call in asked} == {("Logs of the night", "python")}
    assert [len(message.files) for message in messages] == [0, 10, 2, 0]


@on_virtual_time
async def test_one_file_that_is_refused_costs_no_other() -> None:
    faults = {GET_URL: [None, "file_type_not_allowed", None]}
    async with run_bot(tape(artifact("Logs:", b"one", b"two", b"three")), faults=faults) as bot:
        messages = await told(bot)
    assert [file.content for message in messages for file in message.files] == [b"one", b"three"]
    assert messages[2].text == f"{NOT_TAKEN} log.txt (file_type_not_allowed)_"


@pytest.mark.parametrize("entry", ["timeout", "timeout!", "http:502!", "cut!"])
@pytest.mark.parametrize("method", [GET_URL, "upload", SHOW])
@on_virtual_time
async def test_a_file_without_an_answer_stands_once(method: str, entry: str) -> None:
    async with run_bot(tape(artifact("Log:", b"one")), faults={method: [entry, None]}) as bot:
        messages = await told(bot)
    assert [file.content for message in messages for file in message.files] == [b"one"]


@pytest.mark.parametrize(
    ("content", "faults", "line"),
    [
        (b"one", {GET_URL: ["missing_scope"]}, f"{NOT_TAKEN} log.txt (missing_scope)_"),
        (b"one", {SHOW: [BLOCKED]}, f"{NOT_TAKEN} log.txt ({BLOCKED})_"),
        (b"", {}, "_The agent made an empty file: log.txt_"),
        (b"x" * 2_000, {}, "_The agent made a file that is too large to be shown here: log.txt (0.0 MB)_"),
    ],
)  # fmt: skip
@on_virtual_time
async def test_a_file_that_cannot_be_shown_is_named(content: bytes, faults: Faults, line: str) -> None:
    async with run_bot(tape(artifact("Log:", content)), faults=faults, max_file_bytes=1_000) as bot:
        messages = await told(bot)
    assert messages[1].text == line
    assert [file for message in messages for file in message.files] == []
    assert messages[-1].extras == FEEDBACK


# -- what does not fit


@on_virtual_time
async def test_a_long_table_comes_as_a_file_and_its_beginning() -> None:
    rows = [{"number": number, "name": "n" * 30} for number in range(500)]
    async with run_bot(tape(artifact("All:"), artifact({"names": rows}))) as bot:
        _, head, file, footer = await told(bot)
    assert head.text.count("\n") == 21
    assert head.extras == ("The first 20 of 500 rows. All of them are in names.csv.",)
    content = file.files[0].content.decode()
    assert content.splitlines() == ["number,name", *(f"{row['number']},{row['name']}" for row in rows)]
    assert footer.extras == FEEDBACK


@on_virtual_time
async def test_where_slack_takes_no_file_all_rows_come_as_text() -> None:
    rows = [{"number": number, "name": "n" * 30} for number in range(500)]
    faults = {GET_URL: ["missing_scope"]}
    async with run_bot(tape(artifact("All:"), artifact({"names": rows})), faults=faults) as bot:
        messages = await told(bot)
    said = "".join(message.text for message in messages[2:])
    assert [number for number in range(500) if f"\n{number},nnn" not in said] == []
    assert messages[-1].extras == FEEDBACK


# -- what is too much for a thread


class Compared(LinkedFile):
    """Counts how often two of them are compared."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return super().__eq__(other)

    __hash__ = LinkedFile.__hash__


def test_thousands_are_not_compared_each_with_each() -> None:
    many = [Compared(f"https://a.example/{number}") for number in range(2_000)]
    counted = [each for group in groups([*many, *many]) for each in group]
    assert [copy for _, copy in counted] == [0] * 2_000 + [1] * 2_000
    assert Compared.times < 10_000


def many(count: int) -> list[Any]:
    return [[{"city": f"c{number}", "n": number}, {"city": "x", "n": 1}] for number in range(count)]


@on_virtual_time
async def test_after_twenty_messages_the_rest_is_one_file() -> None:
    chart = {**CHART, "title": "Last"}
    async with run_bot(tape(artifact("All:"), artifact(*many(150), b"one", chart))) as bot:
        text, *tables, archive, line = await told(bot)
    assert (text.text, len(tables)) == ("All:", 20)
    assert [table.text.splitlines()[2] for table in tables] == [f"c{n} | {n}" for n in range(20)]
    assert line.text == "The rest of this answer, 130 tables, 1 chart and 1 file, is in more.zip."
    assert line.extras == FEEDBACK
    assert archive.files[0].name == "more.zip"
    with zipfile.ZipFile(io.BytesIO(archive.files[0].content)) as inside:
        held = {name: inside.read(name).decode() for name in inside.namelist()}
    assert list(held.values())[:130] == [f"city,n\r\nc{n},{n}\r\nx,1\r\n" for n in range(20, 150)]
    assert list(held)[-2:] == ["0131 log.txt", "0132 Last.csv"]
    assert held["0131 log.txt"] == "one"


@on_virtual_time
async def test_what_is_just_not_too_much_comes_in_messages() -> None:
    async with run_bot(tape(artifact(*many(4))), max_extra_messages=3) as bot:
        tables = await told(bot)
    assert len(tables) == 4
    assert tables[-1].extras == FEEDBACK


@on_virtual_time
async def test_where_slack_takes_no_file_the_tables_of_the_rest_come_as_text() -> None:
    faults = {GET_URL: ["missing_scope"]}
    async with run_bot(tape(artifact(*many(40), b"one")), faults=faults, max_extra_messages=3) as bot:
        *_, rest, line = messages = await told(bot)
    assert len(messages) == 5
    assert [number for number in range(3, 40) if f"\nc{number},{number}\n" not in rest.text] == []
    says = (
        "Slack did not take more.zip (missing_scope). Its 37 tables stand above as text. Not shown: 1 file."
    )
    assert (line.text, line.extras) == (says, FEEDBACK)


@pytest.mark.parametrize("method", [POST, GET_URL, "upload", SHOW])
@on_virtual_time
async def test_the_rest_without_an_answer_stands_once(method: str) -> None:
    entries = [None] * 2 + ["timeout!", None] if method == POST else ["timeout!", None]
    async with run_bot(tape(artifact(*many(9))), faults={method: entries}, max_extra_messages=2) as bot:
        messages = await told(bot)
    assert [len(message.files) for message in messages] == [0, 0, 1, 0]
    assert messages[-1].extras == FEEDBACK


# -- sources

URL = "https://docs.example/a"


def sources(*urls: str) -> dict[str, Any]:
    return {
        "type": "citations",
        "citations": [{"url": url, "title": f"T <{at}>"} for at, url in enumerate(urls)],
    }


def tool(name: str) -> dict[str, Any]:
    call = {"kind": "data", "data": {"id": "1", "name": "search", "args": {}}, "metadata": {"adk_type": name}}
    return {**artifact(), "artifact": {"artifactId": "t", "name": "tool", "parts": [call]}}


@on_virtual_time
async def test_sources_are_a_numbered_list_under_the_answer_and_the_text_is_the_agents() -> None:
    events = [artifact("Yes [1]."), artifact(sources(URL, f"{URL}#x", "https://docs.example/b"))]
    async with run_bot(tape(*events)) as bot:
        (message,) = await told(bot)
    assert (message.text, message.extras[1:]) == ("Yes [1].", FEEDBACK)
    listed = message.blocks[0]["elements"]
    assert [each["text"] for each in listed] == [
        f"1. <{URL}|T &lt;0&gt;>",
        "2. <https://docs.example/b|T &lt;2&gt;>",
    ]


@on_virtual_time
async def test_ten_sources_are_listed_and_below_an_extra() -> None:
    events = [artifact("Yes.", ROWS), artifact(sources(*(f"https://docs.example/{n}" for n in range(13))))]
    async with run_bot(tape(*events)) as bot:
        _, table = await told(bot)
    assert kinds(table) == ["data_table", "context", "context_actions", "context"]
    elements = table.blocks[1]["elements"]
    assert len(elements) == 10
    assert elements[-1]["text"].endswith(" … and 3 more")


@on_virtual_time
async def test_sources_stand_as_text_where_the_blocks_are_refused() -> None:
    faults = {"chat.stopStream": ["invalid_blocks", None], "chat.update": ["invalid_blocks"]}
    faults |= {POST: ["invalid_blocks", None]}
    async with run_bot(tape(artifact("Yes."), artifact(sources(URL))), faults=faults) as bot:
        messages = await told(bot)
    assert [message.text for message in messages] == ["Yes.", f"1. [T <0>](<{URL}>)"]


@pytest.mark.parametrize("faults", [{}, {"chat.startStream": ["feature_disabled"]}])
@on_virtual_time
async def test_a_running_step_shows_what_it_found_once(faults: Faults) -> None:
    events = [tool("function_call"), artifact(sources(URL)), tool("function_response"), artifact("Yes.")]
    async with run_bot(tape(*events), faults=faults) as bot:
        (message,) = await told(bot)
    assert [(task.title, task.status) for task in message.tasks] == [("search", "complete")]
    assert message.tasks[0].sources == ({"type": "url", "text": "T <0>", "url": URL},)


# -- files and pictures by their address

PNG = b"\x89PNG\r\n\x1a\n..."


async def answered(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, content=PNG, headers={"content-type": "image/png"})


async def resolved(host: str, port: int) -> list[str]:
    return ["93.184.215.14"]


def fetcher() -> WebFetcher:
    """The internet is one picture."""
    return WebFetcher(
        WebSettings(fetch_hosts=("x.example",)), resolved, lambda: httpx.MockTransport(answered)
    )


@on_virtual_time
async def test_a_file_by_its_address_is_fetched_and_shown_below_the_answer() -> None:
    scene = Scene()
    scene.serve(fetcher().fetch)
    named = LinkedFile("https://x.example/plots/a.png?x=1", description="A plot", is_image=True)
    gone = LinkedFile("https://y.example/b.png", "b.png")
    await run(scene.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Look.", extras=(named, gone))))
    text, file, refused, footer = scene.thread()
    assert (text.text, [(each.name, each.content) for each in file.files]) == ("Look.", [("a.png", PNG)])
    assert "b.png" in refused.text
    assert "is not among the allowed hosts" in refused.text
    assert footer.extras[0] == FEEDBACK[0]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({}, 1),
        ({"images": "upload"}, 1),
        ({"images": "upload", "fetch_hosts": ("pictures.invalid",)}, 3),
        ({"fetch_hosts": ("pictures.invalid",)}, 1),
    ],
)
@on_virtual_time
async def test_a_picture_in_the_text_stays_a_link_unless_both_settings_say_so(
    overrides: Any, said: int
) -> None:
    text = "Look: ![a plot](https://pictures.invalid/a.png) and ![a plot](https://pictures.invalid/a.png)"
    async with run_bot(tape(artifact(text)), **overrides) as bot:
        messages = await told(bot)
        assert "image" not in [kind for message in messages for kind in kinds(message)]
    assert len(messages) == said
    assert messages[0].text == text
    assert not overrides or said == 1 or "a plot: The file was not fetched" in messages[1].text

"""What an answer holds besides text, below it in the thread: each once, in the best form that Slack takes.

A table or a chart is a post with metadata, as an answer is; where Slack refuses the block, the next form
goes. The id of a file is kept before the file is shown, so that another process can look for it.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import urlsplit

from ..settings.web import WebSettings
from ..text.words import FILE_EMPTY, FILE_NOT_TAKEN, FILE_TOO_LARGE, NOT_ALL_SHOWN, TABLE_CUT, TABLE_UNTITLED
from ..turn.actions import NameSources, ShowExtra
from ..turn.extras import (
    Chart,
    Counted,
    DataTable,
    Extra,
    ExtraRecord,
    LinkedFile,
    OutFile,
    Source,
    images_in,
    key_of,
)
from ..turn.sanitize import sanitize_extra, sanitize_sources
from ..web.addresses import may_fetch
from ..web.fetch import WebFetcher, WebFile
from . import blocks
from .blocks import Block, TextForm
from .charts import chart_block
from .extra_archive import NAME, pack
from .faults import FINAL_FAULTS, CallFailed, CallOk, CallResult
from .file_types import file_name, snippet_type
from .surfaces import Body, PostSurface
from .tables import as_csv, cut, monospaced, table_blocks
from .turn_client import TurnClient
from .uploads import MOST_AT_ONCE, FileUpload, send, show, shows

_log = logging.getLogger(__name__)

_LARGE = 4_000  # cells of a table that are read in a thread of the process
_FENCE = 8  # characters of a code block's marks


OnChange: TypeAlias = Callable[[tuple[ExtraRecord, ...]], Awaitable[None]]


async def _keep_nothing(records: tuple[ExtraRecord, ...]) -> None:
    pass


class ExtraSurface:
    """What one turn has besides text, and its `sources`. One writer: calls must not overlap."""

    def __init__(self, client: TurnClient, posts: PostSurface) -> None:
        self._client, self._posts = client, posts
        self._most = client.settings.max_call_chars
        self._waiting: list[Extra] = []
        self._messages = 0  # in the thread, with extras in them
        self.sources: list[Source] = []
        self._web = WebSettings()
        self._known: dict[str, ExtraRecord] = {}
        self._keep_all: OnChange = _keep_nothing

    def begin(self, records: Iterable[ExtraRecord], keep: OnChange, web: WebSettings) -> None:
        """Another process showed these. `keep` is called with all that is there, before more is shown."""
        self._known, self._keep_all = {record.key: record for record in records}, keep
        self._web = web

    @cached_property
    def fetcher(self) -> WebFetcher:
        """Few answers need one."""
        return WebFetcher(self._web)

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    @property
    def is_full(self) -> bool:
        """It has all the messages that it may have: the rest is for `show_rest`."""
        return self._messages >= self._client.settings.max_extra_messages

    def take(self, action: ShowExtra | NameSources, secrets: tuple[str, ...]) -> Iterator[None]:
        """Keep it, sanitized in steps, until the text is whole."""
        if isinstance(action, NameSources):
            self.sources += sanitize_sources(action.sources, secrets)
        else:
            self._add((yield from sanitize_extra(action.extra, secrets)))

    def _add(self, extra: Extra) -> None:
        """A file whose address may not be fetched stays a link in the text."""
        hosts = self._web.fetch_hosts
        if not isinstance(extra, LinkedFile) or may_fetch(extra.url, hosts):
            self._waiting.append(extra)

    def whole(self, answer: str) -> tuple[Extra, ...]:
        """All of them, where the text is `answer`."""
        for picture in images_in(answer) if self._web.images == "upload" else ():
            self._add(picture)
        return tuple(self._waiting)

    async def show(self, extras: Sequence[Counted], under: Sequence[Block]) -> CallResult:
        """Extras of one group. Ok: they are there, and `under` is under them unless it `is_fallback`."""
        first, copy = extras[0]
        match first:
            case DataTable(rows=rows, columns=columns):
                is_large = len(rows) * len(columns) > _LARGE
                key = await asyncio.to_thread(key_of, first, copy) if is_large else key_of(first, copy)
                return await self._table(key, first, (), under)
            case Chart():
                block = chart_block(first)
                return await self._table(
                    key_of(first, copy), first.as_table(), [block] if block else (), under
                )
            case LinkedFile():
                return await self._linked(key_of(first, copy), first)
            case OutFile():
                return await self._files([(each, n) for each, n in extras if isinstance(each, OutFile)])

    async def show_rest(self, extras: Iterable[Counted], under: Sequence[Block]) -> CallResult:
        """All of `extras` in one file, and a line that tells what is in it. Where Slack takes no file, tables
        and charts come as text, and the line tells what is not shown. The result as of `show`.
        """
        rest = await asyncio.to_thread(pack, extras, self._client.settings.max_file_bytes)
        failed: CallFailed | None = None
        if rest.content:
            failed = (await self._upload([(rest.key, FileUpload(NAME, rest.content))])).get(rest.key)
        if failed is not None:
            posted = failed if failed.fault in FINAL_FAULTS else await self._pages(rest.key, rest.tables)
            if isinstance(posted, CallFailed):
                return posted
        line = rest.line(failed.error if failed else "")
        return await self._post(f"{rest.key}.line", blocks.forms(line, (), under))

    # -- posts -----------------------------------------------------------------------------------------------

    async def _table(
        self, key: str, table: DataTable, best: Sequence[Block], under: Sequence[Block]
    ) -> CallResult:
        says = blocks.fallback(table.title) or TABLE_UNTITLED
        whole, name = monospaced(table, self._most), file_name(f"{table.title or 'table'}.csv", "", b"")
        forms = [_form(says, [block, *under]) for block in (*best, *table_blocks(table))]
        if whole is not None:
            return await self._post(key, [*forms, *blocks.forms(whole, (), under, says=says)])
        part, in_blocks = cut(table, self._most), len(forms)
        note = TABLE_CUT.format(len(part.rows), len(table.rows), name)
        if not forms:
            forms = [_form(says, [block, blocks.context(note)]) for block in table_blocks(part)]
        text = f"{monospaced(part, self._most)}\n{note}"
        posted = await self._post(key, [*forms, *blocks.forms(text, (), (), says=says)])
        if isinstance(posted, CallFailed) or posted.form < in_blocks:
            return posted
        content = await asyncio.to_thread(as_csv, table)
        return await self._csv(f"{key}.csv", name, content)

    async def _csv(self, key: str, name: str, content: bytes) -> CallResult:
        """All rows as a file; where Slack takes none, as text."""
        failed = (await self._upload([(key, FileUpload(name, content))])).get(key)
        if failed is None or failed.fault in FINAL_FAULTS:
            return failed or CallOk({}, is_fallback=True)
        return await self._pages(key, content.decode())

    async def _pages(self, key: str, text: str) -> CallResult:
        """`text` in as many messages as an answer may have."""
        posted: CallResult = CallOk({})
        for number, page in enumerate(_pages(text, self._most)):
            if number == self._client.settings.max_segments:
                page = NOT_ALL_SHOWN
            posted = await self._post(f"{key}.{number}", blocks.forms(page, (), ()))
            if isinstance(posted, CallFailed) or number == self._client.settings.max_segments:
                break
        return posted if isinstance(posted, CallFailed) else replace(posted, is_fallback=True)

    async def _post(self, key: str, forms: Sequence[Body]) -> CallResult:
        if (known := self._known.get(key)) is not None:
            self._messages += 1
            return CallOk({"ts": known.ts}, is_fallback=not known.is_signed, form=known.form)
        posted = await self._posts.post_forms(forms, "extra", persist=True)
        if isinstance(posted, CallOk):
            self._messages += 1
            await self._keep(ExtraRecord(key, posted.ts, "", not posted.is_fallback, posted.form))
        return posted

    async def _say(self, key: str, text: str) -> CallResult:
        """A line with nothing under it."""
        posted = await self._post(key, blocks.forms(text, (), ()))
        return posted if isinstance(posted, CallFailed) else replace(posted, is_fallback=True)

    async def _keep(self, *records: ExtraRecord) -> None:
        self._known |= {record.key: record for record in records}
        await self._keep_all(tuple(self._known.values()))

    # -- files -----------------------------------------------------------------------------------------------

    async def _files(self, files: Sequence[tuple[OutFile, int]]) -> CallResult:
        """At most `MOST_AT_ONCE`. What cannot be shown is named by a line."""
        uploads: list[tuple[str, FileUpload]] = []
        for file, copy in files:
            key, size, most = key_of(file, copy), len(file.content), self._client.settings.max_file_bytes
            name = file_name(file.name, file.mime_type, file.content)
            if not size or size > most:
                words = FILE_TOO_LARGE if size else FILE_EMPTY
                await self._say(key, words.format(name=name, size=size / 1_000_000))
                continue
            kind = snippet_type(name, file.content)
            uploads.append((key, FileUpload(name, file.content, file.description, kind)))
        refused = await self._upload(uploads)
        for key, each in uploads:
            if key not in refused:
                continue
            if refused[key].fault in FINAL_FAULTS:
                return refused[key]
            await self._say(f"{key}.refused", FILE_NOT_TAKEN.format(name=each.name, error=refused[key].error))
        return CallOk({}, is_fallback=True)

    async def _linked(self, key: str, file: LinkedFile) -> CallResult:
        """The link to it stands in the text, so that it is not there is said once, and no more."""
        kinds = ("image/",) if file.is_image else ()
        found = await self.fetcher.fetch(file.url, kinds)
        if isinstance(found, WebFile):
            name = file.name or PurePosixPath(urlsplit(file.url).path).name
            return await self._files([(OutFile(name, found.media_type, found.content, file.description), 0)])
        name = file_name(file.name or file.description, "", b"")
        return await self._say(f"{key}.refused", f"_{name}: {found.reason}_")

    async def _upload(self, files: Sequence[tuple[str, FileUpload]]) -> dict[str, CallFailed]:
        """Show those that are not there yet, in one message. Returns those that Slack did not take."""
        refused: dict[str, CallFailed] = {}
        sent: dict[str, tuple[str, FileUpload]] = {}
        self._messages += bool(files)
        for key, file in files:
            if await self._is_there(key):
                continue
            file_id = await send(self._client, file)
            if isinstance(file_id, CallFailed):
                refused[key] = file_id
            else:
                sent[key] = file_id, file
        if sent:
            await self._keep(*(ExtraRecord(key, file_id=file_id) for key, (file_id, _) in sent.items()))
            shown = await show(self._client, list(sent.values()))
            refused |= dict.fromkeys(sent, shown) if isinstance(shown, CallFailed) else {}
        for failed in refused.values():
            _log.warning("file of the agent refused: %s", failed.error, extra=self._client.api.log_fields)
        return refused

    async def _is_there(self, key: str) -> bool:
        known = self._known.get(key)
        return known is not None and shows(await self._client.read_thread(), known.file_id)


def groups(extras: Iterable[Extra]) -> Iterator[list[Counted]]:
    """What is shown together: files that follow each other, everything else alone."""
    files: list[Counted] = []
    before: Counter[Extra] = Counter()
    for extra in extras:
        counted = extra, before[extra]
        before[extra] += 1
        if not isinstance(extra, OutFile) or len(files) == MOST_AT_ONCE:
            if files:
                yield files
            files = []
        if isinstance(extra, OutFile):
            files.append(counted)
        else:
            yield [counted]
    if files:
        yield files


def _form(says: str, shown: Sequence[Block]) -> Body:
    return TextForm.WHOLE, {"text": says, "blocks": list(shown)}


def _pages(text: str, most: int) -> Iterator[str]:
    """The lines of `text` in code blocks."""
    page, room = "", most - _FENCE
    for line in text.replace("```", "'''").replace("\r\n", "\n").splitlines(keepends=True):
        for at in range(0, len(line), room):
            piece = line[at : at + room]
            if len(page) + len(piece) > room:
                yield f"```\n{page.rstrip()}\n```"
                page = ""
            page += piece
    if page.strip():
        yield f"```\n{page.rstrip()}\n```"

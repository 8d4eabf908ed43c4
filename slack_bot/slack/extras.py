"""PURE. What an answer holds besides text, below it: each once, in the best form that Slack takes.

A table or a chart is a post with metadata, as an answer is; where Slack refuses the block, the next form
goes. The id of a file is kept before the file is shown, so that another process can look for it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from ..text.words import FILE_EMPTY, FILE_NOT_TAKEN, FILE_TOO_LARGE, NOT_ALL_SHOWN, TABLE_CUT, TABLE_UNTITLED
from ..turn.actions import NameSources, ShowExtra, SuggestQuestions
from ..turn.extras import (
    Chart,
    Counted,
    DataTable,
    Extra,
    ExtraRecord,
    LinkedFile,
    NextQuestion,
    OutFile,
    Source,
    images_in,
    key_of,
)
from ..turn.sanitize import sanitize_extra, sanitize_questions, sanitize_sources
from ..web.addresses import WebFile, may_fetch
from . import blocks
from .blocks import Block, TextForm
from .charts import chart_block
from .extra_archive import NAME, pack
from .faults import FINAL_FAULTS, CallFailed, CallOk, CallResult
from .file_types import file_name, snippet_type
from .orders import Compute, FetchFile, Log, Step, StoreExtras
from .surfaces import Body, PostSurface
from .tables import as_csv, cut, monospaced, table_blocks
from .turn_calls import TurnCalls
from .uploads import MOST_AT_ONCE, FileUpload, send, show, shows

_LARGE = 4_000  # cells of a table that are read in a thread of the process
_FENCE = 8  # characters of a code block's marks


class ExtraSurface:
    """What one turn has besides text, its `sources` and `next_questions`. One writer: calls must not
    overlap.
    """

    def __init__(self, calls: TurnCalls, posts: PostSurface) -> None:
        self._calls, self._posts = calls, posts
        self._most = calls.settings.max_call_chars
        self._waiting: list[Extra] = []
        self._messages = 0  # in the thread, with extras in them
        self.sources: list[Source] = []
        self.next_questions: tuple[NextQuestion, ...] = ()
        self._known: dict[str, ExtraRecord] = {}
        self._hosts: Collection[str] = ()
        self._uploads_images = False

    def begin(self, records: Iterable[ExtraRecord], hosts: Collection[str], *, uploads_images: bool) -> None:
        """`records`: what another process showed. Linked files are fetched from `hosts` only; pictures in the
        text, too, if it `uploads_images`.
        """
        self._known = {record.key: record for record in records}
        self._hosts, self._uploads_images = hosts, uploads_images

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    @property
    def is_full(self) -> bool:
        """It has all the messages that it may have: the rest is for `show_rest`."""
        return self._messages >= self._calls.settings.max_extra_messages

    def take(
        self, action: ShowExtra | NameSources | SuggestQuestions, secrets: tuple[str, ...]
    ) -> Iterator[None]:
        """Keep it, sanitized in steps, until the text is whole."""
        match action:
            case NameSources(sources=sources):
                self.sources += sanitize_sources(sources, secrets)
            case SuggestQuestions(questions=questions):
                self.next_questions = sanitize_questions(questions, secrets)
            case ShowExtra(extra=extra):
                self._add((yield from sanitize_extra(extra, secrets)))

    def _add(self, extra: Extra) -> None:
        """A file whose address may not be fetched stays a link in the text."""
        if not isinstance(extra, LinkedFile) or may_fetch(extra.url, self._hosts):
            self._waiting.append(extra)

    def whole(self, answer: str) -> tuple[Extra, ...]:
        """All of them, where the text is `answer`."""
        for picture in images_in(answer) if self._uploads_images else ():
            self._add(picture)
        return tuple(self._waiting)

    def show(self, extras: Sequence[Counted], under: Sequence[Block]) -> Step[CallResult]:
        """Extras of one group. Ok: they are there, and `under` is under them unless it `is_fallback`."""
        first, copy = extras[0]
        match first:
            case DataTable(rows=rows, columns=columns):
                if len(rows) * len(columns) > _LARGE:
                    key = yield from Compute(partial(key_of, first, copy))
                else:
                    key = key_of(first, copy)
                return (yield from self._table(key, first, (), under))
            case Chart():
                block, key = chart_block(first), key_of(first, copy)
                return (yield from self._table(key, first.as_table(), [block] if block else (), under))
            case LinkedFile():
                return (yield from self._linked(key_of(first, copy), first))
            case OutFile():
                files = [(each, number) for each, number in extras if isinstance(each, OutFile)]
                return (yield from self._files(files))

    def show_rest(self, extras: Iterable[Counted], under: Sequence[Block]) -> Step[CallResult]:
        """All of `extras` in one file, and a line that tells what is in it. Where Slack takes no file, tables
        and charts come as text, and the line tells what is not shown. The result as of `show`.
        """
        rest = yield from Compute(partial(pack, extras, self._calls.settings.max_file_bytes))
        failed: CallFailed | None = None
        if rest.content:
            failed = (yield from self._upload([(rest.key, FileUpload(NAME, rest.content))])).get(rest.key)
        if failed is not None:
            posted: CallResult = failed
            if failed.fault not in FINAL_FAULTS:
                posted = yield from self._pages(rest.key, rest.tables)
            if isinstance(posted, CallFailed):
                return posted
        line = rest.line(failed.error if failed else "")
        return (yield from self._post(f"{rest.key}.line", blocks.forms(line, (), under)))

    # -- posts -----------------------------------------------------------------------------------------------

    def _table(
        self, key: str, table: DataTable, best: Sequence[Block], under: Sequence[Block]
    ) -> Step[CallResult]:
        says = blocks.fallback(table.title) or TABLE_UNTITLED
        whole, name = monospaced(table, self._most), file_name(f"{table.title or 'table'}.csv", "", b"")
        forms = [_form(says, [block, *under]) for block in (*best, *table_blocks(table))]
        if whole is not None:
            return (yield from self._post(key, [*forms, *blocks.forms(whole, (), under, says=says)]))
        part, in_blocks = cut(table, self._most), len(forms)
        note = TABLE_CUT.format(len(part.rows), len(table.rows), name)
        if not forms:
            forms = [_form(says, [block, blocks.context(note)]) for block in table_blocks(part)]
        text = f"{monospaced(part, self._most)}\n{note}"
        posted = yield from self._post(key, [*forms, *blocks.forms(text, (), (), says=says)])
        if isinstance(posted, CallFailed) or posted.form < in_blocks:
            return posted
        content = yield from Compute(partial(as_csv, table))
        return (yield from self._csv(f"{key}.csv", name, content))

    def _csv(self, key: str, name: str, content: bytes) -> Step[CallResult]:
        """All rows as a file; where Slack takes none, as text."""
        failed = (yield from self._upload([(key, FileUpload(name, content))])).get(key)
        if failed is None or failed.fault in FINAL_FAULTS:
            return failed or CallOk({}, is_fallback=True)
        return (yield from self._pages(key, content.decode()))

    def _pages(self, key: str, text: str) -> Step[CallResult]:
        """`text` in as many messages as an answer may have."""
        posted: CallResult = CallOk({})
        for number, page in enumerate(_pages(text, self._most)):
            if number == self._calls.settings.max_segments:
                page = NOT_ALL_SHOWN
            posted = yield from self._post(f"{key}.{number}", blocks.forms(page, (), ()))
            if isinstance(posted, CallFailed) or number == self._calls.settings.max_segments:
                break
        return posted if isinstance(posted, CallFailed) else replace(posted, is_fallback=True)

    def _post(self, key: str, forms: Sequence[Body]) -> Step[CallResult]:
        if (known := self._known.get(key)) is not None:
            self._messages += 1
            return CallOk({"ts": known.ts}, is_fallback=not known.is_signed, form=known.form)
        posted = yield from self._posts.post_forms(forms, "extra", persist=True)
        if isinstance(posted, CallOk):
            self._messages += 1
            yield from self._keep(ExtraRecord(key, posted.ts, "", not posted.is_fallback, posted.form))
        return posted

    def _say(self, key: str, text: str) -> Step[CallResult]:
        """A line with nothing under it."""
        posted = yield from self._post(key, blocks.forms(text, (), ()))
        return posted if isinstance(posted, CallFailed) else replace(posted, is_fallback=True)

    def _keep(self, *records: ExtraRecord) -> Step[None]:
        self._known |= {record.key: record for record in records}
        yield from StoreExtras(tuple(self._known.values()))

    # -- files -----------------------------------------------------------------------------------------------

    def _files(self, files: Sequence[tuple[OutFile, int]]) -> Step[CallResult]:
        """At most `MOST_AT_ONCE`. What cannot be shown is named by a line."""
        uploads: list[tuple[str, FileUpload]] = []
        for file, copy in files:
            key, size = key_of(file, copy), len(file.content)
            most = self._calls.settings.max_file_bytes
            name = file_name(file.name, file.mime_type, file.content)
            if not size or size > most:
                words = FILE_TOO_LARGE if size else FILE_EMPTY
                yield from self._say(key, words.format(name=name, size=size / 1_000_000))
                continue
            kind = snippet_type(name, file.content)
            uploads.append((key, FileUpload(name, file.content, file.description, kind)))
        refused = yield from self._upload(uploads)
        for key, each in uploads:
            if key not in refused:
                continue
            if refused[key].fault in FINAL_FAULTS:
                return refused[key]
            yield from self._say(
                f"{key}.refused", FILE_NOT_TAKEN.format(name=each.name, error=refused[key].error)
            )
        return CallOk({}, is_fallback=True)

    def _linked(self, key: str, file: LinkedFile) -> Step[CallResult]:
        """The link to it stands in the text, so that it is not there is said once, and no more."""
        kinds = ("image/",) if file.is_image else ()
        found = yield from FetchFile(file.url, kinds)
        if isinstance(found, WebFile):
            name = file.name or PurePosixPath(urlsplit(file.url).path).name
            fetched = OutFile(name, found.media_type, found.content, file.description)
            return (yield from self._files([(fetched, 0)]))
        name = file_name(file.name or file.description, "", b"")
        return (yield from self._say(f"{key}.refused", f"_{name}: {found.reason}_"))

    def _upload(self, files: Sequence[tuple[str, FileUpload]]) -> Step[dict[str, CallFailed]]:
        """Show those that are not there yet, in one message. Returns those that Slack did not take."""
        refused: dict[str, CallFailed] = {}
        sent: dict[str, tuple[str, FileUpload]] = {}
        self._messages += bool(files)
        for key, file in files:
            if (yield from self._is_there(key)):
                continue
            file_id = yield from send(self._calls, file)
            if isinstance(file_id, CallFailed):
                refused[key] = file_id
            else:
                sent[key] = file_id, file
        if sent:
            yield from self._keep(*(ExtraRecord(key, file_id=file_id) for key, (file_id, _) in sent.items()))
            shown: CallResult | None = yield from self._posts.begin_thread()
            shown = shown or (yield from show(self._calls, list(sent.values())))
            refused |= dict.fromkeys(sent, shown) if isinstance(shown, CallFailed) else {}
        for failed in refused.values():
            yield from Log("warning", "file of the agent refused: %s", (failed.error,))
        return refused

    def _is_there(self, key: str) -> Step[bool]:
        known = self._known.get(key)
        return known is not None and shows((yield from self._calls.read_thread()), known.file_id)


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

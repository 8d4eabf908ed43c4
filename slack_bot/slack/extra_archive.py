"""PURE. The tables, charts and files of an answer that have no room in messages, as one ZIP file."""

import hashlib
import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..text.words import (
    ARCHIVE_COUNTS,
    ARCHIVE_LEFT_OUT,
    ARCHIVE_LIST_CUT,
    ARCHIVE_LIST_END,
    ARCHIVE_NOT_SHOWN,
    ARCHIVE_NOT_TAKEN,
    ARCHIVE_SHOWN_AS_TEXT,
    REST_IN_ARCHIVE,
)
from ..turn.extras import Chart, Counted, DataTable, LinkedFile, OutFile, key_of
from .file_types import file_name
from .tables import as_csv

NAME = "more.zip"
_LINKS = "links.txt"
_NAMED = 10  # files that are named by a line
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a ZIP can hold: no clock is asked


@dataclass(frozen=True, slots=True)
class Archive:
    """`key` is the same in every process. `tables`: all tables and charts as text, for where Slack takes no
    file. `counts`: of what is inside, by kind; `left_out`: the names of what would make it too large.
    """

    key: str
    content: bytes = field(repr=False)
    tables: str = field(repr=False)
    counts: Counter[str]
    left_out: tuple[str, ...]

    def line(self, error: str = "") -> str:
        """What readers are told of it. `error`: Slack's, where it did not take the file."""
        inside = _listed(self.counts)
        said = REST_IN_ARCHIVE.format(inside, NAME) if inside else ""
        if error:
            shown = _listed(Counter({kind: self.counts[kind] for kind in ("table", "chart")}))
            hidden = _listed(Counter({kind: self.counts[kind] for kind in ("file", "link")}))
            said = ARCHIVE_NOT_TAKEN.format(NAME, error)
            said += ARCHIVE_SHOWN_AS_TEXT.format(shown) if shown else ""
            said += ARCHIVE_NOT_SHOWN.format(hidden) if hidden else ""
        if self.left_out:
            names, more = ", ".join(self.left_out[:_NAMED]), len(self.left_out) - _NAMED
            said += ARCHIVE_LEFT_OUT.format(ARCHIVE_LIST_CUT.format(names, more) if more > 0 else names)
        return said.strip()


def pack(extras: Iterable[Counted], max_bytes: int) -> Archive:
    """All of `extras`, up to `max_bytes` before they are packed. Takes long: not for the loop."""
    written, keys = io.BytesIO(), hashlib.sha256()
    links, left_out = list[str](), list[str]()
    tables, room = list[str](), max_bytes
    counts: Counter[str] = Counter()
    with zipfile.ZipFile(written, "w") as archive:
        for number, (extra, copy) in enumerate(extras, start=1):
            keys.update(key_of(extra, copy).encode())
            if isinstance(extra, LinkedFile):
                counts["link"] += 1
                links.append(f"{extra.name or extra.description} {extra.url}".strip())
                continue
            kind, name, content = _member(extra)
            if kind != "file":
                tables.append(f"{name.removesuffix('.csv')}\n{content.decode()}")
            if len(content) > room:
                left_out.append(name)
                continue
            room -= len(content)
            counts[kind] += 1
            _write(archive, f"{number:04} {name}", content)
        if links:
            _write(archive, _LINKS, "\n".join(links).encode("utf-8", "replace"))
    return Archive(
        key=f"rest-{keys.hexdigest()[:24]}",
        content=written.getvalue() if counts else b"",
        tables="\n".join(tables),
        counts=counts,
        left_out=tuple(left_out),
    )


def _member(extra: DataTable | Chart | OutFile) -> tuple[str, str, bytes]:
    """Its kind, its name and what it holds."""
    if isinstance(extra, OutFile):
        return "file", file_name(extra.name, extra.mime_type, extra.content), extra.content
    kind, table = ("table", extra) if isinstance(extra, DataTable) else ("chart", extra.as_table())
    return kind, file_name(f"{table.title or kind}.csv", "", b""), as_csv(table)


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)


def _listed(counts: Counter[str]) -> str:
    *first, last = [*_parts(counts)] or [""]
    return ARCHIVE_LIST_END.format(", ".join(first), last) if first else last


def _parts(counts: Counter[str]) -> Iterator[str]:
    for kind, (one, several) in ARCHIVE_COUNTS.items():
        if count := counts[kind]:
            yield (several if count > 1 else one).format(count)

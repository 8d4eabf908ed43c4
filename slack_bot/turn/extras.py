"""What an answer holds besides its text: tables, charts, files. Shown below the text, once it is whole."""

import hashlib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from ..text.markdown import outside_code

Cell: TypeAlias = str | int | float


@dataclass(frozen=True, slots=True)
class DataTable:
    """Every row has a cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""


class ChartKind(StrEnum):
    """How values are drawn."""

    BAR = "bar"
    LINE = "line"
    AREA = "area"
    PIE = "pie"


@dataclass(frozen=True, slots=True)
class Series:
    """Values, one for each category of its chart."""

    name: str
    values: tuple[int | float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A pie has one series."""

    kind: ChartKind
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    title: str = ""
    x_label: str = ""
    y_label: str = ""

    def as_table(self) -> DataTable:
        names = (self.x_label, *(each.name for each in self.series))
        rows = zip(self.categories, *(each.values for each in self.series), strict=True)
        return DataTable(names, tuple(rows), self.title)


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file that the agent made. `description` is for who cannot see it."""

    name: str
    mime_type: str
    content: bytes = field(repr=False)
    description: str = ""


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """A file that the agent named by its address, which stands in the text too. `is_image`: as a picture."""

    url: str
    name: str = ""
    mime_type: str = ""
    description: str = ""
    is_image: bool = False


_IMAGE = re.compile(r"!\[([^\[\]\n]*)\]\((https://[^()\s<>\"]+)\)")
_MOST_IMAGES = 10


def images_in(text: str) -> tuple[LinkedFile, ...]:
    """The pictures of a Markdown text, each once; not those that are code."""
    found = {}
    for image in outside_code(_IMAGE, text):
        label, url = image.groups()
        found[url] = LinkedFile(url, "", "", label, is_image=True)
    return tuple(found.values())[:_MOST_IMAGES]


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """What the agent suggests to ask next. `text` is asked, `label` is what its button says; "": the text."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A page that an answer comes from."""

    url: str
    title: str = ""


Extra: TypeAlias = DataTable | Chart | OutFile | LinkedFile
Counted: TypeAlias = tuple[Extra, int]
"""An extra, and how many equal ones of the answer come before it."""


@dataclass(frozen=True, slots=True)
class ExtraRecord:
    """An extra that is in the thread, in the message `ts`, or as `file_id`, which may not be there yet.

    `key` is `key_of` it. `is_signed`: what is under an answer is under it. `form`: in which of its forms.
    """

    key: str
    ts: str = ""
    file_id: str = ""
    is_signed: bool = False
    form: int = 0


def key_of(extra: Extra, copy: int = 0) -> str:
    """The same for the same extra, in every process. `copy`: how many equal ones come before it."""
    digest = hashlib.sha256(repr(extra).encode("utf-8", "surrogatepass"))
    if isinstance(extra, OutFile):
        digest.update(extra.content)
    return digest.hexdigest()[:24] + (f"-{copy}" if copy else "")

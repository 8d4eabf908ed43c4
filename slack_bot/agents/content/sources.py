"""PURE. Finds the sources of an answer, in the formats of several frameworks: addresses that a person can
open.

These are AgentStack's citation extension, ADK's grounding metadata, `citations` or `sources` in metadata, and
data parts of these types. The bot never fetches these addresses.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ...turn.events import Event, SourcesFound
from ...turn.extras import Source
from ...turn.json_values import object_of, text_of
from ..wire.frames import Metadata, Part

CITATION = "https://a2a-extensions.agentstack.beeai.dev/ui/citation/v1"
_LISTS = ("citations", "sources")
_ADDRESSES = ("url", "uri", "href", "link", "source")
_TITLES = ("title", "name", "label", "text", "description")
_GROUNDING = ("grounding_metadata", "groundingMetadata")
_CHUNKS, _PLACES = ("groundingChunks", "grounding_chunks"), ("web", "retrievedContext", "retrieved_context")
_WEB = re.compile(r"https?://[^\s<>|\"'`\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+\Z", re.I)
_LONGEST, _MOST = 2_000, 100  # characters of an address, sources of one event
_PORTS = {"http": 80, "https": 443}


class Citations:
    """The sources that the events of a turn named."""

    def __init__(self) -> None:
        self._urls: set[str] = set()

    def cite(self, sources: list[Source]) -> list[Event]:
        """Those of `sources` that are new."""
        distinct: dict[str, Source] = {}
        for each in sources:
            distinct.setdefault(canonical(each.url), each)
        new = tuple(each for url, each in distinct.items() if url not in self._urls)
        self._urls |= distinct.keys()
        return [SourcesFound(new, reason="named by the agent")] if new else []


def names_sources(data: Any) -> bool:
    """Whether a data part is only a list of sources."""
    return isinstance(data, dict) and data.get("type") in _LISTS


def find_sources(sources: list[Source], metadata: Metadata, parts: Sequence[Part]) -> None:
    """Add the sources in `metadata` and `parts` to `sources`.

    It must be fast: of thousands of chunks none has any.
    """
    if metadata:
        _find_in_metadata(sources, metadata)
    for part in parts:
        if part.metadata:
            _find_in_metadata(sources, part.metadata)
        if part.has_data and names_sources(part.data):
            sources += _listed(next((part.data[key] for key in (*_LISTS, "items") if key in part.data), None))


def _find_in_metadata(sources: list[Source], metadata: Metadata) -> None:
    for key, value in metadata.items():
        if key == CITATION:
            sources += _listed(object_of(value).get("citations") or value)
        elif key in _LISTS:
            sources += _listed(value)
        elif key.endswith(_GROUNDING):
            grounding = object_of(value)
            chunks: list[Any] = next(
                (grounding[name] for name in _CHUNKS if isinstance(grounding.get(name), list)), []
            )
            places = (object_of(chunk).get(place) for chunk in chunks for place in _PLACES)
            sources += _listed([place for place in places if place])


def _listed(rows: Any) -> Iterator[Source]:
    for row in rows[:_MOST] if isinstance(rows, list) else ():
        about = {"url": row} if isinstance(row, str) else object_of(row)
        url = next((text for key in _ADDRESSES if (text := text_of(about.get(key)).strip())), "")
        if is_address(url):
            title = next((text for key in _TITLES if (text := text_of(about.get(key)).strip())), "")
            yield Source(url, title)


def is_address(url: str) -> bool:
    """Whether a person can open the address in a browser and can see where it leads."""
    if len(url) > _LONGEST or not _WEB.match(url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False


def canonical(url: str) -> str:
    """A form that is the same for all addresses of one page. `url` must be an address."""
    parts = urlsplit(url)
    scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    place = host if port in (None, _PORTS.get(scheme)) else f"{host}:{port}"
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode([(name, value) for name, value in parameters if not name.startswith("utm_")])
    return urlunsplit(("https", place, parts.path.rstrip("/"), query, ""))

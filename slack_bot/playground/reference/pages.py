"""Markdown pages in sections, and the words of a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
_ELISION = re.compile(r"(?<=\b[dljnmt])['’`](?=\w{3})|(?<=\bqu)['’`]")  # l'agent, qu'il
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"(#{1,3}) +(.+)")


@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and the text under it. `page` is the page's name, `title` its first heading.

    `topic`: the heading of the section that this one is a part of; its own where it is no part.
    """

    page: str
    title: str
    heading: str
    text: str
    topic: str

    @property
    def sentences(self) -> list[str]:
        """Those of the text, without pieces of code."""
        return [each for each in _SENTENCE_END.split(_FENCED.sub("", self.text)) if each.strip()]

    @property
    def first_sentence(self) -> str:
        """The answer in short."""
        return _SENTENCE_END.split(self.text, maxsplit=1)[0]


def sections(page: str, text: str) -> list[PageSection]:
    """The sections of one Markdown page. The text before a second heading belongs to the page's own."""
    title = topic = page
    fenced, found = False, [(page, page, page, list[str]())]
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        match = None if fenced else _HEADING.fullmatch(line.rstrip())
        if match is None:
            found[-1][3].append(line)
            continue
        level, heading = match.groups()
        title = heading if level == "#" else title
        topic = topic if level == "###" else heading
        found.append((title, topic, heading, []))
    parts = ((*each, "\n".join(lines).strip()) for *each, lines in found)
    return [PageSection(page, title, heading, body, topic) for title, topic, heading, body in parts if body]


def chapters(text: str) -> Iterator[tuple[str, str]]:
    """A long page in chapters, each a page of its own: a name, and the text with its headings one level up.

    What stands before the first chapter is left out.
    """
    for chapter in re.split(r"(?m)^## ", text)[1:]:
        title = chapter.partition("\n")[0]
        yield "-".join(_WORD.findall(title.lower())), "# " + re.sub(r"(?m)^###(?=#* )", "##", chapter)


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case; an apostrophe is no border, except behind an elided article."""
    return _WORD.findall(re.sub(r"['’`]", "", _ELISION.sub(" ", text.lower())))

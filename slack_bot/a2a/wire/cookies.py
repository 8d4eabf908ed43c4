"""The cookies that an agent's server sets, in memory, for each conversation.

Servers behind a balancer need their cookie back to find a task again. One jar for all would give the login or
session of one conversation to every other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

_MOST_COOKIES = 50
_MOST_BYTES = 8 * 1024
"""Of all cookies in a jar, and of those in one answer: few servers read a longer header."""


class CookieJars:
    """A jar for each of the `most` conversations that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jars: OrderedDict[Hashable, httpx.Cookies] = OrderedDict()

    def of(self, conversation: Hashable) -> httpx.Cookies:
        """The jar of this conversation."""
        jar = self._jars.pop(conversation, None)
        jar = self._jars[conversation] = httpx.Cookies() if jar is None else jar
        while len(self._jars) > self._most:
            self._jars.popitem(last=False)
        return jar


def no_cookies() -> CookieJar:
    """A jar that keeps nothing."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def keep(jar: httpx.Cookies, response: httpx.Response) -> None:
    """Put the cookies of `response` into `jar`. A server that sets too many gets none back."""
    if sum(map(len, response.headers.get_list("set-cookie"))) > _MOST_BYTES:
        return
    jar.extract_cookies(response)
    found = list(jar.jar)
    size = sum(len(each.name) + len(each.value or "") for each in found)
    if size > _MOST_BYTES or len(found) > _MOST_COOKIES:
        jar.clear()

"""Sends feedback from the store to its targets until they accept it or it is too old. A restart loses
nothing.

A target may get the same feedback twice, with the same id. Of several replicas, one sends it.
"""

import asyncio
import logging
from dataclasses import replace

from ...clock import Clock
from ...errors import StoreError
from ...http_client import AsyncClient, HTTPError, InvalidURL
from ...observe.facts import FeedbackSent, Observer
from ...settings.feedback import FeedbackSettings
from ...store.collection import CollectionStore
from ...turn.feedback import FeedbackRecord
from .records import change_feedback, due_feedback
from .targets import FeedbackRequest, requests_of

_log = logging.getLogger(__name__)

_AT_ONCE = 20
_SPARE = 60.0  # seconds after which another process goes on with what this one was sending
_AGAIN = 30.0  # seconds until a store that failed is asked again


class FeedbackSender:
    """Sends feedback. The owner of `http` closes it."""

    def __init__(
        self,
        store: CollectionStore,
        settings: FeedbackSettings,
        clock: Clock,
        observer: Observer,
        http: AsyncClient,
    ) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._observer, self._http = observer, http
        self._requests = requests_of(settings)

    async def run(self) -> None:
        """Send feedback for ever. Returns at once if there is no target."""
        while self._requests:
            try:
                await self.send_due()
            except StoreError as error:
                _log.log(error.log_level, "feedback was not sent on: %s", error)
                await asyncio.sleep(_AGAIN)
            await asyncio.sleep(self._settings.send_interval)

    async def send_due(self) -> None:
        """Send all feedback that is due now. Raises StoreError."""
        while records := await due_feedback(self._store, self._clock.wall(), _AT_ONCE):
            for record in records:
                await self._send(record)

    async def _send(self, record: FeedbackRecord) -> None:
        now = self._clock.wall()
        hold = _SPARE + self._settings.send_timeout * len(self._requests)
        key = record.turn, record.user
        before, _ = await change_feedback(
            self._store, *key, lambda stored: stored and stored.held(now, hold), now
        )
        if before is None or before.due is None or before.due > now:
            return  # another process has it
        unsent = tuple([name for name in before.unsent if not await self._is_taken(name, before)])
        after = self._after(before, unsent)
        for name in unsent if after.due is None else ():
            self._report(after, name, ok=False)

        def sent(stored: FeedbackRecord | None) -> FeedbackRecord | None:
            """Keep newer feedback of the same person, which has to be sent again."""
            return after if stored is not None and stored.at == before.at else stored

        await change_feedback(self._store, *key, sent, now)

    def _after(self, record: FeedbackRecord, unsent: tuple[str, ...]) -> FeedbackRecord:
        settings, now = self._settings, self._clock.wall()
        if not unsent or now - record.at >= settings.send_for:
            return replace(record, unsent=(), due=None, tries=record.tries + bool(unsent))
        pause = min(settings.retry_longest, settings.retry_first * 2 ** min(record.tries, 30))
        return replace(record, unsent=unsent, due=now + pause, tries=record.tries + 1)

    async def _is_taken(self, name: str, record: FeedbackRecord) -> bool:
        """Whether the target accepted it.

        Also true if the target is no longer configured or has no use for it.
        """
        make = self._requests.get(name)
        request = make(record, self._clock.wall()) if make else None
        if request is None:
            return True
        problem = await self._post(request)
        if problem:
            extra = {"turn": record.turn}
            _log.info("feedback was not taken by %s, once more later: %s", name, problem, extra=extra)
            return False
        self._report(record, name, ok=True)
        return True

    async def _post(self, request: FeedbackRequest) -> str:
        """Send a request. Returns why it failed, or ""."""
        headers = {**request.headers, "Content-Type": "application/json"}
        try:
            async with asyncio.timeout(self._settings.send_timeout):
                response = await self._http.post(request.url, content=request.body, headers=headers)
        except (HTTPError, InvalidURL, OSError, TimeoutError) as error:
            return type(error).__name__
        return "" if response.is_success else f"HTTP {response.status_code}"

    def _report(self, record: FeedbackRecord, name: str, *, ok: bool) -> None:
        self._observer(FeedbackSent(self._clock.monotonic(), record.turn, name, ok))
        if not ok:
            message = "feedback is not sent to %s any more, though it never took it; the store has it"
            _log.warning(message, name, extra={"turn": record.turn})

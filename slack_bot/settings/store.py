"""Settings of what the bot keeps: where, and for how long."""

from typing import Annotated

from pydantic import AfterValidator, Field

from ..store_kinds import is_store_address, store_kind
from .section import SettingsSection


def _store_address(value: str) -> str:
    if not is_store_address(value):
        raise ValueError(
            "should name a store; write sqlite:///file.sqlite, sqlite:////path/file.sqlite,"
            " redis://host:6379/0, redis+sentinel://host1:26379,host2:26379/NAME or memory://"
        )
    return value


class StoreSettings(SettingsSection):
    """What outlives the process."""

    url: Annotated[str, AfterValidator(_store_address)] = "sqlite:///slack_bot.sqlite"
    """`sqlite:///relative/path`, `sqlite:////absolute/path`, `redis://user:password@host:port/0` for several
    replicas (`redis+sentinel://host1:26379,host2:26379/NAME/0` where Sentinels name the primary; `rediss`
    with TLS), or `memory://`."""
    dedupe_hours: float = Field(default=24.0, gt=0)
    """Hours for which an accepted message is not accepted again."""
    turn_days: float = Field(default=7.0, gt=0)
    """Days for which questions and answers are kept, from the end of the answer."""
    conversation_days: float = Field(default=30.0, gt=0)
    """Days for which a thread's context with the agent is kept, and whom the agent waits for there, from the
    thread's last question. After that a question there begins a new context."""
    form_days: float = Field(default=7.0, gt=0)
    """Days for which the form of an agent can be answered, and is kept, from when it was shown."""
    feedback_days: float = Field(default=90.0, gt=0)
    """Days for which feedback is kept."""
    overheard_hours: float = Field(default=24.0, gt=0)
    """Hours for which messages are kept that `SLACK_BOT_CONTEXT__OVERHEARD` is about."""
    event_bytes: int = Field(default=0, ge=0)
    """Bytes of an agent's raw events that are kept of each turn, as long as the turn, so that
    `slack-bot store export-tape` can make a tape of it; 0: none."""
    checkpoint_interval: float = Field(default=1.0, gt=0)
    """Seconds between two writes of how far the answers have come."""
    lock_wait: float = Field(default=60.0, ge=0)
    """Seconds that a process waits for another one to close the store and its ports: more than its
    `shutdown_grace`."""
    outbound_interval: float = Field(default=1.0, gt=0)
    """Seconds between two looks for what `slack-bot say` has left there."""
    lease: float = Field(default=10.0, gt=0)
    """Seconds without a sign of life after which other replicas take over the turns of one. Redis only."""
    redis_timeout: float = Field(default=2.0, gt=0)
    """Seconds for one call of Redis. Slack wants its acknowledgement within 3."""
    cleanup_interval: float = Field(default=3600.0, gt=0)
    """Seconds between two removals of what is older than that."""
    max_failures: int = Field(default=4, gt=0)
    """Failures in a row to store a question after which the process ends, as soon as no answer runs, to be
    started again. A mention comes as two events, and Slack sends each again at once: that makes 4."""

    @property
    def is_shared(self) -> bool:
        """Whether several processes can use the store at once."""
        return store_kind(self.url).is_shared

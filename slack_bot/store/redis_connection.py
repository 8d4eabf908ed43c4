"""Makes a Redis client from the address of the store."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from redis.asyncio import Redis, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.maint_notifications import MaintNotificationsConfig

from ..errors import SettingsError


def connect(url: str) -> Redis:
    """Make a client for `url`. Nothing is sent yet. Raises SettingsError if the address cannot be read.

    The client sets no time limits, so each call needs one (`RedisCalls`): with the limits of redis-py,
    `asyncio.wait_for` of Python 3.11 now and then loses a cancellation. If Redis has closed an idle
    connection, the client connects again once. Optional commands at the start of a connection are switched
    off, because a slow Redis would spend the time of the first call on them.
    """
    try:
        _check_database(url)
        redis = Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=None,
            socket_connect_timeout=None,
            protocol=2,
            driver_info=None,
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
            retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        )
        _check_options(redis)
    except ValueError as error:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL cannot be read ({error}); write redis://host:6379/0, or rediss:// for TLS."
        ) from None
    return redis


def _check_database(url: str) -> None:
    """Raise ValueError for a database that is not a number: redis-py would use database 0."""
    database = urlsplit(url).path.strip("/")
    if database and not (database.isascii() and database.isdigit()):
        raise ValueError(f"the database {database!r} is not a number")


def _check_options(redis: Redis) -> None:
    """Raise ValueError for an option behind the `?` of the address that is unknown, has no effect or is bad.

    redis-py would fail at the first call only, with a TypeError.
    """
    pool = redis.connection_pool
    try:
        connection = pool.connection_class(**pool.connection_kwargs)
    except TypeError as error:
        option = str(error).rpartition("argument ")[2]
        what = "works with rediss:// only" if option.startswith("'ssl_") else "is not an option of redis-py"
        raise ValueError(f"{option} {what}") from None
    except RedisError as error:
        raise ValueError(str(error)) from None
    if isinstance(connection, SSLConnection):
        _check_files(pool.connection_kwargs)
        try:
            connection.ssl_context.get()
        except OSError as error:
            raise ValueError(f"its ssl_ options cannot be used: {error.strerror or error}") from None


def _check_files(options: Mapping[str, object]) -> None:
    """Raise ValueError for a file that does not exist. The error of `ssl` does not name the file."""
    for name in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile"):
        path = options.get(name)
        if path is not None and not Path(str(path)).is_file():
            raise ValueError(f"{name}: there is no file {path}")

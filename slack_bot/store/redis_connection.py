"""Makes a Redis client from the address of the store."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import ConnectionPool, Redis, SSLConnection
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.maint_notifications import MaintNotificationsConfig

from ..errors import SettingsError
from .redis_address import SentinelAddress, names_sentinels, sentinels_of
from .redis_format import PREFIX
from .redis_sentinel import FollowingConnection, FollowingPool, FollowingTlsConnection, Sentinels

_NOTES = (f"{PREFIX}primary", f"{PREFIX}primaries")
"""The keys in which `turns.lua` finds which primary it runs in, and how many there have been before."""
_FORM = "redis://host:6379/0, or rediss:// for TLS"
_FORM_OF_SENTINELS = "redis+sentinel://host1:26379,host2:26379/NAME, or rediss+sentinel:// for TLS"


def connect(url: str, *, is_replica: bool = False) -> Redis:
    """Make a client for `url`. Nothing is sent yet. Raises SettingsError if the address cannot be read.

    `is_replica`: it is for a process of the bot, which must know of each failover: where Sentinels name the
    primary, each connection notes there which one it is.

    The client sets no time limits, so each call needs one (`RedisCalls`): with the limits of redis-py,
    `asyncio.wait_for` of Python 3.11 now and then loses a cancellation. If Redis has closed an idle
    connection, the client connects again once. Optional commands at the start of a connection are switched
    off, because a slow Redis would spend the time of the first call on them.
    """
    is_of_sentinels = names_sentinels(url)
    try:
        if is_of_sentinels:
            return _follow(sentinels_of(url), notes=_NOTES if is_replica else ())
        _check_database(url)
        redis = Redis.from_url(url, **_options())
        _check_options(redis.connection_pool)
    except ValueError as error:
        form = _FORM_OF_SENTINELS if is_of_sentinels else _FORM
        raise SettingsError(f"SLACK_BOT_STORE__URL cannot be read ({error}); write {form}.") from None
    return redis


def _options() -> dict[str, Any]:
    return {
        "decode_responses": True,
        "socket_timeout": None,
        "socket_connect_timeout": None,
        "protocol": 2,
        "driver_info": None,
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
        "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    }


def _follow(address: SentinelAddress, notes: tuple[str, ...]) -> Redis:
    """A client of the primary that Sentinels name. Raises ValueError."""
    _check_database(address.server)
    options: dict[str, Any] = dict(parse_url(address.server))
    is_tls = options.pop("connection_class", None) is not None
    options.pop("host")
    sentinels = Sentinels(address, [_sentinel(address, host, port, options) for host, port in address.hosts])
    pool = FollowingPool(
        sentinels,
        notes=notes,
        connection_class=FollowingTlsConnection if is_tls else FollowingConnection,
        **options,
        **_options(),
    )
    _check_options(pool)
    return Redis.from_pool(pool)


def _sentinel(address: SentinelAddress, host: str, port: int, options: Mapping[str, Any]) -> Redis:
    """A client of one Sentinel. It has the options for TLS of the primary."""
    tls = {name: value for name, value in options.items() if name.startswith("ssl_")}
    return Redis(
        host=host,
        port=port,
        username=address.username,
        password=address.password,
        ssl=address.has_tls,
        **(tls if address.has_tls else {}),
        **_options(),
    )


def _check_database(url: str) -> None:
    """Raise ValueError for a database that is not a number: redis-py would use database 0."""
    database = urlsplit(url).path.strip("/")
    if database and not (database.isascii() and database.isdigit()):
        raise ValueError(f"the database {database!r} is not a number")


def _check_options(pool: ConnectionPool) -> None:
    """Raise ValueError for an option behind the `?` of the address that is unknown, has no effect or is bad.

    redis-py would fail at the first call only, with a TypeError.
    """
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

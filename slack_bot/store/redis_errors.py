"""What an error of Redis means for the operator, and the remedy."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterCrossSlotError,
    ClusterDownError,
    MasterDownError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from .redis_address import names_sentinels
from .redis_format import PREFIX
from .redis_sentinel import NoPrimary, NoSentinel, PrimaryAway

RIGHTS = (
    f"~{PREFIX}* +@read +@write +@transaction +@scripting +@connection -@dangerous +time +info +config|get"
)
"""The rights that the bot's user needs, in the syntax of ACL SETUSER.

INFO and CONFIG GET only show the setup.
"""
IS_CLUSTER = (
    "it is a node of a Redis Cluster, which moves keys between its nodes",
    "name a Redis that is one server (cluster-enabled no): it may have replicas",
)
"""The problem and the remedy."""

_OTHERWISE = "check the address, and whether Redis runs"
_OF_PRIMARY = (
    "wait if it was lost just now; else see whether this machine can reach that address: Sentinels name the"
    " one that they use themselves (replica-announce-ip, sentinel announce-ip)"
)
_OF_USER = f"give it {RIGHTS}"
_CLASSES: tuple[tuple[tuple[type[Exception], ...], tuple[str, str]], ...] = (
    (
        (ReadOnlyError,),
        ("it is a replica, which nobody may write to", "name the primary's address"),
    ),
    (
        (MasterDownError,),
        ("it is a replica that has lost its primary", "name the primary's address"),
    ),
    ((AskError, ClusterDownError, ClusterCrossSlotError), IS_CLUSTER),
    (
        (OutOfMemoryError,),
        ("its memory is full", "give it more (maxmemory), or remove what else it holds"),
    ),
    (
        (BusyLoadingError,),
        ("it reads its data from the disk", "start the bot again when Redis has read them"),
    ),
)
# redis-py has neither class nor code for these, and inside a script's error their code is in the middle
_WORDS = (
    ("SELECT is not allowed in cluster mode", IS_CLUSTER),
    (
        "DB index",
        (
            "it has no database of that number",
            "name one that it has: /0 is always there (`databases` in redis.conf says how many there are)",
        ),
    ),
    (
        "NOREPLICAS",
        (
            "too few replicas are connected to it for a write (min-replicas-to-write)",
            "see to its replicas: until then no question is acknowledged, and Slack brings them again",
        ),
    ),
    ("MISCONF", ("it cannot write to its disk", "make room there; Redis' log says more")),
    (
        "max number of clients",
        ("it takes no more connections", "raise maxclients in Redis, or end what else is connected"),
    ),
)
_WANTS_CERTIFICATE = (
    "it ends the TLS connection at once, as one that wants a certificate of the bot does",
    "name it with ?ssl_certfile=FILE&ssl_keyfile=FILE behind the address; if it wants none, see its log",
)
_CERTIFICATE_REQUIRED = "TLSV13_ALERT_CERTIFICATE_REQUIRED"  # OpenSSL's name of the alert
_HOST_MISMATCH = frozenset((62, 64))  # OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and ..._IP_ADDRESS_MISMATCH
_EXPIRED = 10  # X509_V_ERR_CERT_HAS_EXPIRED
_IN_SCRIPT = re.compile(r"ACL failure in script|The user executing the script can't")  # since 7.2; before
_CLOSED = re.compile(r"closed|reset|lost|broken pipe", re.IGNORECASE)


def explain(error: Exception, url: str, *, is_open: bool) -> tuple[str, str]:
    """The problem and the remedy, each without a full stop. `is_open`: the address has worked before."""
    if isinstance(error, NoPrimary | PrimaryAway):
        return _of_sentinels(error, url, is_open=is_open)
    for classes, explanation in _CLASSES:
        if isinstance(error, classes):
            return explanation
    message = str(error).rstrip(".")
    if of_words := [explanation for words, explanation in _WORDS if words in message]:
        return of_words[0]
    if isinstance(error, AuthenticationError):
        return _login(error.status_code, message)
    if isinstance(error, NoPermissionError) or _IN_SCRIPT.search(message):
        return forbidden([message])
    return _connection(error, url, message, is_open=is_open) or (message or "no answer in time", _OTHERWISE)


def _login(code: str | None, message: str) -> tuple[str, str]:
    if code == "NOAUTH":
        return "it wants a password", "write redis://:PASSWORD@host, or redis://USER:PASSWORD@host"
    if "without any password" in message or "no password is set" in message:
        problem = "the address has a password, and Redis has none for its default user"
        return problem, "take the password out of the address, or name the user, or set requirepass in Redis"
    return (
        "it refuses the user or the password of the address",
        "check both, and write their special characters as percent codes (@ as %40, / as %2F, % as %25)",
    )


def _of_sentinels(error: NoPrimary | PrimaryAway, url: str, *, is_open: bool) -> tuple[str, str]:
    if isinstance(error, NoSentinel):
        return _of_no_sentinel(error, is_open=is_open)
    if isinstance(error, NoPrimary):
        return error.problem, error.remedy
    assert isinstance(error.__cause__, Exception)
    address = f"{url.partition('+')[0]}://{error.place}"
    problem, remedy = explain(error.__cause__, address, is_open=is_open)
    remedy = _OF_PRIMARY if remedy == _OTHERWISE else remedy
    return f"the primary {error.place}, which its Sentinels name: {problem}", remedy


def _of_no_sentinel(error: NoSentinel, *, is_open: bool) -> tuple[str, str]:
    scheme, problems, remedies = "rediss" if error.has_tls else "redis", dict[str, list[str]](), list[str]()
    for place, cause in error.errors.items():
        problem, remedy = explain(cause, f"{scheme}://{place}", is_open=is_open)
        problems.setdefault(problem, []).append(place)
        remedies.append(error.remedy if remedy.startswith(_OTHERWISE) else remedy)
    told = "; ".join(f"{', '.join(places)}: {problem}" for problem, places in problems.items())
    return f"{error.problem}: {told}", remedies[0]


def is_passing(error: Exception, url: str) -> bool:
    """Redis is away, or will soon take what it refuses now."""
    # what a script is refused is a plain ResponseError, with Redis' code somewhere in its text
    is_demoted = isinstance(error, ReadOnlyError | MasterDownError) or "READONLY" in str(error)
    if names_sentinels(url) and is_demoted:
        return True
    return isinstance(error, OSError | RedisConnectionError | RedisTimeoutError) or "NOREPLICAS" in str(error)


def forbidden(refusals: Iterable[str]) -> tuple[str, str]:
    """The problem and the remedy when the user lacks rights. `refusals`: the error texts of Redis."""
    commands, has_keys = list[str](), False
    for refusal in refusals:
        command = re.search(r"'([\w|]+)'", refusal)
        if command is None and "run this command" in refusal:
            commands.append("a command of the bot's scripts (slack-bot doctor names it)")
        elif command is None:
            has_keys = True
        elif (name := command.group(1).upper().replace("|", " ")) not in commands:
            commands.append(name)
    missing_rights = [f"run {', '.join(commands)}"] if commands else []
    if has_keys:
        missing_rights.append(f"use the keys {PREFIX}*")
    remedy = f"{_OF_USER}, or choose database 0" if commands == ["SELECT"] else _OF_USER
    return f"its user may not {', and may not '.join(missing_rights)}", remedy


def _connection(error: Exception, url: str, message: str, *, is_open: bool) -> tuple[str, str] | None:
    """Explain why there is no connection; None if that is not known."""
    host = urlsplit(url).hostname
    for cause in _causes(error):
        if (explanation := _of_system(cause, host)) is not None:
            return explanation
    is_tls = url.startswith("rediss:")
    if is_open:
        return None
    if isinstance(error, RedisConnectionError | ConnectionResetError) and _CLOSED.search(message):
        if is_tls:
            return _WANTS_CERTIFICATE
        return "it ends the connection at once", "if it wants TLS, write rediss://; if not, see its log"
    if is_tls and isinstance(error, TimeoutError):
        return "no answer in time", f"{_OTHERWISE}; if it has no TLS there, write redis://"
    return None


def _of_system(cause: BaseException, host: str | None) -> tuple[str, str] | None:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _certificate(cause, host)
    if isinstance(cause, ssl.SSLError):
        if cause.reason == _CERTIFICATE_REQUIRED:
            return _WANTS_CERTIFICATE
        return "what answers there does not speak TLS", "check the port, or write redis:// without TLS"
    if isinstance(cause, socket.gaierror):
        return f"nobody knows the host {host}", "check the address"
    if isinstance(cause, ConnectionRefusedError):
        return "nothing takes connections there", _OTHERWISE
    return None


def _certificate(error: ssl.SSLCertVerificationError, host: str | None) -> tuple[str, str]:
    reason = error.verify_message
    if error.verify_code in _HOST_MISMATCH:
        return f"its certificate is not for {host}", "write the host that the certificate names"
    if error.verify_code == _EXPIRED:
        return "its certificate has expired", "give Redis a new one"
    return (
        f"its certificate is not trusted here ({reason})",
        "name its authority's certificate in SSL_CERT_FILE, or with ?ssl_ca_certs=FILE behind the address",
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its causes: redis-py keeps the error of the system in `__context__`."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

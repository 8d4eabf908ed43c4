"""A store in Redis: that the bot may do there all that it does, and that Redis keeps what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...clock import Clock
from ...errors import SettingsError, StoreError
from ...observe.findings import Diagnosis, failed, split, unknown, warning
from ...settings.models import GovernorSettings
from ...settings.store import StoreSettings

if TYPE_CHECKING:
    from ...store.redis_sentinel import SentinelFacts  # its library may not be installed

_SLOW = 0.05  # seconds for Redis to answer


async def check_redis(kept: StoreSettings, governor: GovernorSettings, clock: Clock) -> list[Diagnosis]:
    """What is wrong with it. Its library must be installed."""
    from ...slack.rate_limiter.shared import try_shares
    from ...store.redis_connection import connect
    from ...store.redis_trial import redis_trial, trial_prefix

    try:
        async with redis_trial(kept.url, kept.redis_timeout) as trial, connect(kept.url) as redis:
            facts = await trial.facts(clock)
            await trial.try_everything()
            await trial.attempt(try_shares(governor, clock, redis, f"{trial_prefix()}:budgets"))
    except (StoreError, SettingsError) as error:
        return [split("store", str(error))]
    findings = _configuration(facts.configuration)
    if facts.sentinels is not None:
        findings += _of_sentinels(facts.sentinels, facts.configuration)
    if facts.seconds > _SLOW:
        findings.append(warning("store", f"Redis took {facts.seconds * 1000:.0f} ms", "run it near the bot"))
    return findings


def _of_sentinels(known: SentinelFacts, configuration: Mapping[str, str]) -> list[Diagnosis]:
    from ...store.redis import CUT_OFF

    findings = list[Diagnosis]()
    if known.silent:
        text = f"these Sentinels do not answer: {', '.join(known.silent)}"
        findings.append(warning("store", text, "start them: a failover needs most of all Sentinels"))
    if not known.replicas:
        text = "the Sentinels know no replica that could take the place of the primary"
        findings.append(warning("store", text, "start one, with replicaof"))
    name, good, risk = CUT_OFF
    if (told := configuration.get(name)) is None:
        text = f"Redis does not tell its {name} to the bot's user (CONFIG GET)"
        findings.append(unknown("store", text, f"see to it that it is at least {good}"))
    elif told == "0":
        findings.append(warning("store", f"Redis has {name} 0: {risk}", f"set {name} {good} in Redis"))
    return findings


def _configuration(known: Mapping[str, str]) -> list[Diagnosis]:
    from ...store.redis import RISKS

    findings = list[Diagnosis]()
    policy, is_appending = (
        known.get("maxmemory-policy", "noeviction"),
        known.get("appendonly", "yes") == "yes",
    )
    if policy != "noeviction":
        text = f"Redis may drop what it keeps when it is full (maxmemory-policy {policy})"
        findings.append(failed("store", text, "set maxmemory-policy noeviction in Redis"))
    if not is_appending and known.get("rdb_last_bgsave_status") not in (None, "ok"):
        findings.append(warning("store", "Redis keeps nothing on disk", "switch appendonly on in Redis"))
    elif not is_appending:
        text = "Redis writes to disk now and then only: a crash of it loses the last minutes"
        findings.append(warning("store", text, "switch appendonly on in Redis"))
    elif (sync := known.get("appendfsync", "always")) != "always":
        text = f"Redis has appendfsync {sync}: {RISKS['appendfsync'][1]}"
        findings.append(warning("store", text, "set appendfsync always in Redis"))
    if untold := [f"{name} {good}" for name, (good, _) in RISKS.items() if name not in known]:
        text = "Redis does not tell all of its configuration to the bot's user (CONFIG GET, INFO)"
        findings.append(unknown("store", text, f"see to it that it has {', '.join(untold)}"))
    return findings

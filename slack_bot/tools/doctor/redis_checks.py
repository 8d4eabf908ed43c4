"""A store in Redis: that the bot may do there all that it does, and that Redis keeps what it is told."""

from __future__ import annotations

from collections.abc import Mapping

from ...clock import Clock
from ...errors import SettingsError, StoreError
from ...observe.findings import Diagnosis, failed, split, unknown, warning
from ...settings.models import GovernorSettings, StoreSettings

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
    if facts.seconds > _SLOW:
        findings.append(warning("store", f"Redis took {facts.seconds * 1000:.0f} ms", "run it near the bot"))
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

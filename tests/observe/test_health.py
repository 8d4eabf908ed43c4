"""What a probe reads, after what the parts said."""

from __future__ import annotations

from slack_bot.observe.health import Health, HealthCheck

AT_FIRST = (HealthCheck.SLACK, HealthCheck.TOKEN, HealthCheck.STORE)


def ready() -> Health:
    health = Health()
    for check in AT_FIRST:
        health.passed(check)
    return health


def test_a_process_is_ready_once_everything_it_needs_has_passed() -> None:
    health = Health()
    for check in AT_FIRST:
        assert not health.is_ready
        health.passed(check)
    assert health.body() == {
        "ready": True,
        "checks": dict.fromkeys(("slack", "token", "store", "running", "agent"), "ok"),
    }


def test_each_problem_takes_the_readiness_away_until_it_is_over_but_an_agent_that_is_away_does_not() -> None:
    health = ready()
    for check in health.checks:
        health.failed(check, "Something is wrong.")
        assert health.is_ready is (check is HealthCheck.AGENT)
        assert health.body()["checks"][check] == "Something is wrong."  # type: ignore[index]
        health.passed(check)
        assert health.is_ready


def test_of_several_workspaces_one_that_works_is_enough() -> None:
    health = ready()
    assert HealthCheck.WORKSPACES not in health.checks
    health.workspace_passed("T1")
    health.workspace_failed("token 2", "Slack refuses it.")
    health.workspace_passed("T3")
    health.workspace_failed("T3", "Slack refuses the bot's token (token_revoked).")
    said = "token 2: Slack refuses it. T3: Slack refuses the bot's token (token_revoked)."
    assert health.body()["checks"]["workspaces"] == said  # type: ignore[index]
    assert health.is_ready
    health.workspace_forgotten("token 2")
    health.workspace_passed("T3")
    assert health.is_ok(HealthCheck.WORKSPACES)
    for team in ("T1", "T3"):
        health.workspace_failed(team, "Slack refuses it.")
    assert not health.is_ready
    health.workspace_passed("T1")
    assert health.is_ready


def test_of_several_agents_each_is_named_until_it_is_well_again() -> None:
    health = ready()
    health.agent_failed("default", "It is away.")
    health.agent_failed("ops", "It refuses the login.")
    assert health.body()["checks"]["agent"] == "It is away. ops: It refuses the login."  # type: ignore[index]
    health.agent_passed("default")
    assert health.body()["checks"]["agent"] == "ops: It refuses the login."  # type: ignore[index]
    assert health.is_ready
    health.agent_passed("research")
    assert not health.is_ok(HealthCheck.AGENT)
    health.agent_passed("ops")
    assert health.is_ok(HealthCheck.AGENT)

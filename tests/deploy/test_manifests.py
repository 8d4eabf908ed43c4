"""deploy/compose.yml, kubernetes.yml and slack-bot.service: valid, and true of this bot."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slack_bot import __version__
from slack_bot.cli import command_line
from slack_bot.settings.models import HealthSettings, SlackSettings, TurnSettings
from slack_bot.settings.push import PushSettings
from slack_bot.settings.sign_in import SignInSettings
from tests.deploy.dockerfile import ROOT, declared

DEPLOY = ROOT / "deploy"
UNIT = (DEPLOY / "slack-bot.service").read_text("utf-8")
STOPPING = TurnSettings().shutdown_grace + 30
"""Seconds that the end of the bot may take, as `shutdown_grace` says."""


def documents(name: str) -> list[dict[str, Any]]:
    yaml = pytest.importorskip("yaml", reason="install tests/peers/deployment.txt")
    return list(yaml.safe_load_all((DEPLOY / name).read_text("utf-8")))


def tool(name: str) -> str:
    found = shutil.which(name, path=Path(sys.executable).parent)
    if found is None:
        pytest.skip(f"{name}: install tests/peers/deployment.txt")
    return found


def check(*words: str) -> None:
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


# -- Kubernetes


def kinds() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    found = documents("kubernetes.yml")
    assert [each["kind"] for each in found] == ["Deployment", "PodDisruptionBudget", "Service"]
    deployment, budget, service = found
    return deployment, budget, service


def problems(found: dict[str, Any]) -> Iterator[str]:
    """What Kubernetes' own schema says of it."""
    jsonschema = pytest.importorskip("jsonschema", reason="install tests/peers/deployment.txt")
    schema = json.loads((Path(__file__).parent / "kubernetes.schema.json").read_text("utf-8"))
    whole = {**schema["kinds"][found["kind"]], "$defs": schema["$defs"]}
    for error in jsonschema.Draft202012Validator(whole).iter_errors(found):
        yield f"{error.json_path}: {error.message}"


def test_kubernetes_takes_it_and_no_field_that_it_does_not_know() -> None:
    for each in kinds():
        assert list(problems(each)) == []
    wrong, _, _ = kinds()
    wrong["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    assert ["readynessProbe" in each for each in problems(wrong)] == [True]


def test_kubernetes_reaches_what_the_image_opens_and_gives_it_time_to_end() -> None:
    image, (deployment, budget, service) = declared(), kinds()
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    health = int(image.env["SLACK_BOT_HEALTH__PORT"])
    for local, host in ((HealthSettings().host, "HEALTH__HOST"), (SignInSettings().host, "SIGN_IN__HOST")):
        assert (local, image.env[f"SLACK_BOT_{host}"]) == ("127.0.0.1", "0.0.0.0")
    assert ports == {
        "slack": SlackSettings().http_port,
        "push": PushSettings().port,
        "sign-in": SignInSettings().port,
        "health": health,
    }
    assert set(ports.values()) == set(image.ports)
    assert {each["targetPort"]: each["port"] for each in service["spec"]["ports"]}.items() <= ports.items()
    probes = container["livenessProbe"], container["readinessProbe"]
    assert [each["httpGet"] for each in probes] == [
        {"path": path, "port": "health"} for path in ("/livez", "/readyz")
    ]
    assert pod["terminationGracePeriodSeconds"] >= STOPPING
    label = deployment["spec"]["template"]["metadata"]["labels"]
    for selector in (deployment["spec"]["selector"], budget["spec"]["selector"]):
        assert selector["matchLabels"] == label
    assert service["spec"]["selector"] == label
    assert container["image"].endswith(f":{__version__}")
    command_line().parse_args(container["args"])


def test_kubernetes_keeps_to_slack_s_ten_connections_and_to_no_rights() -> None:
    deployment, _, _ = kinds()
    spec, pod = deployment["spec"], deployment["spec"]["template"]["spec"]
    replicas = spec["replicas"] + spec["strategy"]["rollingUpdate"]["maxSurge"]
    assert replicas * SlackSettings().socket_connections < 10
    user, group = (int(number) for number in declared().user.split(":"))
    rights = pod["securityContext"]
    assert (rights["runAsUser"], rights["runAsGroup"], rights["runAsNonRoot"]) == (user, group, True)
    assert rights["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)


# -- Compose


def test_compose_takes_it() -> None:
    """Rendered by Docker Compose itself, which needs no engine for it."""
    file = ("-f", "deploy/compose.yml")
    check(tool("docker-compose"), *file, "--profile", "agent", "config", "--quiet", "--no-env-resolution")


def test_compose_gives_time_to_end_and_a_redis_that_keeps_what_it_is_told() -> None:
    (found,) = documents("compose.yml")
    services, image = found["services"], declared()
    bot, redis, agent = (services[name] for name in ("bot", "redis", "agent"))
    assert float(bot["stop_grace_period"].removesuffix("s")) >= STOPPING
    port = image.env["SLACK_BOT_HEALTH__PORT"]
    assert [each.rpartition(":")[2] for each in bot["ports"]] == [port]
    assert bot["ports"][0].startswith(f"127.0.0.1:{port}-")  # each process gets one of its own
    for each in (bot, agent):
        assert (each["read_only"], each["cap_drop"]) == (True, ["ALL"])
    options = dict(zip(redis["command"][1::2], redis["command"][2::2], strict=True))
    assert options == {
        "--appendonly": "yes", "--appendfsync": "always", "--maxmemory-policy": "noeviction",
    }  # fmt: skip
    command_line().parse_args(agent["command"])
    assert agent["build"]["args"].keys() <= image_arguments()
    for lock in agent["build"]["args"]["LOCKS"].split():
        assert (DEPLOY / lock).exists()


def image_arguments() -> set[str]:
    return set(re.findall(r"(?m)^ARG (\w+)", (ROOT / "Dockerfile").read_text("utf-8")))


# -- systemd


def unit(name: str) -> list[str]:
    return re.findall(rf"(?m)^{name}=(.*)$", UNIT)


def test_systemd_gives_time_to_end_and_a_place_for_the_store() -> None:
    assert float(unit("TimeoutStopSec")[0]) >= STOPPING
    folder = f"/var/lib/{unit('StateDirectory')[0]}"
    assert unit("WorkingDirectory") == [folder]
    assert unit("Environment") == [f"SLACK_BOT_STORE__URL=sqlite:///{folder}/slack_bot.sqlite"]
    program, *words = unit("ExecStart")[0].split()
    assert Path(program).name == "slack-bot"
    command_line().parse_args(words)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_it_and_finds_little_to_close(tmp_path: Path) -> None:
    """Of ten, where ten is the most exposed. What remains is the network, which the bot is for."""
    here = tmp_path / "slack-bot.service"
    here.write_text(UNIT.replace(unit("ExecStart")[0].split()[0], sys.executable))
    check("systemd-analyze", "verify", "--man=no", str(here))
    words = ("security", "--offline=true", "--threshold=15", "--no-pager", str(here))
    ran = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


# -- all


def test_a_linter_of_dockerfiles_finds_nothing() -> None:
    check(tool("hadolint"), "Dockerfile")


def test_every_variable_that_they_name_is_a_setting() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (*DEPLOY.glob("*.yml"), ROOT / "Dockerfile")) + UNIT
    named = set(re.findall(r"\b(?:SLACK|A2A)_[A-Z_]+[A-Z]\b", text))
    known = set(re.findall(r"(?m)^#?([A-Z0-9_]+)=", (ROOT / ".env.example").read_text("utf-8")))
    assert len(named) > 5
    assert named <= known

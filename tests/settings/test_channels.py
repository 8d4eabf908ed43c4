"""Settings of single channels: what counts where, and how the file is read."""

from functools import partial
from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.channels import ChannelPolicies, ChannelSettings
from slack_bot.settings.config_file import read_config

FILE = """
[channel]
busy = "collect"
context = "asker"

[channels.dm]
context = "thread"

[channels.C0123456]  # ops
busy = "interrupt"
people = ["U1", "W2"]
"""


def policies(tmp_path: Path, text: str = FILE, **fixed: object) -> ChannelPolicies:
    file = tmp_path / "slack_bot.toml"
    file.write_text(text)
    return ChannelPolicies(ChannelSettings.model_validate(fixed), partial(read_config, str(file)))


@pytest.mark.parametrize(
    ("busy", "interrupts", "collects", "merges"),
    [
        ("queue", False, False, False),
        ("collect", False, True, True),
        ("interrupt", True, False, True),
    ],
)
def test_what_a_busy_policy_means(busy: str, interrupts: bool, collects: bool, merges: bool) -> None:
    policy = ChannelSettings.model_validate({"busy": busy})
    assert (policy.interrupts, policy.collects, policy.merges) == (interrupts, collects, merges)


def test_a_channel_has_its_own_table_before_that_of_all_and_a_variable_before_both(tmp_path: Path) -> None:
    found = policies(tmp_path)
    assert (found.of("C9").busy, found.of("C9").context, found.of("C9").people) == ("collect", "asker", ())
    assert (found.of("C0123456").busy, found.of("C0123456").people) == ("interrupt", ("U1", "W2"))
    assert (found.of("D1").busy, found.of("D1").context) == ("collect", "thread")
    fixed = policies(tmp_path, busy="queue")
    assert (fixed.of("C0123456").busy, fixed.of("C0123456").people) == ("queue", ("U1", "W2"))


def test_without_a_file_every_channel_has_the_defaults() -> None:
    assert ChannelPolicies(ChannelSettings()).of("C1") == ChannelSettings()


def test_all_values_that_a_setting_has_anywhere(tmp_path: Path) -> None:
    found = policies(tmp_path)
    assert found.values("busy") == {"collect", "interrupt"}
    assert found.values("context") == {"asker", "thread"}
    assert policies(tmp_path, busy="queue").values("busy") == {"queue"}
    assert ChannelPolicies(ChannelSettings()).values("identity") == {"id"}


def test_a_file_is_read_again_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    found = policies(tmp_path)
    before = found.of("C9")
    file = tmp_path / "slack_bot.toml"
    file.write_text('[channel]\nbusy = "interrupt"\n')
    found.reload()
    assert (before.busy, found.of("C9").busy) == ("collect", "interrupt")
    file.write_text('[channel]\nbusy = "never"\n')
    with pytest.raises(SettingsError):
        found.reload()
    assert found.of("C9").busy == "interrupt"


def test_each_setting_says_where_it_is_from(tmp_path: Path) -> None:
    found = policies(tmp_path, guests="deny")
    sources = {each.name: (each.value, each.source) for each in found.effective("C0123456")}
    assert sources["busy"] == ("interrupt", "[channels.C0123456]")
    assert sources["context"] == ("asker", "[channel]")
    assert sources["guests"] == ("deny", "SLACK_BOT_CHANNEL__GUESTS")
    assert sources["audience"] == ("asker", "")
    for channel in ("D1", "dm"):
        sources = {each.name: (each.value, each.source) for each in found.effective(channel)}
        assert sources["context"] == ("thread", "[channels.dm]")
    assert found.channels == ["C0123456"]


def test_a_workspace_weighs_more_than_all_channels_and_less_than_direct_messages_and_single_ones(
    tmp_path: Path,
) -> None:
    text = FILE + '[teams.T2]\nbusy = "queue"\ncontext = "none"\nguests = "deny"\n'
    found = policies(tmp_path, text)
    assert (found.of("C9", "T2").busy, found.of("C9", "T2").guests) == ("queue", "deny")
    assert (found.of("C9", "T1"), found.of("C9")) == (found.of("C9", "T3"), found.of("C9", ""))
    assert (found.of("D9", "T2").context, found.of("C0123456", "T2").busy) == ("thread", "interrupt")
    assert policies(tmp_path, text, busy="collect").of("C9", "T2").busy == "collect"
    assert (found.teams, found.channels) == (["T2"], ["C0123456"])
    assert found.values("guests") == {"allow", "deny"}
    sources = {each.name: each.source for each in found.effective("C9", "T2")}
    assert (sources["guests"], sources["busy"]) == ("[teams.T2]", "[teams.T2]")
    assert {each.source for each in found.effective("C9")} == {"", "[channel]"}

"""The file with settings of channels: what is wrong in it is named, with the remedy."""

import re
from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.channels import ChannelSettings
from slack_bot.settings.config_file import read_config

TABLES = "the tables are [channel], [channels.dm] and, by its id, [channels.C0123456]"
SETTINGS = (
    "respond, match, ask, reactions, agent, agents, busy, context, identity, personal, audience, footer,"
    " share, actions, post_to, post_to_public, suggestions, external, guests, people, groups, instructions,"
    " approvers"
)
DETAILS = (
    "write its id (C0123456), which is at the end of the channel's details in Slack, or dm for all direct"
    " messages"
)


def problems(tmp_path: Path, text: str) -> list[str]:
    """Without the name of the file."""
    file = tmp_path / "slack_bot.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        read_config(str(file))
    return [line.removeprefix(str(file)).lstrip(":, ") for line in str(error.value).splitlines()]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            '[channel]\nbusy = "colect"',
            ["channel.busy is 'colect': should be queue, collect or interrupt; did you mean 'collect'?"],
        ),
        ("[channel]\nbusy = 3", ["channel.busy is 3: should be queue, collect or interrupt"]),
        (
            '[channels.C012]\nexternal = "yes"\nguests = true',
            [
                "channels.C012.external is 'yes': should be allow or deny",
                "channels.C012.guests is True: should be allow or deny",
            ],
        ),
        (
            '[channel]\npeople = ["ann"]',
            [
                "channel.people is ['ann']: should be ids of people, as their profiles show them (U0123456 or"
                " W0123456)"
            ],
        ),
        (
            '[channel]\ngroups = ["U1"]',
            ["channel.groups is ['U1']: should be ids of user groups, as S0123456"],
        ),
        (
            '[teams.t0123]\nguests = "deny"',
            ["teams.t0123 is no workspace; did you mean teams.T0123?"],
        ),
        (
            '[teams.acme]\nguests = "deny"\n[teams.T1]\nguest = "deny"\npost_to = ["C1"]',
            [
                "teams.acme is no workspace; write its id (T0123456), which doctor names",
                "teams.T1.guest is not a setting; did you mean guests?",
                "teams.T1.post_to would count in every channel: write it below [channels.C...]",
            ],
        ),
        (
            '[teams]\nguests = "deny"',
            ["teams.guests is no workspace; write its id (T0123456), which doctor names"],
        ),
        ('[channel]\npeople = "U1"', ["channel.people is 'U1': should be a list: write people = [\"U1\"]"]),
        (
            '[channels.C012]\ngroups = "S1, S2"\nbusy = 1',
            [
                'channels.C012.groups is \'S1, S2\': should be a list: write groups = ["S1", "S2"]',
                "channels.C012.busy is 1: should be queue, collect or interrupt",
            ],
        ),
        ('[channel]\npeople = ""', ["channel.people is '': should be a list: write people = [\"...\"]"]),
        (
            "[channel]\npeople = [1]",
            ['channel.people is [1]: should be a list of texts: write a,b or ["a","b"]'],
        ),
        (
            '[channel]\nrespnd = "auto"',
            ["channel.respnd is not a setting; did you mean respond?"],
        ),
        (
            '[channels.C012]\nname = "ops"',
            [f"channels.C012.name is not a setting of a channel; they are {SETTINGS}"],
        ),
        (
            "[channel]\nturn_timeout = 30",
            ["turn_timeout does not belong here: set SLACK_BOT_AGENT__TURN_TIMEOUT in the environment"],
        ),
        (
            '[agent]\nurl = "http://a"\nfoo = 1',
            [
                "agent.url does not belong here: set A2A_AGENT_URL in the environment",
                f"agent.foo is not known here; {TABLES}",
            ],
        ),
        (
            'SLACK_BOT_TOKEN = "xoxb-1"',
            ["SLACK_BOT_TOKEN does not belong here: set SLACK_BOT_TOKEN in the environment"],
        ),
        (
            'bot_token = "xoxb-1"',
            ["bot_token does not belong here: set SLACK_BOT_TOKEN in the environment"],
        ),
        ("[channl]", ["[channl] is not known here; did you mean [channel]?"]),
        ("[chanels.C012]", ["[chanels] is not known here; did you mean [channels]?"]),
        ("[ops]", [f"[ops] is not known here; {TABLES}"]),
        ("[agent.ops]", ["[agent.ops] is not known here; did you mean [agents.ops]?"]),
        ("foo = 1", [f"foo is not known here; {TABLES}"]),
        (
            'busy = "queue"',
            ["busy stands in no table: write busy below [channel], or that of one channel"],
        ),
        ("[channels.ops]", [f"channels.ops is no channel: {DETAILS}"]),
        ("[channels.general]", [f"channels.general is no channel: {DETAILS}"]),
        ('[channels."#ops"]', [f"channels.#ops is no channel: {DETAILS}"]),
        ("[channels.c012]", ["channels.c012 is no channel; did you mean channels.C012?"]),
        (
            '[channels]\nbusy = "queue"',
            ["channels.busy is the setting of no channel: write it below [channel]"],
        ),
        ("[channel.C012]", ["channel.C012 is not known here; did you mean [channels.C012]?"]),
        ("channel = 1", ["channel should be a table: write [channel], and its settings below"]),
        ("channels = 1", [f"channels should be tables, one for each channel; {TABLES}"]),
        (
            '[channel]\npost_to = ["C1"]\n[channels.C2]\npost_to_public = ["general"]\n',
            [
                "channel.post_to would count in every channel: write it below [channels.C...]",
                "channels.C2.post_to_public is ['general']: should be ids of channels, as C0123456",
            ],
        ),
        (
            "[channels]\nC012 = 1",
            ["channels.C012 should be a table: write [channels.C012], and its settings below"],
        ),
    ],
)
def test_a_mistake_is_named_by_its_path_with_the_remedy(
    text: str, sentences: list[str], tmp_path: Path
) -> None:
    assert problems(tmp_path, text) == sentences


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[channel]\nbusy "queue"', "line 2, cannot be read"),
        ("[channel]\nbusy = queue", "line 2, cannot be read"),
        ("[channel]\n[channel]", "line 2, cannot be read"),
        ('[channel]\npeople = ["U1",', "at its end, cannot be read"),
    ],
)
def test_what_is_not_toml_is_named_by_its_line(text: str, line: str, tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, text)
    assert problem.startswith(line)


def test_a_token_is_not_repeated(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, '[channel]\nbusy = "xoxb-secret"')
    assert problem == "channel.busy: should be queue, collect or interrupt"


def test_a_file_that_is_not_there_or_no_text_is_named_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"SLACK_BOT_CONFIG names .*nowhere.toml, which does not exist; correct"
    ):
        read_config(str(tmp_path / "nowhere.toml"))
    (tmp_path / "image.toml").write_bytes(b"\xff\xfe")
    for name, told in (
        ("image.toml", "cannot be read as text; check its owner, mode and encoding"),
        (".", "is a directory; name a file in it"),
    ):
        with pytest.raises(SettingsError, match=rf"SLACK_BOT_CONFIG names .*, which {told}\Z"):
            read_config(str(tmp_path / name))


def test_without_a_file_there_are_no_tables(tmp_path: Path) -> None:
    assert read_config(None) == {"": {}}
    (tmp_path / "empty.toml").write_text("")
    assert read_config(str(tmp_path / "empty.toml")) == {"": {}}


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "configure.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    (tmp_path / "slack_bot.toml").write_text(example, encoding="utf-8")
    read = read_config(str(tmp_path / "slack_bot.toml"))
    assert list(read) == ["", "dm", "C0123456789", "C0987654321"]
    documented = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| `", text, re.MULTILINE)
    names = [name for each in documented for name in re.findall(r"\w+", each)]
    assert set(ChannelSettings.model_fields) <= set(names)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = " + "[" * 20_000, f"cannot be read: its values are nested too deep; {TABLES}"),
        ("a = " + "{b = " * 20_000, f"cannot be read: its values are nested too deep; {TABLES}"),
        ('{"channel": {"busy": "queue"}}', f"cannot be read: it looks like JSON, and must be TOML; {TABLES}"),
        ("x" * 1_000_001, "which is larger than 1,000,000 bytes; name a file of channels"),
    ],
)
def test_what_is_no_such_file_at_all_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (problem,) = problems(tmp_path, text)
    assert problem.endswith(sentence)


def test_a_device_without_an_end_is_no_file_of_channels() -> None:
    with pytest.raises(SettingsError, match="names /dev/zero, which is larger than"):
        read_config("/dev/zero")

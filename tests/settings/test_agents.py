"""Several agents in the file that SLACK_BOT_CONFIG names: what is read, and which mistakes are named how."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.agents import AgentTable, in_words_of
from slack_bot.settings.config_file import read_agents
from slack_bot.settings.load import load
from slack_bot.settings.secret_values import secrets_of

DEFAULT = "http://default.invalid/"
TWO = '[agents.research]\nurl = "http://r.invalid/"\n[agents.ops]\nurl = "http://o.invalid/"\n'


def table(folder: Path, text: str, **variables: str) -> AgentTable:
    (file := folder / "slack_bot.toml").write_text(text, encoding="utf-8")
    env = {"SLACK_BOT_CONFIG": str(file), **variables}
    return read_agents(load(env, env_file=None, secrets_dir=None))


def problems(folder: Path, text: str, **variables: str) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        table(folder, text, **variables)
    return [line.partition("slack_bot.toml: ")[2] for line in str(refused.value).splitlines()]


def test_without_a_file_there_is_the_agent_of_the_environment() -> None:
    found = read_agents(load({"A2A_AGENT_URL": DEFAULT}, env_file=None, secrets_dir=None))
    assert (found.default, found.are_listed, [*found.entries]) == ("default", False, ["default"])
    assert found.entries["default"].url == DEFAULT


def test_the_agent_of_the_environment_is_asked_if_nobody_is_named_else_the_first(tmp_path: Path) -> None:
    assert table(tmp_path, TWO, A2A_AGENT_URL=DEFAULT).default == "default"
    assert table(tmp_path, TWO).default == "research"
    assert table(tmp_path, f'{TWO}[routing]\ndefault = "ops"\n').default == "ops"


def test_times_are_inherited_and_logins_and_addresses_never_are(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        f"{TWO}idle_timeout = 70\n",
        A2A_AGENT_URL=DEFAULT,
        SLACK_BOT_AGENT__IDLE_TIMEOUT="90",
        SLACK_BOT_AGENT__POLL_INTERVALS="1,2",
        SLACK_BOT_AGENT__ERROR_TEXT="show",
        SLACK_BOT_AGENT__BEARER_TOKEN="secret-of-default",
        SLACK_BOT_AGENT__HEADER_NAME="x-key",
        SLACK_BOT_AGENT__HEADER_VALUE="secret-value-of-default",
        SLACK_BOT_AGENT__ALLOWED_HOSTS="a.invalid",
        SLACK_BOT_AGENT__SESSION_HEADER="x-session",
    )
    research, ops = found.entries["research"], found.entries["ops"]
    assert (research.idle_timeout, ops.idle_timeout) == (90.0, 70.0)
    assert (research.poll_intervals, research.error_text) == ((1.0, 2.0), "show")
    for each in (research, ops):
        own = each.bearer_token, each.header_name, each.header_value, each.allowed_hosts, each.session_header
        assert own == (None, None, None, (), None)


def test_a_secret_is_a_variable_of_its_agent_alone_and_is_masked(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text(TWO.replace("ops", "on-call"), encoding="utf-8")
    env = {
        "SLACK_BOT_CONFIG": str(file),
        "SLACK_BOT_AGENTS__RESEARCH__BEARER_TOKEN": "token-of-research",
        "SLACK_BOT_AGENTS__ON_CALL__CLIENT__API_KEY": "key-of-on-call",
    }
    settings = load(env, env_file=None, secrets_dir=None)
    entries = read_agents(settings).entries
    token, key = entries["research"].bearer_token, entries["on-call"].client.api_key
    assert token is not None and token.get_secret_value() == "token-of-research"
    assert key is not None and key.get_secret_value() == "key-of-on-call"
    assert entries["on-call"].bearer_token is None and entries["research"].client.api_key is None
    assert {"token-of-research", "key-of-on-call"} <= {*secrets_of(settings)}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("agents = 1", ["agents should be tables: write [agents.NAME] with url = ... below it"]),
        (
            "[agents]\nresearch = 1",
            ["agents.research should be a table: write [agents.research], and its settings below"],
        ),
        (
            "[agents.research]",
            ["agents.research.url is not set: give the agent's address, or that of its card"],
        ),
        (
            '[agents.research]\nurl = "x"',
            ["agents.research.url is 'x': should be an address that begins with http:// or https://"],
        ),
        (
            f'{TWO}bearer_token = "x"',
            [
                "agents.ops.bearer_token does not belong here: set SLACK_BOT_AGENTS__OPS__BEARER_TOKEN in the"
                " environment"
            ],
        ),
        (
            '[agents.ops]\nurl = "http://u:p@o.invalid/"',
            [
                "agents.ops.url does not belong here: set SLACK_BOT_AGENTS__OPS__URL in the environment",
                "agents.ops.url is not set: give the agent's address, or that of its card",
            ],
        ),
        (f"{TWO}prefxes = []", ["agents.ops.prefxes is not a setting of an agent; did you mean prefixes?"]),
        (
            f'{TWO}prefixes = ["research"]',
            ["agents.ops.prefixes: 'research' is research's too: a word chooses one agent"],
        ),
        (
            f'{TWO}prefixes = ["a b"]',
            ["agents.ops.prefixes: 'a b' cannot be one: write a word of its own"],
        ),
        (
            f"""{TWO}prefxes = []\nurll = "x"\n[channels.C1]\nagent = "ops"\n[routing]\ndefault = "ops"
            [agents.web]\nurll = "http://web.invalid/"\nprfixes = []\n[channel]\nagents = ["web", "opps"]""",
            [
                "agents.ops.prefxes is not a setting of an agent; did you mean prefixes?",
                "agents.ops.urll is not a setting of an agent; did you mean url?",
                "agents.web.urll is not a setting of an agent; did you mean url?",
                "agents.web.prfixes is not a setting of an agent; did you mean prefixes?",
                "channel.agents is 'opps', which is no agent; did you mean ops?",
            ],
        ),
        (
            """[agents.ops]\nurl = "x"\n[routing]\ndefault = "ops"\n[channels.C1]\nagent = "opps"
            [channels.C2]\nagent = "ops"\n""",
            [
                "agents.ops.url is 'x': should be an address that begins with http:// or https://",
                "channels.C1.agent is 'opps', which is no agent; did you mean ops?",
            ],
        ),
        (f'{TWO}[routing]\ndefault = "x"', ["routing.default is 'x': should be one of research, ops"]),
        (f"{TWO}[routing]\nfoo = 1", ["routing.foo is not a setting; they are default, choose"]),
        (
            f'{TWO}[channel]\nagent = "reserch"',
            ["channel.agent is 'reserch', which is no agent; did you mean research?"],
        ),
        (
            f'{TWO}[channels.C1]\nagents = ["x"]',
            ["channels.C1.agents is 'x', which is no agent; the agents are research, ops"],
        ),
        (
            f"{TWO}idle_timeout = -1",
            ["agents.ops.idle_timeout is -1: should be a finite number of seconds, greater than 0"],
        ),
    ],
)
def test_a_mistake_is_named_with_the_remedy(text: str, lines: list[str], tmp_path: Path) -> None:
    assert problems(tmp_path, text) == lines


@pytest.mark.parametrize("name", ["use", "default", "Research", "a b", "1st"])
def test_a_name_is_one_small_word_that_means_nothing_else(name: str, tmp_path: Path) -> None:
    (line,) = problems(tmp_path, f'[agents."{name}"]\nurl = "http://r.invalid/"')
    assert line.startswith(f"agents.{name}: a name has small letters, digits, _ and -, and is not one of")


def test_a_variable_of_no_agent_is_named(tmp_path: Path) -> None:
    variables = {"SLACK_BOT_AGENTS__SALES__BEARER_TOKEN": "x", "SLACK_BOT_AGENTS__OPS__BEARER_TOKN": "x"}
    assert problems(tmp_path, TWO, **variables) == [
        "SLACK_BOT_AGENTS__SALES__BEARER_TOKEN is not a setting; did you mean"
        " SLACK_BOT_AGENTS__OPS__BEARER_TOKEN?",
        "SLACK_BOT_AGENTS__OPS__BEARER_TOKN is not a setting; did you mean"
        " SLACK_BOT_AGENTS__OPS__BEARER_TOKEN?",
    ]


def test_two_agents_of_one_name_are_refused_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"line 5, cannot be read: Cannot declare .*ops"):
        table(tmp_path, f'{TWO}[agents.ops]\nurl = "http://x.invalid/"\n')


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            'name = "two\\nlines"',
            "agents.ops.name is 'two\\nlines': should be one line of at most 80 characters",
        ),
        ('name = ""', "agents.ops.name is '': should be one line of at most 80 characters"),
        ('icon = "mag"', "agents.ops.icon is 'mag': should be an emoji by its name, such as :mag:"),
        (
            'icon_url = "http://x.example/i.png"',
            "agents.ops.icon_url is 'http://x.example/i.png': should be the https address of a picture",
        ),
        (
            '[routing]\nchoose = "model"',
            "routing.choose is 'model': should be off or skills",
        ),
    ],
)
def test_a_name_or_picture_that_slack_would_not_take_is_named(text: str, line: str, tmp_path: Path) -> None:
    assert problems(tmp_path, f"{TWO}{text}\n") == [line]


@pytest.mark.parametrize(
    ("name", "sentence", "words"),
    [
        (
            "default",
            "set SLACK_BOT_AGENT__BINDING or A2A_AGENT_URL",
            "set SLACK_BOT_AGENT__BINDING or A2A_AGENT_URL",
        ),
        ("ops", "set SLACK_BOT_AGENT__CLIENT__ID", "set SLACK_BOT_AGENTS__OPS__CLIENT__ID"),
        ("my-ops", "A2A_AGENT_URL is wrong", "agents.my-ops.url is wrong"),
        ("my-ops", "set SLACK_BOT_AGENT__BEARER_TOKEN", "set SLACK_BOT_AGENTS__MY_OPS__BEARER_TOKEN"),
        ("ops", "set SLACK_BOT_STORE__URL", "set SLACK_BOT_STORE__URL"),
    ],
)
def test_a_remedy_names_the_settings_of_its_agent(name: str, sentence: str, words: str) -> None:
    found = in_words_of(name, sentence)
    assert found == words == in_words_of(name, found), "once more changes nothing"

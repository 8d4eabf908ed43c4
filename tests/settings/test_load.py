"""Sources and their weight, one line a problem, no secret in any of them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pydantic import ValidationError

from slack_bot.errors import SettingsError
from slack_bot.settings.load import ALIASES, Settings, fields_of, load, read_env_file, sections
from slack_bot.settings.models import AgentSettings, StreamSettings
from slack_bot.settings.names import env_name
from slack_bot.settings.secret_values import secrets_of
from tests.closed_folder import closed_folder

READY = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "A2A_AGENT_URL": "http://agent"}


def read(env: dict[str, str] | None = None, **sources: Path | None) -> Settings:
    return load(env or {}, **{"env_file": None, "secrets_dir": None, **sources})


def problems(env: dict[str, str], **sources: Path | None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read(env, **sources)
    return str(caught.value).splitlines()


# -- sources


def test_nothing_given_means_the_defaults() -> None:
    assert read() == Settings()
    assert Settings().stream == StreamSettings()


def test_the_environment_weighs_more_than_the_file_and_that_more_than_secrets(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in ("SLACK_BOT_TOKEN", "slack_app_token", "SLACK_BOT_AGENT__BEARER_TOKEN"):
        (secrets / name).write_text("from-secrets\n")
    dotenv = tmp_path / ".env"
    dotenv.write_text("# mine\nSLACK_BOT_TOKEN='from-file'\nexport SLACK_APP_TOKEN=from-file\n")

    settings = read({"SLACK_BOT_TOKEN": "from-env"}, env_file=dotenv, secrets_dir=secrets)
    assert [
        value.get_secret_value() for value in (settings.slack.bot_token, settings.slack.app_token) if value
    ] == [
        "from-env",
        "from-file",
    ]
    assert secrets_of(settings) == ("from-env", "from-file", "from-secrets")


def test_the_process_s_environment_is_read_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_STREAM__ROTATE_AFTER", "100")
    assert load(env_file=None, secrets_dir=None).stream.rotate_after == 100.0


def test_settings_made_by_hand_read_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_STREAM__ROTATE_AFTER", "100")
    assert Settings().stream.rotate_after == 240.0


def test_files_that_are_not_there_are_no_problem(tmp_path: Path) -> None:
    assert read(env_file=tmp_path / "none", secrets_dir=tmp_path / "none") == Settings()


def test_a_secrets_directory_may_hold_other_things(tmp_path: Path) -> None:
    (tmp_path / "kubernetes.io").mkdir()
    (tmp_path / "SLACK_BOT_TOKEN").mkdir()
    (tmp_path / "other").write_bytes(b"\xff")
    assert read(secrets_dir=tmp_path) == Settings()


def test_files_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "SLACK_BOT_TOKEN").write_bytes(b"\xff\xfe")
    (tmp_path / "env").write_bytes(b"\xff\xfe=1")
    with pytest.raises(SettingsError, match="cannot be read as text"):
        read(secrets_dir=tmp_path)
    with pytest.raises(SettingsError, match="cannot be read as text"):
        read(env_file=tmp_path / "env")


def test_a_directory_that_is_closed_to_this_user_is_named() -> None:
    """Python 3.14's own `is_file` says that nothing is there."""
    with closed_folder() as closed:
        with pytest.raises(SettingsError, match=r"/\.env cannot be looked for \(Permission denied\): start"):
            read(env_file=closed / ".env")
        with pytest.raises(SettingsError, match=r"/secrets cannot be read \(Permission denied\); check"):
            read(secrets_dir=closed / "secrets")


def test_secrets_in_a_directory_that_may_only_be_listed_are_named() -> None:
    refused = pytest.raises(SettingsError, match=r"/SLACK_BOT_TOKEN cannot be read \(Permission denied\)")
    with closed_folder(mode=0o444, file="SLACK_BOT_TOKEN") as secrets, refused:
        read(secrets_dir=secrets)


@pytest.mark.parametrize(("usual", "path"), [each for each in ALIASES.items() if each[1][1] != "bot_tokens"])
def test_usual_names_are_read_and_our_own_spelling_weighs_more(usual: str, path: tuple[str, str]) -> None:
    def value(env: dict[str, str]) -> str:
        found = getattr(getattr(read(env), path[0]), path[1])
        return found if isinstance(found, str) else found.get_secret_value()

    assert value({usual: "http://usual/"}) == "http://usual/"
    assert value({env_name(path): "http://own/", usual: "http://usual/"}) == "http://own/"


def test_names_are_read_in_any_case_and_empty_values_count_as_not_set() -> None:
    env = {
        "slack_bot_stream__rotate_after": " 60 ",
        "SLACK_BOT_STREAM__ROTATE_BYTES": " ",
        "A2A_AGENT_URL": "",
    }
    assert read(env).stream.rotate_after == 60.0
    assert read(env).stream.rotate_bytes == StreamSettings().rotate_bytes
    assert read(env).agent.url is None


@pytest.mark.parametrize(
    "text", ["a.example,b.example:8080", '["a.example", "b.example:8080"]', "a.example , b.example:8080,"]
)
def test_a_list_is_written_as_json_or_with_commas(text: str) -> None:
    assert read({"SLACK_BOT_AGENT__ALLOWED_HOSTS": text}).agent.allowed_hosts == (
        "a.example",
        "b.example:8080",
    )


def test_other_programs_names_are_left_alone() -> None:
    assert read({"SLACK_TOKEN": "1", "SLACK_CLIENT_ID": "1", "A2A_OTHER": "1"}) == Settings()


def test_what_kubernetes_adds_for_a_service_named_slack_bot_is_no_typo() -> None:
    added = {
        "SLACK_BOT_SERVICE_HOST": "10.0.0.1",
        "SLACK_BOT_SERVICE_PORT_HTTP": "80",
        "SLACK_BOT_PORT": "tcp://10.0.0.1:80",
        "SLACK_BOT_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    assert read(added) == Settings()


# -- problems


def test_a_misspelt_name_is_reported_with_the_nearest(tmp_path: Path) -> None:
    line = (
        "SLACK_BOT_STREAM__FLUSH_INTERVALL is not a setting; did you mean SLACK_BOT_STREAM__FLUSH_INTERVAL?"
    )
    assert problems({"SLACK_BOT_STREAM__FLUSH_INTERVALL": "1"}) == [line]
    assert problems({"SLACK_BOT_STREAM_FLUSH_INTERVAL": "1"})[0].endswith(
        "did you mean SLACK_BOT_STREAM__FLUSH_INTERVAL?"
    )
    (tmp_path / ".env").write_text("SLACK_BOT_STREAM__FLUSH_INTERVALL=1")
    assert problems({}, env_file=tmp_path / ".env") == [line]


def test_a_name_like_no_other_is_reported_without_a_guess() -> None:
    assert problems({"SLACK_BOT_QQQQQQQQQQQQQQQQ": "1"}) == ["SLACK_BOT_QQQQQQQQQQQQQQQQ is not a setting"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("AGENT__NOSUCH", ""),
        ("AGENT__URLL", "; did you mean SLACK_BOT_AGENT__URL?"),
        ("STORE__URI", "; did you mean SLACK_BOT_STORE__URL?"),
        ("AGENT_URL", "; did you mean A2A_AGENT_URL?"),
        ("AGNT__TURN_TIMOUT", "; did you mean SLACK_BOT_AGENT__TURN_TIMEOUT?"),
        ("AGENT__ROTATE_AFTER", "; did you mean SLACK_BOT_STREAM__ROTATE_AFTER?"),
        ("NOSUCH__TURN_TIMEOUT", "; did you mean SLACK_BOT_AGENT__TURN_TIMEOUT?"),
        (
            "NOSUCH__X",
            "; the sections are SLACK, AGENT, IDENTITY, SIGN_IN, CONTEXT, STREAM, GOVERNOR, CHANNEL, TURNS,"
            " STORE, PUSH, API, HEALTH, FILES, WEB, FEEDBACK, USAGE, LOG, TRACES, AUDIT, REFERENCE",
        ),
        ("AGENT", ": it is a section; write SLACK_BOT_AGENT__URL or another setting of it"),
        ("AGENT__", ": it is a section; write SLACK_BOT_AGENT__URL or another setting of it"),
        ("FOO", ""),
        ("TOKN", "; did you mean SLACK_BOT_TOKEN?"),
        ("STREAM_FLUSH_INTERVAL", "; did you mean SLACK_BOT_STREAM__FLUSH_INTERVAL?"),
        ("ROTATE_AFTER", "; did you mean SLACK_BOT_STREAM__ROTATE_AFTER?"),
    ],
)
def test_the_remedy_for_a_name_that_is_no_setting(name: str, words: str) -> None:
    assert problems({f"SLACK_BOT_{name}": "1"}) == [f"SLACK_BOT_{name} is not a setting{words}"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("A2A_AGENT_UR", "A2A_AGENT_URL"),
        ("SLACK_APP_TOKE", "SLACK_APP_TOKEN"),
        ("SLACK_SIGNING_SECRETS", "SLACK_SIGNING_SECRET"),
        ("SLACK_API_TOKEN", None),
        ("SLACK_APP_ID", None),
        ("A2A_AGENT_NAME", None),
        ("SLACK_TOKEN", None),
        ("PATH", None),
    ],
)
def test_a_misspelt_usual_name_is_known_and_other_programs_names_are_not_ours(
    name: str, meant: str | None
) -> None:
    if meant is None:
        assert read({name: "1"}) == Settings()
    else:
        assert problems({name: "1"}) == [f"{name} is not a setting; did you mean {meant}?"]


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        (
            "SLACK_BOT_STREAM__FLUSH_INTERVAL",
            "-1",
            " is '-1': should be a finite number of seconds, greater than 0",
        ),
        ("SLACK_BOT_AGENT__PROTOCOL_VERSION", "2", " is '2': should be auto, 0.3 or 1.0"),
        ("A2A_AGENT_URL", "a:80", " is 'a:80': should be an address that begins with http:// or https://"),
        ("SLACK_BOT_AGENT__URL", "ftp://x", " is 'ftp://x': should be an address that begins with"),
        ("SLACK_BOT_AGENT__EXTENSIONS", "[", ' is not a list: write a,b or ["a","b"]'),
        ("SLACK_BOT_PUSH__JWKS", "keys.json", " and SLACK_BOT_PUSH__JWT_ISSUER belong together"),
        (
            "SLACK_BOT_PUSH__JWKS",
            "http://a/b",
            " is 'http://a/b': should be a file, or an address that begins",
        ),
        ("SLACK_BOT_AGENT__HEADER_NAME", "X-Key", " and SLACK_BOT_AGENT__HEADER_VALUE belong together"),
        (
            "SLACK_BOT_SLACK__BACKFILL_HOURS",
            "25",
            " (25) must not be larger than SLACK_BOT_STORE__DEDUPE_HOURS",
        ),
        (
            "SLACK_BOT_STREAM__ROTATE_AFTER",
            "400",
            " + SLACK_BOT_STREAM__ROTATE_GRACE (420 s) must be smaller than 300 s",
        ),
        ("SLACK_BOT_AGENT__TURN_TIMEOUT", "100", " (100 s) must be larger than"),
        ("SLACK_BOT_AGENT__CONNECT_TIMEOUT", "120", " (120 s) must be smaller than"),
        (
            "SLACK_BOT_TURNS__TURN_DEADLINE",
            "1860",
            " (1860 s) must be larger than SLACK_BOT_AGENT__TURN_TIMEOUT + SLACK_BOT_STREAM__RETRY_TIMEOUT",
        ),
        (
            "SLACK_BOT_AGENT__POLL_INTERVALS",
            "1,0",
            " is '1,0': should be one or more numbers of seconds, greater",
        ),
        (
            "SLACK_BOT_AGENT__POLL_INTERVALS",
            "a,b",
            " is 'a,b': should be one or more numbers of seconds, greater",
        ),
        (
            "SLACK_BOT_AGENT__POLL_INTERVALS",
            ",",
            " is ',': should be one or more numbers of seconds, greater",
        ),
        ("SLACK_BOT_AGENT__USE_CONFIGURED_URL", "maybe", " is 'maybe': should be true or false"),
        ("SLACK_BOT_AGENT__CONNECT_RETRIES", "many", " is 'many': should be a whole number, at least 0"),
        (
            "SLACK_BOT_SLACK__ALLOWED_BOTS",
            "B0123ABC,foo",
            " is 'B0123ABC,foo': should be ids of bots (U..., B..., A...) or channels (C...), with commas",
        ),
        ("SLACK_BOT_AGENT__TURN_TIMEOUT", "inf", " is 'inf': should be a finite number of seconds"),
        ("SLACK_BOT_AGENT__TURN_TIMEOUT", "nan", " is 'nan': should be a finite number of seconds"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_variable(name: str, value: str, line: str) -> None:
    (problem,) = problems({name: value})
    assert problem.startswith(name + line)


def test_each_budget_that_does_not_nest_is_a_line_of_its_own() -> None:
    """connect < idle < stream and continuation < turn < deadline"""
    env = {
        "SLACK_BOT_AGENT__CONNECT_TIMEOUT": "300",
        "SLACK_BOT_AGENT__IDLE_TIMEOUT": "200",
        "SLACK_BOT_AGENT__TURN_TIMEOUT": "250",
        "SLACK_BOT_TURNS__TURN_DEADLINE": "240",
    }
    lines = problems(env)
    assert [line.split(" ")[0] for line in lines] == [
        "SLACK_BOT_AGENT__CONNECT_TIMEOUT",
        "SLACK_BOT_AGENT__TURN_TIMEOUT",
        "SLACK_BOT_TURNS__TURN_DEADLINE",
    ]
    assert all("must be" in line for line in lines)


def test_every_problem_is_reported_at_once() -> None:
    env = {
        "SLACK_BOT_AGENT__PROTOCOL_VERSION": "2",
        "SLACK_BOT_AGENT__URLL": "x",
        "SLACK_BOT_STREAM__FLUSH_INTERVAL": "soon",
        "SLACK_BOT_AGENT__ALLOWED_HOSTS": "[",
    }
    assert len(problems(env)) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("A2A_AGENT_URL", "user:hunter2@agent"),
        ("SLACK_BOT_AGENT__PROTOCOL_VERSION", "xoxb-hunter2"),
        ("SLACK_BOT_AGENT__DIALECT", "xapp-hunter2"),
        ("SLACK_BOT_AGENT__HEADER_VALUE", "hunter2"),
    ],
)
def test_no_problem_shows_a_secret(name: str, value: str) -> None:
    assert "hunter2" not in "".join(problems({name: value}))
    assert "hunter2" not in repr(read(READY | {"SLACK_BOT_AGENT__BEARER_TOKEN": "hunter2"}))


# -- the run


def read_for_run(env: dict[str, str], *, http: bool, env_file: Path | None = None) -> Settings:
    return load(env, env_file, None, http=http)


def test_what_a_run_needs() -> None:
    assert read_for_run(READY, http=False) == read(READY)
    read_for_run({**READY, "SLACK_SIGNING_SECRET": "s", "SLACK_APP_TOKEN": ""}, http=True)


def missing(env: dict[str, str], *, http: bool, env_file: Path | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read_for_run(env, http=http, env_file=env_file)
    return str(caught.value).splitlines()


def test_what_is_wrong_and_what_is_missing_is_reported_together() -> None:
    env = {
        "SLACK_BOT_AGENT__PROTOCOL_VERSION": "2",
        "SLACK_BOT_AGENT__URLL": "x",
        "SLACK_BOT_AGENT__EXTENSIONS": "[",
        "SLACK_BOT_AGENT__HEADER_NAME": "X-Key",
        "A2A_AGENT_URL": "agent",
    }
    assert [line.split(" ")[0] for line in missing(env, http=False)] == [
        "SLACK_BOT_AGENT__URLL",
        "A2A_AGENT_URL",
        "SLACK_BOT_AGENT__PROTOCOL_VERSION",
        "SLACK_BOT_AGENT__EXTENSIONS",
        "SLACK_BOT_AGENT__HEADER_NAME",
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
    ]


def test_a_contradiction_beside_a_broken_list_is_reported_once() -> None:
    env = {"SLACK_BOT_AGENT__EXTENSIONS": "[", "SLACK_BOT_AGENT__HEADER_NAME": "X-Key"}
    assert [line.split(" ")[0] for line in problems(env)] == [*env]


def test_a_contradiction_with_a_refused_setting_is_not_reported() -> None:
    """Its default, which would be in its place, is not what was wanted."""
    env = {"SLACK_BOT_AGENT__TURN_TIMEOUT": "a minute", "SLACK_BOT_TURNS__TURN_DEADLINE": "300"}
    assert [line.split(" ")[0] for line in problems(env)] == ["SLACK_BOT_AGENT__TURN_TIMEOUT"]


def test_nothing_is_called_missing_that_may_stand_in_an_unreadable_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SLACK_BOT_TOKEN='xoxb-hunter2\n")
    (line,) = missing({}, http=False, env_file=tmp_path / ".env")
    assert "line 1 cannot be read" in line


def test_each_thing_missing_is_one_line_with_its_remedy() -> None:
    assert [line.split(" is not set")[0] for line in missing({}, http=False)] == [
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "A2A_AGENT_URL",
    ]
    assert [line.split(" is not set")[0] for line in missing(READY, http=True)] == ["SLACK_SIGNING_SECRET"]


def test_tokens_in_each_other_s_place_are_noticed_and_not_shown() -> None:
    swapped = {**READY, "SLACK_BOT_TOKEN": "xapp-hunter2", "SLACK_APP_TOKEN": "xoxb-hunter2"}
    lines = missing(swapped, http=False)
    assert ["must begin with xoxb-" in lines[0], "must begin with xapp-" in lines[1]] == [True, True]
    assert all("swap the two" in line for line in lines)
    assert "hunter2" not in "".join(lines)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_token_in_quotes_is_reported_in_one_sentence_and_not_shown(quote: str) -> None:
    """`docker --env-file` and a Kubernetes secret keep the quotes."""
    quoted = {name: f"{quote}{READY[name]}-hunter2{quote}" for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")}
    remedy = "has quotes around it: write it without them (docker --env-file takes them as part of the value)"
    assert missing({**READY, **quoted}, http=False) == [
        f"SLACK_BOT_TOKEN {remedy}",
        f"SLACK_APP_TOKEN {remedy}",
    ]
    signed = {**READY, "SLACK_SIGNING_SECRET": f"{quote}hunter2{quote}"}
    assert missing(signed, http=True) == [f"SLACK_SIGNING_SECRET {remedy}"]
    assert load({**signed, "SLACK_SIGNING_SECRET": quote}, None, None, http=True).slack.signing_secret


def test_any_other_value_in_quotes_is_reported() -> None:
    quoted = {"SLACK_BOT_AGENT__BEARER_TOKEN": '"hunter2"', "A2A_AGENT_URL": "'http://agent.example/'"}
    remedy = "has quotes around it: write it without them (docker --env-file takes them as part of the value)"
    assert sorted(missing({**READY, **quoted}, http=False)) == [
        f"A2A_AGENT_URL {remedy}",
        f"SLACK_BOT_AGENT__BEARER_TOKEN {remedy}",
    ]


def test_the_tree_is_frozen_and_closed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().stream.rotate_after = 1.0  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        AgentSettings.model_validate({"urll": "x"})


def test_every_setting_says_what_it_is() -> None:
    for _, model in sections():
        assert all(field.description for field in fields_of(model).values()), model


# -- the .env file ----------------------------------------------------------------------------------------


def test_values_with_quotes_comments_and_export(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# mine\nexport A='one'\n\nB=\"two\" # note\nC=\nD\n")
    assert read_env_file(file) == ({"A": "one", "B": "two", "C": "", "D": None}, [])


def test_no_file_is_an_empty_one(tmp_path: Path) -> None:
    assert read_env_file(tmp_path / ".env") == ({}, [])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("= hunter2\n", [1]),
        ("A=1\n\n\n'hunter2\nB=2\n", [4]),
        ("A='hunter2\n", [1]),
        ("A=1\n: hunter2 =\nB=2\n=3\n", [2, 4]),
    ],
)
def test_each_line_that_cannot_be_read_is_named_once_by_us_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, lines: list[int]
) -> None:
    file = tmp_path / ".env"
    file.write_text(text)
    with caplog.at_level(logging.DEBUG):
        values, problems = read_env_file(file)
    assert problems == [
        f"{file}, line {line} cannot be read: write NAME=value, and close every quote" for line in lines
    ]
    assert (values, caplog.records) == ({}, [])


def test_a_directory_is_an_error_unless_it_is_a_virtual_environment(tmp_path: Path) -> None:
    """Docker makes a directory of a file to be mounted that is not there."""
    with pytest.raises(SettingsError, match="is a directory, not a file: remove it"):
        read_env_file(tmp_path)
    (tmp_path / "pyvenv.cfg").touch()
    assert read_env_file(tmp_path) == ({}, [])


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    with pytest.raises(SettingsError, match="cannot be read as text"):
        read_env_file(tmp_path / ".env")


def test_a_redis_without_its_library_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slack_bot.installing.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"SLACK_BOT_STORE__URL is .* pip install .*deploy/run[.]txt"):
        load({"SLACK_BOT_STORE__URL": "redis://localhost/0"}, None, None)
    assert load({"SLACK_BOT_STORE__URL": "sqlite:///x"}, None, None).store.url == "sqlite:///x"


# -- the login to the agent

CLIENT = "SLACK_BOT_AGENT__CLIENT__"
FETCHED = {f"{CLIENT}ID": "bot", f"{CLIENT}SECRET": "s", f"{CLIENT}TOKEN_URL": "https://t.example/token"}


def test_a_section_within_a_section(tmp_path: Path) -> None:
    (tmp_path / f"{CLIENT}SECRET").write_text("from-a-file\n")
    settings = read({f"{CLIENT}SCOPE": "ask", **FETCHED, f"{CLIENT}SECRET": ""}, secrets_dir=tmp_path)
    client = settings.agent.client
    assert (client.id, client.scope, client.fetches_tokens) == ("bot", "ask", True)
    assert secrets_of(settings) == ("from-a-file",)
    keyed = read({f"{CLIENT}API_KEY": "a key"})
    assert secrets_of(keyed) == ("a key", "a+key")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"{CLIENT}SCOPES", f"; did you mean {CLIENT}SCOPE?"),
        ("SLACK_BOT_AGENT__CLIENT", f": it is a section; write {CLIENT}ID or another setting of it"),
        ("SLACK_BOT_CLIENT__TOKEN_URL", f"; did you mean {CLIENT}TOKEN_URL?"),
    ],
)
def test_a_name_that_is_nearly_one_of_it(name: str, said: str) -> None:
    assert problems({name: "x"}) == [f"{name} is not a setting{said}"]


def test_signatures_are_checked_by_a_library_that_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    env = {"SLACK_BOT_AGENT__CARD_KEYS": "keys.json"}
    assert read(env).agent.card_keys == "keys.json"
    monkeypatch.setattr("slack_bot.installing.find_spec", lambda name: None)
    assert problems(env) == [
        "SLACK_BOT_AGENT__CARD_KEYS is set, and joserfc, which checks signatures, is not here: pip install"
        " --require-hashes -r deploy/run.txt"
    ]

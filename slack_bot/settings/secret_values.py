"""Every secret in the settings, so that it can be masked wherever it comes back."""

import base64
from urllib.parse import quote_plus, unquote, unquote_plus, urlsplit

from pydantic import SecretStr

from .load import BOT_TOKENS, FIELDS, Settings, sections_in, value_of
from .models import AgentSettings
from .section import SettingsSection, is_secret
from .teams import tokens_in

_MIN_SECRET = 8  # characters: a shorter part of a setting may be a word of an answer


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """All secret values of the settings, so that they can be masked.

    A header's value may be a scheme and a key, and the addresses of the agent, the store and others may hold
    a password: each such part counts as a secret too, unless it is short. An API key may also appear in an
    address in its encoded form.
    """
    values = (value_of(settings, path) for path in FIELDS if path != BOT_TOKENS)
    secrets = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    secrets += tokens_in(settings.slack.bot_tokens)
    secrets += [
        value.get_secret_value() for name, value in settings.agent_variables.items() if _has_secret(name)
    ]
    secrets += [value.get_secret_value() for value in settings.hook_variables.values()]
    if (api_key := settings.agent.client.api_key) is not None:
        secrets.append(quote_plus(api_key.get_secret_value()))
    header = settings.agent.header_value
    key = "" if header is None else header.get_secret_value().rpartition(" ")[2]
    of_agents = [
        each.get_secret_value() for name, each in settings.agent_variables.items() if name.endswith("URL")
    ]
    urls = (
        *of_agents,
        settings.agent.url,
        settings.store.url,
        settings.feedback.webhook_url,
        settings.traces.endpoint,
    )
    logins = [part for url in urls if url for part in _logins_of(url)]
    parts = (part for part in (key, *logins) if len(part) >= _MIN_SECRET)
    return tuple(dict.fromkeys([*secrets, *parts]))


def _has_secret(variable: str) -> bool:
    """Whether a variable of one of several agents holds a secret."""
    models_of_agent: list[type[SettingsSection]] = [AgentSettings]
    models_of_agent += sections_in(AgentSettings).values()
    leaf = variable.rpartition("__")[2].lower()
    kinds = (model.model_fields[leaf].annotation for model in models_of_agent if leaf in model.model_fields)
    return any(map(is_secret, kinds))


def _logins_of(url: str) -> tuple[str, ...]:
    """The password in an address: as written, decoded, and encoded together with the name, as it is sent; and
    those behind its `?`, as that of Sentinels.
    """
    try:
        parts = urlsplit(url)
        user, password = parts.username or "", parts.password or ""
        options = [each.partition("=") for each in parts.query.split("&")]
    except ValueError:
        return ()
    written = [value for name, _, value in options if name.endswith("password") and value]
    others = tuple(dict.fromkeys([*written, *map(unquote_plus, written)]))
    pair = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return (password, unquote(password), pair, *others) if password else others

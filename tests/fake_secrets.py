"""Secrets that are none, of every kind that the bot knows.

They are put together when the tests run: what scans repositories finds none here.
"""

from __future__ import annotations

import random
import string
from typing import NamedTuple

_DRAW = random.Random(29)
_LOWER, _UPPER, _ALNUM = (
    string.ascii_lowercase + string.digits,
    string.ascii_uppercase + string.digits,
    string.ascii_letters + string.digits,
)
_HEX, _BASE64 = "0123456789abcdef", string.ascii_letters + string.digits + "+/"


def _some(chars: str, size: int) -> str:
    """Some of `chars`, a digit among the first."""
    return "a7" + "".join(_DRAW.choices(chars, k=size - 2)) if "a" in chars else _some(_LOWER, size).upper()


class FakeSecret(NamedTuple):
    """A text, and the part of it that nobody may see."""

    kind: str
    text: str
    secret: str


def _token(kind: str, begins: str, chars: str = _ALNUM, size: int = 40, ends: str = "") -> FakeSecret:
    body = _some(chars, size)
    return FakeSecret(kind, f"{begins}{body}{ends}", body)


def _behind(kind: str, before: str, secret: str, after: str = "") -> FakeSecret:
    return FakeSecret(kind, f"{before}{secret}{after}", secret)


_KEY_LINES = [_some(_BASE64, 64) for _ in range(3)]


def _pem(kind: str, name: str, mark: str = "-----") -> FakeSecret:
    line = _some(_BASE64, 60)
    return FakeSecret(kind, f"{mark}BEGIN {name}{mark}\n{line}\n{line[::-1]}\n{mark}END {name}{mark}", line)


_PRIVATE = "PRIVATE" + " KEY"
_WORDS = "-".join(("Tr0ub4dor", "and", "3"))
_SLACK = "hooks." + "slack.com/services/"

FAKES: tuple[FakeSecret, ...] = (
    _token("OpenAI classic", "sk" + "-", size=48),
    _token("OpenAI project", "sk-" + "proj-", size=60),
    _token("OpenAI service", "sk-" + "svcacct-", size=60),
    _token("Anthropic", "sk-" + "ant-api03-", size=90),
    _token("OpenRouter", "sk-" + "or-v1-", _HEX, 64),
    _token("Hugging Face", "hf" + "_", size=34),
    _token("Groq", "gsk" + "_", size=52),
    _token("Perplexity", "pplx" + "-", size=48),
    _token("Slack bot", "xox" + "b-", _HEX, 40),
    _token("Slack user", "xox" + "p-", _HEX, 60),
    _token("Slack app", "xa" + "pp-1-A0123-", _HEX, 60),
    _token("Slack refresh", "xox" + "e-1-", size=60),
    _token("Slack webhook", f"https://{_SLACK}T0000/B0000/", size=24),
    _token("AWS access key", "AK" + "IA", _UPPER, 16),
    _token("AWS session key", "AS" + "IA", _UPPER, 16),
    _behind("AWS secret key", "aws_secret_access_key = ", _some(_BASE64, 40)),
    _behind("AWS secret key in JSON", '{"Secret' + 'AccessKey": "', _some(_BASE64, 40), '"}'),
    _token("Google key", "AI" + "za", size=35),
    _token("Google OAuth", "ya" + "29.", size=60),
    _token("Google client secret", "GOC" + "SPX-", size=28),
    _pem("Google service account", _PRIVATE),
    _behind("Azure storage", "DefaultEndpoints=https;AccountKey=", _some(_BASE64, 86), "==;Endpoint=x"),
    _behind("Azure bus", "Endpoint=sb://x/;SharedAccess" + "Key=", _some(_BASE64, 43), "="),
    _behind("Azure signature", "https://x.blob.windows.net/c?sv=2024&sig=", _some(_ALNUM, 43), "%3D&se=1"),
    _behind("Azure client secret", "abc8", "Q~" + _some(_ALNUM, 34)),
    _token("DigitalOcean", "dop" + "_v1_", _HEX, 64),
    _token("Databricks", "da" + "pi", _HEX, 32),
    _token("Vault", "hv" + "s.", size=95),
    _behind("Terraform", _some(_ALNUM, 14), ".atla" + "sv1." + _some(_ALNUM, 67)),
    _token("GitHub", "gh" + "p_", size=36),
    _token("GitHub OAuth", "gh" + "o_", size=36),
    _token("GitHub server", "gh" + "s_", size=36),
    _token("GitHub refresh", "gh" + "r_", size=36),
    _token("GitHub fine-grained", "github" + "_pat_", size=82),
    _token("GitLab", "gl" + "pat-", size=20),
    _token("GitLab runner", "gl" + "rt-", size=20),
    _token("GitLab trigger", "gl" + "ptt-", _HEX, 40),
    _token("npm", "np" + "m_", size=36),
    _token("PyPI", "py" + "pi-AgEIcHlwaS5vcmc", size=70),
    _token("RubyGems", "rubygems" + "_", _HEX, 48),
    _token("Docker", "dckr" + "_pat_", size=27),
    _token("Stripe live", "sk" + "_live_", size=24),
    _token("Stripe test", "sk" + "_test_", size=24),
    _token("Stripe restricted", "rk" + "_live_", size=24),
    _token("Stripe webhook", "wh" + "sec_", size=32),
    _behind("SendGrid", "S" + "G.", f"{_some(_ALNUM, 22)}.{_some(_ALNUM, 43)}"),
    _token("Twilio", "S" + "K", _HEX, 32),
    _token("Mailgun", "key" + "-", _HEX, 32),
    _behind("Mailchimp", _some(_HEX, 8), _some(_HEX, 24), "-us" + "12"),
    _token("Square", "sq0" + "atp-", size=22),
    _token("Shopify", "shp" + "at_", _HEX, 32),
    _token("New Relic", "NR" + "AK-", _UPPER, 27),
    _behind("Datadog", "DATADOG_API_KEY=", _some(_HEX, 32)),
    _token("Sentry", "sntr" + "yu_", _HEX, 64),
    _token("Grafana", "gl" + "sa_", size=32, ends="_0a1b2c3d"),
    _token("Linear", "lin" + "_api_", size=40),
    _token("Notion", "nt" + "n_", size=46),
    _behind("Postman", "PM" + "AK-", f"{_some(_HEX, 24)}-{_some(_HEX, 34)}"),
    _token("Atlassian", "AT" + "ATT3", size=120),
    _behind("Cloudflare", "CLOUDFLARE_API_TOKEN=", _some(_ALNUM, 40)),
    _token("Heroku", "HR" + "KU-", size=60),
    _behind("Telegram", "123456789:", f"AA{_some(_ALNUM, 33)}"),
    _behind("Discord", "M" + _some(_ALNUM, 23), f".{_some(_ALNUM, 6)}.{_some(_ALNUM, 27)}"),
    _token("Discord webhook", "https://discord.com/api/" + "webhooks/123456789012345678/", size=60),
    _token("Airtable", "pa" + "t0123456789abcd.", _HEX, 64),
    _token("Figma", "fi" + "gd_", size=40),
    _token("Supabase", "sb" + "p_", _HEX, 40),
    _token("age", "AGE-SECRET" + "-KEY-1", _UPPER, 58),
    FakeSecret("JWT", f"eyJ{'hbGciOi1' * 3}.eyJ{'zdWIiOi1' * 3}.{'c2lnbmF0' * 4}", "zdWIiOi1" * 3),
    _pem("RSA key", f"RSA {_PRIVATE}"),
    _pem("SSH key", f"OPENSSH {_PRIVATE}"),
    _pem("PGP key", f"PGP {_PRIVATE} BLOCK"),
    _behind("Bearer", "Authorization: Bearer ", _some(_ALNUM, 32)),
    _behind("Basic", "Authorization: Basic ", _some(_BASE64, 24)),
    _behind("password in an address", "postgres://bob:", _WORDS, "@db.internal/x"),
    _behind("password=", "password=", _WORDS),
    _behind("a word as password", "DB_PASSWORD=", "sword" + "fish"),
    _behind("passwd:", "passwd: ", _WORDS),
    _behind("password in JSON", '"password": "', "sword" + "fish", '"'),
    _behind("password in Markdown", "**Password:** `", _WORDS, "`"),
    _behind("api_key=", "api_key=", _some(_ALNUM, 20)),
    _behind("client secret", 'client_secret: "', _some(_ALNUM, 24), '"'),
    _behind("option of a command", "mysql --password ", _WORDS, " -h x"),
)
"""Each kind by itself; one line, but for keys."""

"""PURE. What is a secret: one table, for all that the bot shows, logs, stores or writes.

A format is here because it can be told from the text alone: by its first characters, by the name before it,
or by its place in an address. How random a text looks is no sign: a hash and a key look alike.

The formats were compared with the rules of gitleaks (`config/gitleaks.toml` of its commit 009e025a, read on
2026-11-24) and the plugins of detect-secrets 1.5.0. Shorter lengths than theirs are taken where the first
characters leave no doubt. Left out are rules that need a guess: a service's name somewhere before any 32
letters, and entropy.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

_STEP = re.compile(r"(\[[^\]]+\]|\\?.)(?:\{(\d+)(?:,(\d+))?\})?", re.DOTALL)
_CONDITION = re.compile(r"\(\?=[^)]*\)")
WORD_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2}))"
"""A format begins here: not within a word, unless that is an escape of JSON or of an address."""
SHORTEST_FORMAT = 13
"""Characters without white space that a secret of `FORMATS` has at least."""
LONGEST_BEGINNING = 400
"""Characters that may have to be read until it is known whether they are a secret."""


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """A secret that is known by how it begins.

    `pattern` is a row of characters and classes with counts, and conditions on what follows that can be
    decided within those counts. The first `keeps` characters are no secret; what follows is part of it as
    long as it is of `tail`. `behind` must match before it. `end`: it goes on up to there, whatever comes.
    """

    kind: str
    pattern: str
    tail: str = ""
    keeps: int = 0
    behind: str = WORD_START
    end: re.Pattern[str] | None = None

    @property
    def first(self) -> str:
        """The characters that it may begin with, as a class or a character of a regular expression."""
        return _STEP.match(_CONDITION.sub("", self.pattern))[1]  # type: ignore[index]

    def beginning(self) -> str:
        """A regular expression for each beginning of it, up to the end of the text."""
        begun = ""
        for chars, least, most in reversed(_STEP.findall(_CONDITION.sub("", self.pattern))):
            least, most = least or "1", most or least or "1"
            if begun:
                begun = rf"(?:{chars}{{0,{most}}}\Z|{chars}{{{least},{most}}}{begun})"
            else:
                begun = rf"{chars}{{0,{int(most) - 1}}}\Z"
        return begun


_ALNUM, _LOWER, _UPPER, _HEX = "[A-Za-z0-9]", "[a-z0-9]", "[A-Z0-9]", "[0-9a-f]"
_DASHED, _SAFE64, _BASE64 = "[A-Za-z0-9-]", "[A-Za-z0-9_-]", "[A-Za-z0-9+/=_-]"
_DOTTED = "[A-Za-z0-9_.=-]"
_BEARER = "[A-Za-z0-9._~+/=-]"


def _token(kind: str, begins: str, chars: str, least: int) -> SecretFormat:
    # an underscore may be escaped, as Markdown has it
    return SecretFormat(kind, begins.replace("_", r"\\{0,1}_") + f"{chars}{{{least}}}", chars)


def _mixed(kind: str, begins: str, chars: str, least: int) -> SecretFormat:
    """One that has a digit among its first characters: words with the same beginning have none."""
    digit = f"(?={chars}{{0,{least - 1}}}[0-9])"
    return SecretFormat(kind, begins.replace("_", r"\\{0,1}_") + f"{digit}{chars}{{{least}}}", chars)


def _tokens(kind: str, begins: Iterable[str], chars: str, least: int) -> tuple[SecretFormat, ...]:
    return tuple(_token(kind, each, chars, least) for each in begins)


def _address(kind: str, place: str, rest: str = "[A-Za-z0-9_/-]{20}") -> SecretFormat:
    """An address that lets whoever knows it write. Its host stays."""
    return SecretFormat(kind, re.escape(place) + rest, "[A-Za-z0-9_/=%@-]", keeps=len(place))


def _behind(word: str, least: int) -> tuple[SecretFormat, ...]:
    """What stands behind the scheme of an Authorization header, and holds a digit: prose has the word too."""
    digit = f"(?={_BEARER}{{0,{least - 1}}}[0-9])"
    pattern = f"{digit}{_BEARER}{{{least}}}"
    return tuple(
        SecretFormat(f"{word} token", pattern, _BEARER, behind=f"(?<={spelling} )")
        for spelling in dict.fromkeys((word, word.upper(), word.lower()))
    )


_PEM_END = re.compile(
    r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|---- END [A-Z0-9 ]{0,30}PRIVATE KEY ----|(?=`)"
)
_PUTTY_END = re.compile(r"Private-MAC: ?[0-9a-f]{40,64}|(?=`)")
KEY_END_MOST = 96
"""Characters of the end of a key, at most."""

_MODELS = (
    _mixed("OpenAI key", "sk-", _ALNUM, 20),
    *_tokens("OpenAI key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), _SAFE64, 20),
    _token("Anthropic key", "sk-ant-", _SAFE64, 20),
    _token("OpenRouter key", "sk-or-v1-", _HEX, 32),
    _token("Langfuse key", "sk-lf-", _DASHED, 20),
    _token("LangSmith key", "lsv2_[a-z]{2}_", "[A-Za-z0-9_]", 30),
    _token("Hugging Face token", "hf_", _ALNUM, 30),
    _token("Hugging Face token", "api_org_", _ALNUM, 30),
    _token("Groq key", "gsk_", _ALNUM, 40),
    _token("xAI key", "xai-", _ALNUM, 40),
    _token("Perplexity key", "pplx-", _ALNUM, 32),
    _token("Replicate token", "r8_", _ALNUM, 32),
    _token("NVIDIA key", "nvapi-", _SAFE64, 40),
    _token("Pinecone key", "pcsk_", "[A-Za-z0-9_]", 40),
    _mixed("Tavily key", "tvly-", _SAFE64, 24),
)
_CHAT = (
    _token("Slack token", "xox[a-z]-", "[A-Za-z0-9%/+-]", 8),
    _token("Slack token", r"xoxe\.xox[a-z]-", _DASHED, 8),
    _token("Slack token", "xapp-", _DASHED, 8),
    _token("Slack token", "xwfp-", _DASHED, 8),
    _address("Slack webhook", "hooks.slack.com/services/"),
    _address("Slack webhook", "hooks.slack.com/workflows/"),
    _address("Slack webhook", "hooks.slack.com/triggers/"),
    _address("Discord webhook", "discord.com/api/webhooks/", "[0-9]{10,20}/[A-Za-z0-9_-]{20}"),
    _address("Discord webhook", "discordapp.com/api/webhooks/", "[0-9]{10,20}/[A-Za-z0-9_-]{20}"),
    _address("Teams webhook", "webhook.office.com/webhookb2/"),
)
_CLOUDS = (
    _token("AWS access key", "A[KS]IA", _UPPER, 16),
    _token("AWS access key", "A[BC][IC]A", "[A-Z2-7]", 16),
    _token("AWS Bedrock key", "ABSK", "[A-Za-z0-9+/=]", 80),
    _token("AWS Bedrock key", "bedrock-api-key-", _BASE64, 30),
    _token("Google key", "AIza", _SAFE64, 35),
    _token("Google OAuth token", r"ya29\.", "[A-Za-z0-9._-]", 20),
    _token("Google OAuth token", "1//0", _SAFE64, 30),
    _token("Google OAuth secret", "GOCSPX-", _SAFE64, 24),
    _token("Alibaba access key", "LTAI", _ALNUM, 16),
    _token("DigitalOcean token", "do[opr]_v1_", _HEX, 40),
    _token("Cloudflare key", r"v1\.0-[0-9a-f]{24}-", _HEX, 40),
    *_tokens("Cloudflare token", ("cfut_", "cfat_", "cfk_"), _ALNUM, 40),
    _token("Heroku key", "HRKU-", _SAFE64, 36),
    _token("Fly token", "fo1_", _SAFE64, 40),
    _token("Fly token", "fm[12][ar]{0,1}_", "[A-Za-z0-9+/=]", 60),
    _token("Databricks token", "dapi", _HEX, 32),
    _token("PlanetScale secret", "pscale_[a-z]{2,5}_", "[A-Za-z0-9_=.-]", 32),
    _token("Supabase key", "sbp_", _HEX, 40),
    _token("Supabase key", "sb_secret_", _SAFE64, 24),
    _token("Tailscale key", "tskey-[a-z]{3,9}-", _DASHED, 20),
    _token("OpenShift token", "sha256~", _SAFE64, 43),
    _token("Vault token", r"hv[bsr]\.", _SAFE64, 24),
    _mixed("Vault token", r"s\.", _ALNUM, 24),
    _token("Pulumi token", "pul-", _HEX, 40),
    _token("Doppler token", r"dp\.[a-z]{2,5}\.", "[A-Za-z0-9._-]", 40),
)
_CODE = (
    _token("GitHub token", "gh[oprsu]_", _ALNUM, 36),
    _token("GitHub token", "github_pat_", "[A-Za-z0-9_]", 22),
    *_tokens(
        "GitLab token",
        ("glpat-", "gldt-", "glft-", "glrt-", "glptt-", "glimt-", "gloas-", "glsoat-", "glcbt-", "glffct-"),
        "[A-Za-z0-9_.-]",
        20,
    ),
    _token("GitLab token", "glagent-", _SAFE64, 40),
    _token("GitLab token", "GR1348941", _SAFE64, 20),
    _token("npm token", "npm_", _ALNUM, 36),
    _mixed("PyPI token", "pypi-", _SAFE64, 32),
    _token("RubyGems key", "rubygems_", _HEX, 40),
    _token("NuGet key", "oy2", _LOWER, 43),
    *_tokens("Docker token", ("dckr_pat_", "dckr_oat_"), _SAFE64, 20),
    _token("Artifactory key", "AKCp", _ALNUM, 60),
    _token("Artifactory token", "cmVmd", _ALNUM, 59),
    *_tokens("Sonar token", ("squ_", "sqp_", "sqa_"), _HEX, 40),
    _token("CircleCI token", "CCIPAT_", "[A-Za-z0-9_]", 40),
    _token("Buildkite token", "bkua_", _HEX, 40),
    _token("Sourcegraph token", "sgp_", "[A-Za-z0-9_]", 40),
    _token("Octopus key", "API-", _UPPER, 26),
)
_SERVICES = (
    *(
        _token("Stripe key", f"{begins}_{mode}_", _ALNUM, 16)
        for begins in ("sk", "rk")
        for mode in ("live", "test", "prod")
    ),
    _token("Stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]", 24),
    SecretFormat("SendGrid key", rf"SG\.{_SAFE64}{{16,64}}\.{_SAFE64}{{16}}", _SAFE64),
    _token("Twilio key", "SK", _HEX, 32),
    _token("Twilio account", "AC", _HEX, 32),
    _token("Mailgun key", "key-", _HEX, 32),
    _token("Brevo key", "xkeysib-", _DASHED, 40),
    _token("Resend key", "re_[A-Za-z0-9]{8}_", _ALNUM, 20),
    _token("Square token", "sq0[a-z]{3}-", _SAFE64, 22),
    _mixed("Square token", "EAAA", _SAFE64, 40),
    _mixed("Facebook token", "EAA", _ALNUM, 80),
    _token("PayPal token", r"access_token\$[a-z]{4,12}\$", "[A-Za-z0-9$]", 20),
    _token("Plaid token", "access-[a-z]{7,11}-", "[0-9a-f-]", 36),
    _token("Shopify token", "shp[a-z]{2}_", "[0-9A-Fa-f]", 32),
    _token("Shippo token", "shippo_[a-z]{4}_", _HEX, 40),
    _token("EasyPost key", "EZ[AT]K", _ALNUM, 54),
    _token("New Relic key", "NR[A-Z]{2}-", _DASHED, 19),
    _token("Datadog key", "dd[a-z]{1,3}_", _ALNUM, 34),
    _token("Sentry token", "sntry[su]_", "[A-Za-z0-9+/=_]", 40),
    *_tokens("Grafana token", ("glsa_", "glc_"), "[A-Za-z0-9+/=_]", 32),
    _token("Grafana key", "eyJrIjoi", "[A-Za-z0-9+/=]", 60),
    _token("Dynatrace token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.", _UPPER, 40),
    _token("Linear key", "lin_api_", _ALNUM, 32),
    _token("Linear key", "lin_oauth_", _ALNUM, 32),
    _token("Notion token", "ntn_", _ALNUM, 40),
    _mixed("Notion token", "secret_", _ALNUM, 40),
    SecretFormat("Postman key", f"PMAK-{_HEX}{{24}}-{_HEX}{{30}}", _HEX),
    _token("Atlassian token", "AT[AC]TT3", "[A-Za-z0-9_=-]", 40),
    _token("Bitbucket token", "ATBB", _ALNUM, 28),
    SecretFormat("Airtable token", rf"pat{_ALNUM}{{14}}\.{_HEX}{{40}}", _HEX),
    _token("HubSpot token", r"pat-[a-z]{2,3}[0-9]-", "[0-9a-f-]", 36),
    _token("Figma token", "fig[a-z]{1,2}_", _SAFE64, 36),
    _token("Typeform token", "tfp_", "[A-Za-z0-9_.=-]", 40),
    _token("Contentful token", "CFPAT-", _SAFE64, 40),
    _token("Netlify token", "nfp_", _ALNUM, 36),
    _token("Postmark token", "pnu_", _ALNUM, 36),
    _token("Mapbox token", r"sk\.eyJ", "[A-Za-z0-9._-]", 40),
    _token("Okta token", "SSWS%20", _SAFE64, 40),
    _token("Yandex key", "AQVN", _SAFE64, 35),
    _token("Infracost key", "ico-", _ALNUM, 32),
    _token("1Password token", "ops_eyJ", "[A-Za-z0-9+/=_-]", 60),
    SecretFormat(
        "1Password key",
        f"A3-{_UPPER}{{6}}-{_UPPER}{{6,11}}-{_UPPER}{{5}}-{_UPPER}{{5}}",
        "[A-Z0-9-]",
    ),
)
_KEYS = (
    _token("age key", "AGE-SECRET-KEY-1", _UPPER, 50),
    _token("private key", "LS0tLS1CRUdJTi", "[A-Za-z0-9+/=]", 60),  # the same in base 64
    SecretFormat("signed token", rf"eyJ{_SAFE64}{{8,300}}\.eyJ{_SAFE64}{{8}}", "[A-Za-z0-9_.=-]"),
    SecretFormat(
        "signed token", rf"eyJ{_SAFE64}{{20,300}}\.[A-Za-df-z0-9_-]{_SAFE64}{{39}}", "[A-Za-z0-9_.=-]"
    ),
    SecretFormat("PuTTY key", "PuTTY-User-Key-File-[0-9]:", end=_PUTTY_END),
)
FORMATS: tuple[SecretFormat, ...] = (*_MODELS, *_CHAT, *_CLOUDS, *_CODE, *_SERVICES, *_KEYS)
"""Each is known by its first characters, and begins a word. Only the rest of a key holds white space."""
LATE_FORMATS: tuple[SecretFormat, ...] = (
    # the number of the bot before it is no secret
    *(
        SecretFormat(
            "Discord token",
            rf"\.{_SAFE64}{{6}}\.{_SAFE64}{{27}}",
            _SAFE64,
            behind=rf"(?<=(?<![A-Za-z0-9_-])[MNO]{_SAFE64}{{{size}}})",
        )
        for size in (23, 24, 25)
    ),
    SecretFormat(
        "Azure client secret",
        "Q~[A-Za-z0-9_~.-]{31}",
        "[A-Za-z0-9_~.-]",
        behind=r"(?<=[A-Za-z0-9_~.-]{3}[0-9])",
    ),
    SecretFormat(
        "Terraform token", r"\.atlasv1\.[A-Za-z0-9_=-]{40}", "[A-Za-z0-9_=-]", behind=r"(?<=[A-Za-z0-9]{14})"
    ),
    SecretFormat("Mailchimp key", "[0-9a-f]{24}-us[0-9]", "[0-9]", behind="(?<=(?<![A-Za-z0-9])[0-9a-f]{8})"),
)
"""Any word may begin as these do. They are known by what comes later, and masked from there on."""
LATE_SIGN = re.compile(r"Q~|-us[0-9]|\.atlasv1\.|\.[A-Za-z0-9_-]{6}\.")
"""What a word holds that has one of `LATE_FORMATS`."""
HEADERS: tuple[SecretFormat, ...] = (
    *_behind("Bearer", 16),
    *_behind("Bearer", 32),
    *_behind("Basic", 16),
    *_behind("SSWS", 30),
)
"""A word behind a blank and the scheme of an Authorization header."""
PRIVATE_KEYS: tuple[SecretFormat, ...] = tuple(
    SecretFormat("private key", f"{begins}[A-Z0-9 ]{{0,30}}PRIVATE KEY{ends}", behind="", end=_PEM_END)
    for begins, ends in (
        ("-----BEGIN ", "-----"),
        ("-----BEGIN ", " BLOCK-----"),
        ("---- BEGIN ", " ----"),
    )
)
"""These hold spaces."""


# -- values behind a na --------------------------------------------------------------------------------------


class ValueKind(Enum):
    """What a name says of the value behind it."""

    PASSWORD = "password"
    SECRET = "secret behind its name"
    TOKEN = "token behind its name"
    AWS = "AWS secret key"
    ADDRESS = "password in an address"
    TELEGRAM = "Telegram token"


VALUE_MOST, ADDRESS_MOST = 64, 200
"""Characters of a value by which it is judged; what follows is dropped with them."""
VALUE = re.compile(rf"[^\s\"'`<>|]{{1,{VALUE_MOST}}}")
ADDRESS_VALUE = re.compile(rf"[^\s\"'`<>/?#]{{1,{ADDRESS_MOST}}}")
VALUE_TAIL = "[^\\s\"'`<>|&;,]"
LEAD = re.compile(r"[=>]{0,2}[ \t]{0,4}[\\\"'`*_“‘]{0,6}[ \t]?[\"'`]?")
"""What may stand between a name's colon or equals sign and the value."""
NAME_MOST = 96
"""Characters before a colon or an equals sign that are looked at."""

_AWS_NAMES = ("secretaccesskey", "awssecretkey", "awssecret", "secretkey")
_PASSWORD_NAMES = (
    *("password", "passwd", "passphrase", "passwort", "pwd", "secret", "dbpass", "userpass", "rootpass"),
    *("smtppass", "mysqlpass", "redispass", "adminpass", "pgpass", "motdepasse", "contraseña"),
)
_SECRET_NAMES = (
    *("apikey", "apisecret", "apitoken", "clientsecret", "appsecret", "consumersecret", "webhooksecret"),
    *("signingsecret", "signingkey", "secretkey", "secretaccesskey", "accesskey", "accountkey", "authkey"),
    *("sharedaccesskey", "encryptionkey", "masterkey", "privatekey", "subscriptionkey", "licensekey"),
    *("servicekey", "appkey", "applicationkey", "sharedsecret", "xamzsignature", "xgoogsignature", "sig"),
    *("accesstoken", "authtoken", "refreshtoken", "privatetoken", "clientkeydata", "gitlabsession"),
)
_TOKEN_NAMES = ("token", "authorization", '"auth', "credential", "credentials", "webhookurl")
_NO_SECRETS = ("pagetoken", "nexttoken", "continuationtoken", "cancellationtoken", "csrftoken", "synctoken")
_NAMES = (*_PASSWORD_NAMES, *_SECRET_NAMES, *_TOKEN_NAMES)
_SEPARATORS = str.maketrans("", "", "_-. ")
_LONGEST_NAME = 32
_AROUND_NAMES = " \t\"'`*_\\])”’"
_USER_BEFORE = re.compile(r"://([^\s/@:\"'`<>]{0,64})\Z")
_CURL_USER = re.compile(r"(?:-u|--user)[ =][\"']?[\w.@+-]{1,40}\Z")
_BOT_NUMBER = re.compile(r"(?<![0-9])[0-9]{8,10}\Z")
_OPTION = re.compile(r"--[a-z-]{0,20}\Z")


def kind_before(before: str, mark: str) -> tuple[ValueKind, str] | None:
    """What the value behind `before` and `mark` is, and whose, as far as an address says; None: no secret.

    `mark` is a colon, an equals sign, a `>` or a space. `before` has `NAME_MOST` characters or fewer.
    """
    name = before.rstrip(_AROUND_NAMES)[-_LONGEST_NAME:].lower().translate(_SEPARATORS)
    if name.endswith(_NAMES) and _is_name(before, name, mark):
        kind = _kind_of(name)
        return None if kind is None else (kind, "")
    return _kind_at_colon(before) if mark == ":" else None


def _kind_of(name: str) -> ValueKind | None:
    if name.endswith(_NO_SECRETS):
        return None
    kinds = (
        (_AWS_NAMES, ValueKind.AWS),
        (_SECRET_NAMES, ValueKind.SECRET),
        (_PASSWORD_NAMES, ValueKind.PASSWORD),
    )
    return next((kind for names, kind in kinds if name.endswith(names)), ValueKind.TOKEN)


def _kind_at_colon(before: str) -> tuple[ValueKind, str] | None:
    if before[-1:].isdigit() and _BOT_NUMBER.search(before):
        return ValueKind.TELEGRAM, ""
    if "://" in before and (user := _USER_BEFORE.search(before)):
        return ValueKind.ADDRESS, user[1]
    return (ValueKind.PASSWORD, "") if "-u" in before and _CURL_USER.search(before) else None


def _is_name(before: str, name: str, mark: str) -> bool:
    if mark == ">":  # of an element of XML
        return "<" in before[-_LONGEST_NAME:] and before[-1:].isalnum()
    if mark == " ":
        return _OPTION.search(before) is not None
    return not name.endswith("sig") or before.endswith(("?sig", "&sig", ";sig"))


def secret_in(kind: ValueKind, user: str, mark: str, lead: str, value: str) -> str:
    """The beginning of `value` that is a secret; "" if none is. `lead` is what `LEAD` matched before it."""
    if kind is ValueKind.ADDRESS:
        password = value[: value.rfind("@")] if "@" in value else ""
        return "" if _is_example(user, password) else password
    if kind is ValueKind.TELEGRAM:
        return value if _TELEGRAM.match(value) else ""
    is_quoted = any(quote in lead for quote in "\"'`“‘")
    if not is_quoted:
        value = _unquoted(value, mark)
    elif len(value) < VALUE_MOST:  # else it goes on
        value = value.rstrip("\\*_")
    if kind is ValueKind.AWS:
        if _AWS_VALUE.fullmatch(value):
            return value if len(set(value)) > _VARIED else ""
        kind = ValueKind.SECRET
    if not value or value[0] in _NO_FIRST or is_placeholder(value) or _is_code(value):
        return ""
    is_attached = mark == "=" and not lead
    if kind is ValueKind.PASSWORD:
        is_secret = _is_password(value, is_quoted=is_quoted, is_attached=is_attached)
    elif kind is ValueKind.TOKEN:
        is_secret = _is_key(value, _TOKEN_LEAST)
    else:
        is_secret = _is_key(value, _KEY_LEAST if is_quoted or is_attached else _LOOSE_LEAST)
    return value if is_secret else ""


_TELEGRAM = re.compile("[A-Za-z0-9_-]{35}")
_AWS_VALUE = re.compile("[A-Za-z0-9/+]{40}")
_VARIED = 4  # characters that differ: fewer are a row of the same
_NO_FIRST = "+,).;:=-/\\({[<%|&?~$]}"
_TOKEN_LEAST, _KEY_LEAST, _LOOSE_LEAST = 16, 6, 10
_VALUE_END = re.compile(r"\\[nrt\"']"), re.compile(r"[&;,)]|\\[nrt\"']")
_CODE_LIKE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[\W_]*|.*(?:\(|\[|\{\{|\$\{|://|\.\.).*", re.DOTALL)
_KEY_CHARS = re.compile(r"[\w.~+/=%:!@#$^*-]+", re.ASCII)
_SPECIAL = frozenset("!@#$%^&*+?=")
_PASSWORD_LEAST, _SHORT_PASSWORD, _WORD_PASSWORD = 6, 4, 6


def _unquoted(value: str, mark: str) -> str:
    """Without what is behind it: in a query, in a list, or where a line of an escaped text ends."""
    whole = _VALUE_END[mark == "="].split(value, maxsplit=1)[0]
    return whole if len(whole) == VALUE_MOST else whole.rstrip(".,;:?)]}*_\\")


def _is_code(value: str) -> bool:
    return _CODE_LIKE.fullmatch(value) is not None


def _is_password(value: str, *, is_quoted: bool, is_attached: bool) -> bool:
    """A password. Behind a colon it must look like one: prose has the word as well."""
    if is_quoted:
        return len(value) >= _SHORT_PASSWORD
    if value.isascii() and value.isalpha():
        return is_attached and len(value) >= _WORD_PASSWORD
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    has_special = not _SPECIAL.isdisjoint(value)
    if "/" in value or len(value) < (_PASSWORD_LEAST - is_attached):
        return False
    return (has_letter and (has_digit or has_special)) or (value.isdigit() and value.isascii())


def _is_key(value: str, least: int) -> bool:
    has_both = any(map(str.isalpha, value)) and any(map(str.isdigit, value))
    return len(value) >= least and has_both and _KEY_CHARS.fullmatch(value) is not None


_PLACEHOLDER_PARTS = (
    *("example", "changeme", "change-me", "change_me", "changeit", "placeholder", "your", "xxxx", "redacted"),
    *("removed", "masked", "hidden", "dummy", "insert", "replace", "...", "…", "***", "••", "todo", "fixme"),
    *("sample", "0000000", "<", ">", "-here", "_here"),
)
_PLACEHOLDERS = frozenset(
    {
        *("password", "passwd", "pass", "passphrase", "passwort", "pwd", "secret", "token"),
        *("key", "apikey", "value", "string", "str", "text", "none", "null", "nil", "undefined"),
        *("true", "false", "yes", "no", "required", "optional", "empty", "unset", "default"),
        *("env", "vault", "test", "testing", "foo", "bar", "baz", "foobar", "abc", "abcd"),
        *("abcdef", "user", "username", "admin", "root", "me", "mypassword", "mysecret"),
        *("mytoken", "thepassword", "mysecretpassword", "secretpassword", "supersecret"),
        *("topsecret", "testpassword", "testsecret", "testtoken", "mypass", "bytes", "int"),
        *("bool", "any", "object", "number", "secretstr", "self", "this", "bearer", "basic"),
        *("digest"),
    }
)
_NAME_PARTS = ("password", "passwd", "secret", "token", "passphrase")
_EXAMPLE_USERS = frozenset(
    {"", "user", "username", "usr", "name", "login", "id", "account", "foo", "u", "USER"}
)


def is_placeholder(value: str) -> bool:
    """It stands for a secret, and is none: `changeme`, `xxxx`, `${VAR}`, `<your-password>`, `...`."""
    lower = value.lower()
    if value[:1] in "$%{[<(*" or len(set(value)) <= 2 or any(part in lower for part in _PLACEHOLDER_PARTS):
        return True
    letters = lower.rstrip("0123456789!").replace("-", "").replace("_", "").replace(" ", "")
    if letters in _PLACEHOLDERS:
        return True
    is_word = lower.replace("_", "").replace("-", "").isalpha()
    return is_word and any(part in lower for part in _NAME_PARTS)


def _is_example(user: str, password: str) -> bool:
    if not password or password[0] in "$%{[<(*" or len(set(password)) == 1:
        return True
    return is_placeholder(password) and (password.isupper() or user.lower() in _EXAMPLE_USERS)

"""The settings, section by section: each number with its unit, its default and, where it has one, its source.

A number that was measured and is not documented is a setting here, never a literal in the code.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from .identity import CLAIMS, PERSONAL, ExchangeSettings, Identity, TokenServerSettings
from .section import HttpUrl, Items, Seconds, SettingsSection, Texts, ids_of
from .sign_in import OAuthSettings
from .teams import usable_tokens

_OPERATORS = ids_of("UWS", "ids of people or user groups (U0123456, W0123456 or S0123456)")
_BOTS = ids_of("ABCDGUW", "ids of bots (U..., B..., A...) or channels (C...), with commas between them")


class SlackSettings(SettingsSection):
    """Slack's side."""

    bot_token: SecretStr | None = None
    """Bot token, `xoxb-...`."""
    bot_tokens: Annotated[SecretStr, AfterValidator(usable_tokens)] | None = None
    """Bot tokens of several workspaces in which the app is installed, in place of `bot_token`: with commas or
    on lines of their own, where what follows a `#` is a note."""
    app_token: SecretStr | None = None
    """App-level token for Socket Mode, `xapp-...`."""
    signing_secret: SecretStr | None = None
    """Signing secret; needed in HTTP mode (`run --http`)."""
    config_token: SecretStr | None = None
    """App configuration token, `xoxe.xoxp-...`, which lives 12 hours: `doctor` reads the app's manifest."""
    api_url: HttpUrl = "https://slack.com/api/"
    """Web API base."""
    timeout: float = Field(default=30.0, gt=0)
    """Seconds for one Web API call."""
    write_timeout: float = Field(default=10.0, gt=0)
    """Seconds for one Web API call that writes. After them the bot finds out what became of it."""
    socket_connections: int = Field(default=2, ge=1, le=10)
    """Socket Mode connections of this process. Slack: ten an app, for all its processes."""
    socket_ping_interval: float = Field(default=10.0, gt=0)
    """Seconds without data after which a connection gets a ping, half of which it has to answer, else it is
    replaced; and the first pause after a failed attempt to connect."""
    socket_silence_timeout: float = Field(default=900.0, gt=0)
    """Seconds without an event after which a connection is replaced: some answer pings, but no event comes
    [obs]. In a quiet workspace this costs one call of Slack's API."""
    connection_check_delay: float = Field(default=60.0, gt=0)
    """Seconds until the warning that another process is connected to Slack as this app. At a restart the old
    process needs some time to end."""
    backfill_hours: float = Field(default=2.0, ge=0)
    """Hours before the start in which questions are looked for that Slack gave up delivering; 0: none are."""
    backfill_after: float = Field(default=300.0, ge=0)
    """Seconds without any Socket Mode connection after which they are looked for again. Slack's last retry
    comes after five minutes."""
    backfill_timeout: float = Field(default=900.0, gt=0)
    """Seconds that this may take. Where Slack lets an app read once a minute, that is 13 threads."""
    allowed_bots: Annotated[Texts, _BOTS] = ()
    """Ids of the bots and workflows that may ask (`U...`, `B...` or `A...`), or of channels (`C...`) in which
    every bot may. All others that mention the bot are ignored: two bots could talk for ever."""
    operators: Annotated[Texts, _OPERATORS] = ()
    """Ids of the people and user groups (`U...`, `W...`, `S...`) whose Home tab shows the settings of
    channels, and what else is for those who run the bot. Empty: no one's."""
    lookup_timeout: float = Field(default=0.8, gt=0)
    """Seconds to find out who somebody is, before what they did is acknowledged; Slack waits for 3."""
    lookup_ttl: float = Field(default=3600.0, ge=0)
    """Seconds for which that is believed."""
    lookup_retry: float = Field(default=300.0, ge=0)
    """Seconds after which Slack is asked again where it did not say."""
    config: str | None = None
    """TOML file with settings of single channels. It is read again on SIGHUP."""
    rules: str | None = None
    """File of `slack-bot rules --real`: what was measured in this workspace takes the place of defaults; what
    is set here counts before it."""
    rules_allow_looser: bool = False
    """Also take numbers of that file that ask more of Slack than the defaults."""
    suggested_prompts: Texts = ()
    """Up to four questions that Slack offers above a new conversation with the bot. Empty: examples from the
    skills on the agent's card."""
    http_host: str = "0.0.0.0"
    """Address that the HTTP server of HTTP mode listens on. 0.0.0.0: every address of this machine;
    127.0.0.1: only programs on this machine, such as a reverse proxy, can reach the port."""
    http_port: int = Field(default=3000, ge=0, le=65535)
    """Port of the HTTP server in HTTP mode."""
    http_header_timeout: float = Field(default=5.0, gt=0)
    """Seconds for the whole head of an HTTP request to come. Slack itself gives up after 3."""
    http_body_timeout: float = Field(default=5.0, gt=0)
    """Seconds for the whole body of an HTTP request to come."""
    http_max_body_bytes: int = Field(default=1024 * 1024, gt=0)
    """Bytes of the body of an HTTP request; more is refused."""
    http_max_connections: int = Field(default=100, gt=0)
    """Connections of the HTTP server at once. One more closes the oldest whose request is not being
    answered."""


class ClientSettings(TokenServerSettings):
    """How the bot logs in to the agent where that is no fixed token: tokens, a certificate, an API key."""

    variables = "SLACK_BOT_AGENT__CLIENT__"

    id: str | None = None
    """Client id (OAuth). With it the bot fetches its tokens, in place of `bearer_token`. Needs the extra
    `oauth`."""
    audience: str | None = None
    """Audience to ask for, as Auth0 wants it. With `grant=jwt_bearer`: `target_audience`, as Google wants it
    for an ID token."""
    method: Literal[
        "auto", "client_secret_basic", "client_secret_post", "private_key_jwt", "tls_client_auth"
    ] = "auto"
    """How the bot proves to the token endpoint who it is. auto: by `assertion_file` or `private_key` if one
    of them is set, else by `secret` in a header."""
    grant: Literal["client_credentials", "jwt_bearer"] = "client_credentials"
    """What a token is given for. jwt_bearer: a statement signed with `private_key` (service accounts of
    Google, whose e-mail address is the `id`)."""
    token_file: str | None = None
    """File of a token that goes to the agent as it is (a projected token of Kubernetes: EKS, AKS, GKE). It is
    read for each call."""
    certificate: str | None = None
    """File of the bot's certificate (PEM) for agents that want one (mTLS), with those of the authorities in
    between. It is read again when it has changed."""
    certificate_key: str | None = None
    """File of its private key. Unset: the key is in the certificate's file."""
    certificate_password: SecretStr | None = None
    """Password of that key."""
    certificate_for: Literal["agent", "token", "both"] = "agent"
    """Who is shown the certificate: the agent, the token endpoint, or both."""
    api_key: SecretStr | None = None
    """API key, for agents whose card says in which header, cookie or part of the address it is sent."""

    @property
    def fetches_tokens(self) -> bool:
        """Whether tokens come from a token endpoint."""
        return self.id is not None


class AgentSettings(SettingsSection):
    """The A2A agent."""

    url: HttpUrl | None = None
    """The agent: its base address, or the full address of its card."""
    use_configured_url: bool = False
    """Send questions to `url` instead of the address in the card (cards behind proxies are often wrong)."""
    allowed_hosts: Texts = ()
    """Hosts (host or host:port) other than `url`'s that a card may send us, and our credentials, to."""
    protocol_version: Literal["auto", "0.3", "1.0"] = "auto"
    """A2A wire version; auto reads the card and switches once if the agent does not know the method."""
    binding: Literal["auto", "JSONRPC", "HTTP+JSON"] = "auto"
    """How calls are carried to the agent; auto: as it worked before, and else by the card's order."""
    dialect: Literal[
        "auto", "generic", "caipe", "caipe-0.2", "adk", "strands", "langgraph", "agno", "fasta2a"
    ] = "auto"
    """How the agent marks narration and answer; auto recognises it from the events."""
    answer_source: Literal["auto", "artifact", "status", "message"] = "auto"
    """Where the agent puts its answer: what is shown live, and counts at the end. auto learns it."""
    answer_marker: Literal["auto", "expected", "off"] = "auto"
    """Take `[FINAL ANSWER]` and JSON off an answer; expected: what comes before it is held. auto learns."""
    extensions: Texts = ()
    """A2A extension URIs to activate."""
    bearer_token: SecretStr | None = None
    """Static bearer token for the agent."""
    header_name: str | None = None
    """Name of a header that carries a key for the agent."""
    header_value: SecretStr | None = None
    """Value of that header."""
    card_keys: str | None = None
    """File of the public keys (JWKS or PEM) of those who may sign the agent's card. It is read with each
    card. Unset: signatures are not looked at. Needs the extra `oauth`."""
    accept_card: str | None = None
    """Fingerprint of a changed agent card that may be believed; the log and `doctor` name it."""
    input_price: float | None = Field(default=None, ge=0)
    """Money for a million tokens that the model reads, in `SLACK_BOT_USAGE__CURRENCY`. It counts where the
    agent reports tokens and no cost."""
    output_price: float | None = Field(default=None, ge=0)
    """Money for a million tokens that the model writes."""
    session_header: str | None = None
    """Name of a header whose value is the same for all calls of a conversation, as AWS AgentCore wants it:
    X-Amzn-Bedrock-AgentCore-Runtime-Session-Id."""
    client: ClientSettings = ClientSettings()
    identity: Identity = "email"
    """The most that the agent learns of who asks; a channel's `identity` may say less in the message's
    metadata, which is a claim of the bot (none to email). signed: each call for a question also carries a
    token that the bot signed for its asker; exchange: one that the authorization server of `exchange` gave
    for that; oauth: one that the asker got by signing in at the authorization server of `oauth`. Guests,
    people of other organisations and bots get no token, and so no answer."""
    identity_header: str | None = None
    """Name of the header that carries this token as it is. Unset: `Authorization: Bearer`, if the bot's own
    login does not need that header."""
    exchange: ExchangeSettings = ExchangeSettings()
    oauth: OAuthSettings = OAuthSettings()
    shared_context: bool = False
    """Where tokens of people go to the agent, a thread is one conversation with it, whoever asks. Off: each
    person's questions in a thread are a conversation of their own."""
    error_text: Literal["hide", "show"] = "hide"
    """What the agent says of its own failure, often the text of an exception: hide keeps it from readers, who
    get a reference that the log has too; `slack-bot store show` and the reference print it. Why it declined a
    task is always shown."""
    connect_timeout: float = Field(default=10.0, gt=0)
    """Seconds to connect to the agent."""
    write_timeout: float = Field(default=30.0, gt=0)
    """Seconds to send the request."""
    card_timeout: float = Field(default=10.0, gt=0)
    """Seconds to fetch the agent card."""
    call_timeout: float = Field(default=30.0, gt=0)
    """Seconds for a single call (read a task, cancel)."""
    connect_retries: int = Field(default=2, ge=0)
    """Times a question is sent again when no connection could be made: 1, 2, 4 ... seconds later."""
    accept_timeout: float = Field(default=30.0, ge=0)
    """Seconds, in all, for the agent to take a question: retries, and the pauses a busy agent asks for."""
    idle_timeout: float = Field(default=120.0, gt=0)
    """Seconds without an event before the agent is asked what became of the task. Pings and what cannot be
    read do not count. Where a stream has named no task by then, the turn ends, with *Try again*."""
    quiet_notice_after: float = Field(default=45.0, gt=0)
    """Seconds without an event until a reader who sees nothing yet gets a notice."""
    turn_timeout: float = Field(default=1800.0, gt=0)
    """Seconds a whole turn may take."""
    max_event_bytes: int = Field(default=16 * 1024 * 1024, gt=0)
    """Bytes of one event; more is an error."""
    max_event_lines: int = Field(default=50_000, gt=0)
    """Lines of one event of a stream; more is an error. Measured: a thousand of them take a millisecond, in
    which nobody else is served."""
    max_turn_chars: int = Field(default=4_000_000, gt=0)
    """Characters of text kept for one turn; more is an error."""
    terminal_grace: float = Field(default=1.5, ge=0)
    """Seconds to go on reading after a terminal state, for a trailing task snapshot."""
    input_required_grace: float = Field(default=2.0, ge=0)
    """Seconds to go on reading after the agent asked, before the stream is closed from this side."""
    stop_timeout: float = Field(default=30.0, ge=0)
    """Seconds after a stop to wait for the task's id, if that is not known. Without it the agent cannot be
    stopped, and a notice says so."""
    cancel_wait: float = Field(default=2.0, gt=0)
    """Seconds that a stopped turn waits for the agent to say that its task has ended. Then the turn ends with
    the notice that the agent may still be working."""
    poll_timeout: float = Field(default=60.0, ge=0)
    """Seconds without a useful answer about a task whose stream was lost, until the bot gives it up."""
    poll_intervals: Annotated[tuple[Seconds, ...], Items] = Field(
        default=(0.5, 1.0, 1.0, 2.0, 3.0, 5.0), min_length=1
    )
    """Seconds between two polls of a task that has no stream, or has lost it; the last one repeats [obs]."""
    poll_jitter: float = Field(default=0.2, ge=0, lt=1)
    """Share by which each of those pauses is changed at random."""
    lost_notice_after: float = Field(default=15.0, ge=0)
    """Seconds without news of a task whose stream was lost, or fell silent, until a notice says so."""
    watch_after: float = Field(default=90.0, gt=0)
    """Seconds without news of a task whose stream was lost, until the turn ends with a notice and its task is
    watched: the answer comes when it is there."""
    watch_for: float = Field(default=86_400.0, gt=0)
    """Seconds for which a task is watched."""
    watch_intervals: Annotated[tuple[Seconds, ...], Items] = Field(
        default=(30.0, 60.0, 120.0, 300.0, 900.0), min_length=1
    )
    """Seconds between two questions for a watched task; the last one repeats. `poll_jitter` changes them."""
    resubscribe_03: bool = False
    """Join a lost stream again on the 0.3 wire too. Only for servers that then begin with the whole task:
    a2a-sdk 0.3 loses what came in between, stores the rest twice and may hang [obs]."""
    card_ttl: float = Field(default=300.0, ge=0)
    """Seconds an agent card is believed."""
    cookie_threads: int = Field(default=1000, ge=0)
    """Threads whose cookies of the agent's server are kept, in memory; beyond it the least recently used are
    dropped. 0: no cookie is sent back."""

    @property
    def knows_people(self) -> bool:
        """Whether each call for a question carries a token of its asker."""
        return self.identity not in CLAIMS

    @property
    def is_personal(self) -> bool:
        """Whether the agent acts with the rights of the asker, so that its answers are for that person."""
        return self.identity in PERSONAL


class StreamSettings(SettingsSection):
    """How text gets into the thread."""

    first_flush_delay: float = Field(default=0.4, ge=0)
    """Seconds from the first token of an answer to its first flush, where no line ended before."""
    unproven_delay: float = Field(default=0.8, ge=0)
    """Seconds that the first text waits where it may yet prove to be narration [obs]."""
    unproven_calls: int = Field(default=60, ge=0)
    """Calls of one answer with text that may yet be taken back; then it is shown less often. Slack takes 100
    a minute for all answers together, and one answer that proved to be none used up 98 [obs]."""
    unproven_interval: float = Field(default=5.0, ge=0)
    """Seconds between two calls with such text after those."""
    flush_interval: float = Field(default=1.0, gt=0)
    """Seconds without a line end after which text is flushed up to the last safe cut."""
    max_call_chars: int = Field(default=12_000, gt=0)
    """Characters of text in one call. Slack: 12,000."""
    card_chars: int = Field(default=256, gt=0)
    """Characters of a card's title or details in one call. Slack: 256."""
    status_chars: int = Field(default=50, gt=0)
    """Characters of a typing status [obs]."""
    status_interval: float = Field(default=1.0, ge=0)
    """Seconds between two typing statuses at least."""
    status_refresh: float = Field(default=90.0, gt=0)
    """Seconds after which the status is sent again. Slack drops it after 120."""
    retry_timeout: float = Field(default=60.0, ge=0)
    """Seconds one write may wait, in all, for a limit or an outage of Slack's to pass."""
    post_retry_timeout: float = Field(default=180.0, ge=0)
    """Seconds, in all, of longer and longer pauses in which a message that Slack refuses is posted again,
    where there is no other way to show it. What is still refused then comes as a file."""
    life: float = Field(default=300.0, gt=0)
    """Seconds of age at which Slack itself ends a message that is written live [obs]."""
    rotate_after: float = Field(default=240.0, gt=0)
    """Seconds of age at which an answer goes on in a new message. Less than `life`, with `rotate_grace`."""
    rotate_grace: float = Field(default=20.0, ge=0)
    """Seconds more that a message gets to come to the end of a line."""
    rotate_bytes: int = Field(default=9_000, gt=0)
    """Weighted bytes at which an answer goes on in a new message [obs: Slack: 11,000]."""
    max_segments: int = Field(default=20, gt=0)
    """Messages that one answer may take; a longer one comes as a file too."""
    max_extra_messages: int = Field(default=20, gt=0)
    """Messages with tables, charts and files below one answer; all behind them comes as one ZIP file. As many
    as `max_segments`: Slack takes one post a second in a channel (facts: Slack 7)."""
    max_file_bytes: int = Field(default=10 * 1024 * 1024, gt=0)
    """Bytes of a file of the agent that is shown in the thread; a larger one is named."""
    start_answer_wait: float = Field(default=3.0, ge=0)
    """Seconds to wait for the answer to the start of a stream once Slack's event names that stream."""
    edit_interval: float = Field(default=3.0, gt=0)
    """Seconds between two edits of a message, where there is no streaming. Slack: 3."""
    streaming_refusal_ttl: float = Field(default=300.0, ge=0)
    """Seconds for which streaming, edits or a form of a text are not tried again where Slack refused them."""
    task_display_mode: Literal["plan", "timeline"] = "plan"
    """How Slack groups task cards."""
    tables: Literal["auto", "yes", "no"] = "auto"
    """Whether Slack draws Markdown tables in streams [obs: told both ways]. Where not, a table waits until it
    is whole. `auto`: as `doctor --probe` or an earlier answer showed."""
    workspace_days: float = Field(default=30.0, ge=0)
    """Days for which the bot relies on what it or `doctor --probe` found missing in a workspace; 0: never."""
    max_cards: int = Field(default=200, gt=0)
    """Task cards of one answer, and no new ones once they fill half of `max_segments`: the steps beyond are
    counted in one card, so that the answer has room."""
    max_form_fields: int = Field(default=50, gt=0)
    """Fields of a question that are shown; how many more there are is said below them."""
    max_form_choices: int = Field(default=100, gt=0)
    """Choices of a field that are shown; how many more there are is said behind them."""
    auth_hosts: Texts = ()
    """Hosts to which an agent may send people to sign in (`login.acme.com`; `.acme.com` is all below it),
    with https. Empty: every host, and the person is told which it is."""


class GovernorSettings(SettingsSection):
    """Slack's budgets, shared by all answers of a workspace. A refusal lowers them for a while."""

    starts_per_minute: float = Field(default=20.0, gt=0)
    """Streams that may be started in a minute. Slack: Tier 2, 20."""
    stops_per_minute: float = Field(default=20.0, gt=0)
    """Streams that may be stopped in a minute. Slack: Tier 2, 20."""
    appends_per_minute: float = Field(default=100.0, gt=0)
    """Appends in a minute, for all streams together. Slack: Tier 4, 100."""
    updates_per_minute: float = Field(default=50.0, gt=0)
    """Edits of messages in a minute. Slack: Tier 3, 50."""
    statuses_per_minute: float = Field(default=600.0, gt=0)
    """Typing statuses in a minute. Slack: 600."""
    posts_per_second: float = Field(default=1.0, gt=0)
    """Posts in a second, in one channel. Slack: 1."""
    post_burst: float = Field(default=3.0, ge=1)
    """Posts at once, in one channel. Slack tolerates more and does not say how many."""
    reads_per_minute: float = Field(default=50.0, gt=0)
    """Reads of a thread or channel in a minute. Slack: Tier 3, 50."""
    others_per_minute: float = Field(default=20.0, gt=0)
    """Calls in a minute of every other method. Slack: Tier 2, 20, or more."""
    rate_utilization: float = Field(default=0.9, gt=0, le=1)
    """Part of these rates that is used: Slack counts when a call arrives, not when it is sent."""
    burst_share: float = Field(default=1.0, gt=0, le=1)
    """Part of a minute's calls that may be made at once after a rest. Slack does not say how many."""
    burst_horizon: float = Field(default=10.0, gt=0)
    """Seconds over which many answers at once spread what is left of a burst. Longer: longer answers keep an
    even pace; shorter: short ones are quicker."""
    recover_after: float = Field(default=60.0, gt=0)
    """Seconds without a refusal after which a lowered rate is raised by half."""
    starving_after: float = Field(default=10.0, gt=0)
    """Seconds after which text that waits for its slot counts as a card: cards cannot starve it."""
    start_slot_timeout: float = Field(default=5.0, ge=0)
    """Seconds an answer waits for a slot to start a stream; then it becomes an ordinary message."""
    share_interval: float = Field(default=0.5, gt=0)
    """Seconds between two rounds in which replicas divide these budgets. Six without Redis: it is away. A
    replica that is silent for `SLACK_BOT_STORE__LEASE`, and for twelve rounds, is gone."""


class TurnSettings(SettingsSection):
    """How turns are kept in order."""

    turn_deadline: float = Field(default=2100.0, gt=0)
    """Seconds from a turn's start to its end in Slack: the agent's time and all waiting for Slack."""
    shutdown_grace: float = Field(default=20.0, ge=0)
    """Seconds that running answers get to finish when the bot is stopped. The next process goes on with the
    rest; with `memory://` their readers get a notice. Slack's limits may stretch the end: give the process 30
    more than this."""
    max_takeovers: int = Field(default=3, ge=1)
    """Processes that go on with a turn, one after the other, until it ends with a notice."""
    follow_for: float = Field(default=86_400.0, ge=0)
    """Seconds from the last question or answer in a thread for which a mention is not needed there (see
    `respond`)."""
    max_waiting: int = Field(default=10, ge=1)
    """Questions that may wait in one thread. Who asks one more is told that it is not taken."""
    collect_delay: float = Field(default=1.5, ge=0)
    """Seconds within which a person's next lines belong to the same question, where `busy` is collect."""
    stop_grace: float = Field(default=3.0, ge=0)
    """Seconds after the end of an answer in which "stop" is about that answer, and no question: who writes it
    has not seen the end yet."""
    max_bot_turns: int = Field(default=3, ge=1)
    """Questions that bots may ask in one thread until a person writes there. See `allowed_bots`."""
    max_team_turns: int = Field(default=20, ge=0)
    """Answers of one workspace that run at once in a process, where there are several (`SLACK_BOT_TOKENS`);
    the next ones wait. 0: any number. Slack lets some twenty begin in a minute."""
    hourly_bot: int = Field(default=20, ge=0)
    """Questions that one bot may ask in an hour, in all threads; 0: any number. There a loop of two bots ends
    that begin new threads. See `allowed_bots`."""
    hourly_person: int = Field(default=0, ge=0)
    """Questions that one person may ask in an hour; 0: any number. Replicas count together."""
    hourly_channel: int = Field(default=0, ge=0)
    """Questions that may be asked in one channel in an hour; 0: any number."""
    hourly_total: int = Field(default=0, ge=0)
    """Questions that may be asked in an hour in all; 0: any number."""


class HealthSettings(SettingsSection):
    """The address that probes ask, `/livez` and `/readyz`, and Prometheus, `/metrics`."""

    host: str = "127.0.0.1"
    """Address that the port is opened on. 0.0.0.0: every address of this machine, as probes of containers
    need it."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port of health, readiness and metrics; 0: none. The container image sets 8080."""
    header_timeout: float = Field(default=5.0, gt=0)
    """Seconds for the whole head of a request to come. A probe of Kubernetes gives up after 1."""
    max_connections: int = Field(default=50, gt=0)
    """Connections at once. One more closes the oldest whose request is not being answered."""
    store_interval: float = Field(default=10.0, gt=0)
    """Seconds between two writes to the store that only check it, where there is a port."""


class LogSettings(SettingsSection):
    """Logging."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe level that is logged. Message text is logged at debug only; tokens never."""
    format: Literal["text", "json"] = "text"
    """Of the log: one line of text an entry, with its traceback below; or one JSON object an entry."""


class ReferenceSettings(SettingsSection):
    """The reference agent of `play` and `agent`: how it streams its answers, and which model it asks."""

    response_mode: Literal["hybrid", "marker", "structured"] = "hybrid"
    """What separates the answer from the model's other text: a marker in its text, with or without a
    structured response afterwards, or one field of a JSON object."""
    structured_output: bool = False
    """The final result carries the structured response as data, where it is valid; else as text."""
    pace: float = Field(default=30.0, ge=0)
    """Tokens a second that the local model writes; 0: no limit."""
    model_url: HttpUrl | None = None
    """Base URL of an OpenAI-compatible endpoint (`https://host/v1`); empty: the local model."""
    model_key: SecretStr | None = None
    """Key for that endpoint."""
    model_name: str = "gpt-4o-mini"
    """Name of the model at that endpoint."""
    model_timeout: float = Field(default=120.0, gt=0)
    """Seconds without data from that endpoint until it fails."""
    heartbeat: float = Field(default=30.0, ge=0)
    """Seconds of silence after which the agent says that it is still working; 0: never. CAIPE: 30."""
    search_calls: int = Field(default=5, ge=0)
    """Calls of `search` in one run. CAIPE: 5."""
    fetch_calls: int = Field(default=10, ge=0)
    """Calls of `fetch_document` in one run. CAIPE: 10."""
    middleware: bool = True
    """Master switch of the five below: off wins over each of them."""
    deterministic_middleware: bool = True
    """Plans come from a fixed workflow at once; off: the model takes its time for each."""
    self_service_middleware: bool = True
    """What the human is asked comes as a form with fields; off: in words only."""
    policy_middleware: bool = True
    """Each tool call is checked first, which takes 0.15 s; unknown tools are refused."""
    skills_middleware: bool = True
    """A skill that fits the question is announced, and given to the model."""
    file_arg_middleware: bool = True
    """A tool's argument that names a bundled page as `@page.md` becomes that page's name."""

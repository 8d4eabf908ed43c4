-- Version 4: what the bot says without a question from Slack (data: JSON, an OutboundRecord), and raw events of
-- the agent, where a setting asks for them (data: JSON, an A2A result).

CREATE TABLE outbound (
    key         TEXT PRIMARY KEY,
    user        TEXT NOT NULL,
    accepted_at REAL NOT NULL,
    ended_at    REAL,
    data        TEXT NOT NULL
);
CREATE INDEX outbound_unfinished ON outbound (accepted_at) WHERE ended_at IS NULL;

CREATE TABLE events (
    turn TEXT NOT NULL,
    at   REAL NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX events_by_turn ON events (turn);

-- Version 4: what the bot says without a question from Slack. data: JSON, an OutboundRecord.

CREATE TABLE outbound (
    key         TEXT PRIMARY KEY,
    user        TEXT NOT NULL,
    accepted_at REAL NOT NULL,
    ended_at    REAL,
    data        TEXT NOT NULL
);
CREATE INDEX outbound_unfinished ON outbound (accepted_at) WHERE ended_at IS NULL;

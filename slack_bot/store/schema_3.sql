-- Version 3: accepted questions are kept as turns, with what Slack confirmed of their answers, so that another
-- process can finish them. data: JSON, a TurnRecord without its messages, or a MessageRecord.

CREATE TABLE turns (
    key         TEXT PRIMARY KEY,
    team        TEXT NOT NULL,
    channel     TEXT NOT NULL,
    thread      TEXT NOT NULL,
    user        TEXT NOT NULL,
    accepted_at REAL NOT NULL,
    ended_at    REAL,
    data        TEXT
);
CREATE INDEX turns_unfinished ON turns (accepted_at) WHERE ended_at IS NULL;
CREATE INDEX turns_by_thread ON turns (team, channel, thread);
CREATE INDEX turns_by_age ON turns (accepted_at);

CREATE TABLE messages (
    turn   TEXT NOT NULL,
    number INTEGER NOT NULL,
    ts     TEXT NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (turn, number)
) WITHOUT ROWID;

INSERT INTO turns (key, team, channel, thread, user, accepted_at, ended_at)
SELECT key, '', '', '', '', at, at FROM accepted;
DROP TABLE accepted;

ALTER TABLE contexts RENAME TO conversations;
ALTER TABLE presses RENAME TO feedback;
ALTER TABLE lore RENAME TO profiles;

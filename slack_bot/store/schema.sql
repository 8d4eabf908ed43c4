-- Version 1. Times are seconds since 1970 (UTC). A later version is another file and a step in sqlite.py:
-- this one stays as it is, because every file of a store begins here.

CREATE TABLE accepted (
    key TEXT PRIMARY KEY,
    at  REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX accepted_at ON accepted (at);

CREATE TABLE contexts (
    agent      TEXT NOT NULL,
    team       TEXT NOT NULL,
    channel    TEXT NOT NULL,
    thread     TEXT NOT NULL,
    context_id TEXT,
    task_id    TEXT,
    asked_user TEXT,
    at         REAL NOT NULL,
    PRIMARY KEY (agent, team, channel, thread)
) WITHOUT ROWID;

CREATE TABLE presses (
    turn  TEXT NOT NULL,
    user  TEXT NOT NULL,
    value TEXT NOT NULL,
    at    REAL NOT NULL,
    PRIMARY KEY (turn, user)
) WITHOUT ROWID;

CREATE TABLE lore (
    agent TEXT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    at    REAL NOT NULL,
    PRIMARY KEY (agent, name)
) WITHOUT ROWID;

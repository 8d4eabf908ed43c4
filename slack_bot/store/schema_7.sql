-- Version 7: forms of agents that stand in threads. data: JSON, an OpenForm; ended_by: who has answered; at:
-- when it was shown.

CREATE TABLE forms (
    handle   TEXT PRIMARY KEY,
    team     TEXT NOT NULL,
    channel  TEXT NOT NULL,
    thread   TEXT NOT NULL,
    user     TEXT NOT NULL,
    ended_by TEXT NOT NULL,
    at       REAL NOT NULL,
    data     TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX forms_by_thread ON forms (team, channel, thread);
CREATE INDEX forms_by_age ON forms (at);

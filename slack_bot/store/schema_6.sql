-- Version 6: what of a thread its agent has heard (JSON, a list of `ts`), and what was said in threads where it
-- cannot be read later (data: JSON, a ThreadMessage; at: when it was said).

ALTER TABLE conversations ADD COLUMN heard TEXT NOT NULL DEFAULT '[]';

CREATE TABLE overheard (
    team    TEXT NOT NULL,
    channel TEXT NOT NULL,
    thread  TEXT NOT NULL,
    ts      TEXT NOT NULL,
    user    TEXT NOT NULL,
    at      REAL NOT NULL,
    data    TEXT NOT NULL,
    PRIMARY KEY (team, channel, thread, ts)
) WITHOUT ROWID;
CREATE INDEX overheard_by_user ON overheard (user);
CREATE INDEX overheard_by_age ON overheard (at);

-- Version 5: threads of channels in which the bot was asked, and may be asked without a mention. data: JSON, a
-- ThreadState.

CREATE TABLE threads (
    team    TEXT NOT NULL,
    channel TEXT NOT NULL,
    thread  TEXT NOT NULL,
    asker   TEXT NOT NULL,
    at      REAL NOT NULL,
    data    TEXT NOT NULL,
    PRIMARY KEY (team, channel, thread)
) WITHOUT ROWID;
CREATE INDEX threads_by_asker ON threads (asker);

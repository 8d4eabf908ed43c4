-- Version 9: everything beside turns is a record of a collection (store/collection.py). key: JSON, a list of
-- strings, as `record_key` writes it (`json_text`, unlike SQLite's own, keeps what follows a zero character); at: from when its age counts, NULL: not yet; due: when something is to be
-- done with it; data: JSON. people: by whom records are looked for, in collections that say so.

CREATE TABLE records (
    collection TEXT NOT NULL,
    key        TEXT NOT NULL,
    team       TEXT,
    channel    TEXT,
    thread     TEXT,
    at         REAL,
    due        REAL,
    data       TEXT NOT NULL,
    PRIMARY KEY (collection, key)
) WITHOUT ROWID;
CREATE INDEX records_by_thread ON records (collection, team, channel, thread) WHERE team IS NOT NULL;
CREATE INDEX records_by_age ON records (collection, at);
CREATE INDEX records_by_due ON records (collection, due) WHERE due IS NOT NULL;

CREATE TABLE people (
    collection TEXT NOT NULL,
    key        TEXT NOT NULL,
    user       TEXT NOT NULL,
    team       TEXT NOT NULL,
    PRIMARY KEY (collection, key, user, team)
) WITHOUT ROWID;
CREATE INDEX people_by_user ON people (collection, user, team);

INSERT INTO records
SELECT 'conversations', record_key(agent, team, channel, thread), team, channel, thread, at, NULL,
       '{"context_id":' || json_text(context_id) || ',"waits":' || waits || ',"heard":' || heard || '}'
  FROM conversations;
INSERT INTO records
SELECT 'profiles', record_key(agent), NULL, NULL, NULL, max(at), NULL,
       '{' || group_concat(json_text(name) || ':' || json_text(value)) || '}'
  FROM profiles GROUP BY agent;
INSERT INTO records
SELECT 'overheard', record_key(team, channel, thread, ts), team, channel, thread, at, NULL, data FROM overheard;
INSERT INTO records
SELECT 'threads', record_key(team, channel, thread), team, channel, thread, at, NULL, data FROM threads;
INSERT INTO records
SELECT 'feedback', record_key(turn, user), NULL, NULL, NULL, at, due, data FROM feedback;
INSERT INTO records
SELECT 'forms', record_key(handle), team, channel, thread, at, NULL, data FROM forms;
INSERT INTO records
SELECT 'outbound', record_key(key), NULL, NULL, NULL, ended_at,
       CASE WHEN ended_at IS NULL THEN accepted_at END, data
  FROM outbound;
INSERT OR IGNORE INTO people
SELECT 'forms', record_key(handle), user, team FROM forms WHERE user <> ''
UNION SELECT 'forms', record_key(handle), ended_by, team FROM forms WHERE ended_by <> '';

DROP TABLE conversations;
DROP TABLE profiles;
DROP TABLE overheard;
DROP TABLE threads;
DROP TABLE feedback;
DROP TABLE forms;
DROP TABLE outbound;

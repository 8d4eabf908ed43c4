-- Version 2: an agent may wait for several people in a thread, each with a task of their own.
-- waits: JSON, user to task id, who was asked last stands last. The table is written anew because not every
-- SQLite in use can drop a column (3.35).

CREATE TABLE contexts_2 (
    agent      TEXT NOT NULL,
    team       TEXT NOT NULL,
    channel    TEXT NOT NULL,
    thread     TEXT NOT NULL,
    context_id TEXT,
    waits      TEXT NOT NULL,
    at         REAL NOT NULL,
    PRIMARY KEY (agent, team, channel, thread)
) WITHOUT ROWID;

INSERT INTO contexts_2 (agent, team, channel, thread, context_id, waits, at)
SELECT agent, team, channel, thread, context_id,
       CASE WHEN task_id IS NULL OR asked_user IS NULL THEN '{}' ELSE json_object(asked_user, task_id) END,
       at
  FROM contexts;

DROP TABLE contexts;
ALTER TABLE contexts_2 RENAME TO contexts;

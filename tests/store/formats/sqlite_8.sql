BEGIN TRANSACTION;
CREATE TABLE "conversations" (
    agent      TEXT NOT NULL,
    team       TEXT NOT NULL,
    channel    TEXT NOT NULL,
    thread     TEXT NOT NULL,
    context_id TEXT,
    waits      TEXT NOT NULL,
    at         REAL NOT NULL, heard TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (agent, team, channel, thread)
) WITHOUT ROWID;
INSERT INTO "conversations" VALUES('a''gent','T''1','C"1','1;-- 😀','ctx:','{}',1790000000.0,'[]');
INSERT INTO "conversations" VALUES('agent','T1','C1','111.222','ctx','{"U2": "two", "U''1": "ta\"sk"}',1790000000.0,'["1.0", "2.0"]');
CREATE TABLE events (
    turn TEXT NOT NULL,
    at   REAL NOT NULL,
    data TEXT NOT NULL
);
INSERT INTO "events" VALUES('T1:C1:1.0',1790000001.0,'{"n": 1}');
CREATE TABLE "feedback" (
    turn  TEXT NOT NULL,
    user  TEXT NOT NULL,
    value TEXT NOT NULL,
    at    REAL NOT NULL, data TEXT NOT NULL DEFAULT '', due REAL,
    PRIMARY KEY (turn, user)
) WITHOUT ROWID;
INSERT INTO "feedback" VALUES('T1:C1:1.0','U"2','positive',1790000000.0,'{"turn":"T1:C1:1.0","user":"U\"2","value":"positive","at":1790000000.0,"reasons":[],"words":"","task_id":null,"context_id":null,"trace_id":null,"unsent":[],"due":null,"tries":0}',NULL);
INSERT INTO "feedback" VALUES('T1:C1:1.0','U1','negative',1790000000.0,'{"turn":"T1:C1:1.0","user":"U1","value":"negative","at":1790000000.0,"reasons":["Wrong"],"words":"no 😀","task_id":"task","context_id":"ctx","trace_id":"trace","unsent":["webhook"],"due":1790000000.0,"tries":0}',1790000000.0);
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
INSERT INTO "forms" VALUES('h1','T1','C1','111.222','U1','',1790000000.0,'{"handle":"h1","turn":"T1:C1:1.0","thread":{"team":"T1","channel":"C1","ts":"111.222"},"user":"U1","user_team":"T1","task_id":"task","form":{"prompt":"Which? 😀","fields":[{"name":"env","label":"Where?","kind":"select","choices":[{"value":"p","label":"Prod"}],"required":false,"help":"","default":"p","is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":3.0,"pattern":"","hidden_choices":0},{"name":"n","label":"","kind":"number","choices":[],"required":false,"help":"","default":2.5,"is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":null,"pattern":"","hidden_choices":0},{"name":"on","label":"","kind":"text","choices":[],"required":false,"help":"","default":true,"is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":null,"pattern":"","hidden_choices":0},{"name":"l","label":"","kind":"text","choices":[],"required":false,"help":"","default":["a"],"is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":null,"pattern":"","hidden_choices":0}],"title":"","kind":"input","hidden_fields":0,"is_told":false,"takes_words":true,"calls":[],"may_edit":false,"url":"","reply":{"name":"adk","data":"{\"id\": 1}"}},"opened_at":1790000000.0,"context_id":null,"message":null,"taken_by":"","ended_by":"","ended_at":null}');
INSERT INTO "forms" VALUES('h2','T1','C1','111.222','U2','U1',1790000001.0,'{"handle":"h2","turn":"T1:C1:1.0","thread":{"team":"T1","channel":"C1","ts":"111.222"},"user":"U2","user_team":"T1","task_id":"task","form":{"prompt":"Which? 😀","fields":[{"name":"env","label":"Where?","kind":"select","choices":[{"value":"p","label":"Prod"}],"required":false,"help":"","default":"p","is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":3.0,"pattern":"","hidden_choices":0},{"name":"n","label":"","kind":"number","choices":[],"required":false,"help":"","default":2.5,"is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":null,"pattern":"","hidden_choices":0},{"name":"on","label":"","kind":"text","choices":[],"required":false,"help":"","default":true,"is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":null,"pattern":"","hidden_choices":0},{"name":"l","label":"","kind":"text","choices":[],"required":false,"help":"","default":["a"],"is_secret":false,"is_long":false,"is_whole":false,"least":null,"most":null,"pattern":"","hidden_choices":0}],"title":"","kind":"input","hidden_fields":0,"is_told":false,"takes_words":true,"calls":[],"may_edit":false,"url":"","reply":{"name":"adk","data":"{\"id\": 1}"}},"opened_at":1790000001.0,"context_id":null,"message":null,"taken_by":"key","ended_by":"U1","ended_at":1790000002.0}');
CREATE TABLE messages (
    turn   TEXT NOT NULL,
    number INTEGER NOT NULL,
    ts     TEXT NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (turn, number)
) WITHOUT ROWID;
INSERT INTO "messages" VALUES('T1:C1:1.0',0,'5.1','{"ts":"5.1","surface":"stream","opening":"","body":"Hi","closing":"","title":"","cards":[],"is_open":false}');
CREATE TABLE outbound (
    key         TEXT PRIMARY KEY,
    user        TEXT NOT NULL,
    accepted_at REAL NOT NULL,
    ended_at    REAL,
    data        TEXT NOT NULL
);
INSERT INTO "outbound" VALUES('said','U1',1790000000.0,1790000003.0,'{"key":"said","message":{"text":"hi","channel":"","user":"U1","thread_ts":"","headline":"","is_question":false},"accepted_at":1790000000.0,"is_begun":true,"posted":["9.0"],"turn":null,"link":"l","error":null,"ended_at":1790000003.0}');
INSERT INTO "outbound" VALUES('waits','U1',1790000000.0,NULL,'{"key":"waits","message":{"text":"hi","channel":"","user":"U1","thread_ts":"","headline":"","is_question":false},"accepted_at":1790000000.0,"is_begun":false,"posted":[],"turn":null,"link":"","error":null,"ended_at":null}');
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
INSERT INTO "overheard" VALUES('T1','C1','111.222','1790000000.000000','U0',1790000000.0,'{"ts":"1790000000.000000","author":"U0","kind":"person","text":"words","files":["a.txt"],"name":"Pager","is_own":false}');
INSERT INTO "overheard" VALUES('T1','C1','111.222','1790000001.000000','U1',1790000001.0,'{"ts":"1790000001.000000","author":"U1","kind":"person","text":"words","files":["a.txt"],"name":"Pager","is_own":false}');
CREATE TABLE "profiles" (
    agent TEXT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    at    REAL NOT NULL,
    PRIMARY KEY (agent, name)
) WITHOUT ROWID;
INSERT INTO "profiles" VALUES('agent','ans"wer','artifact 😀',1790000000.0);
INSERT INTO "profiles" VALUES('agent','wire','1.0',1790000000.0);
CREATE TABLE threads (
    team    TEXT NOT NULL,
    channel TEXT NOT NULL,
    thread  TEXT NOT NULL,
    asker   TEXT NOT NULL,
    at      REAL NOT NULL,
    data    TEXT NOT NULL,
    PRIMARY KEY (team, channel, thread)
) WITHOUT ROWID;
INSERT INTO "threads" VALUES('T1','C1','111.222','U1',1790000000.0,'{"asker":"U1","since":1790000000.0,"active_at":1790000000.0,"has_others":false,"is_shown":true,"stopped_at":null,"is_unread":false,"told":null}');
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
INSERT INTO "turns" VALUES('T1:C1:1.0','T1','C1','111.222','U1',1790000000.0,1790000002.0,'{"question":{"thread":{"team":"T1","channel":"C1","ts":"111.222"},"ts":"1.0","user":"U1","user_team":"T1","text":"hi","asker_is_bot":false,"context_id":null,"task_id":null,"attempt":0,"references":[],"is_ext_shared":null,"merged":[],"form":null,"answer":null,"handle":"","answered_by":"","files":[],"viewing":[]},"accepted_at":1790000000.0,"stage":"ended","sent_at":null,"baseline":null,"task_id":null,"context_id":null,"trace_id":null,"heard":null,"extras":[],"takeovers":0,"stopped_by":null,"watched_at":null,"push_id":null,"push_hash":null,"ended_at":1790000002.0,"outcome":null,"reworded":"","reason":"","said":""}');
INSERT INTO "turns" VALUES('T1:C1:2.0','T1','C1','111.222','U1',1790000001.0,NULL,'{"question":{"thread":{"team":"T1","channel":"C1","ts":"111.222"},"ts":"2.0","user":"U1","user_team":"T1","text":"hi","asker_is_bot":false,"context_id":null,"task_id":null,"attempt":0,"references":[],"is_ext_shared":null,"merged":[],"form":null,"answer":null,"handle":"","answered_by":"","files":[],"viewing":[]},"accepted_at":1790000001.0,"stage":"accepted","sent_at":null,"baseline":null,"task_id":null,"context_id":null,"trace_id":null,"heard":null,"extras":[],"takeovers":0,"stopped_by":null,"watched_at":null,"push_id":null,"push_hash":null,"ended_at":null,"outcome":null,"reworded":"","reason":"","said":""}');
CREATE INDEX turns_unfinished ON turns (accepted_at) WHERE ended_at IS NULL;
CREATE INDEX turns_by_thread ON turns (team, channel, thread);
CREATE INDEX turns_by_age ON turns (accepted_at);
CREATE INDEX outbound_unfinished ON outbound (accepted_at) WHERE ended_at IS NULL;
CREATE INDEX events_by_turn ON events (turn);
CREATE INDEX threads_by_asker ON threads (asker);
CREATE INDEX overheard_by_user ON overheard (user);
CREATE INDEX overheard_by_age ON overheard (at);
CREATE INDEX forms_by_thread ON forms (team, channel, thread);
CREATE INDEX forms_by_age ON forms (at);
CREATE INDEX feedback_by_due ON feedback (due) WHERE due IS NOT NULL;
COMMIT;
PRAGMA user_version = 8;

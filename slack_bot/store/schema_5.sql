-- Version 5: raw events of the agent, where a setting asks for them. data: JSON, an A2A result.

CREATE TABLE events (
    turn TEXT NOT NULL,
    at   REAL NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX events_by_turn ON events (turn);

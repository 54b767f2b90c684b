"""The tables of the history, and how an older file becomes one of today."""

from __future__ import annotations

_VERSION_1 = """
CREATE TABLE workspaces (path TEXT PRIMARY KEY, track TEXT NOT NULL, used REAL NOT NULL);
CREATE TABLE texts (hash TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
    reason TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX snapshots_by_path ON snapshots (path, id);
CREATE TABLE checks (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, path TEXT NOT NULL, track TEXT NOT NULL,
    hash TEXT NOT NULL, verdict TEXT NOT NULL, seconds REAL NOT NULL
);
CREATE TABLE verdicts (
    check_id INTEGER NOT NULL REFERENCES checks (id), target TEXT NOT NULL,
    verdict TEXT NOT NULL, bug TEXT, PRIMARY KEY (check_id, target)
);
CREATE INDEX checks_by_path ON checks (path, id);
CREATE TABLE hints (
    path TEXT NOT NULL, target TEXT NOT NULL, level INTEGER NOT NULL, at REAL NOT NULL
);
"""

_VERSION_2 = """
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, beat REAL NOT NULL, track TEXT NOT NULL,
    kind TEXT NOT NULL, target TEXT NOT NULL, state TEXT NOT NULL, folder TEXT NOT NULL,
    file TEXT NOT NULL, pid INTEGER NOT NULL, born REAL NOT NULL,
    run_s REAL NOT NULL, paused_s REAL NOT NULL, slept_s REAL NOT NULL
);
CREATE INDEX attempts_by_state ON attempts (state);
CREATE TABLE splits (
    attempt_id INTEGER NOT NULL REFERENCES attempts (id), target TEXT NOT NULL,
    at REAL NOT NULL, run_s REAL NOT NULL, took_s REAL NOT NULL, hints INTEGER NOT NULL,
    outcome TEXT NOT NULL, PRIMARY KEY (attempt_id, target)
) WITHOUT ROWID;
CREATE TABLE saves (
    attempt_id INTEGER NOT NULL REFERENCES attempts (id), snapshot_id INTEGER NOT NULL,
    run_s REAL NOT NULL, target TEXT NOT NULL, verdict TEXT NOT NULL, bug TEXT,
    message TEXT NOT NULL
);
CREATE INDEX saves_by_attempt ON saves (attempt_id);
CREATE TABLE attempt_hints (
    attempt_id INTEGER NOT NULL REFERENCES attempts (id), target TEXT NOT NULL,
    level INTEGER NOT NULL, run_s REAL NOT NULL
);
CREATE INDEX attempt_hints_by_attempt ON attempt_hints (attempt_id);
CREATE TABLE cards (
    track TEXT NOT NULL, target TEXT NOT NULL, card TEXT NOT NULL, due REAL NOT NULL,
    PRIMARY KEY (track, target)
);
"""

_VERSION_3 = """
CREATE TABLE answers (
    attempt_id INTEGER NOT NULL REFERENCES attempts (id), run_s REAL NOT NULL,
    took_s REAL NOT NULL, question TEXT NOT NULL, given TEXT NOT NULL, verdict TEXT NOT NULL,
    bug TEXT, message TEXT NOT NULL
);
CREATE INDEX answers_by_attempt ON answers (attempt_id);
CREATE TABLE traces (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempts (id), seed INTEGER NOT NULL
);
"""

# What the figures ask for stands in the rows themselves, in the order they ask for it.
_VERSION_4 = """
ALTER TABLE splits ADD COLUMN track TEXT NOT NULL DEFAULT '';
ALTER TABLE splits ADD COLUMN alone INTEGER NOT NULL DEFAULT 1;
UPDATE splits SET (track, alone) = (SELECT track, kind != 'full' FROM attempts
    WHERE id = attempt_id) WHERE attempt_id IN (SELECT id FROM attempts);
CREATE INDEX splits_by_time ON splits (track, target, alone, outcome, took_s);
CREATE INDEX splits_by_target ON splits (track, target, alone);
CREATE INDEX attempts_by_time ON attempts (track, kind, state, run_s);
ALTER TABLE saves ADD COLUMN track TEXT NOT NULL DEFAULT '';
ALTER TABLE saves ADD COLUMN until_s REAL;
UPDATE saves SET track = coalesce((SELECT track FROM attempts WHERE id = attempt_id), ''),
    until_s = (SELECT min(run_s) FROM saves AS later
        WHERE later.attempt_id = saves.attempt_id AND later.rowid > saves.rowid);
CREATE INDEX saves_by_bug ON saves (track, target, bug, run_s, until_s) WHERE bug IS NOT NULL;
"""

MIGRATIONS = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4)
"""What brings a file from version i to version i + 1."""

VERSION = len(MIGRATIONS)

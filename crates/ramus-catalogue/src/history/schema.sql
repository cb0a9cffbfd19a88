CREATE TABLE history(
    id         INTEGER PRIMARY KEY,
    prompt     TEXT NOT NULL,
    created_at INTEGER NOT NULL, -- milliseconds since 1970
    cwd        TEXT NOT NULL,
    folded     TEXT NOT NULL     -- the prompt in lower case, which is what is looked at
);
CREATE VIRTUAL TABLE history_fts USING fts5(
    folded, content = 'history', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
);
-- What is forgotten leaves no traces in the index.
INSERT INTO history_fts(history_fts, rank) VALUES('secure-delete', 1);
CREATE TRIGGER history_added AFTER INSERT ON history BEGIN
    INSERT INTO history_fts(rowid, folded) VALUES(new.id, new.folded);
END;
CREATE TRIGGER history_removed AFTER DELETE ON history BEGIN
    INSERT INTO history_fts(history_fts, rowid, folded) VALUES('delete', old.id, old.folded);
END;
CREATE TRIGGER history_changed AFTER UPDATE ON history BEGIN
    INSERT INTO history_fts(history_fts, rowid, folded) VALUES('delete', old.id, old.folded);
    INSERT INTO history_fts(rowid, folded) VALUES(new.id, new.folded);
END;

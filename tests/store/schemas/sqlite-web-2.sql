CREATE TABLE web_schema_version (version INTEGER NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE embed (id TEXT NOT NULL, organization_id TEXT NOT NULL, maker TEXT NOT NULL, key_id TEXT, granted TEXT, view_name TEXT NOT NULL, devices TEXT NOT NULL, metric TEXT, origins TEXT NOT NULL, window_s INTEGER, from_ms INTEGER, to_ms INTEGER, zone TEXT NOT NULL, units TEXT NOT NULL, theme TEXT NOT NULL, controls TEXT NOT NULL, title TEXT NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER, revoked_ms INTEGER, notes INTEGER NOT NULL DEFAULT 0, compare TEXT NOT NULL DEFAULT '', PRIMARY KEY (id)) STRICT, WITHOUT ROWID;
CREATE INDEX embed_by_organization ON embed (organization_id, created_ms);
CREATE TABLE web_audit (id TEXT NOT NULL, at_ms INTEGER NOT NULL, organization_id TEXT NOT NULL, author TEXT NOT NULL, kind TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL, before_value TEXT, after_value TEXT, reason TEXT NOT NULL, PRIMARY KEY (id)) STRICT, WITHOUT ROWID;
CREATE INDEX web_audit_by_time ON web_audit (organization_id, at_ms, id);
INSERT INTO web_schema_version VALUES (1);
INSERT INTO web_schema_version VALUES (2);
INSERT INTO embed VALUES ('embed_1', 'acme', 'reader', 'key_1', NULL, 'tile', '["a2a1279f-d474-4d4d-8896-5d852b0ae3cf"]', 'flow_rate', '["https://a.example"]', 86400, NULL, NULL, 'Europe/Berlin', 'si', 'dark', '[]', 'Keller', 1772928000000, NULL, NULL, 0, '');
INSERT INTO web_audit VALUES ('2bcff76f748743f3965769f224d92c02', 1772928000000, 'acme', 'key_1', 'correction', 'create', 'c-1', NULL, '{"n":1}', '');

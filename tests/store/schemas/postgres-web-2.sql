SELECT pg_catalog.set_config('search_path', '', false);
CREATE TABLE public.embed (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    maker text NOT NULL COLLATE pg_catalog."C",
    key_id text COLLATE pg_catalog."C",
    granted text COLLATE pg_catalog."C",
    view_name text NOT NULL COLLATE pg_catalog."C",
    devices text NOT NULL COLLATE pg_catalog."C",
    metric text COLLATE pg_catalog."C",
    origins text NOT NULL COLLATE pg_catalog."C",
    window_s bigint,
    from_ms bigint,
    to_ms bigint,
    zone text NOT NULL COLLATE pg_catalog."C",
    units text NOT NULL COLLATE pg_catalog."C",
    theme text NOT NULL COLLATE pg_catalog."C",
    controls text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL,
    expires_ms bigint,
    revoked_ms bigint,
    notes bigint DEFAULT 0 NOT NULL,
    compare text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.web_audit (
    id text NOT NULL COLLATE pg_catalog."C",
    at_ms bigint NOT NULL,
    organization_id text NOT NULL COLLATE pg_catalog."C",
    author text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    before_value text COLLATE pg_catalog."C",
    after_value text COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.web_schema_version (
    version bigint NOT NULL
);
INSERT INTO public.embed VALUES
	('embed_1', 'acme', 'reader', 'key_1', NULL, 'tile', '["a2a1279f-d474-4d4d-8896-5d852b0ae3cf"]', 'flow_rate', '["https://a.example"]', 86400, NULL, NULL, 'Europe/Berlin', 'si', 'dark', '[]', 'Keller', 1772928000000, NULL, NULL, 0, '');
INSERT INTO public.web_audit VALUES
	('78ad183540dd47038a6fb244ed579852', 1772928000000, 'acme', 'key_1', 'correction', 'create', 'c-1', NULL, '{"n":1}', '');
INSERT INTO public.web_schema_version VALUES
	(1),
	(2);
ALTER TABLE ONLY public.embed
    ADD CONSTRAINT embed_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.web_audit
    ADD CONSTRAINT web_audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.web_schema_version
    ADD CONSTRAINT web_schema_version_pkey PRIMARY KEY (version);
CREATE INDEX embed_by_organization ON public.embed USING btree (organization_id, created_ms);
CREATE INDEX web_audit_by_time ON public.web_audit USING btree (organization_id, at_ms, id);

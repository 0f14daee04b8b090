SELECT pg_catalog.set_config('search_path', '', false);
CREATE TABLE public.alert (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    rule_id text NOT NULL COLLATE pg_catalog."C",
    device_key bigint NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    rank integer NOT NULL,
    cost_per_day double precision,
    start_ms bigint NOT NULL,
    fired_ms bigint,
    resolved_ms bigint,
    due_ms bigint,
    acknowledged_ms bigint,
    group_id text COLLATE pg_catalog."C",
    data text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.alert_clock (
    name text NOT NULL COLLATE pg_catalog."C",
    at_ms bigint NOT NULL
);
CREATE TABLE public.alert_due (
    device_id bigint NOT NULL,
    mark bigint NOT NULL
);
CREATE TABLE public.alert_message (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    receiver_id text NOT NULL COLLATE pg_catalog."C",
    thread text NOT NULL COLLATE pg_catalog."C",
    place bigint NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL,
    due_ms bigint NOT NULL,
    attempts bigint NOT NULL,
    done_ms bigint,
    response text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.alert_receiver (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    config text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL COLLATE pg_catalog."C",
    enabled integer NOT NULL,
    trouble text NOT NULL COLLATE pg_catalog."C",
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL
);
CREATE TABLE public.alert_rule (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    enabled integer NOT NULL,
    live integer NOT NULL,
    definition text NOT NULL COLLATE pg_catalog."C",
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL
);
CREATE TABLE public.alert_silence (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    rule_id text COLLATE pg_catalog."C",
    device_id text COLLATE pg_catalog."C",
    group_name text COLLATE pg_catalog."C",
    subject text COLLATE pg_catalog."C",
    from_ms bigint NOT NULL,
    until_ms bigint NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL
);
CREATE TABLE public.annotation (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    device_key bigint,
    group_name text COLLATE pg_catalog."C",
    from_ms bigint NOT NULL,
    to_ms bigint,
    body text NOT NULL COLLATE pg_catalog."C",
    repeats text NOT NULL COLLATE pg_catalog."C",
    until_ms bigint,
    zone text NOT NULL COLLATE pg_catalog."C",
    metrics text NOT NULL COLLATE pg_catalog."C",
    factor double precision,
    created_ms bigint NOT NULL,
    created_by text NOT NULL COLLATE pg_catalog."C",
    changed_ms bigint,
    changed_by text COLLATE pg_catalog."C",
    ended_ms bigint,
    ended_by text COLLATE pg_catalog."C",
    end_reason text COLLATE pg_catalog."C"
);
CREATE TABLE public.api_key (
    key_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    everything integer NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint,
    revoked_ms bigint
);
CREATE TABLE public.audit (
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
CREATE TABLE public.billing (
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    definition text NOT NULL COLLATE pg_catalog."C",
    due_ms bigint,
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL
);
CREATE TABLE public.device (
    key bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    serial_number text NOT NULL COLLATE pg_catalog."C",
    network_unique_identifier text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C",
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    installed_on_ms bigint NOT NULL,
    installed integer NOT NULL,
    active integer NOT NULL,
    cost_per_gallon text NOT NULL COLLATE pg_catalog."C",
    alerts_active integer NOT NULL,
    k_factor text NOT NULL COLLATE pg_catalog."C",
    time_zone text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    reseller_id text COLLATE pg_catalog."C",
    distributor_id text COLLATE pg_catalog."C",
    config text COLLATE pg_catalog."C",
    billing_subscriptions text NOT NULL COLLATE pg_catalog."C",
    reporting_interval_s double precision
);
CREATE TABLE public.device_ancestor (
    device_key bigint NOT NULL,
    ancestor_key bigint NOT NULL,
    depth bigint NOT NULL
);
CREATE TABLE public.device_group (
    name text NOT NULL COLLATE pg_catalog."C",
    device_key bigint NOT NULL
);
CREATE TABLE public.device_status (
    device_id bigint NOT NULL,
    as_of_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    due_ms bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    seen_ms bigint,
    cadence_ms bigint NOT NULL,
    event_driven integer NOT NULL,
    bucket_ms bigint NOT NULL,
    flow double precision,
    signal_strength double precision,
    network_rssi double precision,
    actual_1h bigint NOT NULL,
    expected_1h bigint NOT NULL,
    quality_min_1h double precision,
    quality_max_1h double precision,
    actual_24h bigint NOT NULL,
    expected_24h bigint NOT NULL,
    quality_min_24h double precision,
    quality_max_24h double precision,
    actual_7d bigint NOT NULL,
    expected_7d bigint NOT NULL,
    quality_min_7d double precision,
    quality_max_7d double precision,
    actual_30d bigint NOT NULL,
    expected_30d bigint NOT NULL,
    quality_min_30d double precision,
    quality_max_30d double precision,
    volume_today double precision,
    volume_month double precision,
    volume_usual double precision,
    price double precision,
    currency text NOT NULL COLLATE pg_catalog."C",
    searched text NOT NULL COLLATE pg_catalog."C",
    maker text NOT NULL COLLATE pg_catalog."C",
    findings text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    finding_rank integer,
    finding_cost double precision
);
CREATE TABLE public.finding (
    device_id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    opened_ms bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    severity text NOT NULL COLLATE pg_catalog."C",
    start_ms bigint NOT NULL,
    end_ms bigint,
    value double precision NOT NULL,
    unit text NOT NULL COLLATE pg_catalog."C",
    usual double precision,
    gallons double precision,
    cost_per_day double precision,
    words text NOT NULL COLLATE pg_catalog."C",
    offers_new_normal integer NOT NULL,
    rank integer NOT NULL,
    usual_per_day double precision NOT NULL,
    dismissed_ms bigint,
    dismissed_by text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    judgement text COLLATE pg_catalog."C"
);
CREATE TABLE public.finding_state (
    device_id bigint NOT NULL,
    version bigint NOT NULL,
    basis text NOT NULL COLLATE pg_catalog."C",
    updated_ms bigint NOT NULL,
    next_ms bigint NOT NULL,
    as_of_ms bigint,
    made_ms bigint NOT NULL,
    due_ms bigint,
    data bytea NOT NULL
);
CREATE TABLE public.holiday (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    day text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.hour_counter (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    n integer NOT NULL,
    n_1min integer NOT NULL,
    n_5min integer NOT NULL,
    n_10min integer NOT NULL
);
CREATE TABLE public.import_progress (
    digest text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    stored bigint NOT NULL,
    repeated bigint NOT NULL,
    refused bigint NOT NULL,
    complete integer NOT NULL
);
CREATE TABLE public.insight_due (
    device_id bigint NOT NULL,
    status_ms bigint,
    findings_ms bigint,
    seq bigint NOT NULL
);
CREATE TABLE public.insight_setting (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    level text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value double precision NOT NULL
);
CREATE TABLE public.key_grant (
    key_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.key_use (
    key_id text NOT NULL COLLATE pg_catalog."C",
    used_ms bigint NOT NULL
);
CREATE TABLE public.month_end (
    device_id bigint NOT NULL,
    as_of_ms bigint NOT NULL,
    due_ms bigint NOT NULL,
    month text NOT NULL COLLATE pg_catalog."C",
    so_far double precision,
    expected double precision,
    low80 double precision,
    high80 double precision,
    low95 double precision,
    high95 double precision,
    cost_so_far double precision,
    cost_expected double precision,
    cost_low80 double precision,
    cost_high80 double precision,
    cost_low95 double precision,
    cost_high95 double precision,
    currency text NOT NULL COLLATE pg_catalog."C",
    tariff text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.organization (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    active integer NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    default_cost_per_gallon double precision,
    account_organizations text COLLATE pg_catalog."C",
    subscriptions text COLLATE pg_catalog."C"
);
CREATE TABLE public.organization_setting (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.reading (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    flow_rate double precision,
    flow_duration double precision,
    flow_amount double precision,
    quality double precision,
    signal_strength double precision,
    network_rssi double precision,
    onboard_temperature double precision,
    seq integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.reading_original (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    flow_rate double precision,
    flow_duration double precision,
    flow_amount double precision,
    quality double precision,
    signal_strength double precision,
    network_rssi double precision,
    onboard_temperature double precision,
    seq integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.refusal (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    device text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    first_seen_ms bigint NOT NULL,
    last_seen_ms bigint NOT NULL,
    sample text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.register (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    value double precision NOT NULL,
    unit text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    quality double precision,
    signal_strength double precision,
    network_rssi double precision,
    onboard_temperature double precision
);
CREATE TABLE public.retention (
    name text NOT NULL COLLATE pg_catalog."C",
    from_ms bigint NOT NULL
);
CREATE TABLE public.rollup_10min (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    n integer NOT NULL,
    n_1min integer NOT NULL,
    n_5min integer NOT NULL,
    flow_rate_sum double precision,
    flow_rate_n integer NOT NULL,
    flow_rate_min double precision,
    flow_rate_max double precision,
    flow_amount_sum double precision,
    flow_amount_n integer NOT NULL,
    quality_sum double precision,
    quality_n integer NOT NULL,
    quality_min double precision,
    quality_max double precision,
    signal_strength_sum double precision,
    signal_strength_n integer NOT NULL,
    signal_strength_min double precision,
    signal_strength_max double precision,
    network_rssi_sum double precision,
    network_rssi_n integer NOT NULL,
    network_rssi_min double precision,
    network_rssi_max double precision,
    onboard_temperature_sum double precision,
    onboard_temperature_n integer NOT NULL,
    onboard_temperature_min double precision,
    onboard_temperature_max double precision
);
CREATE TABLE public.rollup_1hour (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    n integer NOT NULL,
    n_1min integer NOT NULL,
    n_5min integer NOT NULL,
    n_10min integer NOT NULL,
    flow_rate_sum double precision,
    flow_rate_n integer NOT NULL,
    flow_rate_min double precision,
    flow_rate_max double precision,
    flow_amount_sum double precision,
    flow_amount_n integer NOT NULL,
    quality_sum double precision,
    quality_n integer NOT NULL,
    quality_min double precision,
    quality_max double precision,
    signal_strength_sum double precision,
    signal_strength_n integer NOT NULL,
    signal_strength_min double precision,
    signal_strength_max double precision,
    network_rssi_sum double precision,
    network_rssi_n integer NOT NULL,
    network_rssi_min double precision,
    network_rssi_max double precision,
    onboard_temperature_sum double precision,
    onboard_temperature_n integer NOT NULL,
    onboard_temperature_min double precision,
    onboard_temperature_max double precision
);
CREATE TABLE public.rollup_1min (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    n integer NOT NULL,
    flow_rate_sum double precision,
    flow_rate_n integer NOT NULL,
    flow_rate_min double precision,
    flow_rate_max double precision,
    flow_amount_sum double precision,
    flow_amount_n integer NOT NULL,
    quality_sum double precision,
    quality_n integer NOT NULL,
    quality_min double precision,
    quality_max double precision,
    signal_strength_sum double precision,
    signal_strength_n integer NOT NULL,
    signal_strength_min double precision,
    signal_strength_max double precision,
    network_rssi_sum double precision,
    network_rssi_n integer NOT NULL,
    network_rssi_min double precision,
    network_rssi_max double precision,
    onboard_temperature_sum double precision,
    onboard_temperature_n integer NOT NULL,
    onboard_temperature_min double precision,
    onboard_temperature_max double precision
);
CREATE TABLE public.rollup_5min (
    device_id bigint NOT NULL,
    ts bigint NOT NULL,
    n integer NOT NULL,
    n_1min integer NOT NULL,
    flow_rate_sum double precision,
    flow_rate_n integer NOT NULL,
    flow_rate_min double precision,
    flow_rate_max double precision,
    flow_amount_sum double precision,
    flow_amount_n integer NOT NULL,
    quality_sum double precision,
    quality_n integer NOT NULL,
    quality_min double precision,
    quality_max double precision,
    signal_strength_sum double precision,
    signal_strength_n integer NOT NULL,
    signal_strength_min double precision,
    signal_strength_max double precision,
    network_rssi_sum double precision,
    network_rssi_n integer NOT NULL,
    network_rssi_min double precision,
    network_rssi_max double precision,
    onboard_temperature_sum double precision,
    onboard_temperature_n integer NOT NULL,
    onboard_temperature_min double precision,
    onboard_temperature_max double precision
);
CREATE TABLE public.schema_version (
    version bigint NOT NULL
);
CREATE TABLE public.undated (
    device_id bigint NOT NULL,
    ts bigint NOT NULL
);
INSERT INTO public.annotation VALUES
	('c-1', 'acme', 'correction', 1, NULL, 1772928000000, 1772928060000, 'wrong', '', NULL, 'UTC', 'quality', 0.5, 1772928000000, 'key_1', NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.api_key VALUES
	('key_1', 'acme', 'reader', '\x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff', 0, 1772928000000, NULL, NULL);
INSERT INTO public.audit VALUES
	('66cd7788315d4a6fb11c075ccd766def', 1772928000000, 'acme', 'key_1', 'correction', 'create', 'c-1', NULL, '{"n":1}', '');
INSERT INTO public.device VALUES
	(1, 'a2a1279f-d474-4d4d-8896-5d852b0ae3cf', 'acme', 'M-1', 'M-1', 'EndDevice', 'M-1', 1795390936434, 1795390936434, 1795390936434, 1, 1, '{}', 0, '{}', 'UTC', '', NULL, NULL, NULL, '[]', NULL),
	(2, '8f297f1a-a32d-4033-b884-87a78c5be081', 'acme', 'M-2', 'M-2', 'EndDevice', 'Zähler <2>', 1795390936434, 1795390936434, 1795390936434, 1, 0, '{}', 0, '{}', 'UTC', '', NULL, NULL, NULL, '[]', 60);
INSERT INTO public.device_group VALUES
	('north', 1);
INSERT INTO public.hour_counter VALUES
	(1, 1772928000000, 99, 60, 12, 6),
	(1, 1772931600000, 97, 60, 12, 6),
	(1, 1772935200000, 97, 60, 12, 6),
	(1, 1772938800000, 98, 60, 12, 6),
	(1, 1772942400000, 10, 7, 2, 1);
INSERT INTO public.import_progress VALUES
	('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'acme', 404, 400, 0, 3, 0);
INSERT INTO public.insight_due VALUES
	(1, 1772928000000, 1772928000000, 2);
INSERT INTO public.key_grant VALUES
	('key_1', 'group', 'north'),
	('key_1', 'role', 'operator');
INSERT INTO public.organization VALUES
	('acme', 'Acme', 1, 1795390936430, 1795390936430, 0.004, NULL, NULL);
INSERT INTO public.reading VALUES
	(1, 1772928000000, 0, NULL, 0, 45, -70, NULL, 21.5, 0),
	(1, 1772928037000, 0.3333333333333333, NULL, 0.25, 45, -70, NULL, 21.5, 0),
	(1, 1772928074000, 0.6666666666666666, NULL, 0.5, 90, -70, NULL, 21.5, 0),
	(1, 1772928111000, 1, NULL, 0.75, 90, -70, NULL, 21.5, 0),
	(1, 1772928148000, 1.3333333333333333, NULL, 1, 90, -70, NULL, 21.5, 0),
	(1, 1772928185000, 1.6666666666666667, NULL, 1.25, 90, -70, NULL, 21.5, 0),
	(1, 1772928185000, 1, 1, 1, 1, 1, 1, 1, 1),
	(1, 1772928222000, 2, NULL, 1.5, 90, -70, NULL, 21.5, 0),
	(1, 1772928259000, 0, NULL, 1.75, 90, -70, NULL, 21.5, 0),
	(1, 1772928296000, 0.3333333333333333, NULL, 2, 90, -70, NULL, 21.5, 0),
	(1, 1772928333000, 0.6666666666666666, NULL, 2.25, 90, -70, NULL, 21.5, 0),
	(1, 1772928370000, 1, NULL, 2.5, 90, -70, NULL, 21.5, 0),
	(1, 1772928407000, 1.3333333333333333, NULL, 2.75, 90, -70, NULL, 21.5, 0),
	(1, 1772928444000, 1.6666666666666667, NULL, 3, 90, -70, NULL, 21.5, 0),
	(1, 1772928481000, 2, NULL, 3.25, 90, -70, NULL, 21.5, 0),
	(1, 1772928518000, 0, NULL, 3.5, 90, -70, NULL, 21.5, 0),
	(1, 1772928555000, 0.3333333333333333, NULL, 3.75, 90, -70, NULL, 21.5, 0),
	(1, 1772928592000, 0.6666666666666666, NULL, 4, 90, -70, NULL, 21.5, 0),
	(1, 1772928629000, 1, NULL, 4.25, 90, -70, NULL, 21.5, 0),
	(1, 1772928666000, 1.3333333333333333, NULL, 4.5, 90, -70, NULL, 21.5, 0),
	(1, 1772928703000, 1.6666666666666667, NULL, 4.75, 90, -70, NULL, 21.5, 0),
	(1, 1772928740000, 2, NULL, 5, 90, -70, NULL, 21.5, 0),
	(1, 1772928777000, 0, NULL, 5.25, 90, -70, NULL, 21.5, 0),
	(1, 1772928814000, 0.3333333333333333, NULL, 5.5, 90, -70, NULL, 21.5, 0),
	(1, 1772928851000, 0.6666666666666666, NULL, 5.75, 90, -70, NULL, 21.5, 0),
	(1, 1772928888000, 1, NULL, 6, 90, -70, NULL, 21.5, 0),
	(1, 1772928925000, 1.3333333333333333, NULL, 6.25, 90, -70, NULL, 21.5, 0),
	(1, 1772928962000, 1.6666666666666667, NULL, 6.5, 90, -70, NULL, 21.5, 0),
	(1, 1772928999000, 2, NULL, 6.75, 90, -70, NULL, 21.5, 0),
	(1, 1772929036000, 0, NULL, 7, 90, -70, NULL, 21.5, 0),
	(1, 1772929073000, 0.3333333333333333, NULL, 7.25, 90, -70, NULL, 21.5, 0),
	(1, 1772929110000, 0.6666666666666666, NULL, 7.5, 90, -70, NULL, 21.5, 0),
	(1, 1772929147000, 1, NULL, 7.75, 90, -70, NULL, 21.5, 0),
	(1, 1772929184000, 1.3333333333333333, NULL, 8, 90, -70, NULL, 21.5, 0),
	(1, 1772929221000, 1.6666666666666667, NULL, 8.25, 90, -70, NULL, 21.5, 0),
	(1, 1772929258000, 2, NULL, 8.5, 90, -70, NULL, 21.5, 0),
	(1, 1772929295000, 0, NULL, 8.75, 90, -70, NULL, 21.5, 0),
	(1, 1772929332000, 0.3333333333333333, NULL, 9, 90, -70, NULL, 21.5, 0),
	(1, 1772929369000, 0.6666666666666666, NULL, 9.25, 90, -70, NULL, 21.5, 0),
	(1, 1772929406000, 1, NULL, 9.5, 90, -70, NULL, 21.5, 0),
	(1, 1772929443000, 1.3333333333333333, NULL, 9.75, 90, -70, NULL, 21.5, 0),
	(1, 1772929480000, 1.6666666666666667, NULL, 10, 90, -70, NULL, 21.5, 0),
	(1, 1772929517000, 2, NULL, 10.25, 90, -70, NULL, 21.5, 0),
	(1, 1772929554000, 0, NULL, 10.5, 90, -70, NULL, 21.5, 0),
	(1, 1772929591000, 0.3333333333333333, NULL, 10.75, 90, -70, NULL, 21.5, 0),
	(1, 1772929628000, 0.6666666666666666, NULL, 11, 90, -70, NULL, 21.5, 0),
	(1, 1772929665000, 1, NULL, 11.25, 90, -70, NULL, 21.5, 0),
	(1, 1772929702000, 1.3333333333333333, NULL, 11.5, 90, -70, NULL, 21.5, 0),
	(1, 1772929739000, 1.6666666666666667, NULL, 11.75, 90, -70, NULL, 21.5, 0),
	(1, 1772929776000, 2, NULL, 12, 90, -70, NULL, 21.5, 0),
	(1, 1772929813000, 0, NULL, 12.25, 90, -70, NULL, 21.5, 0),
	(1, 1772929850000, 0.3333333333333333, NULL, 12.5, 90, -70, NULL, 21.5, 0),
	(1, 1772929887000, 0.6666666666666666, NULL, 12.75, 90, -70, NULL, 21.5, 0),
	(1, 1772929924000, 1, NULL, 13, 90, -70, NULL, 21.5, 0),
	(1, 1772929961000, 1.3333333333333333, NULL, 13.25, 90, -70, NULL, 21.5, 0),
	(1, 1772929998000, 1.6666666666666667, NULL, 13.5, 90, -70, NULL, 21.5, 0),
	(1, 1772930035000, 2, NULL, 13.75, 90, -70, NULL, 21.5, 0),
	(1, 1772930072000, 0, NULL, 14, 90, -70, NULL, 21.5, 0),
	(1, 1772930109000, 0.3333333333333333, NULL, 14.25, 90, -70, NULL, 21.5, 0),
	(1, 1772930146000, 0.6666666666666666, NULL, 14.5, 90, -70, NULL, 21.5, 0),
	(1, 1772930183000, 1, NULL, 14.75, 90, -70, NULL, 21.5, 0),
	(1, 1772930220000, 1.3333333333333333, NULL, 15, 90, -70, NULL, 21.5, 0),
	(1, 1772930257000, 1.6666666666666667, NULL, 15.25, 90, -70, NULL, 21.5, 0),
	(1, 1772930294000, 2, NULL, 15.5, 90, -70, NULL, 21.5, 0),
	(1, 1772930331000, 0, NULL, 15.75, 90, -70, NULL, 21.5, 0),
	(1, 1772930368000, 0.3333333333333333, NULL, 16, 90, -70, NULL, 21.5, 0),
	(1, 1772930405000, 0.6666666666666666, NULL, 16.25, 90, -70, NULL, 21.5, 0),
	(1, 1772930442000, 1, NULL, 16.5, 90, -70, NULL, 21.5, 0),
	(1, 1772930479000, 1.3333333333333333, NULL, 16.75, 90, -70, NULL, 21.5, 0),
	(1, 1772930516000, 1.6666666666666667, NULL, 17, 90, -70, NULL, 21.5, 0),
	(1, 1772930553000, 2, NULL, 17.25, 90, -70, NULL, 21.5, 0),
	(1, 1772930590000, 0, NULL, 17.5, 90, -70, NULL, 21.5, 0),
	(1, 1772930627000, 0.3333333333333333, NULL, 17.75, 90, -70, NULL, 21.5, 0),
	(1, 1772930664000, 0.6666666666666666, NULL, 18, 90, -70, NULL, 21.5, 0),
	(1, 1772930701000, 1, NULL, 18.25, 90, -70, NULL, 21.5, 0),
	(1, 1772930738000, 1.3333333333333333, NULL, 18.5, 90, -70, NULL, 21.5, 0),
	(1, 1772930775000, 1.6666666666666667, NULL, 18.75, 90, -70, NULL, 21.5, 0),
	(1, 1772930812000, 2, NULL, 19, 90, -70, NULL, 21.5, 0),
	(1, 1772930849000, 0, NULL, 19.25, 90, -70, NULL, 21.5, 0),
	(1, 1772930886000, 0.3333333333333333, NULL, 19.5, 90, -70, NULL, 21.5, 0),
	(1, 1772930923000, 0.6666666666666666, NULL, 19.75, 90, -70, NULL, 21.5, 0),
	(1, 1772930960000, 1, NULL, 20, 90, -70, NULL, 21.5, 0),
	(1, 1772930997000, 1.3333333333333333, NULL, 20.25, 90, -70, NULL, 21.5, 0),
	(1, 1772931034000, 1.6666666666666667, NULL, 20.5, 90, -70, NULL, 21.5, 0),
	(1, 1772931071000, 2, NULL, 20.75, 90, -70, NULL, 21.5, 0),
	(1, 1772931108000, 0, NULL, 21, 90, -70, NULL, 21.5, 0),
	(1, 1772931145000, 0.3333333333333333, NULL, 21.25, 90, -70, NULL, 21.5, 0),
	(1, 1772931182000, 0.6666666666666666, NULL, 21.5, 90, -70, NULL, 21.5, 0),
	(1, 1772931219000, 1, NULL, 21.75, 90, -70, NULL, 21.5, 0),
	(1, 1772931256000, 1.3333333333333333, NULL, 22, 90, -70, NULL, 21.5, 0),
	(1, 1772931293000, 1.6666666666666667, NULL, 22.25, 90, -70, NULL, 21.5, 0),
	(1, 1772931330000, 2, NULL, 22.5, 90, -70, NULL, 21.5, 0),
	(1, 1772931367000, 0, NULL, 22.75, 90, -70, NULL, 21.5, 0),
	(1, 1772931404000, 0.3333333333333333, NULL, 23, 90, -70, NULL, 21.5, 0),
	(1, 1772931441000, 0.6666666666666666, NULL, 23.25, 90, -70, NULL, 21.5, 0),
	(1, 1772931478000, 1, NULL, 23.5, 90, -70, NULL, 21.5, 0),
	(1, 1772931515000, 1.3333333333333333, NULL, 23.75, 90, -70, NULL, 21.5, 0),
	(1, 1772931552000, 1.6666666666666667, NULL, 24, 90, -70, NULL, 21.5, 0),
	(1, 1772931589000, 2, NULL, 24.25, 90, -70, NULL, 21.5, 0),
	(1, 1772931626000, 0, NULL, 24.5, 90, -70, NULL, 21.5, 0);
INSERT INTO public.reading VALUES
	(1, 1772931663000, 0.3333333333333333, NULL, 24.75, 90, -70, NULL, 21.5, 0),
	(1, 1772931700000, 0.6666666666666666, NULL, 25, 90, -70, NULL, 21.5, 0),
	(1, 1772931737000, 1, NULL, 25.25, 90, -70, NULL, 21.5, 0),
	(1, 1772931774000, 1.3333333333333333, NULL, 25.5, 90, -70, NULL, 21.5, 0),
	(1, 1772931811000, 1.6666666666666667, NULL, 25.75, 90, -70, NULL, 21.5, 0),
	(1, 1772931848000, 2, NULL, 26, 90, -70, NULL, 21.5, 0),
	(1, 1772931885000, 0, NULL, 26.25, 90, -70, NULL, 21.5, 0),
	(1, 1772931922000, 0.3333333333333333, NULL, 26.5, 90, -70, NULL, 21.5, 0),
	(1, 1772931959000, 0.6666666666666666, NULL, 26.75, 90, -70, NULL, 21.5, 0),
	(1, 1772931996000, 1, NULL, 27, 90, -70, NULL, 21.5, 0),
	(1, 1772932033000, 1.3333333333333333, NULL, 27.25, 90, -70, NULL, 21.5, 0),
	(1, 1772932070000, 1.6666666666666667, NULL, 27.5, 90, -70, NULL, 21.5, 0),
	(1, 1772932107000, 2, NULL, 27.75, 90, -70, NULL, 21.5, 0),
	(1, 1772932144000, 0, NULL, 28, 90, -70, NULL, 21.5, 0),
	(1, 1772932181000, 0.3333333333333333, NULL, 28.25, 90, -70, NULL, 21.5, 0),
	(1, 1772932218000, 0.6666666666666666, NULL, 28.5, 90, -70, NULL, 21.5, 0),
	(1, 1772932255000, 1, NULL, 28.75, 90, -70, NULL, 21.5, 0),
	(1, 1772932292000, 1.3333333333333333, NULL, 29, 90, -70, NULL, 21.5, 0),
	(1, 1772932329000, 1.6666666666666667, NULL, 29.25, 90, -70, NULL, 21.5, 0),
	(1, 1772932366000, 2, NULL, 29.5, 90, -70, NULL, 21.5, 0),
	(1, 1772932403000, 0, NULL, 29.75, 90, -70, NULL, 21.5, 0),
	(1, 1772932440000, 0.3333333333333333, NULL, 30, 90, -70, NULL, 21.5, 0),
	(1, 1772932477000, 0.6666666666666666, NULL, 30.25, 90, -70, NULL, 21.5, 0),
	(1, 1772932514000, 1, NULL, 30.5, 90, -70, NULL, 21.5, 0),
	(1, 1772932551000, 1.3333333333333333, NULL, 30.75, 90, -70, NULL, 21.5, 0),
	(1, 1772932588000, 1.6666666666666667, NULL, 31, 90, -70, NULL, 21.5, 0),
	(1, 1772932625000, 2, NULL, 31.25, 90, -70, NULL, 21.5, 0),
	(1, 1772932662000, 0, NULL, 31.5, 90, -70, NULL, 21.5, 0),
	(1, 1772932699000, 0.3333333333333333, NULL, 31.75, 90, -70, NULL, 21.5, 0),
	(1, 1772932736000, 0.6666666666666666, NULL, 32, 90, -70, NULL, 21.5, 0),
	(1, 1772932773000, 1, NULL, 32.25, 90, -70, NULL, 21.5, 0),
	(1, 1772932810000, 1.3333333333333333, NULL, 32.5, 90, -70, NULL, 21.5, 0),
	(1, 1772932847000, 1.6666666666666667, NULL, 32.75, 90, -70, NULL, 21.5, 0),
	(1, 1772932884000, 2, NULL, 33, 90, -70, NULL, 21.5, 0),
	(1, 1772932921000, 0, NULL, 33.25, 90, -70, NULL, 21.5, 0),
	(1, 1772932958000, 0.3333333333333333, NULL, 33.5, 90, -70, NULL, 21.5, 0),
	(1, 1772932995000, 0.6666666666666666, NULL, 33.75, 90, -70, NULL, 21.5, 0),
	(1, 1772933032000, 1, NULL, 34, 90, -70, NULL, 21.5, 0),
	(1, 1772933069000, 1.3333333333333333, NULL, 34.25, 90, -70, NULL, 21.5, 0),
	(1, 1772933106000, 1.6666666666666667, NULL, 34.5, 90, -70, NULL, 21.5, 0),
	(1, 1772933143000, 2, NULL, 34.75, 90, -70, NULL, 21.5, 0),
	(1, 1772933180000, 0, NULL, 35, 90, -70, NULL, 21.5, 0),
	(1, 1772933217000, 0.3333333333333333, NULL, 35.25, 90, -70, NULL, 21.5, 0),
	(1, 1772933254000, 0.6666666666666666, NULL, 35.5, 90, -70, NULL, 21.5, 0),
	(1, 1772933291000, 1, NULL, 35.75, 90, -70, NULL, 21.5, 0),
	(1, 1772933328000, 1.3333333333333333, NULL, 36, 90, -70, NULL, 21.5, 0),
	(1, 1772933365000, 1.6666666666666667, NULL, 36.25, 90, -70, NULL, 21.5, 0),
	(1, 1772933402000, 2, NULL, 36.5, 90, -70, NULL, 21.5, 0),
	(1, 1772933439000, 0, NULL, 36.75, 90, -70, NULL, 21.5, 0),
	(1, 1772933476000, 0.3333333333333333, NULL, 37, 90, -70, NULL, 21.5, 0),
	(1, 1772933513000, 0.6666666666666666, NULL, 37.25, 90, -70, NULL, 21.5, 0),
	(1, 1772933550000, 1, NULL, 37.5, 90, -70, NULL, 21.5, 0),
	(1, 1772933587000, 1.3333333333333333, NULL, 37.75, 90, -70, NULL, 21.5, 0),
	(1, 1772933624000, 1.6666666666666667, NULL, 38, 90, -70, NULL, 21.5, 0),
	(1, 1772933661000, 2, NULL, 38.25, 90, -70, NULL, 21.5, 0),
	(1, 1772933698000, 0, NULL, 38.5, 90, -70, NULL, 21.5, 0),
	(1, 1772933735000, 0.3333333333333333, NULL, 38.75, 90, -70, NULL, 21.5, 0),
	(1, 1772933772000, 0.6666666666666666, NULL, 39, 90, -70, NULL, 21.5, 0),
	(1, 1772933809000, 1, NULL, 39.25, 90, -70, NULL, 21.5, 0),
	(1, 1772933846000, 1.3333333333333333, NULL, 39.5, 90, -70, NULL, 21.5, 0),
	(1, 1772933883000, 1.6666666666666667, NULL, 39.75, 90, -70, NULL, 21.5, 0),
	(1, 1772933920000, 2, NULL, 40, 90, -70, NULL, 21.5, 0),
	(1, 1772933957000, 0, NULL, 40.25, 90, -70, NULL, 21.5, 0),
	(1, 1772933994000, 0.3333333333333333, NULL, 40.5, 90, -70, NULL, 21.5, 0),
	(1, 1772934031000, 0.6666666666666666, NULL, 40.75, 90, -70, NULL, 21.5, 0),
	(1, 1772934068000, 1, NULL, 41, 90, -70, NULL, 21.5, 0),
	(1, 1772934105000, 1.3333333333333333, NULL, 41.25, 90, -70, NULL, 21.5, 0),
	(1, 1772934142000, 1.6666666666666667, NULL, 41.5, 90, -70, NULL, 21.5, 0),
	(1, 1772934179000, 2, NULL, 41.75, 90, -70, NULL, 21.5, 0),
	(1, 1772934216000, 0, NULL, 42, 90, -70, NULL, 21.5, 0),
	(1, 1772934253000, 0.3333333333333333, NULL, 42.25, 90, -70, NULL, 21.5, 0),
	(1, 1772934290000, 0.6666666666666666, NULL, 42.5, 90, -70, NULL, 21.5, 0),
	(1, 1772934327000, 1, NULL, 42.75, 90, -70, NULL, 21.5, 0),
	(1, 1772934364000, 1.3333333333333333, NULL, 43, 90, -70, NULL, 21.5, 0),
	(1, 1772934401000, 1.6666666666666667, NULL, 43.25, 90, -70, NULL, 21.5, 0),
	(1, 1772934438000, 2, NULL, 43.5, 90, -70, NULL, 21.5, 0),
	(1, 1772934475000, 0, NULL, 43.75, 90, -70, NULL, 21.5, 0),
	(1, 1772934512000, 0.3333333333333333, NULL, 44, 90, -70, NULL, 21.5, 0),
	(1, 1772934549000, 0.6666666666666666, NULL, 44.25, 90, -70, NULL, 21.5, 0),
	(1, 1772934586000, 1, NULL, 44.5, 90, -70, NULL, 21.5, 0),
	(1, 1772934623000, 1.3333333333333333, NULL, 44.75, 90, -70, NULL, 21.5, 0),
	(1, 1772934660000, 1.6666666666666667, NULL, 45, 90, -70, NULL, 21.5, 0),
	(1, 1772934697000, 2, NULL, 45.25, 90, -70, NULL, 21.5, 0),
	(1, 1772934734000, 0, NULL, 45.5, 90, -70, NULL, 21.5, 0),
	(1, 1772934771000, 0.3333333333333333, NULL, 45.75, 90, -70, NULL, 21.5, 0),
	(1, 1772934808000, 0.6666666666666666, NULL, 46, 90, -70, NULL, 21.5, 0),
	(1, 1772934845000, 1, NULL, 46.25, 90, -70, NULL, 21.5, 0),
	(1, 1772934882000, 1.3333333333333333, NULL, 46.5, 90, -70, NULL, 21.5, 0),
	(1, 1772934919000, 1.6666666666666667, NULL, 46.75, 90, -70, NULL, 21.5, 0),
	(1, 1772934956000, 2, NULL, 47, 90, -70, NULL, 21.5, 0),
	(1, 1772934993000, 0, NULL, 47.25, 90, -70, NULL, 21.5, 0),
	(1, 1772935030000, 0.3333333333333333, NULL, 47.5, 90, -70, NULL, 21.5, 0),
	(1, 1772935067000, 0.6666666666666666, NULL, 47.75, 90, -70, NULL, 21.5, 0),
	(1, 1772935104000, 1, NULL, 48, 90, -70, NULL, 21.5, 0),
	(1, 1772935141000, 1.3333333333333333, NULL, 48.25, 90, -70, NULL, 21.5, 0),
	(1, 1772935178000, 1.6666666666666667, NULL, 48.5, 90, -70, NULL, 21.5, 0),
	(1, 1772935215000, 2, NULL, 48.75, 90, -70, NULL, 21.5, 0),
	(1, 1772935252000, 0, NULL, 49, 90, -70, NULL, 21.5, 0),
	(1, 1772935289000, 0.3333333333333333, NULL, 49.25, 90, -70, NULL, 21.5, 0),
	(1, 1772935326000, 0.6666666666666666, NULL, 49.5, 90, -70, NULL, 21.5, 0);
INSERT INTO public.reading VALUES
	(1, 1772935363000, 1, NULL, 49.75, 90, -70, NULL, 21.5, 0),
	(1, 1772935400000, 1.3333333333333333, NULL, 50, 90, -70, NULL, 21.5, 0),
	(1, 1772935437000, 1.6666666666666667, NULL, 50.25, 90, -70, NULL, 21.5, 0),
	(1, 1772935474000, 2, NULL, 50.5, 90, -70, NULL, 21.5, 0),
	(1, 1772935511000, 0, NULL, 50.75, 90, -70, NULL, 21.5, 0),
	(1, 1772935548000, 0.3333333333333333, NULL, 51, 90, -70, NULL, 21.5, 0),
	(1, 1772935585000, 0.6666666666666666, NULL, 51.25, 90, -70, NULL, 21.5, 0),
	(1, 1772935622000, 1, NULL, 51.5, 90, -70, NULL, 21.5, 0),
	(1, 1772935659000, 1.3333333333333333, NULL, 51.75, 90, -70, NULL, 21.5, 0),
	(1, 1772935696000, 1.6666666666666667, NULL, 52, 90, -70, NULL, 21.5, 0),
	(1, 1772935733000, 2, NULL, 52.25, 90, -70, NULL, 21.5, 0),
	(1, 1772935770000, 0, NULL, 52.5, 90, -70, NULL, 21.5, 0),
	(1, 1772935807000, 0.3333333333333333, NULL, 52.75, 90, -70, NULL, 21.5, 0),
	(1, 1772935844000, 0.6666666666666666, NULL, 53, 90, -70, NULL, 21.5, 0),
	(1, 1772935881000, 1, NULL, 53.25, 90, -70, NULL, 21.5, 0),
	(1, 1772935918000, 1.3333333333333333, NULL, 53.5, 90, -70, NULL, 21.5, 0),
	(1, 1772935955000, 1.6666666666666667, NULL, 53.75, 90, -70, NULL, 21.5, 0),
	(1, 1772935992000, 2, NULL, 54, 90, -70, NULL, 21.5, 0),
	(1, 1772936029000, 0, NULL, 54.25, 90, -70, NULL, 21.5, 0),
	(1, 1772936066000, 0.3333333333333333, NULL, 54.5, 90, -70, NULL, 21.5, 0),
	(1, 1772936103000, 0.6666666666666666, NULL, 54.75, 90, -70, NULL, 21.5, 0),
	(1, 1772936140000, 1, NULL, 55, 90, -70, NULL, 21.5, 0),
	(1, 1772936177000, 1.3333333333333333, NULL, 55.25, 90, -70, NULL, 21.5, 0),
	(1, 1772936214000, 1.6666666666666667, NULL, 55.5, 90, -70, NULL, 21.5, 0),
	(1, 1772936251000, 2, NULL, 55.75, 90, -70, NULL, 21.5, 0),
	(1, 1772936288000, 0, NULL, 56, 90, -70, NULL, 21.5, 0),
	(1, 1772936325000, 0.3333333333333333, NULL, 56.25, 90, -70, NULL, 21.5, 0),
	(1, 1772936362000, 0.6666666666666666, NULL, 56.5, 90, -70, NULL, 21.5, 0),
	(1, 1772936399000, 1, NULL, 56.75, 90, -70, NULL, 21.5, 0),
	(1, 1772936436000, 1.3333333333333333, NULL, 57, 90, -70, NULL, 21.5, 0),
	(1, 1772936473000, 1.6666666666666667, NULL, 57.25, 90, -70, NULL, 21.5, 0),
	(1, 1772936510000, 2, NULL, 57.5, 90, -70, NULL, 21.5, 0),
	(1, 1772936547000, 0, NULL, 57.75, 90, -70, NULL, 21.5, 0),
	(1, 1772936584000, 0.3333333333333333, NULL, 58, 90, -70, NULL, 21.5, 0),
	(1, 1772936621000, 0.6666666666666666, NULL, 58.25, 90, -70, NULL, 21.5, 0),
	(1, 1772936658000, 1, NULL, 58.5, 90, -70, NULL, 21.5, 0),
	(1, 1772936695000, 1.3333333333333333, NULL, 58.75, 90, -70, NULL, 21.5, 0),
	(1, 1772936732000, 1.6666666666666667, NULL, 59, 90, -70, NULL, 21.5, 0),
	(1, 1772936769000, 2, NULL, 59.25, 90, -70, NULL, 21.5, 0),
	(1, 1772936806000, 0, NULL, 59.5, 90, -70, NULL, 21.5, 0),
	(1, 1772936843000, 0.3333333333333333, NULL, 59.75, 90, -70, NULL, 21.5, 0),
	(1, 1772936880000, 0.6666666666666666, NULL, 60, 90, -70, NULL, 21.5, 0),
	(1, 1772936917000, 1, NULL, 60.25, 90, -70, NULL, 21.5, 0),
	(1, 1772936954000, 1.3333333333333333, NULL, 60.5, 90, -70, NULL, 21.5, 0),
	(1, 1772936991000, 1.6666666666666667, NULL, 60.75, 90, -70, NULL, 21.5, 0),
	(1, 1772937028000, 2, NULL, 61, 90, -70, NULL, 21.5, 0),
	(1, 1772937065000, 0, NULL, 61.25, 90, -70, NULL, 21.5, 0),
	(1, 1772937102000, 0.3333333333333333, NULL, 61.5, 90, -70, NULL, 21.5, 0),
	(1, 1772937139000, 0.6666666666666666, NULL, 61.75, 90, -70, NULL, 21.5, 0),
	(1, 1772937176000, 1, NULL, 62, 90, -70, NULL, 21.5, 0),
	(1, 1772937213000, 1.3333333333333333, NULL, 62.25, 90, -70, NULL, 21.5, 0),
	(1, 1772937250000, 1.6666666666666667, NULL, 62.5, 90, -70, NULL, 21.5, 0),
	(1, 1772937287000, 2, NULL, 62.75, 90, -70, NULL, 21.5, 0),
	(1, 1772937324000, 0, NULL, 63, 90, -70, NULL, 21.5, 0),
	(1, 1772937361000, 0.3333333333333333, NULL, 63.25, 90, -70, NULL, 21.5, 0),
	(1, 1772937398000, 0.6666666666666666, NULL, 63.5, 90, -70, NULL, 21.5, 0),
	(1, 1772937435000, 1, NULL, 63.75, 90, -70, NULL, 21.5, 0),
	(1, 1772937472000, 1.3333333333333333, NULL, 64, 90, -70, NULL, 21.5, 0),
	(1, 1772937509000, 1.6666666666666667, NULL, 64.25, 90, -70, NULL, 21.5, 0),
	(1, 1772937546000, 2, NULL, 64.5, 90, -70, NULL, 21.5, 0),
	(1, 1772937583000, 0, NULL, 64.75, 90, -70, NULL, 21.5, 0),
	(1, 1772937620000, 0.3333333333333333, NULL, 65, 90, -70, NULL, 21.5, 0),
	(1, 1772937657000, 0.6666666666666666, NULL, 65.25, 90, -70, NULL, 21.5, 0),
	(1, 1772937694000, 1, NULL, 65.5, 90, -70, NULL, 21.5, 0),
	(1, 1772937731000, 1.3333333333333333, NULL, 65.75, 90, -70, NULL, 21.5, 0),
	(1, 1772937768000, 1.6666666666666667, NULL, 66, 90, -70, NULL, 21.5, 0),
	(1, 1772937805000, 2, NULL, 66.25, 90, -70, NULL, 21.5, 0),
	(1, 1772937842000, 0, NULL, 66.5, 90, -70, NULL, 21.5, 0),
	(1, 1772937879000, 0.3333333333333333, NULL, 66.75, 90, -70, NULL, 21.5, 0),
	(1, 1772937916000, 0.6666666666666666, NULL, 67, 90, -70, NULL, 21.5, 0),
	(1, 1772937953000, 1, NULL, 67.25, 90, -70, NULL, 21.5, 0),
	(1, 1772937990000, 1.3333333333333333, NULL, 67.5, 90, -70, NULL, 21.5, 0),
	(1, 1772938027000, 1.6666666666666667, NULL, 67.75, 90, -70, NULL, 21.5, 0),
	(1, 1772938064000, 2, NULL, 68, 90, -70, NULL, 21.5, 0),
	(1, 1772938101000, 0, NULL, 68.25, 90, -70, NULL, 21.5, 0),
	(1, 1772938138000, 0.3333333333333333, NULL, 68.5, 90, -70, NULL, 21.5, 0),
	(1, 1772938175000, 0.6666666666666666, NULL, 68.75, 90, -70, NULL, 21.5, 0),
	(1, 1772938212000, 1, NULL, 69, 90, -70, NULL, 21.5, 0),
	(1, 1772938249000, 1.3333333333333333, NULL, 69.25, 90, -70, NULL, 21.5, 0),
	(1, 1772938286000, 1.6666666666666667, NULL, 69.5, 90, -70, NULL, 21.5, 0),
	(1, 1772938323000, 2, NULL, 69.75, 90, -70, NULL, 21.5, 0),
	(1, 1772938360000, 0, NULL, 70, 90, -70, NULL, 21.5, 0),
	(1, 1772938397000, 0.3333333333333333, NULL, 70.25, 90, -70, NULL, 21.5, 0),
	(1, 1772938434000, 0.6666666666666666, NULL, 70.5, 90, -70, NULL, 21.5, 0),
	(1, 1772938471000, 1, NULL, 70.75, 90, -70, NULL, 21.5, 0),
	(1, 1772938508000, 1.3333333333333333, NULL, 71, 90, -70, NULL, 21.5, 0),
	(1, 1772938545000, 1.6666666666666667, NULL, 71.25, 90, -70, NULL, 21.5, 0),
	(1, 1772938582000, 2, NULL, 71.5, 90, -70, NULL, 21.5, 0),
	(1, 1772938619000, 0, NULL, 71.75, 90, -70, NULL, 21.5, 0),
	(1, 1772938656000, 0.3333333333333333, NULL, 72, 90, -70, NULL, 21.5, 0),
	(1, 1772938693000, 0.6666666666666666, NULL, 72.25, 90, -70, NULL, 21.5, 0),
	(1, 1772938730000, 1, NULL, 72.5, 90, -70, NULL, 21.5, 0),
	(1, 1772938767000, 1.3333333333333333, NULL, 72.75, 90, -70, NULL, 21.5, 0),
	(1, 1772938804000, 1.6666666666666667, NULL, 73, 90, -70, NULL, 21.5, 0),
	(1, 1772938841000, 2, NULL, 73.25, 90, -70, NULL, 21.5, 0),
	(1, 1772938878000, 0, NULL, 73.5, 90, -70, NULL, 21.5, 0),
	(1, 1772938915000, 0.3333333333333333, NULL, 73.75, 90, -70, NULL, 21.5, 0),
	(1, 1772938952000, 0.6666666666666666, NULL, 74, 90, -70, NULL, 21.5, 0),
	(1, 1772938989000, 1, NULL, 74.25, 90, -70, NULL, 21.5, 0),
	(1, 1772939026000, 1.3333333333333333, NULL, 74.5, 90, -70, NULL, 21.5, 0);
INSERT INTO public.reading VALUES
	(1, 1772939063000, 1.6666666666666667, NULL, 74.75, 90, -70, NULL, 21.5, 0),
	(1, 1772939100000, 2, NULL, 75, 90, -70, NULL, 21.5, 0),
	(1, 1772939137000, 0, NULL, 75.25, 90, -70, NULL, 21.5, 0),
	(1, 1772939174000, 0.3333333333333333, NULL, 75.5, 90, -70, NULL, 21.5, 0),
	(1, 1772939211000, 0.6666666666666666, NULL, 75.75, 90, -70, NULL, 21.5, 0),
	(1, 1772939248000, 1, NULL, 76, 90, -70, NULL, 21.5, 0),
	(1, 1772939285000, 1.3333333333333333, NULL, 76.25, 90, -70, NULL, 21.5, 0),
	(1, 1772939322000, 1.6666666666666667, NULL, 76.5, 90, -70, NULL, 21.5, 0),
	(1, 1772939359000, 2, NULL, 76.75, 90, -70, NULL, 21.5, 0),
	(1, 1772939396000, 0, NULL, 77, 90, -70, NULL, 21.5, 0),
	(1, 1772939433000, 0.3333333333333333, NULL, 77.25, 90, -70, NULL, 21.5, 0),
	(1, 1772939470000, 0.6666666666666666, NULL, 77.5, 90, -70, NULL, 21.5, 0),
	(1, 1772939507000, 1, NULL, 77.75, 90, -70, NULL, 21.5, 0),
	(1, 1772939544000, 1.3333333333333333, NULL, 78, 90, -70, NULL, 21.5, 0),
	(1, 1772939581000, 1.6666666666666667, NULL, 78.25, 90, -70, NULL, 21.5, 0),
	(1, 1772939618000, 2, NULL, 78.5, 90, -70, NULL, 21.5, 0),
	(1, 1772939655000, 0, NULL, 78.75, 90, -70, NULL, 21.5, 0),
	(1, 1772939692000, 0.3333333333333333, NULL, 79, 90, -70, NULL, 21.5, 0),
	(1, 1772939729000, 0.6666666666666666, NULL, 79.25, 90, -70, NULL, 21.5, 0),
	(1, 1772939766000, 1, NULL, 79.5, 90, -70, NULL, 21.5, 0),
	(1, 1772939803000, 1.3333333333333333, NULL, 79.75, 90, -70, NULL, 21.5, 0),
	(1, 1772939840000, 1.6666666666666667, NULL, 80, 90, -70, NULL, 21.5, 0),
	(1, 1772939877000, 2, NULL, 80.25, 90, -70, NULL, 21.5, 0),
	(1, 1772939914000, 0, NULL, 80.5, 90, -70, NULL, 21.5, 0),
	(1, 1772939951000, 0.3333333333333333, NULL, 80.75, 90, -70, NULL, 21.5, 0),
	(1, 1772939988000, 0.6666666666666666, NULL, 81, 90, -70, NULL, 21.5, 0),
	(1, 1772940025000, 1, NULL, 81.25, 90, -70, NULL, 21.5, 0),
	(1, 1772940062000, 1.3333333333333333, NULL, 81.5, 90, -70, NULL, 21.5, 0),
	(1, 1772940099000, 1.6666666666666667, NULL, 81.75, 90, -70, NULL, 21.5, 0),
	(1, 1772940136000, 2, NULL, 82, 90, -70, NULL, 21.5, 0),
	(1, 1772940173000, 0, NULL, 82.25, 90, -70, NULL, 21.5, 0),
	(1, 1772940210000, 0.3333333333333333, NULL, 82.5, 90, -70, NULL, 21.5, 0),
	(1, 1772940247000, 0.6666666666666666, NULL, 82.75, 90, -70, NULL, 21.5, 0),
	(1, 1772940284000, 1, NULL, 83, 90, -70, NULL, 21.5, 0),
	(1, 1772940321000, 1.3333333333333333, NULL, 83.25, 90, -70, NULL, 21.5, 0),
	(1, 1772940358000, 1.6666666666666667, NULL, 83.5, 90, -70, NULL, 21.5, 0),
	(1, 1772940395000, 2, NULL, 83.75, 90, -70, NULL, 21.5, 0),
	(1, 1772940432000, 0, NULL, 84, 90, -70, NULL, 21.5, 0),
	(1, 1772940469000, 0.3333333333333333, NULL, 84.25, 90, -70, NULL, 21.5, 0),
	(1, 1772940506000, 0.6666666666666666, NULL, 84.5, 90, -70, NULL, 21.5, 0),
	(1, 1772940543000, 1, NULL, 84.75, 90, -70, NULL, 21.5, 0),
	(1, 1772940580000, 1.3333333333333333, NULL, 85, 90, -70, NULL, 21.5, 0),
	(1, 1772940617000, 1.6666666666666667, NULL, 85.25, 90, -70, NULL, 21.5, 0),
	(1, 1772940654000, 2, NULL, 85.5, 90, -70, NULL, 21.5, 0),
	(1, 1772940691000, 0, NULL, 85.75, 90, -70, NULL, 21.5, 0),
	(1, 1772940728000, 0.3333333333333333, NULL, 86, 90, -70, NULL, 21.5, 0),
	(1, 1772940765000, 0.6666666666666666, NULL, 86.25, 90, -70, NULL, 21.5, 0),
	(1, 1772940802000, 1, NULL, 86.5, 90, -70, NULL, 21.5, 0),
	(1, 1772940839000, 1.3333333333333333, NULL, 86.75, 90, -70, NULL, 21.5, 0),
	(1, 1772940876000, 1.6666666666666667, NULL, 87, 90, -70, NULL, 21.5, 0),
	(1, 1772940913000, 2, NULL, 87.25, 90, -70, NULL, 21.5, 0),
	(1, 1772940950000, 0, NULL, 87.5, 90, -70, NULL, 21.5, 0),
	(1, 1772940987000, 0.3333333333333333, NULL, 87.75, 90, -70, NULL, 21.5, 0),
	(1, 1772941024000, 0.6666666666666666, NULL, 88, 90, -70, NULL, 21.5, 0),
	(1, 1772941061000, 1, NULL, 88.25, 90, -70, NULL, 21.5, 0),
	(1, 1772941098000, 1.3333333333333333, NULL, 88.5, 90, -70, NULL, 21.5, 0),
	(1, 1772941135000, 1.6666666666666667, NULL, 88.75, 90, -70, NULL, 21.5, 0),
	(1, 1772941172000, 2, NULL, 89, 90, -70, NULL, 21.5, 0),
	(1, 1772941209000, 0, NULL, 89.25, 90, -70, NULL, 21.5, 0),
	(1, 1772941246000, 0.3333333333333333, NULL, 89.5, 90, -70, NULL, 21.5, 0),
	(1, 1772941283000, 0.6666666666666666, NULL, 89.75, 90, -70, NULL, 21.5, 0),
	(1, 1772941320000, 1, NULL, 90, 90, -70, NULL, 21.5, 0),
	(1, 1772941357000, 1.3333333333333333, NULL, 90.25, 90, -70, NULL, 21.5, 0),
	(1, 1772941394000, 1.6666666666666667, NULL, 90.5, 90, -70, NULL, 21.5, 0),
	(1, 1772941431000, 2, NULL, 90.75, 90, -70, NULL, 21.5, 0),
	(1, 1772941468000, 0, NULL, 91, 90, -70, NULL, 21.5, 0),
	(1, 1772941505000, 0.3333333333333333, NULL, 91.25, 90, -70, NULL, 21.5, 0),
	(1, 1772941542000, 0.6666666666666666, NULL, 91.5, 90, -70, NULL, 21.5, 0),
	(1, 1772941579000, 1, NULL, 91.75, 90, -70, NULL, 21.5, 0),
	(1, 1772941616000, 1.3333333333333333, NULL, 92, 90, -70, NULL, 21.5, 0),
	(1, 1772941653000, 1.6666666666666667, NULL, 92.25, 90, -70, NULL, 21.5, 0),
	(1, 1772941690000, 2, NULL, 92.5, 90, -70, NULL, 21.5, 0),
	(1, 1772941727000, 0, NULL, 92.75, 90, -70, NULL, 21.5, 0),
	(1, 1772941764000, 0.3333333333333333, NULL, 93, 90, -70, NULL, 21.5, 0),
	(1, 1772941801000, 0.6666666666666666, NULL, 93.25, 90, -70, NULL, 21.5, 0),
	(1, 1772941838000, 1, NULL, 93.5, 90, -70, NULL, 21.5, 0),
	(1, 1772941875000, 1.3333333333333333, NULL, 93.75, 90, -70, NULL, 21.5, 0),
	(1, 1772941912000, 1.6666666666666667, NULL, 94, 90, -70, NULL, 21.5, 0),
	(1, 1772941949000, 2, NULL, 94.25, 90, -70, NULL, 21.5, 0),
	(1, 1772941986000, 0, NULL, 94.5, 90, -70, NULL, 21.5, 0),
	(1, 1772942023000, 0.3333333333333333, NULL, 94.75, 90, -70, NULL, 21.5, 0),
	(1, 1772942060000, 0.6666666666666666, NULL, 95, 90, -70, NULL, 21.5, 0),
	(1, 1772942097000, 1, NULL, 95.25, 90, -70, NULL, 21.5, 0),
	(1, 1772942134000, 1.3333333333333333, NULL, 95.5, 90, -70, NULL, 21.5, 0),
	(1, 1772942171000, 1.6666666666666667, NULL, 95.75, 90, -70, NULL, 21.5, 0),
	(1, 1772942208000, 2, NULL, 96, 90, -70, NULL, 21.5, 0),
	(1, 1772942245000, 0, NULL, 96.25, 90, -70, NULL, 21.5, 0),
	(1, 1772942282000, 0.3333333333333333, NULL, 96.5, 90, -70, NULL, 21.5, 0),
	(1, 1772942319000, 0.6666666666666666, NULL, 96.75, 90, -70, NULL, 21.5, 0),
	(1, 1772942356000, 1, NULL, 97, 90, -70, NULL, 21.5, 0),
	(1, 1772942393000, 1.3333333333333333, NULL, 97.25, 90, -70, NULL, 21.5, 0),
	(1, 1772942430000, 1.6666666666666667, NULL, 97.5, 90, -70, NULL, 21.5, 0),
	(1, 1772942467000, 2, NULL, 97.75, 90, -70, NULL, 21.5, 0),
	(1, 1772942504000, 0, NULL, 98, 90, -70, NULL, 21.5, 0),
	(1, 1772942541000, 0.3333333333333333, NULL, 98.25, 90, -70, NULL, 21.5, 0),
	(1, 1772942578000, 0.6666666666666666, NULL, 98.5, 90, -70, NULL, 21.5, 0),
	(1, 1772942615000, 1, NULL, 98.75, 90, -70, NULL, 21.5, 0),
	(1, 1772942652000, 1.3333333333333333, NULL, 99, 90, -70, NULL, 21.5, 0),
	(1, 1772942689000, 1.6666666666666667, NULL, 99.25, 90, -70, NULL, 21.5, 0),
	(1, 1772942726000, 2, NULL, 99.5, 90, -70, NULL, 21.5, 0);
INSERT INTO public.reading VALUES
	(1, 1772942763000, 0, NULL, 99.75, 90, -70, NULL, 21.5, 0);
INSERT INTO public.reading_original VALUES
	(1, 1772928000000, 0, NULL, 0, 90, -70, NULL, 21.5, 0),
	(1, 1772928037000, 0.3333333333333333, NULL, 0.25, 90, -70, NULL, 21.5, 0);
INSERT INTO public.refusal VALUES
	('acme', 'file', 'no such device', 'M-9', 3, 1772928000000, 1772928000000, 'M-9,…');
INSERT INTO public.rollup_10min VALUES
	(1, 1772931600000, 16, 10, 2, 14.333333333333332, 16, 0, 2, 422, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772932200000, 16, 10, 2, 15.666666666666668, 16, 0, 2, 486, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772932800000, 16, 10, 2, 17, 16, 0, 2, 550, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772933400000, 17, 10, 2, 16.333333333333332, 17, 0, 2, 654.5, 17, 1530, 17, 90, 90, -1190, 17, -70, -70, NULL, 0, NULL, NULL, 365.5, 17, 21.5, 21.5),
	(1, 1772934000000, 16, 10, 2, 15.666666666666666, 16, 0, 2, 682, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772934600000, 16, 10, 2, 17, 16, 0, 2, 746, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772935200000, 16, 10, 2, 16, 16, 0, 2, 810, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772935800000, 17, 10, 2, 16, 17, 0, 2, 930.75, 17, 1530, 17, 90, 90, -1190, 17, -70, -70, NULL, 0, NULL, NULL, 365.5, 17, 21.5, 21.5),
	(1, 1772936400000, 16, 10, 2, 17, 16, 0, 2, 942, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772937000000, 16, 10, 2, 16, 16, 0, 2, 1006, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772937600000, 16, 10, 2, 15, 16, 0, 2, 1070, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772938200000, 16, 10, 2, 16.333333333333336, 16, 0, 2, 1134, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772938800000, 17, 10, 2, 17.666666666666664, 17, 0, 2, 1275, 17, 1530, 17, 90, 90, -1190, 17, -70, -70, NULL, 0, NULL, NULL, 365.5, 17, 21.5, 21.5),
	(1, 1772939400000, 16, 10, 2, 15, 16, 0, 2, 1266, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772940000000, 16, 10, 2, 16.333333333333332, 16, 0, 2, 1330, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772940600000, 16, 10, 2, 17.666666666666664, 16, 0, 2, 1394, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772941200000, 16, 10, 2, 14.333333333333332, 16, 0, 2, 1458, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772941800000, 17, 10, 2, 17, 17, 0, 2, 1619.25, 17, 1530, 17, 90, 90, -1190, 17, -70, -70, NULL, 0, NULL, NULL, 365.5, 17, 21.5, 21.5),
	(1, 1772942400000, 10, 7, 2, 10.666666666666668, 10, 0, 2, 986.25, 10, 900, 10, 90, 90, -700, 10, -70, -70, NULL, 0, NULL, NULL, 215, 10, 21.5, 21.5),
	(1, 1772928000000, 18, 10, 2, 16, 18, 0, 2, 35, 18, 1441, 18, 1, 90, -1189, 18, -70, 1, 1, 1, NULL, NULL, 366.5, 18, 1, 21.5),
	(1, 1772928600000, 16, 10, 2, 16.333333333333332, 16, 0, 2, 98, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772929200000, 16, 10, 2, 17.666666666666668, 16, 0, 2, 162, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772929800000, 16, 10, 2, 14.333333333333332, 16, 0, 2, 226, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5),
	(1, 1772930400000, 17, 10, 2, 17, 17, 0, 2, 310.25, 17, 1530, 17, 90, 90, -1190, 17, -70, -70, NULL, 0, NULL, NULL, 365.5, 17, 21.5, 21.5),
	(1, 1772931000000, 16, 10, 2, 17.666666666666664, 16, 0, 2, 358, 16, 1440, 16, 90, 90, -1120, 16, -70, -70, NULL, 0, NULL, NULL, 344, 16, 21.5, 21.5);
INSERT INTO public.rollup_1hour VALUES
	(1, 1772931600000, 97, 60, 12, 6, 96, 97, 0, 2, 3540.5, 97, 8730, 97, 90, 90, -6790, 97, -70, -70, NULL, 0, NULL, NULL, 2085.5, 97, 21.5, 21.5),
	(1, 1772935200000, 97, 60, 12, 6, 96.33333333333334, 97, 0, 2, 5892.75, 97, 8730, 97, 90, 90, -6790, 97, -70, -70, NULL, 0, NULL, NULL, 2085.5, 97, 21.5, 21.5),
	(1, 1772938800000, 98, 60, 12, 6, 97.99999999999999, 98, 0, 2, 8342.25, 98, 8820, 98, 90, 90, -6860, 98, -70, -70, NULL, 0, NULL, NULL, 2107, 98, 21.5, 21.5),
	(1, 1772942400000, 10, 7, 2, 1, 10.666666666666668, 10, 0, 2, 986.25, 10, 900, 10, 90, 90, -700, 10, -70, -70, NULL, 0, NULL, NULL, 215, 10, 21.5, 21.5),
	(1, 1772928000000, 99, 60, 12, 6, 99, 99, 0, 2, 1189.25, 99, 8731, 99, 1, 90, -6859, 99, -70, 1, 1, 1, NULL, NULL, 2108, 99, 1, 21.5);
INSERT INTO public.rollup_1min VALUES
	(1, 1772931600000, 1, 0, 1, NULL, NULL, 24.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772931660000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 49.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931720000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 50.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931780000, 1, 1.6666666666666667, 1, NULL, NULL, 25.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772931840000, 2, 2, 2, 0, 2, 52.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931900000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 53.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931960000, 1, 1, 1, NULL, NULL, 27, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772932020000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 54.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932080000, 1, 2, 1, NULL, NULL, 27.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772932140000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 56.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932200000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 57.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932260000, 1, 1.3333333333333333, 1, NULL, NULL, 29, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772932320000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 58.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932380000, 1, 0, 1, NULL, NULL, 29.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772932440000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 60.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932500000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 61.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932560000, 1, 1.6666666666666667, 1, NULL, NULL, 31, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772932620000, 2, 2, 2, 0, 2, 62.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932680000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 63.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932740000, 1, 1, 1, NULL, NULL, 32.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772932800000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 65.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932860000, 1, 2, 1, NULL, NULL, 33, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772932920000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 66.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772932980000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 67.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933040000, 1, 1.3333333333333333, 1, NULL, NULL, 34.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772933100000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 69.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933160000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 70.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933220000, 1, 0.6666666666666666, 1, NULL, NULL, 35.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772933280000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 71.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933340000, 1, 1.6666666666666667, 1, NULL, NULL, 36.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772933400000, 2, 2, 2, 0, 2, 73.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933460000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 74.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933520000, 1, 1, 1, NULL, NULL, 37.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772933580000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 75.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933640000, 2, 2, 2, 0, 2, 76.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933700000, 1, 0.3333333333333333, 1, NULL, NULL, 38.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772933760000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 78.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933820000, 1, 1.3333333333333333, 1, NULL, NULL, 39.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772933880000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 79.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772933940000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 80.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934000000, 1, 0.6666666666666666, 1, NULL, NULL, 40.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772934060000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 82.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934120000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 83.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934180000, 1, 0, 1, NULL, NULL, 42, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772934240000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 84.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934300000, 1, 1, 1, NULL, NULL, 42.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772934360000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 86.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934420000, 2, 2, 2, 0, 2, 87.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934480000, 1, 0.3333333333333333, 1, NULL, NULL, 44, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772934540000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 88.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934600000, 1, 1.3333333333333333, 1, NULL, NULL, 44.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772934660000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 90.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934720000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 91.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934780000, 1, 0.6666666666666666, 1, NULL, NULL, 46, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772934840000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 92.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934900000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 93.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772934960000, 1, 0, 1, NULL, NULL, 47.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772935020000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 95.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935080000, 1, 1, 1, NULL, NULL, 48, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772935140000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 96.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935200000, 2, 2, 2, 0, 2, 97.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935260000, 1, 0.3333333333333333, 1, NULL, NULL, 49.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772935320000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 99.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935380000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 100.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935440000, 1, 2, 1, NULL, NULL, 50.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772935500000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 101.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935560000, 1, 0.6666666666666666, 1, NULL, NULL, 51.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772935620000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 103.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935680000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 104.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935740000, 1, 0, 1, NULL, NULL, 52.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772935800000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 105.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935860000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 106.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772935920000, 1, 1.6666666666666667, 1, NULL, NULL, 53.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772935980000, 2, 2, 2, 0, 2, 108.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936040000, 1, 0.3333333333333333, 1, NULL, NULL, 54.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772936100000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 109.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936160000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 110.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936220000, 1, 2, 1, NULL, NULL, 55.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772936280000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 112.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936340000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 113.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936400000, 1, 1.3333333333333333, 1, NULL, NULL, 57, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772936460000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 114.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936520000, 1, 0, 1, NULL, NULL, 57.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772936580000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 116.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936640000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 117.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936700000, 1, 1.6666666666666667, 1, NULL, NULL, 59, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772936760000, 2, 2, 2, 0, 2, 118.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936820000, 1, 0.3333333333333333, 1, NULL, NULL, 59.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772936880000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 120.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772936940000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 121.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937000000, 1, 2, 1, NULL, NULL, 61, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772937060000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 122.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937120000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 123.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937180000, 1, 1.3333333333333333, 1, NULL, NULL, 62.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772937240000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 125.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937300000, 1, 0, 1, NULL, NULL, 63, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772937360000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 126.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937420000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 127.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937480000, 1, 1.6666666666666667, 1, NULL, NULL, 64.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772937540000, 2, 2, 2, 0, 2, 129.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5);
INSERT INTO public.rollup_1min VALUES
	(1, 1772937600000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 130.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937660000, 1, 1, 1, NULL, NULL, 65.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772937720000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 131.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937780000, 1, 2, 1, NULL, NULL, 66.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772937840000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 133.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937900000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 134.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772937960000, 1, 1.3333333333333333, 1, NULL, NULL, 67.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772938020000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 135.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938080000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 136.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938140000, 1, 0.6666666666666666, 1, NULL, NULL, 68.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772938200000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 138.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938260000, 1, 1.6666666666666667, 1, NULL, NULL, 69.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772938320000, 2, 2, 2, 0, 2, 139.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938380000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 140.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938440000, 1, 1, 1, NULL, NULL, 70.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772938500000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 142.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938560000, 2, 2, 2, 0, 2, 143.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938620000, 1, 0.3333333333333333, 1, NULL, NULL, 72, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772938680000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 144.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938740000, 1, 1.3333333333333333, 1, NULL, NULL, 72.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772938800000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 146.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938860000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 147.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772938920000, 1, 0.6666666666666666, 1, NULL, NULL, 74, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772938980000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 148.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939040000, 1, 1.6666666666666667, 1, NULL, NULL, 74.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772939100000, 2, 2, 2, 0, 2, 150.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939160000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 151.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939220000, 1, 1, 1, NULL, NULL, 76, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772939280000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 152.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939340000, 2, 2, 2, 0, 2, 153.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939400000, 1, 0.3333333333333333, 1, NULL, NULL, 77.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772929860000, 1, 0.6666666666666666, 1, NULL, NULL, 12.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772939460000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 155.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939520000, 1, 1.3333333333333333, 1, NULL, NULL, 78, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772939580000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 156.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939640000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 157.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939700000, 1, 0.6666666666666666, 1, NULL, NULL, 79.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772939760000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 159.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939820000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 160.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772939880000, 1, 0, 1, NULL, NULL, 80.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772939940000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 161.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940000000, 1, 1, 1, NULL, NULL, 81.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772940060000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 163.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940120000, 2, 2, 2, 0, 2, 164.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940180000, 1, 0.3333333333333333, 1, NULL, NULL, 82.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772940240000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 165.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940300000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 166.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940360000, 1, 2, 1, NULL, NULL, 83.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772940420000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 168.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940480000, 1, 0.6666666666666666, 1, NULL, NULL, 84.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772940540000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 169.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940600000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 170.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940660000, 1, 0, 1, NULL, NULL, 85.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772940720000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 172.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940780000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 173.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940840000, 1, 1.6666666666666667, 1, NULL, NULL, 87, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772940900000, 2, 2, 2, 0, 2, 174.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772940960000, 1, 0.3333333333333333, 1, NULL, NULL, 87.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772941020000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 176.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941080000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 177.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941140000, 1, 2, 1, NULL, NULL, 89, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772941200000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 178.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941260000, 1, 0.6666666666666666, 1, NULL, NULL, 89.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772941320000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 180.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941380000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 181.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941440000, 1, 0, 1, NULL, NULL, 91, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772941500000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 182.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941560000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 183.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941620000, 1, 1.6666666666666667, 1, NULL, NULL, 92.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772941680000, 2, 2, 2, 0, 2, 185.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941740000, 1, 0.3333333333333333, 1, NULL, NULL, 93, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772941800000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 186.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941860000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 187.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772941920000, 1, 2, 1, NULL, NULL, 94.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772941980000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 189.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942040000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 190.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942100000, 1, 1.3333333333333333, 1, NULL, NULL, 95.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772942160000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 191.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942220000, 1, 0, 1, NULL, NULL, 96.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772942280000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 193.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942340000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 194.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942400000, 1, 1.6666666666666667, 1, NULL, NULL, 97.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772942460000, 2, 2, 2, 0, 2, 195.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942520000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 196.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942580000, 1, 1, 1, NULL, NULL, 98.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772942640000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 198.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772942700000, 1, 2, 1, NULL, NULL, 99.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772942760000, 1, 0, 1, NULL, NULL, 99.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772928000000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 0.25, 2, 90, 2, 45, 45, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928060000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 1.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928120000, 1, 1.3333333333333333, 1, NULL, NULL, 1, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772928180000, 3, 4.666666666666667, 3, 1, 2, 3.75, 3, 181, 3, 1, 90, -139, 3, -70, 1, 1, 1, NULL, NULL, 44, 3, 1, 21.5),
	(1, 1772928240000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 3.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928300000, 1, 0.6666666666666666, 1, NULL, NULL, 2.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772928360000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 5.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928420000, 1, 1.6666666666666667, 1, NULL, NULL, 3, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772928480000, 2, 2, 2, 0, 2, 6.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928540000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 7.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928600000, 1, 1, 1, NULL, NULL, 4.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772928660000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 9.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5);
INSERT INTO public.rollup_1min VALUES
	(1, 1772928720000, 2, 2, 2, 0, 2, 10.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928780000, 1, 0.3333333333333333, 1, NULL, NULL, 5.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772928840000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 11.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928900000, 1, 1.3333333333333333, 1, NULL, NULL, 6.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772928960000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 13.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929020000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 14.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929080000, 1, 0.6666666666666666, 1, NULL, NULL, 7.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772929140000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 15.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929200000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 16.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929260000, 1, 0, 1, NULL, NULL, 8.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772929320000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 18.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929380000, 1, 1, 1, NULL, NULL, 9.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772929440000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 19.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929500000, 2, 2, 2, 0, 2, 20.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929560000, 1, 0.3333333333333333, 1, NULL, NULL, 10.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772929620000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 22.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929680000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 23.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929740000, 1, 2, 1, NULL, NULL, 12, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772929800000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 24.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929920000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 26.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772929980000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 27.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930040000, 1, 0, 1, NULL, NULL, 14, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772930100000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 28.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930160000, 1, 1, 1, NULL, NULL, 14.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772930220000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 30.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930280000, 2, 2, 2, 0, 2, 31.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930340000, 1, 0.3333333333333333, 1, NULL, NULL, 16, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772930400000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 32.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930460000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 33.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930520000, 1, 2, 1, NULL, NULL, 17.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772930580000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 35.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930640000, 1, 0.6666666666666666, 1, NULL, NULL, 18, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772930700000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 36.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930760000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 37.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930820000, 1, 0, 1, NULL, NULL, 19.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772930880000, 2, 1, 2, 0.3333333333333333, 0.6666666666666666, 39.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772930940000, 2, 2.333333333333333, 2, 1, 1.3333333333333333, 40.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931000000, 1, 1.6666666666666667, 1, NULL, NULL, 20.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772931060000, 2, 2, 2, 0, 2, 41.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931120000, 1, 0.3333333333333333, 1, NULL, NULL, 21.25, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772931180000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 43.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931240000, 2, 3, 2, 1.3333333333333333, 1.6666666666666667, 44.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931300000, 1, 2, 1, NULL, NULL, 22.5, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772931360000, 2, 0.3333333333333333, 2, 0, 0.3333333333333333, 45.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931420000, 2, 1.6666666666666665, 2, 0.6666666666666666, 1, 46.75, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772931480000, 1, 1.3333333333333333, 1, NULL, NULL, 23.75, 1, 90, 1, NULL, NULL, -70, 1, NULL, NULL, NULL, 0, NULL, NULL, 21.5, 1, NULL, NULL),
	(1, 1772931540000, 2, 3.666666666666667, 2, 1.6666666666666667, 2, 48.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5);
INSERT INTO public.rollup_5min VALUES
	(1, 1772931600000, 8, 5, 7, 8, 0, 2, 203, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772931900000, 8, 5, 7.333333333333333, 8, 0, 2, 219, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772932200000, 8, 5, 7.666666666666667, 8, 0, 2, 235, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772932500000, 8, 5, 8, 8, 0, 2, 251, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772932800000, 8, 5, 8.333333333333334, 8, 0, 2, 267, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772933100000, 8, 5, 8.666666666666666, 8, 0, 2, 283, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772933400000, 9, 5, 9, 9, 0, 2, 337.5, 9, 810, 9, 90, 90, -630, 9, -70, -70, NULL, 0, NULL, NULL, 193.5, 9, 21.5, 21.5),
	(1, 1772933700000, 8, 5, 7.333333333333333, 8, 0, 2, 317, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772934000000, 8, 5, 7.666666666666666, 8, 0, 2, 333, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772934300000, 8, 5, 8, 8, 0, 2, 349, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772934600000, 8, 5, 8.333333333333332, 8, 0, 2, 365, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772934900000, 8, 5, 8.666666666666668, 8, 0, 2, 381, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772935200000, 8, 5, 9, 8, 0, 2, 397, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772935500000, 8, 5, 7, 8, 0, 2, 413, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772935800000, 8, 5, 7.333333333333333, 8, 0, 2, 429, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772936100000, 9, 5, 8.666666666666666, 9, 0, 2, 501.75, 9, 810, 9, 90, 90, -630, 9, -70, -70, NULL, 0, NULL, NULL, 193.5, 9, 21.5, 21.5),
	(1, 1772936400000, 8, 5, 8.333333333333332, 8, 0, 2, 463, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772936700000, 8, 5, 8.666666666666666, 8, 0, 2, 479, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772937000000, 8, 5, 9, 8, 0, 2, 495, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772937300000, 8, 5, 7, 8, 0, 2, 511, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772937600000, 8, 5, 7.333333333333333, 8, 0, 2, 527, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772937900000, 8, 5, 7.666666666666667, 8, 0, 2, 543, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772938200000, 8, 5, 8, 8, 0, 2, 559, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772938500000, 8, 5, 8.333333333333334, 8, 0, 2, 575, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772938800000, 8, 5, 8.666666666666666, 8, 0, 2, 591, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772939100000, 9, 5, 9, 9, 0, 2, 684, 9, 810, 9, 90, 90, -630, 9, -70, -70, NULL, 0, NULL, NULL, 193.5, 9, 21.5, 21.5),
	(1, 1772939400000, 8, 5, 7.333333333333333, 8, 0, 2, 625, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772939700000, 8, 5, 7.666666666666666, 8, 0, 2, 641, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772940000000, 8, 5, 8, 8, 0, 2, 657, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772940300000, 8, 5, 8.333333333333332, 8, 0, 2, 673, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772940600000, 8, 5, 8.666666666666666, 8, 0, 2, 689, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772940900000, 8, 5, 9, 8, 0, 2, 705, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772941200000, 8, 5, 7, 8, 0, 2, 721, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772941500000, 8, 5, 7.333333333333333, 8, 0, 2, 737, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772941800000, 9, 5, 8.666666666666666, 9, 0, 2, 848.25, 9, 810, 9, 90, 90, -630, 9, -70, -70, NULL, 0, NULL, NULL, 193.5, 9, 21.5, 21.5),
	(1, 1772942100000, 8, 5, 8.333333333333332, 8, 0, 2, 771, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772942400000, 8, 5, 8.666666666666668, 8, 0, 2, 787, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772942700000, 2, 2, 2, 2, 0, 2, 199.25, 2, 180, 2, 90, 90, -140, 2, -70, -70, NULL, 0, NULL, NULL, 43, 2, 21.5, 21.5),
	(1, 1772928000000, 10, 5, 8.333333333333334, 10, 0, 2, 10, 10, 721, 10, 1, 90, -629, 10, -70, 1, 1, 1, NULL, NULL, 194.5, 10, 1, 21.5),
	(1, 1772928300000, 8, 5, 7.666666666666666, 8, 0, 2, 25, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772928600000, 8, 5, 8, 8, 0, 2, 41, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772928900000, 8, 5, 8.333333333333332, 8, 0, 2, 57, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772929200000, 8, 5, 8.666666666666668, 8, 0, 2, 73, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772929500000, 8, 5, 9, 8, 0, 2, 89, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772929800000, 8, 5, 7, 8, 0, 2, 105, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772930100000, 8, 5, 7.333333333333333, 8, 0, 2, 121, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772930400000, 8, 5, 7.666666666666666, 8, 0, 2, 137, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772930700000, 9, 5, 9.333333333333332, 9, 0, 2, 173.25, 9, 810, 9, 90, 90, -630, 9, -70, -70, NULL, 0, NULL, NULL, 193.5, 9, 21.5, 21.5),
	(1, 1772931000000, 8, 5, 8.666666666666666, 8, 0, 2, 171, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5),
	(1, 1772931300000, 8, 5, 9, 8, 0, 2, 187, 8, 720, 8, 90, 90, -560, 8, -70, -70, NULL, 0, NULL, NULL, 172, 8, 21.5, 21.5);
INSERT INTO public.schema_version VALUES
	(1),
	(2),
	(3),
	(4);
INSERT INTO public.undated VALUES
	(1, 1772928000000);
ALTER TABLE ONLY public.alert_clock
    ADD CONSTRAINT alert_clock_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.alert_due
    ADD CONSTRAINT alert_due_pkey PRIMARY KEY (device_id);
ALTER TABLE ONLY public.alert_message
    ADD CONSTRAINT alert_message_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert_receiver
    ADD CONSTRAINT alert_receiver_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert_rule
    ADD CONSTRAINT alert_rule_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert_silence
    ADD CONSTRAINT alert_silence_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.annotation
    ADD CONSTRAINT annotation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.billing
    ADD CONSTRAINT billing_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.device_ancestor
    ADD CONSTRAINT device_ancestor_pkey PRIMARY KEY (device_key, ancestor_key);
ALTER TABLE ONLY public.device_group
    ADD CONSTRAINT device_group_pkey PRIMARY KEY (device_key, name);
ALTER TABLE ONLY public.device
    ADD CONSTRAINT device_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.device_status
    ADD CONSTRAINT device_status_pkey PRIMARY KEY (device_id);
ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_pkey PRIMARY KEY (device_id, kind, opened_ms);
ALTER TABLE ONLY public.finding_state
    ADD CONSTRAINT finding_state_pkey PRIMARY KEY (device_id);
ALTER TABLE ONLY public.holiday
    ADD CONSTRAINT holiday_pkey PRIMARY KEY (organization_id, day);
ALTER TABLE ONLY public.hour_counter
    ADD CONSTRAINT hour_counter_pkey PRIMARY KEY (device_id, ts) INCLUDE (n, n_1min, n_5min, n_10min);
ALTER TABLE ONLY public.import_progress
    ADD CONSTRAINT import_progress_pkey PRIMARY KEY (digest, organization_id);
ALTER TABLE ONLY public.insight_due
    ADD CONSTRAINT insight_due_pkey PRIMARY KEY (device_id);
ALTER TABLE ONLY public.insight_setting
    ADD CONSTRAINT insight_setting_pkey PRIMARY KEY (organization_id, level, target, kind, name);
ALTER TABLE ONLY public.key_grant
    ADD CONSTRAINT key_grant_pkey PRIMARY KEY (key_id, kind, value);
ALTER TABLE ONLY public.key_use
    ADD CONSTRAINT key_use_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY public.month_end
    ADD CONSTRAINT month_end_pkey PRIMARY KEY (device_id);
ALTER TABLE ONLY public.organization
    ADD CONSTRAINT organization_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.organization_setting
    ADD CONSTRAINT organization_setting_pkey PRIMARY KEY (organization_id, name);
ALTER TABLE ONLY public.reading_original
    ADD CONSTRAINT reading_original_pkey PRIMARY KEY (device_id, ts, seq);
ALTER TABLE ONLY public.reading
    ADD CONSTRAINT reading_pkey PRIMARY KEY (device_id, ts, seq) INCLUDE (flow_rate, flow_duration, flow_amount, quality, signal_strength, network_rssi, onboard_temperature);
ALTER TABLE ONLY public.refusal
    ADD CONSTRAINT refusal_pkey PRIMARY KEY (organization_id, source, reason, device);
ALTER TABLE ONLY public.register
    ADD CONSTRAINT register_pkey PRIMARY KEY (device_id, ts) INCLUDE (value, unit, quality, signal_strength, network_rssi, onboard_temperature);
ALTER TABLE ONLY public.retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.rollup_10min
    ADD CONSTRAINT rollup_10min_pkey PRIMARY KEY (device_id, ts);
ALTER TABLE ONLY public.rollup_1hour
    ADD CONSTRAINT rollup_1hour_pkey PRIMARY KEY (device_id, ts);
ALTER TABLE ONLY public.rollup_1min
    ADD CONSTRAINT rollup_1min_pkey PRIMARY KEY (device_id, ts);
ALTER TABLE ONLY public.rollup_5min
    ADD CONSTRAINT rollup_5min_pkey PRIMARY KEY (device_id, ts);
ALTER TABLE ONLY public.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.undated
    ADD CONSTRAINT undated_pkey PRIMARY KEY (device_id, ts);
CREATE INDEX alert_by_device ON public.alert USING btree (device_key, rule_id);
CREATE INDEX alert_by_due ON public.alert USING btree (due_ms) WHERE (due_ms IS NOT NULL);
CREATE INDEX alert_by_group ON public.alert USING btree (group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX alert_by_organization ON public.alert USING btree (organization_id, state, fired_ms);
CREATE INDEX alert_message_by_due ON public.alert_message USING btree (due_ms) WHERE (state = 'queued'::text);
CREATE INDEX alert_message_by_organization ON public.alert_message USING btree (organization_id, created_ms);
CREATE INDEX alert_message_by_thread ON public.alert_message USING btree (thread, receiver_id, place);
CREATE INDEX alert_receiver_by_organization ON public.alert_receiver USING btree (organization_id);
CREATE INDEX alert_rule_by_organization ON public.alert_rule USING btree (organization_id);
CREATE INDEX alert_silence_by_organization ON public.alert_silence USING btree (organization_id);
CREATE INDEX annotation_by_device ON public.annotation USING btree (device_key, kind);
CREATE INDEX annotation_by_group ON public.annotation USING btree (group_name, organization_id, kind, from_ms);
CREATE INDEX annotation_by_organization ON public.annotation USING btree (organization_id, kind, from_ms, id);
CREATE INDEX annotation_in_force ON public.annotation USING btree (device_key) WHERE ((kind = 'correction'::text) AND (ended_ms IS NULL));
CREATE UNIQUE INDEX api_key_by_digest ON public.api_key USING btree (digest);
CREATE INDEX audit_by_time ON public.audit USING btree (organization_id, at_ms, id);
CREATE INDEX billing_by_organization ON public.billing USING btree (organization_id, kind);
CREATE INDEX device_ancestor_by_ancestor ON public.device_ancestor USING btree (ancestor_key);
CREATE UNIQUE INDEX device_by_id ON public.device USING btree (id);
CREATE INDEX device_by_label ON public.device USING btree (organization_id, active, label, id, key, serial_number, network_unique_identifier);
CREATE UNIQUE INDEX device_by_network_unique_identifier ON public.device USING btree (organization_id, network_unique_identifier) WHERE (active = 1);
CREATE INDEX device_by_organization ON public.device USING btree (organization_id);
CREATE UNIQUE INDEX device_by_serial_number ON public.device USING btree (organization_id, serial_number) WHERE (active = 1);
CREATE INDEX device_group_by_name ON public.device_group USING btree (name);
CREATE INDEX device_listed ON public.device USING btree (organization_id, active, key, label, id);
CREATE INDEX device_status_by_due ON public.device_status USING btree (due_ms);
CREATE INDEX finding_by_device ON public.finding USING btree (device_id, dismissed_ms, end_ms, severity, kind, start_ms);
CREATE INDEX finding_by_id ON public.finding USING btree (id);
CREATE INDEX finding_by_order ON public.finding USING btree (rank, COALESCE(cost_per_day, (0)::double precision) DESC, usual_per_day DESC, start_ms, id, dismissed_ms, end_ms, severity, device_id, kind);
CREATE INDEX finding_state_by_due ON public.finding_state USING btree (due_ms);
CREATE INDEX insight_due_findings ON public.insight_due USING btree (device_id) WHERE (findings_ms IS NOT NULL);
CREATE INDEX insight_due_status ON public.insight_due USING btree (device_id) WHERE (status_ms IS NOT NULL);
CREATE INDEX month_end_by_due ON public.month_end USING btree (due_ms);

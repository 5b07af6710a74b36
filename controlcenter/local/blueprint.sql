-- The shape of a new database. Drawn by `make blueprint`, not by hand.
-- PostgreSQL 18
-- account.0001_initial 6f27ff6bdf57521a
-- account.0002_email_max_length c956ab7a3c3660a1
-- account.0003_alter_emailaddress_create_unique_verified_email 66b6f1939621bcfa
-- account.0004_alter_emailaddress_drop_unique_email ebc6317e90c47d7a
-- account.0005_emailaddress_idx_upper_email e7569f1662da1754
-- account.0006_emailaddress_lower 54adb08cb3fba66b
-- account.0007_emailaddress_idx_email 87fad70bfde8ae29
-- account.0008_emailaddress_unique_primary_email_fixup 794bf875bdbef9c4
-- account.0009_emailaddress_unique_primary_email 79762cfa7b1e1d7c
-- agents.0001_initial bdf54332f018973e
-- agents.0002_fences 7812f077bff1f9d9
-- agents.0003_long_texts 256ed79879c6c612
-- agents.0004_library e46d8e4d70e553d2
-- agents.0005_asks_to_delegate b7407f34e4bf3222
-- auth.0001_initial 845cff319606332f
-- auth.0002_alter_permission_name_max_length feaf97e0e8f7d148
-- auth.0003_alter_user_email_max_length 9d5657b4db9872dc
-- auth.0004_alter_user_username_opts 9538db342c9a9bec
-- auth.0005_alter_user_last_login_null 79f60a35dc000fdd
-- auth.0006_require_contenttypes_0002 00cb16e3405f14b6
-- auth.0007_alter_validators_add_error_messages 115db87dc327530f
-- auth.0008_alter_user_username_max_length 02857f65f7d64814
-- auth.0009_alter_user_last_name_max_length 19a89500e7f108a7
-- auth.0010_alter_group_name_max_length 0963ed6498ac0b3a
-- auth.0011_update_proxy_permissions 85a5dde708dc4b61
-- auth.0012_alter_user_first_name_max_length 6cefbc9f80903763
-- contenttypes.0001_initial 35ed8489a147e0b4
-- contenttypes.0002_remove_content_type_name 7d36494075750f0e
-- guardrails.0001_initial 5bc802341c6697db
-- guardrails.0002_fences 6f3d1b360ee47eeb
-- guardrails.0003_kept_sentences 9faa9aba95e857c4
-- mfa.0001_initial a42b6353f2ed5dd7
-- mfa.0002_authenticator_timestamps b6566eb07301e2e4
-- mfa.0003_authenticator_type_uniq 88550a456154080c
-- repositories.0001_initial eb96eb5d5d1c49ab
-- repositories.0002_fences 764148774ae320e6
-- repositories.0003_kept_sentences f10aad7044c6397c
-- repositories.0004_repository_skills 4e452cc1278a892b
-- repositories.0005_repository_skills_fences f2a9e0cf44a86ff1
-- repositories.0006_claims 6a038b77477b8408
-- runs.0001_initial 53770b4f6dbc9807
-- runs.0002_fences b68fe3801a919c15
-- runs.0003_began_at def5ef775d0f49ce
-- runs.0004_approvals_quickly a97e71949de867cc
-- runs.0005_append 4381d904606b285f
-- runs.0006_one_index_less fe709a5a921a89aa
-- runs.0007_roster_quickly 4154df0eaa26d619
-- runs.0008_claim 5c5714947610f60a
-- runs.0008_kept_sentences ab77db3d498cfb8b
-- runs.0009_subagent 289bf0da1589db94
-- sessions.0001_initial 2aa438e2393ee513
-- skills.0001_initial 1518e09717cbdf49
-- skills.0002_fences 387351a5504d0833
-- skills.0003_sources_and_requests cba66d7cf6992b40
-- skills.0004_fences 0a841ffa280ca3fa
-- skills.0005_attempts c97cc5f50d8acfa8
-- skills.0006_sentences 22a2ac458573f480
-- skills.0007_request_stage 92451b30b2638c13
-- skills.0008_listing_sentences 0722887fc60ff7ad
-- skills.0009_claims 27f7c4428e5dcb9b
-- spaces.0001_initial bab97d2e3dcb469d
-- spaces.0002_fences 875c43cbfc2929d3
-- spaces.0003_kept_sentences 6eda7c992f94cf78
-- spaces.0004_bound_definition 062400ce73b59b94
-- spaces.0005_subagent_prompt 9d199a66b8a80ae2
-- spaces.0006_joining_definition 3a7d199d3b1e3837
-- usersessions.0001_initial b5d23c8ce0644061
-- workspaces.0001_initial a15d6a8a8de53948
-- workspaces.0002_fences aa6125d61cdc5f57
-- workspaces.0003_house_address 99eb6b82990ab559
-- workspaces.0004_api_tokens ce6bda9664b2aad6
-- workspaces.0005_check_in_every_language 663994f4e03112cd

SET LOCAL check_function_bodies = false;
SET LOCAL search_path = '';

CREATE FUNCTION public.runs_append(its_workspace uuid, its_run uuid, its_fence bigint, its_attempt integer, is_output boolean, entries jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    many int := jsonb_array_length(entries);
    last bigint;
BEGIN
    UPDATE runs_runcursor SET last_seq = last_seq + many,
        last_output_at = CASE WHEN is_output THEN clock_timestamp() ELSE last_output_at END
    WHERE run_id = its_run AND (its_fence IS NULL OR fence = its_fence)
    RETURNING last_seq INTO last;
    IF last IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO runs_runevent (id, workspace_id, run_id, seq, kind, attempt, data, at)
    SELECT (e.value ->> 'id')::uuid, its_workspace, its_run, last - many + e.ordinality,
           e.value ->> 'kind', its_attempt, e.value -> 'data', clock_timestamp()
    FROM jsonb_array_elements(entries) WITH ORDINALITY AS e;
    RETURN last;
END
$$;

CREATE FUNCTION public.runs_claim(its_run uuid, its_owner text, lease_seconds double precision) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    claimed bigint;
BEGIN
    UPDATE runs_run SET state = 'running', attempt = attempt + 1, fence = fence + 1,
        lease_owner = its_owner,
        lease_until = clock_timestamp() + make_interval(secs => lease_seconds),
        started_at = coalesce(started_at, clock_timestamp()), waiting_for = '', waiting_on = NULL
    WHERE id = its_run AND state = 'queued' RETURNING fence INTO claimed;
    IF claimed IS NOT NULL THEN
        UPDATE runs_runcursor SET fence = claimed, began_at = clock_timestamp(),
            last_output_at = NULL
        WHERE run_id = its_run;
    END IF;
    RETURN claimed;
END
$$;

CREATE TABLE public.account_emailaddress (
    id integer NOT NULL,
    email character varying(254) NOT NULL,
    verified boolean NOT NULL,
    "primary" boolean NOT NULL,
    user_id uuid NOT NULL
);

ALTER TABLE public.account_emailaddress ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailaddress_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.account_emailconfirmation (
    id integer NOT NULL,
    created timestamp with time zone NOT NULL,
    sent timestamp with time zone,
    key character varying(64) NOT NULL,
    email_address_id integer NOT NULL
);

ALTER TABLE public.account_emailconfirmation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailconfirmation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.agents_accepteddefinition (
    id uuid NOT NULL,
    repository_id uuid NOT NULL,
    path character varying(1000) NOT NULL,
    digest character varying(64) NOT NULL,
    text bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    by_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.agents_accepteddefinition FORCE ROW LEVEL SECURITY;

CREATE TABLE public.agents_agent (
    id uuid NOT NULL,
    name character varying(63) NOT NULL,
    title character varying(120) NOT NULL,
    persona text NOT NULL,
    system_prompt text NOT NULL,
    adapter_id character varying(60),
    model_id character varying(200),
    effort character varying(20),
    context_size integer,
    silence_timeout_minutes smallint,
    lifecycle character varying(8) NOT NULL,
    unknown_keys jsonb NOT NULL,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    principal_id uuid,
    reports_to_id uuid,
    workspace_id uuid NOT NULL,
    CONSTRAINT agent_context_size_positive CHECK (((context_size IS NULL) OR (context_size > 0))),
    CONSTRAINT agent_named_has_principal CHECK (((((name)::text = ''::text) AND (principal_id IS NULL)) OR ((NOT ((name)::text = ''::text)) AND (principal_id IS NOT NULL)))),
    CONSTRAINT agent_silence_1_to_240 CHECK (((silence_timeout_minutes IS NULL) OR ((silence_timeout_minutes >= 1) AND (silence_timeout_minutes <= 240)))),
    CONSTRAINT agents_agent_context_size_check CHECK ((context_size >= 0)),
    CONSTRAINT agents_agent_silence_timeout_minutes_check CHECK ((silence_timeout_minutes >= 0)),
    CONSTRAINT agents_agent_version_check CHECK ((version >= 0))
);

ALTER TABLE ONLY public.agents_agent FORCE ROW LEVEL SECURITY;

CREATE TABLE public.agents_agentskill (
    id uuid NOT NULL,
    key character varying(64) NOT NULL,
    display character varying(64) NOT NULL,
    "position" smallint NOT NULL,
    agent_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    CONSTRAINT agents_agentskill_position_check CHECK (("position" >= 0))
);

ALTER TABLE ONLY public.agents_agentskill FORCE ROW LEVEL SECURITY;

CREATE TABLE public.agents_definitionchange (
    id uuid NOT NULL,
    batch uuid NOT NULL,
    shelf character varying(12) NOT NULL,
    path character varying(400) NOT NULL,
    before bytea,
    after bytea,
    at timestamp with time zone NOT NULL,
    undone_at timestamp with time zone,
    by_id uuid,
    owner_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.agents_definitionchange FORCE ROW LEVEL SECURITY;

CREATE TABLE public.agents_definitionimport (
    id uuid NOT NULL,
    kind character varying(10) NOT NULL,
    source character varying(500) NOT NULL,
    ref character varying(200) NOT NULL,
    commit character varying(40) NOT NULL,
    repository_id uuid,
    state character varying(8) NOT NULL,
    stage character varying(60) NOT NULL,
    error character varying(500) NOT NULL,
    files jsonb NOT NULL,
    left_out jsonb NOT NULL,
    batch uuid,
    created jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    begun_at timestamp with time zone,
    by_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.agents_definitionimport FORCE ROW LEVEL SECURITY;

CREATE TABLE public.agents_librarysetting (
    id uuid NOT NULL,
    extra_folders jsonb NOT NULL,
    safe_mode boolean NOT NULL,
    disabled_packages jsonb NOT NULL,
    workspace_id uuid NOT NULL,
    asks_to_delegate boolean NOT NULL
);

ALTER TABLE ONLY public.agents_librarysetting FORCE ROW LEVEL SECURITY;

CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);

ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);

ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);

ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);

ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL
);

ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);

CREATE TABLE public.guardrails_approval (
    id uuid NOT NULL,
    run_id uuid,
    call_id character varying(200) NOT NULL,
    kind character varying(16) NOT NULL,
    title text NOT NULL,
    asking jsonb NOT NULL,
    shown jsonb NOT NULL,
    actions jsonb NOT NULL,
    why jsonb NOT NULL,
    recommendation text NOT NULL,
    needs_two_people boolean NOT NULL,
    digest character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    state character varying(10) NOT NULL,
    decided_at timestamp with time zone,
    hours smallint,
    note text NOT NULL,
    used_at timestamp with time zone,
    withdrawn_at timestamp with time zone,
    asked_by_id uuid,
    conversation_id uuid,
    decided_by_id uuid,
    on_behalf_of_id uuid,
    space_id uuid,
    workspace_id uuid NOT NULL,
    CONSTRAINT guardrails_approval_hours_check CHECK ((hours >= 0))
);

ALTER TABLE ONLY public.guardrails_approval FORCE ROW LEVEL SECURITY;

CREATE TABLE public.guardrails_approvalsettings (
    id uuid NOT NULL,
    unattended_hours smallint NOT NULL,
    workspace_id uuid NOT NULL,
    CONSTRAINT approvalsettings_hours CHECK (((unattended_hours >= 1) AND (unattended_hours <= 720))),
    CONSTRAINT guardrails_approvalsettings_unattended_hours_check CHECK ((unattended_hours >= 0))
);

ALTER TABLE ONLY public.guardrails_approvalsettings FORCE ROW LEVEL SECURITY;

CREATE TABLE public.guardrails_autonomy (
    id uuid NOT NULL,
    level character varying(20) NOT NULL,
    set_at timestamp with time zone NOT NULL,
    agent_id uuid NOT NULL,
    set_by_id uuid,
    space_id uuid NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.guardrails_autonomy FORCE ROW LEVEL SECURITY;

CREATE TABLE public.guardrails_rule (
    id uuid NOT NULL,
    scope character varying(10) NOT NULL,
    action_class character varying(32) NOT NULL,
    command_prefix character varying(300) NOT NULL,
    decision character varying(8) NOT NULL,
    "constraint" jsonb NOT NULL,
    level character varying(10) NOT NULL,
    needs_two_people boolean NOT NULL,
    provenance character varying(12) NOT NULL,
    note character varying(300) NOT NULL,
    approval_id uuid,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    agent_id uuid,
    created_by_id uuid,
    revoked_by_id uuid,
    space_id uuid,
    workspace_id uuid NOT NULL,
    CONSTRAINT rule_class_or_prefix CHECK ((((NOT ((action_class)::text = ''::text)) AND ((command_prefix)::text = ''::text)) OR (((action_class)::text = ''::text) AND (NOT ((command_prefix)::text = ''::text))))),
    CONSTRAINT rule_scope_has_its_id CHECK ((((agent_id IS NULL) AND ((scope)::text = 'workspace'::text) AND (space_id IS NULL)) OR ((agent_id IS NOT NULL) AND ((scope)::text = 'agent'::text) AND (space_id IS NULL)) OR ((agent_id IS NULL) AND ((scope)::text = 'space'::text) AND (space_id IS NOT NULL))))
);

ALTER TABLE ONLY public.guardrails_rule FORCE ROW LEVEL SECURITY;

CREATE TABLE public.mfa_authenticator (
    id bigint NOT NULL,
    type character varying(20) NOT NULL,
    data jsonb NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);

ALTER TABLE public.mfa_authenticator ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mfa_authenticator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.repositories_activerepository (
    id uuid NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    agent_id uuid NOT NULL,
    chosen_by_id uuid,
    conversation_id uuid NOT NULL,
    repository_id uuid NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.repositories_activerepository FORCE ROW LEVEL SECURITY;

CREATE TABLE public.repositories_checkout (
    id uuid NOT NULL,
    branch character varying(200) NOT NULL,
    base character varying(40) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    mended_at timestamp with time zone,
    mended_why character varying(300) NOT NULL,
    conversation_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    repository_id uuid NOT NULL,
    skills_commit character varying(40) NOT NULL
);

ALTER TABLE ONLY public.repositories_checkout FORCE ROW LEVEL SECURITY;

CREATE TABLE public.repositories_pushrequest (
    id uuid NOT NULL,
    number integer NOT NULL,
    repository_name character varying(63) NOT NULL,
    run_id uuid NOT NULL,
    refs jsonb NOT NULL,
    push_options jsonb NOT NULL,
    digest character varying(64) NOT NULL,
    quarantine character varying(200) NOT NULL,
    pack_bytes bigint NOT NULL,
    pack_digest character varying(64) NOT NULL,
    summary jsonb NOT NULL,
    state character varying(10) NOT NULL,
    rule character varying(300) NOT NULL,
    outcome text NOT NULL,
    attempts integer NOT NULL,
    forward_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    ended_at timestamp with time zone,
    agent_id uuid,
    approval_id uuid,
    conversation_id uuid,
    space_id uuid,
    workspace_id uuid NOT NULL,
    repository_id uuid,
    CONSTRAINT repositories_pushrequest_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT repositories_pushrequest_number_check CHECK ((number >= 0)),
    CONSTRAINT repositories_pushrequest_pack_bytes_check CHECK ((pack_bytes >= 0))
);

ALTER TABLE ONLY public.repositories_pushrequest FORCE ROW LEVEL SECURITY;

CREATE TABLE public.repositories_repository (
    id uuid NOT NULL,
    name character varying(63) NOT NULL,
    address character varying(500) NOT NULL,
    default_branch character varying(200) NOT NULL,
    state character varying(10) NOT NULL,
    stage character varying(60) NOT NULL,
    percent smallint,
    error text NOT NULL,
    error_code character varying(40) NOT NULL,
    is_empty boolean NOT NULL,
    size_bytes bigint NOT NULL,
    fetch_beat_at timestamp with time zone,
    last_fetched_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    added_by_id uuid,
    credential_id uuid,
    workspace_id uuid NOT NULL,
    skills_commit character varying(40) NOT NULL,
    fetch_fence integer NOT NULL,
    CONSTRAINT repositories_repository_fetch_fence_check CHECK ((fetch_fence >= 0)),
    CONSTRAINT repositories_repository_percent_check CHECK ((percent >= 0)),
    CONSTRAINT repositories_repository_size_bytes_check CHECK ((size_bytes >= 0))
);

ALTER TABLE ONLY public.repositories_repository FORCE ROW LEVEL SECURITY;

CREATE TABLE public.repositories_skillacceptance (
    id uuid NOT NULL,
    digest character varying(80) NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    accepted_by_id uuid,
    repository_id uuid NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.repositories_skillacceptance FORCE ROW LEVEL SECURITY;

CREATE TABLE public.repositories_skillscan (
    id uuid NOT NULL,
    commit character varying(40) NOT NULL,
    ruleset character varying(80) NOT NULL,
    is_published boolean NOT NULL,
    skills jsonb NOT NULL,
    passed_over jsonb NOT NULL,
    scanned_at timestamp with time zone NOT NULL,
    repository_id uuid NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.repositories_skillscan FORCE ROW LEVEL SECURITY;

CREATE TABLE public.repositories_skillverdict (
    id uuid NOT NULL,
    digest character varying(80) NOT NULL,
    folder character varying(255) NOT NULL,
    ruleset character varying(80) NOT NULL,
    verdict jsonb NOT NULL,
    description character varying(1024) NOT NULL,
    scanned_at timestamp with time zone NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.repositories_skillverdict FORCE ROW LEVEL SECURITY;

CREATE TABLE public.repositories_spacerepository (
    id uuid NOT NULL,
    repository_id uuid NOT NULL,
    space_id uuid NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.repositories_spacerepository FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_run (
    id uuid NOT NULL,
    wake_reason character varying(16) NOT NULL,
    adapter character varying(60) NOT NULL,
    model character varying(300) NOT NULL,
    effort character varying(20) NOT NULL,
    mode character varying(12) NOT NULL,
    state character varying(10) NOT NULL,
    waiting_for character varying(10) NOT NULL,
    waiting_on uuid,
    terminal_reason character varying(24) NOT NULL,
    summary text NOT NULL,
    liveness character varying(12) NOT NULL,
    stop_requested_at timestamp with time zone,
    stop_reason character varying(20) NOT NULL,
    pause_requested_at timestamp with time zone,
    attempt integer NOT NULL,
    fence bigint NOT NULL,
    lease_owner character varying(160) NOT NULL,
    lease_until timestamp with time zone,
    rung_at timestamp with time zone,
    queued_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    sandboxed boolean,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    cost_microusd bigint NOT NULL,
    agent_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    message_id uuid,
    parent_id uuid,
    requested_by_id uuid,
    space_id uuid NOT NULL,
    stop_requested_by_id uuid,
    workspace_id uuid NOT NULL,
    CONSTRAINT runs_run_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT runs_run_cache_read_tokens_check CHECK ((cache_read_tokens >= 0)),
    CONSTRAINT runs_run_cache_write_tokens_check CHECK ((cache_write_tokens >= 0)),
    CONSTRAINT runs_run_cost_microusd_check CHECK ((cost_microusd >= 0)),
    CONSTRAINT runs_run_fence_check CHECK ((fence >= 0)),
    CONSTRAINT runs_run_input_tokens_check CHECK ((input_tokens >= 0)),
    CONSTRAINT runs_run_output_tokens_check CHECK ((output_tokens >= 0))
);

ALTER TABLE ONLY public.runs_run FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_runcursor (
    id uuid NOT NULL,
    last_seq bigint NOT NULL,
    fence bigint NOT NULL,
    last_output_at timestamp with time zone,
    run_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    began_at timestamp with time zone,
    CONSTRAINT runs_runcursor_fence_check CHECK ((fence >= 0)),
    CONSTRAINT runs_runcursor_last_seq_check CHECK ((last_seq >= 0))
);

ALTER TABLE ONLY public.runs_runcursor FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_runevent (
    id uuid NOT NULL,
    seq bigint NOT NULL,
    kind character varying(20) NOT NULL,
    attempt integer NOT NULL,
    data jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    CONSTRAINT runs_runevent_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT runs_runevent_seq_check CHECK ((seq >= 0))
);

ALTER TABLE ONLY public.runs_runevent FORCE ROW LEVEL SECURITY;

CREATE TABLE public.runs_subagent (
    id uuid NOT NULL,
    call_id character varying(200) NOT NULL,
    depth smallint NOT NULL,
    name character varying(200) NOT NULL,
    description character varying(300) NOT NULL,
    prompt text NOT NULL,
    background boolean NOT NULL,
    posture character varying(16) NOT NULL,
    isolation character varying(10) NOT NULL,
    dialect character varying(12) NOT NULL,
    path character varying(400) NOT NULL,
    text text NOT NULL,
    standing character varying(12) NOT NULL,
    session_agents text NOT NULL,
    surface jsonb NOT NULL,
    worktrees jsonb NOT NULL,
    parent_id uuid NOT NULL,
    run_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    CONSTRAINT runs_subagent_depth_check CHECK ((depth >= 0))
);

ALTER TABLE ONLY public.runs_subagent FORCE ROW LEVEL SECURITY;

CREATE TABLE public.skills_skill (
    id uuid NOT NULL,
    slug character varying(64) NOT NULL,
    description character varying(1024) NOT NULL,
    origin character varying(8) NOT NULL,
    verdict character varying(12) NOT NULL,
    digest character varying(80) NOT NULL,
    ruleset character varying(80) NOT NULL,
    installed_at timestamp with time zone NOT NULL,
    workspace_id uuid NOT NULL,
    accepted_by_id uuid,
    accepted_by_name character varying(120) NOT NULL,
    accepted_rules jsonb NOT NULL,
    available_at timestamp with time zone,
    available_commit character varying(40) NOT NULL,
    capabilities jsonb NOT NULL,
    commit character varying(40) NOT NULL,
    computed_hash character varying(64) NOT NULL,
    decision character varying(8) NOT NULL,
    findings jsonb NOT NULL,
    gone_from_source boolean NOT NULL,
    path character varying(1000) NOT NULL,
    previous_digest character varying(80) NOT NULL,
    ref character varying(200) NOT NULL,
    scanned_at timestamp with time zone NOT NULL,
    skill_file character varying(20) NOT NULL,
    source_address character varying(500) NOT NULL,
    source_name character varying(120) NOT NULL,
    source_type character varying(12) NOT NULL,
    tree_sha character varying(40) NOT NULL,
    source_id uuid
);

ALTER TABLE ONLY public.skills_skill FORCE ROW LEVEL SECURITY;

CREATE TABLE public.skills_skilllisting (
    id uuid NOT NULL,
    path character varying(1000) NOT NULL,
    name character varying(255) NOT NULL,
    place character varying(20) NOT NULL,
    tree_sha character varying(40) NOT NULL,
    files integer NOT NULL,
    skipped text NOT NULL,
    sealed bytea NOT NULL,
    workspace_id uuid NOT NULL,
    source_id uuid NOT NULL,
    CONSTRAINT skills_skilllisting_files_check CHECK ((files >= 0))
);

ALTER TABLE ONLY public.skills_skilllisting FORCE ROW LEVEL SECURITY;

CREATE TABLE public.skills_skillrequest (
    id uuid NOT NULL,
    kind character varying(8) NOT NULL,
    state character varying(10) NOT NULL,
    source_name character varying(120) NOT NULL,
    path character varying(1000) NOT NULL,
    slug character varying(64) NOT NULL,
    ref character varying(200) NOT NULL,
    commit character varying(40) NOT NULL,
    tree_sha character varying(40) NOT NULL,
    digest character varying(80) NOT NULL,
    installed_digest character varying(80) NOT NULL,
    verdict character varying(12) NOT NULL,
    decision character varying(8) NOT NULL,
    reasons jsonb NOT NULL,
    capabilities jsonb NOT NULL,
    ruleset character varying(80) NOT NULL,
    is_acceptable boolean NOT NULL,
    sealed bytea NOT NULL,
    sealed_files bytea NOT NULL,
    error text NOT NULL,
    error_code character varying(40) NOT NULL,
    percent smallint,
    beat_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    install_at_once boolean NOT NULL,
    decided_at timestamp with time zone,
    risk_accepted boolean NOT NULL,
    note character varying(1000) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    decided_by_id uuid,
    requested_by_id uuid,
    skill_id uuid,
    workspace_id uuid NOT NULL,
    source_id uuid,
    attempts smallint NOT NULL,
    stage text NOT NULL,
    fence integer NOT NULL,
    CONSTRAINT skills_skillrequest_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT skills_skillrequest_fence_check CHECK ((fence >= 0)),
    CONSTRAINT skills_skillrequest_percent_check CHECK ((percent >= 0))
);

ALTER TABLE ONLY public.skills_skillrequest FORCE ROW LEVEL SECURITY;

CREATE TABLE public.skills_skillrules (
    id uuid NOT NULL,
    accepts_first_prose boolean NOT NULL,
    accepts_warnings boolean NOT NULL,
    tolerated jsonb NOT NULL,
    denied jsonb NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    changed_by_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.skills_skillrules FORCE ROW LEVEL SECURITY;

CREATE TABLE public.skills_skillsource (
    id uuid NOT NULL,
    name character varying(120) NOT NULL,
    address character varying(500) NOT NULL,
    kind character varying(8) NOT NULL,
    ref character varying(200) NOT NULL,
    state character varying(10) NOT NULL,
    stage text NOT NULL,
    percent smallint,
    error text NOT NULL,
    error_code character varying(40) NOT NULL,
    commit character varying(40) NOT NULL,
    synced_at timestamp with time zone,
    beat_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    created_at timestamp with time zone NOT NULL,
    added_by_id uuid,
    credential_id uuid,
    workspace_id uuid NOT NULL,
    fence integer NOT NULL,
    CONSTRAINT skills_skillsource_fence_check CHECK ((fence >= 0)),
    CONSTRAINT skills_skillsource_percent_check CHECK ((percent >= 0))
);

ALTER TABLE ONLY public.skills_skillsource FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spaces_bounddefinition (
    id uuid NOT NULL,
    name character varying(200) NOT NULL,
    dialect character varying(12) NOT NULL,
    path character varying(400) NOT NULL,
    text text NOT NULL,
    standing character varying(12) NOT NULL,
    session_agents text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    conversation_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    subagent_prompt text NOT NULL,
    joins boolean NOT NULL
);

ALTER TABLE ONLY public.spaces_bounddefinition FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spaces_conversation (
    id uuid NOT NULL,
    title character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_n bigint NOT NULL,
    last_message_at timestamp with time zone NOT NULL,
    archived_at timestamp with time zone,
    agent_id uuid,
    created_by_id uuid,
    workspace_id uuid NOT NULL,
    space_id uuid NOT NULL,
    CONSTRAINT spaces_conversation_last_n_check CHECK ((last_n >= 0))
);

ALTER TABLE ONLY public.spaces_conversation FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spaces_mention (
    id uuid NOT NULL,
    start integer NOT NULL,
    "end" integer NOT NULL,
    principal_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    message_id uuid NOT NULL,
    CONSTRAINT spaces_mention_end_check CHECK (("end" >= 0)),
    CONSTRAINT spaces_mention_start_check CHECK ((start >= 0))
);

ALTER TABLE ONLY public.spaces_mention FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spaces_message (
    id uuid NOT NULL,
    n bigint NOT NULL,
    kind character varying(8) NOT NULL,
    body text NOT NULL,
    client_key uuid,
    run_id uuid,
    created_at timestamp with time zone NOT NULL,
    author_id uuid,
    conversation_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    CONSTRAINT spaces_message_n_check CHECK ((n >= 0))
);

ALTER TABLE ONLY public.spaces_message FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spaces_participant (
    id uuid NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    principal_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    space_id uuid NOT NULL
);

ALTER TABLE ONLY public.spaces_participant FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spaces_space (
    id uuid NOT NULL,
    name character varying(120) NOT NULL,
    slug character varying(63) NOT NULL,
    topic character varying(300) NOT NULL,
    mode character varying(12) NOT NULL,
    visibility character varying(12) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    archived_at timestamp with time zone,
    created_by_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.spaces_space FORCE ROW LEVEL SECURITY;

CREATE TABLE public.usersessions_usersession (
    id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ip inet NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    session_key character varying(40) NOT NULL,
    user_agent character varying(200) NOT NULL,
    data jsonb NOT NULL,
    user_id uuid NOT NULL
);

ALTER TABLE public.usersessions_usersession ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.usersessions_usersession_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.workspaces_apitoken (
    id uuid NOT NULL,
    name character varying(80) NOT NULL,
    prefix character varying(16) NOT NULL,
    secret_hash character varying(64) NOT NULL,
    scopes jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    user_id uuid NOT NULL,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.workspaces_apitoken FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_auditentry (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    action character varying(80) NOT NULL,
    outcome character varying(8) NOT NULL,
    actor_name character varying(160) NOT NULL,
    subject character varying(300) NOT NULL,
    rule character varying(300) NOT NULL,
    detail jsonb NOT NULL,
    actor_id uuid,
    on_behalf_of_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.workspaces_auditentry FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_auditseal (
    id uuid NOT NULL,
    seq bigint NOT NULL,
    audit_id uuid NOT NULL,
    hmac character varying(64) NOT NULL,
    workspace_id uuid NOT NULL,
    CONSTRAINT workspaces_auditseal_seq_check CHECK ((seq >= 0))
);

ALTER TABLE ONLY public.workspaces_auditseal FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_credential (
    id uuid NOT NULL,
    kind character varying(16) NOT NULL,
    label character varying(120) NOT NULL,
    username character varying(120) NOT NULL,
    sealed bytea NOT NULL,
    hint character varying(12) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.workspaces_credential FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_invitation (
    id uuid NOT NULL,
    email character varying(254) NOT NULL,
    role character varying(8) NOT NULL,
    secret_hash character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    invited_by_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.workspaces_invitation FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_membership (
    id uuid NOT NULL,
    role character varying(8) NOT NULL,
    title character varying(120) NOT NULL,
    is_active boolean NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    user_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    reports_to_id uuid,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.workspaces_membership FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_modelconnection (
    id uuid NOT NULL,
    provider character varying(16) NOT NULL,
    name character varying(60) NOT NULL,
    base_url character varying(500) NOT NULL,
    default_model character varying(200) NOT NULL,
    is_default boolean NOT NULL,
    checked_at timestamp with time zone,
    check_ok boolean,
    check_sentence text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    credential_id uuid,
    workspace_id uuid NOT NULL,
    is_house_address boolean NOT NULL
);

ALTER TABLE ONLY public.workspaces_modelconnection FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_principal (
    id uuid NOT NULL,
    kind character varying(8) NOT NULL,
    handle character varying(63) NOT NULL,
    name character varying(120) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone,
    workspace_id uuid NOT NULL
);

ALTER TABLE ONLY public.workspaces_principal FORCE ROW LEVEL SECURITY;

CREATE TABLE public.workspaces_user (
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    id uuid NOT NULL,
    email character varying(254) NOT NULL,
    name character varying(120) NOT NULL,
    is_active boolean NOT NULL,
    is_instance_admin boolean NOT NULL,
    locale character varying(10) NOT NULL,
    theme character varying(8) NOT NULL,
    joined_at timestamp with time zone NOT NULL
);

CREATE TABLE public.workspaces_workspace (
    id uuid NOT NULL,
    name character varying(120) NOT NULL,
    slug character varying(63) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    seeded_at timestamp with time zone,
    hosts_allowed jsonb NOT NULL,
    created_by_id uuid
);

ALTER TABLE ONLY public.workspaces_workspace FORCE ROW LEVEL SECURITY;

INSERT INTO public.auth_permission VALUES
	(1, 'Can add permission', 1, 'add_permission'),
	(2, 'Can change permission', 1, 'change_permission'),
	(3, 'Can delete permission', 1, 'delete_permission'),
	(4, 'Can view permission', 1, 'view_permission'),
	(5, 'Can add group', 2, 'add_group'),
	(6, 'Can change group', 2, 'change_group'),
	(7, 'Can delete group', 2, 'delete_group'),
	(8, 'Can view group', 2, 'view_group'),
	(9, 'Can add content type', 3, 'add_contenttype'),
	(10, 'Can change content type', 3, 'change_contenttype'),
	(11, 'Can delete content type', 3, 'delete_contenttype'),
	(12, 'Can view content type', 3, 'view_contenttype'),
	(13, 'Can add session', 4, 'add_session'),
	(14, 'Can change session', 4, 'change_session'),
	(15, 'Can delete session', 4, 'delete_session'),
	(16, 'Can view session', 4, 'view_session'),
	(17, 'Can add email address', 5, 'add_emailaddress'),
	(18, 'Can change email address', 5, 'change_emailaddress'),
	(19, 'Can delete email address', 5, 'delete_emailaddress'),
	(20, 'Can view email address', 5, 'view_emailaddress'),
	(21, 'Can add email confirmation', 6, 'add_emailconfirmation'),
	(22, 'Can change email confirmation', 6, 'change_emailconfirmation'),
	(23, 'Can delete email confirmation', 6, 'delete_emailconfirmation'),
	(24, 'Can view email confirmation', 6, 'view_emailconfirmation'),
	(25, 'Can add authenticator', 7, 'add_authenticator'),
	(26, 'Can change authenticator', 7, 'change_authenticator'),
	(27, 'Can delete authenticator', 7, 'delete_authenticator'),
	(28, 'Can view authenticator', 7, 'view_authenticator'),
	(29, 'Can add user session', 8, 'add_usersession'),
	(30, 'Can change user session', 8, 'change_usersession'),
	(31, 'Can delete user session', 8, 'delete_usersession'),
	(32, 'Can view user session', 8, 'view_usersession'),
	(33, 'Can add principal', 9, 'add_principal'),
	(34, 'Can change principal', 9, 'change_principal'),
	(35, 'Can delete principal', 9, 'delete_principal'),
	(36, 'Can view principal', 9, 'view_principal'),
	(37, 'Can add user', 10, 'add_user'),
	(38, 'Can change user', 10, 'change_user'),
	(39, 'Can delete user', 10, 'delete_user'),
	(40, 'Can view user', 10, 'view_user'),
	(41, 'Can add credential', 11, 'add_credential'),
	(42, 'Can change credential', 11, 'change_credential'),
	(43, 'Can delete credential', 11, 'delete_credential'),
	(44, 'Can view credential', 11, 'view_credential'),
	(45, 'Can add workspace', 12, 'add_workspace'),
	(46, 'Can change workspace', 12, 'change_workspace'),
	(47, 'Can delete workspace', 12, 'delete_workspace'),
	(48, 'Can view workspace', 12, 'view_workspace'),
	(49, 'Can add model connection', 13, 'add_modelconnection'),
	(50, 'Can change model connection', 13, 'change_modelconnection'),
	(51, 'Can delete model connection', 13, 'delete_modelconnection'),
	(52, 'Can view model connection', 13, 'view_modelconnection'),
	(53, 'Can add membership', 14, 'add_membership'),
	(54, 'Can change membership', 14, 'change_membership'),
	(55, 'Can delete membership', 14, 'delete_membership'),
	(56, 'Can view membership', 14, 'view_membership'),
	(57, 'Can add invitation', 15, 'add_invitation'),
	(58, 'Can change invitation', 15, 'change_invitation'),
	(59, 'Can delete invitation', 15, 'delete_invitation'),
	(60, 'Can view invitation', 15, 'view_invitation'),
	(61, 'Can add audit seal', 16, 'add_auditseal'),
	(62, 'Can change audit seal', 16, 'change_auditseal'),
	(63, 'Can delete audit seal', 16, 'delete_auditseal'),
	(64, 'Can view audit seal', 16, 'view_auditseal'),
	(65, 'Can add audit entry', 17, 'add_auditentry'),
	(66, 'Can change audit entry', 17, 'change_auditentry'),
	(67, 'Can delete audit entry', 17, 'delete_auditentry'),
	(68, 'Can view audit entry', 17, 'view_auditentry'),
	(69, 'Can add api token', 18, 'add_apitoken'),
	(70, 'Can change api token', 18, 'change_apitoken'),
	(71, 'Can delete api token', 18, 'delete_apitoken'),
	(72, 'Can view api token', 18, 'view_apitoken'),
	(73, 'Can add skill', 19, 'add_skill'),
	(74, 'Can change skill', 19, 'change_skill'),
	(75, 'Can delete skill', 19, 'delete_skill'),
	(76, 'Can view skill', 19, 'view_skill'),
	(77, 'Can add skill source', 20, 'add_skillsource'),
	(78, 'Can change skill source', 20, 'change_skillsource'),
	(79, 'Can delete skill source', 20, 'delete_skillsource'),
	(80, 'Can view skill source', 20, 'view_skillsource'),
	(81, 'Can add skill request', 21, 'add_skillrequest'),
	(82, 'Can change skill request', 21, 'change_skillrequest'),
	(83, 'Can delete skill request', 21, 'delete_skillrequest'),
	(84, 'Can view skill request', 21, 'view_skillrequest'),
	(85, 'Can add skill listing', 22, 'add_skilllisting'),
	(86, 'Can change skill listing', 22, 'change_skilllisting'),
	(87, 'Can delete skill listing', 22, 'delete_skilllisting'),
	(88, 'Can view skill listing', 22, 'view_skilllisting'),
	(89, 'Can add skill rules', 23, 'add_skillrules'),
	(90, 'Can change skill rules', 23, 'change_skillrules'),
	(91, 'Can delete skill rules', 23, 'delete_skillrules'),
	(92, 'Can view skill rules', 23, 'view_skillrules'),
	(93, 'Can add agent', 24, 'add_agent'),
	(94, 'Can change agent', 24, 'change_agent'),
	(95, 'Can delete agent', 24, 'delete_agent'),
	(96, 'Can view agent', 24, 'view_agent'),
	(97, 'Can add agent skill', 25, 'add_agentskill'),
	(98, 'Can change agent skill', 25, 'change_agentskill'),
	(99, 'Can delete agent skill', 25, 'delete_agentskill'),
	(100, 'Can view agent skill', 25, 'view_agentskill'),
	(101, 'Can add definition change', 26, 'add_definitionchange'),
	(102, 'Can change definition change', 26, 'change_definitionchange'),
	(103, 'Can delete definition change', 26, 'delete_definitionchange'),
	(104, 'Can view definition change', 26, 'view_definitionchange'),
	(105, 'Can add definition import', 27, 'add_definitionimport'),
	(106, 'Can change definition import', 27, 'change_definitionimport'),
	(107, 'Can delete definition import', 27, 'delete_definitionimport'),
	(108, 'Can view definition import', 27, 'view_definitionimport'),
	(109, 'Can add accepted definition', 28, 'add_accepteddefinition'),
	(110, 'Can change accepted definition', 28, 'change_accepteddefinition'),
	(111, 'Can delete accepted definition', 28, 'delete_accepteddefinition'),
	(112, 'Can view accepted definition', 28, 'view_accepteddefinition'),
	(113, 'Can add library setting', 29, 'add_librarysetting'),
	(114, 'Can change library setting', 29, 'change_librarysetting'),
	(115, 'Can delete library setting', 29, 'delete_librarysetting'),
	(116, 'Can view library setting', 29, 'view_librarysetting'),
	(117, 'Can add conversation', 30, 'add_conversation'),
	(118, 'Can change conversation', 30, 'change_conversation'),
	(119, 'Can delete conversation', 30, 'delete_conversation'),
	(120, 'Can view conversation', 30, 'view_conversation'),
	(121, 'Can add message', 31, 'add_message'),
	(122, 'Can change message', 31, 'change_message'),
	(123, 'Can delete message', 31, 'delete_message'),
	(124, 'Can view message', 31, 'view_message'),
	(125, 'Can add mention', 32, 'add_mention'),
	(126, 'Can change mention', 32, 'change_mention'),
	(127, 'Can delete mention', 32, 'delete_mention'),
	(128, 'Can view mention', 32, 'view_mention'),
	(129, 'Can add space', 33, 'add_space'),
	(130, 'Can change space', 33, 'change_space'),
	(131, 'Can delete space', 33, 'delete_space'),
	(132, 'Can view space', 33, 'view_space'),
	(133, 'Can add participant', 34, 'add_participant'),
	(134, 'Can change participant', 34, 'change_participant'),
	(135, 'Can delete participant', 34, 'delete_participant'),
	(136, 'Can view participant', 34, 'view_participant'),
	(137, 'Can add bound definition', 35, 'add_bounddefinition'),
	(138, 'Can change bound definition', 35, 'change_bounddefinition'),
	(139, 'Can delete bound definition', 35, 'delete_bounddefinition'),
	(140, 'Can view bound definition', 35, 'view_bounddefinition'),
	(141, 'Can add approval', 36, 'add_approval'),
	(142, 'Can change approval', 36, 'change_approval'),
	(143, 'Can delete approval', 36, 'delete_approval'),
	(144, 'Can view approval', 36, 'view_approval'),
	(145, 'Can add approval settings', 37, 'add_approvalsettings'),
	(146, 'Can change approval settings', 37, 'change_approvalsettings'),
	(147, 'Can delete approval settings', 37, 'delete_approvalsettings'),
	(148, 'Can view approval settings', 37, 'view_approvalsettings'),
	(149, 'Can add autonomy', 38, 'add_autonomy'),
	(150, 'Can change autonomy', 38, 'change_autonomy'),
	(151, 'Can delete autonomy', 38, 'delete_autonomy'),
	(152, 'Can view autonomy', 38, 'view_autonomy'),
	(153, 'Can add rule', 39, 'add_rule'),
	(154, 'Can change rule', 39, 'change_rule'),
	(155, 'Can delete rule', 39, 'delete_rule'),
	(156, 'Can view rule', 39, 'view_rule'),
	(157, 'Can add repository', 40, 'add_repository'),
	(158, 'Can change repository', 40, 'change_repository'),
	(159, 'Can delete repository', 40, 'delete_repository'),
	(160, 'Can view repository', 40, 'view_repository'),
	(161, 'Can add push request', 41, 'add_pushrequest'),
	(162, 'Can change push request', 41, 'change_pushrequest'),
	(163, 'Can delete push request', 41, 'delete_pushrequest'),
	(164, 'Can view push request', 41, 'view_pushrequest'),
	(165, 'Can add checkout', 42, 'add_checkout'),
	(166, 'Can change checkout', 42, 'change_checkout'),
	(167, 'Can delete checkout', 42, 'delete_checkout'),
	(168, 'Can view checkout', 42, 'view_checkout'),
	(169, 'Can add space repository', 43, 'add_spacerepository'),
	(170, 'Can change space repository', 43, 'change_spacerepository'),
	(171, 'Can delete space repository', 43, 'delete_spacerepository'),
	(172, 'Can view space repository', 43, 'view_spacerepository'),
	(173, 'Can add active repository', 44, 'add_activerepository'),
	(174, 'Can change active repository', 44, 'change_activerepository'),
	(175, 'Can delete active repository', 44, 'delete_activerepository'),
	(176, 'Can view active repository', 44, 'view_activerepository'),
	(177, 'Can add skill acceptance', 45, 'add_skillacceptance'),
	(178, 'Can change skill acceptance', 45, 'change_skillacceptance'),
	(179, 'Can delete skill acceptance', 45, 'delete_skillacceptance'),
	(180, 'Can view skill acceptance', 45, 'view_skillacceptance'),
	(181, 'Can add skill scan', 46, 'add_skillscan'),
	(182, 'Can change skill scan', 46, 'change_skillscan'),
	(183, 'Can delete skill scan', 46, 'delete_skillscan'),
	(184, 'Can view skill scan', 46, 'view_skillscan'),
	(185, 'Can add skill verdict', 47, 'add_skillverdict'),
	(186, 'Can change skill verdict', 47, 'change_skillverdict'),
	(187, 'Can delete skill verdict', 47, 'delete_skillverdict'),
	(188, 'Can view skill verdict', 47, 'view_skillverdict'),
	(189, 'Can add run', 48, 'add_run'),
	(190, 'Can change run', 48, 'change_run'),
	(191, 'Can delete run', 48, 'delete_run'),
	(192, 'Can view run', 48, 'view_run'),
	(193, 'Can add run cursor', 49, 'add_runcursor'),
	(194, 'Can change run cursor', 49, 'change_runcursor'),
	(195, 'Can delete run cursor', 49, 'delete_runcursor'),
	(196, 'Can view run cursor', 49, 'view_runcursor'),
	(197, 'Can add run event', 50, 'add_runevent'),
	(198, 'Can change run event', 50, 'change_runevent'),
	(199, 'Can delete run event', 50, 'delete_runevent'),
	(200, 'Can view run event', 50, 'view_runevent'),
	(201, 'Can add subagent', 51, 'add_subagent'),
	(202, 'Can change subagent', 51, 'change_subagent'),
	(203, 'Can delete subagent', 51, 'delete_subagent'),
	(204, 'Can view subagent', 51, 'view_subagent');

INSERT INTO public.django_content_type VALUES
	(1, 'auth', 'permission'),
	(2, 'auth', 'group'),
	(3, 'contenttypes', 'contenttype'),
	(4, 'sessions', 'session'),
	(5, 'account', 'emailaddress'),
	(6, 'account', 'emailconfirmation'),
	(7, 'mfa', 'authenticator'),
	(8, 'usersessions', 'usersession'),
	(9, 'workspaces', 'principal'),
	(10, 'workspaces', 'user'),
	(11, 'workspaces', 'credential'),
	(12, 'workspaces', 'workspace'),
	(13, 'workspaces', 'modelconnection'),
	(14, 'workspaces', 'membership'),
	(15, 'workspaces', 'invitation'),
	(16, 'workspaces', 'auditseal'),
	(17, 'workspaces', 'auditentry'),
	(18, 'workspaces', 'apitoken'),
	(19, 'skills', 'skill'),
	(20, 'skills', 'skillsource'),
	(21, 'skills', 'skillrequest'),
	(22, 'skills', 'skilllisting'),
	(23, 'skills', 'skillrules'),
	(24, 'agents', 'agent'),
	(25, 'agents', 'agentskill'),
	(26, 'agents', 'definitionchange'),
	(27, 'agents', 'definitionimport'),
	(28, 'agents', 'accepteddefinition'),
	(29, 'agents', 'librarysetting'),
	(30, 'spaces', 'conversation'),
	(31, 'spaces', 'message'),
	(32, 'spaces', 'mention'),
	(33, 'spaces', 'space'),
	(34, 'spaces', 'participant'),
	(35, 'spaces', 'bounddefinition'),
	(36, 'guardrails', 'approval'),
	(37, 'guardrails', 'approvalsettings'),
	(38, 'guardrails', 'autonomy'),
	(39, 'guardrails', 'rule'),
	(40, 'repositories', 'repository'),
	(41, 'repositories', 'pushrequest'),
	(42, 'repositories', 'checkout'),
	(43, 'repositories', 'spacerepository'),
	(44, 'repositories', 'activerepository'),
	(45, 'repositories', 'skillacceptance'),
	(46, 'repositories', 'skillscan'),
	(47, 'repositories', 'skillverdict'),
	(48, 'runs', 'run'),
	(49, 'runs', 'runcursor'),
	(50, 'runs', 'runevent'),
	(51, 'runs', 'subagent');

SELECT pg_catalog.setval('public.account_emailaddress_id_seq', 1, false);

SELECT pg_catalog.setval('public.account_emailconfirmation_id_seq', 1, false);

SELECT pg_catalog.setval('public.auth_group_id_seq', 1, false);

SELECT pg_catalog.setval('public.auth_group_permissions_id_seq', 1, false);

SELECT pg_catalog.setval('public.auth_permission_id_seq', 204, true);

SELECT pg_catalog.setval('public.django_content_type_id_seq', 51, true);

SELECT pg_catalog.setval('public.django_migrations_id_seq', 72, true);

SELECT pg_catalog.setval('public.mfa_authenticator_id_seq', 1, false);

SELECT pg_catalog.setval('public.usersessions_usersession_id_seq', 1, false);

ALTER TABLE ONLY public.agents_accepteddefinition
    ADD CONSTRAINT accepted_once UNIQUE (workspace_id, repository_id, path, digest);

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_email_987c8728_uniq UNIQUE (user_id, email);

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_key_key UNIQUE (key);

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT activerepository_once UNIQUE (conversation_id, agent_id);

ALTER TABLE ONLY public.agents_accepteddefinition
    ADD CONSTRAINT agents_accepteddefinition_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agents_accepteddefinition
    ADD CONSTRAINT agents_accepteddefinition_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.agents_agent
    ADD CONSTRAINT agents_agent_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agents_agent
    ADD CONSTRAINT agents_agent_principal_id_key UNIQUE (principal_id);

ALTER TABLE ONLY public.agents_agent
    ADD CONSTRAINT agents_agent_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.agents_agentskill
    ADD CONSTRAINT agents_agentskill_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agents_agentskill
    ADD CONSTRAINT agents_agentskill_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.agents_definitionchange
    ADD CONSTRAINT agents_definitionchange_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agents_definitionchange
    ADD CONSTRAINT agents_definitionchange_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.agents_definitionimport
    ADD CONSTRAINT agents_definitionimport_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agents_definitionimport
    ADD CONSTRAINT agents_definitionimport_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.agents_librarysetting
    ADD CONSTRAINT agents_librarysetting_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.agents_librarysetting
    ADD CONSTRAINT agents_librarysetting_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.agents_agentskill
    ADD CONSTRAINT agentskill_key UNIQUE (agent_id, key);

ALTER TABLE ONLY public.workspaces_apitoken
    ADD CONSTRAINT apitoken_hash UNIQUE (workspace_id, secret_hash);

ALTER TABLE ONLY public.guardrails_approvalsettings
    ADD CONSTRAINT approvalsettings_once UNIQUE (workspace_id);

ALTER TABLE ONLY public.workspaces_auditseal
    ADD CONSTRAINT auditseal_once UNIQUE (workspace_id, audit_id);

ALTER TABLE ONLY public.workspaces_auditseal
    ADD CONSTRAINT auditseal_seq UNIQUE (workspace_id, seq);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.guardrails_autonomy
    ADD CONSTRAINT autonomy_once UNIQUE (agent_id, space_id);

ALTER TABLE ONLY public.repositories_checkout
    ADD CONSTRAINT checkout_once UNIQUE (conversation_id, repository_id);

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.guardrails_approvalsettings
    ADD CONSTRAINT guardrails_approvalsettings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.guardrails_approvalsettings
    ADD CONSTRAINT guardrails_approvalsettings_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.guardrails_autonomy
    ADD CONSTRAINT guardrails_autonomy_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.guardrails_autonomy
    ADD CONSTRAINT guardrails_autonomy_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.guardrails_rule
    ADD CONSTRAINT guardrails_rule_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.guardrails_rule
    ADD CONSTRAINT guardrails_rule_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.agents_librarysetting
    ADD CONSTRAINT librarysetting_one UNIQUE (workspace_id);

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT membership_once UNIQUE (workspace_id, user_id);

ALTER TABLE ONLY public.spaces_mention
    ADD CONSTRAINT mention_place UNIQUE (message_id, start);

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT message_n UNIQUE (conversation_id, n);

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT message_posted_once UNIQUE (conversation_id, client_key);

ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces_participant
    ADD CONSTRAINT participant_once UNIQUE (space_id, principal_id);

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT pushrequest_number UNIQUE (workspace_id, number);

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT repositories_activerepository_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT repositories_activerepository_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_checkout
    ADD CONSTRAINT repositories_checkout_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_checkout
    ADD CONSTRAINT repositories_checkout_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushrequest_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushrequest_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_repository
    ADD CONSTRAINT repositories_repository_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_repository
    ADD CONSTRAINT repositories_repository_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_skillacceptance
    ADD CONSTRAINT repositories_skillacceptance_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_skillacceptance
    ADD CONSTRAINT repositories_skillacceptance_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_skillscan
    ADD CONSTRAINT repositories_skillscan_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_skillscan
    ADD CONSTRAINT repositories_skillscan_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_skillverdict
    ADD CONSTRAINT repositories_skillverdict_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_skillverdict
    ADD CONSTRAINT repositories_skillverdict_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_spacerepository
    ADD CONSTRAINT repositories_spacerepository_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.repositories_spacerepository
    ADD CONSTRAINT repositories_spacerepository_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_repository
    ADD CONSTRAINT repository_address UNIQUE (workspace_id, address);

ALTER TABLE ONLY public.repositories_repository
    ADD CONSTRAINT repository_name UNIQUE (workspace_id, name);

ALTER TABLE ONLY public.runs_runevent
    ADD CONSTRAINT runevent_seq UNIQUE (run_id, seq);

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.runs_runcursor
    ADD CONSTRAINT runs_runcursor_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_runcursor
    ADD CONSTRAINT runs_runcursor_run_id_key UNIQUE (run_id);

ALTER TABLE ONLY public.runs_runcursor
    ADD CONSTRAINT runs_runcursor_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.runs_runevent
    ADD CONSTRAINT runs_runevent_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_runevent
    ADD CONSTRAINT runs_runevent_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.runs_subagent
    ADD CONSTRAINT runs_subagent_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.runs_subagent
    ADD CONSTRAINT runs_subagent_run_id_key UNIQUE (run_id);

ALTER TABLE ONLY public.runs_subagent
    ADD CONSTRAINT runs_subagent_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.skills_skill
    ADD CONSTRAINT skill_slug UNIQUE (workspace_id, slug);

ALTER TABLE ONLY public.repositories_skillacceptance
    ADD CONSTRAINT skillacceptance_once UNIQUE (repository_id, digest);

ALTER TABLE ONLY public.skills_skilllisting
    ADD CONSTRAINT skilllisting_path UNIQUE (source_id, path);

ALTER TABLE ONLY public.skills_skillrules
    ADD CONSTRAINT skillrules_once UNIQUE (workspace_id);

ALTER TABLE ONLY public.skills_skill
    ADD CONSTRAINT skills_skill_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.skills_skill
    ADD CONSTRAINT skills_skill_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.skills_skilllisting
    ADD CONSTRAINT skills_skilllisting_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.skills_skilllisting
    ADD CONSTRAINT skills_skilllisting_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.skills_skillrequest
    ADD CONSTRAINT skills_skillrequest_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.skills_skillrequest
    ADD CONSTRAINT skills_skillrequest_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.skills_skillrules
    ADD CONSTRAINT skills_skillrules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.skills_skillrules
    ADD CONSTRAINT skills_skillrules_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.skills_skillsource
    ADD CONSTRAINT skills_skillsource_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.skills_skillsource
    ADD CONSTRAINT skills_skillsource_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.repositories_skillscan
    ADD CONSTRAINT skillscan_once UNIQUE (repository_id, commit, ruleset);

ALTER TABLE ONLY public.skills_skillsource
    ADD CONSTRAINT skillsource_address UNIQUE (workspace_id, address, ref);

ALTER TABLE ONLY public.repositories_skillverdict
    ADD CONSTRAINT skillverdict_once UNIQUE (workspace_id, digest, folder, ruleset);

ALTER TABLE ONLY public.spaces_space
    ADD CONSTRAINT space_slug UNIQUE (workspace_id, slug);

ALTER TABLE ONLY public.repositories_spacerepository
    ADD CONSTRAINT spacerepository_once UNIQUE (space_id, repository_id);

ALTER TABLE ONLY public.spaces_bounddefinition
    ADD CONSTRAINT spaces_bounddefinition_conversation_id_key UNIQUE (conversation_id);

ALTER TABLE ONLY public.spaces_bounddefinition
    ADD CONSTRAINT spaces_bounddefinition_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces_bounddefinition
    ADD CONSTRAINT spaces_bounddefinition_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.spaces_conversation
    ADD CONSTRAINT spaces_conversation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces_conversation
    ADD CONSTRAINT spaces_conversation_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.spaces_mention
    ADD CONSTRAINT spaces_mention_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces_mention
    ADD CONSTRAINT spaces_mention_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT spaces_message_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT spaces_message_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.spaces_participant
    ADD CONSTRAINT spaces_participant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces_participant
    ADD CONSTRAINT spaces_participant_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.spaces_space
    ADD CONSTRAINT spaces_space_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.spaces_space
    ADD CONSTRAINT spaces_space_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.runs_subagent
    ADD CONSTRAINT subagent_once_a_call UNIQUE (parent_id, call_id);

ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_session_key_key UNIQUE (session_key);

ALTER TABLE ONLY public.workspaces_apitoken
    ADD CONSTRAINT workspaces_apitoken_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_apitoken
    ADD CONSTRAINT workspaces_apitoken_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_auditentry
    ADD CONSTRAINT workspaces_auditentry_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_auditentry
    ADD CONSTRAINT workspaces_auditentry_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_auditseal
    ADD CONSTRAINT workspaces_auditseal_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_auditseal
    ADD CONSTRAINT workspaces_auditseal_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_credential
    ADD CONSTRAINT workspaces_credential_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_credential
    ADD CONSTRAINT workspaces_credential_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_invitation
    ADD CONSTRAINT workspaces_invitation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_invitation
    ADD CONSTRAINT workspaces_invitation_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT workspaces_membership_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT workspaces_membership_principal_id_key UNIQUE (principal_id);

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT workspaces_membership_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_modelconnection
    ADD CONSTRAINT workspaces_modelconnection_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_modelconnection
    ADD CONSTRAINT workspaces_modelconnection_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_principal
    ADD CONSTRAINT workspaces_principal_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_principal
    ADD CONSTRAINT workspaces_principal_tenant UNIQUE (workspace_id, id);

ALTER TABLE ONLY public.workspaces_user
    ADD CONSTRAINT workspaces_user_email_key UNIQUE (email);

ALTER TABLE ONLY public.workspaces_user
    ADD CONSTRAINT workspaces_user_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_workspace
    ADD CONSTRAINT workspaces_workspace_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.workspaces_workspace
    ADD CONSTRAINT workspaces_workspace_slug_key UNIQUE (slug);

CREATE INDEX account_emailaddress_email_03be32b2 ON public.account_emailaddress USING btree (email);

CREATE INDEX account_emailaddress_email_03be32b2_like ON public.account_emailaddress USING btree (email varchar_pattern_ops);

CREATE INDEX account_emailaddress_user_id_2c513194 ON public.account_emailaddress USING btree (user_id);

CREATE INDEX account_emailconfirmation_email_address_id_5b7f8c58 ON public.account_emailconfirmation USING btree (email_address_id);

CREATE INDEX account_emailconfirmation_key_f43612bd_like ON public.account_emailconfirmation USING btree (key varchar_pattern_ops);

CREATE UNIQUE INDEX agent_name_any_case ON public.agents_agent USING btree (workspace_id, lower((name)::text)) WHERE (NOT ((name)::text = ''::text));

CREATE INDEX agents_accepteddefinition_by_id_8f2e6dad ON public.agents_accepteddefinition USING btree (by_id);

CREATE INDEX agents_accepteddefinition_workspace_id_472abf8e ON public.agents_accepteddefinition USING btree (workspace_id);

CREATE INDEX agents_agent_reports_to_id_d2e2dd82 ON public.agents_agent USING btree (reports_to_id);

CREATE INDEX agents_agent_workspace_id_65b58924 ON public.agents_agent USING btree (workspace_id);

CREATE INDEX agents_agentskill_agent_id_b2a31d8f ON public.agents_agentskill USING btree (agent_id);

CREATE INDEX agents_agentskill_workspace_id_d0ea6d67 ON public.agents_agentskill USING btree (workspace_id);

CREATE INDEX agents_definitionchange_batch_bbcc40f0 ON public.agents_definitionchange USING btree (batch);

CREATE INDEX agents_definitionchange_by_id_3d777c5b ON public.agents_definitionchange USING btree (by_id);

CREATE INDEX agents_definitionchange_owner_id_ba973c7f ON public.agents_definitionchange USING btree (owner_id);

CREATE INDEX agents_definitionchange_workspace_id_f32787fe ON public.agents_definitionchange USING btree (workspace_id);

CREATE INDEX agents_definitionimport_by_id_56a4df8d ON public.agents_definitionimport USING btree (by_id);

CREATE INDEX agents_definitionimport_workspace_id_c8139f37 ON public.agents_definitionimport USING btree (workspace_id);

CREATE INDEX agents_librarysetting_workspace_id_56e17c89 ON public.agents_librarysetting USING btree (workspace_id);

CREATE UNIQUE INDEX approval_asked_once ON public.guardrails_approval USING btree (run_id, digest) NULLS NOT DISTINCT WHERE ((state)::text = 'pending'::text);

CREATE INDEX approval_history ON public.guardrails_approval USING btree (workspace_id, decided_at DESC);

CREATE INDEX approval_of_run ON public.guardrails_approval USING btree (run_id);

CREATE INDEX approval_pending ON public.guardrails_approval USING btree (workspace_id, created_at DESC) WHERE ((state)::text = 'pending'::text);

CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);

CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);

CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);

CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);

CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);

CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);

CREATE INDEX guardrails_approval_asked_by_id_476ac591 ON public.guardrails_approval USING btree (asked_by_id);

CREATE INDEX guardrails_approval_conversation_id_4d53d6d5 ON public.guardrails_approval USING btree (conversation_id);

CREATE INDEX guardrails_approval_decided_by_id_622a33cb ON public.guardrails_approval USING btree (decided_by_id);

CREATE INDEX guardrails_approval_on_behalf_of_id_b6539f55 ON public.guardrails_approval USING btree (on_behalf_of_id);

CREATE INDEX guardrails_approval_space_id_1c93564e ON public.guardrails_approval USING btree (space_id);

CREATE INDEX guardrails_approval_workspace_id_36242c8e ON public.guardrails_approval USING btree (workspace_id);

CREATE INDEX guardrails_approvalsettings_workspace_id_81e36555 ON public.guardrails_approvalsettings USING btree (workspace_id);

CREATE INDEX guardrails_autonomy_agent_id_a4e4ed2a ON public.guardrails_autonomy USING btree (agent_id);

CREATE INDEX guardrails_autonomy_set_by_id_33b5ccb2 ON public.guardrails_autonomy USING btree (set_by_id);

CREATE INDEX guardrails_autonomy_space_id_2ff7a99b ON public.guardrails_autonomy USING btree (space_id);

CREATE INDEX guardrails_autonomy_workspace_id_ae75ccdf ON public.guardrails_autonomy USING btree (workspace_id);

CREATE INDEX guardrails_rule_agent_id_c8738b00 ON public.guardrails_rule USING btree (agent_id);

CREATE INDEX guardrails_rule_created_by_id_939c9111 ON public.guardrails_rule USING btree (created_by_id);

CREATE INDEX guardrails_rule_revoked_by_id_7e7856a8 ON public.guardrails_rule USING btree (revoked_by_id);

CREATE INDEX guardrails_rule_space_id_5440a2d1 ON public.guardrails_rule USING btree (space_id);

CREATE INDEX guardrails_rule_workspace_id_e81adf92 ON public.guardrails_rule USING btree (workspace_id);

CREATE UNIQUE INDEX membership_one_owner ON public.workspaces_membership USING btree (workspace_id) WHERE (is_active AND ((role)::text = 'owner'::text));

CREATE UNIQUE INDEX message_closing_run ON public.spaces_message USING btree (run_id) WHERE ((kind)::text = 'text'::text);

CREATE INDEX mfa_authenticator_user_id_0c3a50c0 ON public.mfa_authenticator USING btree (user_id);

CREATE UNIQUE INDEX modelconnection_one_default ON public.workspaces_modelconnection USING btree (workspace_id) WHERE is_default;

CREATE UNIQUE INDEX principal_handle_any_case ON public.workspaces_principal USING btree (workspace_id, lower((handle)::text));

CREATE INDEX pushrequest_newest ON public.repositories_pushrequest USING btree (workspace_id, created_at DESC);

CREATE INDEX pushrequest_of_run ON public.repositories_pushrequest USING btree (run_id);

CREATE INDEX pushrequest_open ON public.repositories_pushrequest USING btree (state, forward_until) WHERE ((state)::text = ANY ((ARRAY['held'::character varying, 'approved'::character varying, 'forwarding'::character varying])::text[]));

CREATE UNIQUE INDEX pushrequest_open_once ON public.repositories_pushrequest USING btree (repository_id, digest) WHERE ((state)::text = ANY ((ARRAY['held'::character varying, 'approved'::character varying, 'forwarding'::character varying])::text[]));

CREATE INDEX repositories_activerepository_agent_id_8f2ac5cb ON public.repositories_activerepository USING btree (agent_id);

CREATE INDEX repositories_activerepository_chosen_by_id_d0c12534 ON public.repositories_activerepository USING btree (chosen_by_id);

CREATE INDEX repositories_activerepository_conversation_id_ae6453ee ON public.repositories_activerepository USING btree (conversation_id);

CREATE INDEX repositories_activerepository_repository_id_f2821324 ON public.repositories_activerepository USING btree (repository_id);

CREATE INDEX repositories_activerepository_workspace_id_96714114 ON public.repositories_activerepository USING btree (workspace_id);

CREATE INDEX repositories_checkout_conversation_id_fa59aaa7 ON public.repositories_checkout USING btree (conversation_id);

CREATE INDEX repositories_checkout_repository_id_5acd415e ON public.repositories_checkout USING btree (repository_id);

CREATE INDEX repositories_checkout_workspace_id_673a56fc ON public.repositories_checkout USING btree (workspace_id);

CREATE INDEX repositories_pushrequest_agent_id_b37356db ON public.repositories_pushrequest USING btree (agent_id);

CREATE INDEX repositories_pushrequest_approval_id_bc035df2 ON public.repositories_pushrequest USING btree (approval_id);

CREATE INDEX repositories_pushrequest_conversation_id_94b30414 ON public.repositories_pushrequest USING btree (conversation_id);

CREATE INDEX repositories_pushrequest_repository_id_24840601 ON public.repositories_pushrequest USING btree (repository_id);

CREATE INDEX repositories_pushrequest_space_id_92e2b732 ON public.repositories_pushrequest USING btree (space_id);

CREATE INDEX repositories_pushrequest_workspace_id_8df7b9a5 ON public.repositories_pushrequest USING btree (workspace_id);

CREATE INDEX repositories_repository_added_by_id_04574de5 ON public.repositories_repository USING btree (added_by_id);

CREATE INDEX repositories_repository_credential_id_192715da ON public.repositories_repository USING btree (credential_id);

CREATE INDEX repositories_repository_workspace_id_5e106ffe ON public.repositories_repository USING btree (workspace_id);

CREATE INDEX repositories_skillacceptance_accepted_by_id_ed4a0024 ON public.repositories_skillacceptance USING btree (accepted_by_id);

CREATE INDEX repositories_skillacceptance_repository_id_039a8d79 ON public.repositories_skillacceptance USING btree (repository_id);

CREATE INDEX repositories_skillacceptance_workspace_id_40e2a0ac ON public.repositories_skillacceptance USING btree (workspace_id);

CREATE INDEX repositories_skillscan_repository_id_b52011b4 ON public.repositories_skillscan USING btree (repository_id);

CREATE INDEX repositories_skillscan_workspace_id_e62c6260 ON public.repositories_skillscan USING btree (workspace_id);

CREATE INDEX repositories_skillverdict_workspace_id_9c47d40e ON public.repositories_skillverdict USING btree (workspace_id);

CREATE INDEX repositories_spacerepository_repository_id_d5332f77 ON public.repositories_spacerepository USING btree (repository_id);

CREATE INDEX repositories_spacerepository_space_id_7c949e96 ON public.repositories_spacerepository USING btree (space_id);

CREATE INDEX repositories_spacerepository_workspace_id_3418aecf ON public.repositories_spacerepository USING btree (workspace_id);

CREATE INDEX rule_in_force ON public.guardrails_rule USING btree (workspace_id) WHERE (revoked_at IS NULL);

CREATE INDEX run_in_progress ON public.runs_run USING btree (agent_id) WHERE ((state)::text = ANY ((ARRAY['running'::character varying, 'parked'::character varying])::text[]));

CREATE INDEX run_newest ON public.runs_run USING btree (workspace_id, queued_at DESC);

CREATE INDEX run_of_agent ON public.runs_run USING btree (agent_id, queued_at DESC, id DESC);

CREATE INDEX run_of_conversation ON public.runs_run USING btree (conversation_id, queued_at);

CREATE UNIQUE INDEX run_once_per_mention ON public.runs_run USING btree (message_id, agent_id) WHERE (parent_id IS NULL);

CREATE INDEX run_open ON public.runs_run USING btree (state, lease_until) WHERE ((state)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying, 'parked'::character varying])::text[]));

CREATE INDEX runevent_approval ON public.runs_runevent USING btree (run_id) WHERE ((kind)::text = 'approval'::text);

CREATE INDEX runs_run_conversation_id_9437524e ON public.runs_run USING btree (conversation_id);

CREATE INDEX runs_run_message_id_b418fd19 ON public.runs_run USING btree (message_id);

CREATE INDEX runs_run_parent_id_8594b290 ON public.runs_run USING btree (parent_id);

CREATE INDEX runs_run_requested_by_id_dd05853e ON public.runs_run USING btree (requested_by_id);

CREATE INDEX runs_run_space_id_7daf1f3c ON public.runs_run USING btree (space_id);

CREATE INDEX runs_run_stop_requested_by_id_1d1e585a ON public.runs_run USING btree (stop_requested_by_id);

CREATE INDEX runs_run_workspace_id_c1222b68 ON public.runs_run USING btree (workspace_id);

CREATE INDEX runs_runcursor_workspace_id_2156c3ba ON public.runs_runcursor USING btree (workspace_id);

CREATE INDEX runs_runevent_workspace_id_c63d91c4 ON public.runs_runevent USING btree (workspace_id);

CREATE INDEX runs_subagent_parent_id_a82febd2 ON public.runs_subagent USING btree (parent_id);

CREATE INDEX runs_subagent_workspace_id_9688b4ce ON public.runs_subagent USING btree (workspace_id);

CREATE INDEX skillrequest_newest ON public.skills_skillrequest USING btree (workspace_id, created_at DESC);

CREATE INDEX skillrequest_working ON public.skills_skillrequest USING btree (state, beat_at) WHERE ((state)::text = ANY ((ARRAY['queued'::character varying, 'fetching'::character varying, 'scanning'::character varying, 'installing'::character varying])::text[]));

CREATE INDEX skills_skill_accepted_by_id_de12b8cd ON public.skills_skill USING btree (accepted_by_id);

CREATE INDEX skills_skill_source_id_cdf12b41 ON public.skills_skill USING btree (source_id);

CREATE INDEX skills_skill_workspace_id_d25d6db5 ON public.skills_skill USING btree (workspace_id);

CREATE INDEX skills_skilllisting_source_id_8ffbdf69 ON public.skills_skilllisting USING btree (source_id);

CREATE INDEX skills_skilllisting_workspace_id_f4f04c5a ON public.skills_skilllisting USING btree (workspace_id);

CREATE INDEX skills_skillrequest_decided_by_id_588eb353 ON public.skills_skillrequest USING btree (decided_by_id);

CREATE INDEX skills_skillrequest_requested_by_id_d5ecbf9b ON public.skills_skillrequest USING btree (requested_by_id);

CREATE INDEX skills_skillrequest_skill_id_6d037ba4 ON public.skills_skillrequest USING btree (skill_id);

CREATE INDEX skills_skillrequest_source_id_970a5e8e ON public.skills_skillrequest USING btree (source_id);

CREATE INDEX skills_skillrequest_workspace_id_6a0695c4 ON public.skills_skillrequest USING btree (workspace_id);

CREATE INDEX skills_skillrules_changed_by_id_e693e68e ON public.skills_skillrules USING btree (changed_by_id);

CREATE INDEX skills_skillrules_workspace_id_47a9da4c ON public.skills_skillrules USING btree (workspace_id);

CREATE INDEX skills_skillsource_added_by_id_79b136bb ON public.skills_skillsource USING btree (added_by_id);

CREATE INDEX skills_skillsource_credential_id_979d5a95 ON public.skills_skillsource USING btree (credential_id);

CREATE INDEX skills_skillsource_workspace_id_44a11f28 ON public.skills_skillsource USING btree (workspace_id);

CREATE INDEX spaces_bounddefinition_workspace_id_4fa1a6c6 ON public.spaces_bounddefinition USING btree (workspace_id);

CREATE INDEX spaces_conv_workspa_f0525b_idx ON public.spaces_conversation USING btree (workspace_id, space_id, last_message_at DESC);

CREATE INDEX spaces_conversation_agent_id_c4a19ae9 ON public.spaces_conversation USING btree (agent_id);

CREATE INDEX spaces_conversation_created_by_id_64ab12be ON public.spaces_conversation USING btree (created_by_id);

CREATE INDEX spaces_conversation_space_id_0c37eb89 ON public.spaces_conversation USING btree (space_id);

CREATE INDEX spaces_conversation_workspace_id_d3d192c1 ON public.spaces_conversation USING btree (workspace_id);

CREATE INDEX spaces_mention_message_id_83ac7136 ON public.spaces_mention USING btree (message_id);

CREATE INDEX spaces_mention_principal_id_e497649f ON public.spaces_mention USING btree (principal_id);

CREATE INDEX spaces_mention_workspace_id_784361aa ON public.spaces_mention USING btree (workspace_id);

CREATE INDEX spaces_message_author_id_d4203247 ON public.spaces_message USING btree (author_id);

CREATE INDEX spaces_message_conversation_id_ac976d1a ON public.spaces_message USING btree (conversation_id);

CREATE INDEX spaces_message_workspace_id_14fc3dd4 ON public.spaces_message USING btree (workspace_id);

CREATE INDEX spaces_participant_principal_id_c328f749 ON public.spaces_participant USING btree (principal_id);

CREATE INDEX spaces_participant_space_id_e07a3280 ON public.spaces_participant USING btree (space_id);

CREATE INDEX spaces_participant_workspace_id_c99a76d5 ON public.spaces_participant USING btree (workspace_id);

CREATE INDEX spaces_space_created_by_id_b84a6779 ON public.spaces_space USING btree (created_by_id);

CREATE INDEX spaces_space_workspace_id_6344259b ON public.spaces_space USING btree (workspace_id);

CREATE UNIQUE INDEX unique_authenticator_type ON public.mfa_authenticator USING btree (user_id, type) WHERE ((type)::text = ANY ((ARRAY['totp'::character varying, 'recovery_codes'::character varying])::text[]));

CREATE UNIQUE INDEX unique_primary_email ON public.account_emailaddress USING btree (user_id, "primary") WHERE "primary";

CREATE UNIQUE INDEX unique_verified_email ON public.account_emailaddress USING btree (email) WHERE verified;

CREATE UNIQUE INDEX user_email_any_case ON public.workspaces_user USING btree (lower((email)::text));

CREATE INDEX usersessions_usersession_session_key_fd35de43_like ON public.usersessions_usersession USING btree (session_key varchar_pattern_ops);

CREATE INDEX usersessions_usersession_user_id_af5e0a6d ON public.usersessions_usersession USING btree (user_id);

CREATE INDEX workspaces__workspa_f6c5d9_idx ON public.workspaces_auditentry USING btree (workspace_id, at DESC);

CREATE INDEX workspaces_apitoken_user_id_620bd5d5 ON public.workspaces_apitoken USING btree (user_id);

CREATE INDEX workspaces_apitoken_workspace_id_8589bb5e ON public.workspaces_apitoken USING btree (workspace_id);

CREATE INDEX workspaces_auditentry_actor_id_90ff42d0 ON public.workspaces_auditentry USING btree (actor_id);

CREATE INDEX workspaces_auditentry_on_behalf_of_id_55fea10e ON public.workspaces_auditentry USING btree (on_behalf_of_id);

CREATE INDEX workspaces_auditentry_workspace_id_f85fa331 ON public.workspaces_auditentry USING btree (workspace_id);

CREATE INDEX workspaces_auditseal_workspace_id_950d82bf ON public.workspaces_auditseal USING btree (workspace_id);

CREATE INDEX workspaces_credential_created_by_id_a0ccb640 ON public.workspaces_credential USING btree (created_by_id);

CREATE INDEX workspaces_credential_workspace_id_fd0e172c ON public.workspaces_credential USING btree (workspace_id);

CREATE INDEX workspaces_invitation_invited_by_id_e6ce80bf ON public.workspaces_invitation USING btree (invited_by_id);

CREATE INDEX workspaces_invitation_workspace_id_5f5d7eee ON public.workspaces_invitation USING btree (workspace_id);

CREATE INDEX workspaces_membership_reports_to_id_7ee231d4 ON public.workspaces_membership USING btree (reports_to_id);

CREATE INDEX workspaces_membership_user_id_96a9ee37 ON public.workspaces_membership USING btree (user_id);

CREATE INDEX workspaces_membership_workspace_id_03c7ef39 ON public.workspaces_membership USING btree (workspace_id);

CREATE INDEX workspaces_modelconnection_credential_id_067647e7 ON public.workspaces_modelconnection USING btree (credential_id);

CREATE INDEX workspaces_modelconnection_workspace_id_bfd8fc7c ON public.workspaces_modelconnection USING btree (workspace_id);

CREATE INDEX workspaces_principal_workspace_id_3974d693 ON public.workspaces_principal USING btree (workspace_id);

CREATE INDEX workspaces_user_email_b817d139_like ON public.workspaces_user USING btree (email varchar_pattern_ops);

CREATE INDEX workspaces_workspace_created_by_id_3159a5c6 ON public.workspaces_workspace USING btree (created_by_id);

CREATE INDEX workspaces_workspace_slug_c37054a2_like ON public.workspaces_workspace USING btree (slug varchar_pattern_ops);

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_2c513194_fk_workspaces_user_id FOREIGN KEY (user_id) REFERENCES public.workspaces_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirm_email_address_id_5b7f8c58_fk_account_e FOREIGN KEY (email_address_id) REFERENCES public.account_emailaddress(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_accepteddefinition
    ADD CONSTRAINT agents_accepteddefin_workspace_id_472abf8e_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_accepteddefinition
    ADD CONSTRAINT agents_accepteddefinition_by_id_fence FOREIGN KEY (workspace_id, by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_agent
    ADD CONSTRAINT agents_agent_principal_id_fence FOREIGN KEY (workspace_id, principal_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_agent
    ADD CONSTRAINT agents_agent_reports_to_id_fence FOREIGN KEY (workspace_id, reports_to_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_agent
    ADD CONSTRAINT agents_agent_workspace_id_65b58924_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_agentskill
    ADD CONSTRAINT agents_agentskill_agent_id_fence FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents_agent(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_agentskill
    ADD CONSTRAINT agents_agentskill_workspace_id_d0ea6d67_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_definitionchange
    ADD CONSTRAINT agents_definitioncha_workspace_id_f32787fe_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_definitionchange
    ADD CONSTRAINT agents_definitionchange_by_id_fence FOREIGN KEY (workspace_id, by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_definitionchange
    ADD CONSTRAINT agents_definitionchange_owner_id_fence FOREIGN KEY (workspace_id, owner_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_definitionimport
    ADD CONSTRAINT agents_definitionimp_workspace_id_c8139f37_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_definitionimport
    ADD CONSTRAINT agents_definitionimport_by_id_fence FOREIGN KEY (workspace_id, by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.agents_librarysetting
    ADD CONSTRAINT agents_librarysettin_workspace_id_56e17c89_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_asked_by_id_fence FOREIGN KEY (workspace_id, asked_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_conversation_id_fence FOREIGN KEY (workspace_id, conversation_id) REFERENCES public.spaces_conversation(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_decided_by_id_fence FOREIGN KEY (workspace_id, decided_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_on_behalf_of_id_fence FOREIGN KEY (workspace_id, on_behalf_of_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_approval
    ADD CONSTRAINT guardrails_approval_workspace_id_36242c8e_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_approvalsettings
    ADD CONSTRAINT guardrails_approvals_workspace_id_81e36555_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_autonomy
    ADD CONSTRAINT guardrails_autonomy_agent_id_fence FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents_agent(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_autonomy
    ADD CONSTRAINT guardrails_autonomy_set_by_id_fence FOREIGN KEY (workspace_id, set_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_autonomy
    ADD CONSTRAINT guardrails_autonomy_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_autonomy
    ADD CONSTRAINT guardrails_autonomy_workspace_id_ae75ccdf_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_rule
    ADD CONSTRAINT guardrails_rule_agent_id_fence FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents_agent(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_rule
    ADD CONSTRAINT guardrails_rule_created_by_id_fence FOREIGN KEY (workspace_id, created_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_rule
    ADD CONSTRAINT guardrails_rule_revoked_by_id_fence FOREIGN KEY (workspace_id, revoked_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_rule
    ADD CONSTRAINT guardrails_rule_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.guardrails_rule
    ADD CONSTRAINT guardrails_rule_workspace_id_e81adf92_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_user_id_0c3a50c0_fk_workspaces_user_id FOREIGN KEY (user_id) REFERENCES public.workspaces_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT repositories_activer_workspace_id_96714114_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT repositories_activerepository_agent_id_fence FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents_agent(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT repositories_activerepository_chosen_by_id_fence FOREIGN KEY (workspace_id, chosen_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT repositories_activerepository_conversation_id_fence FOREIGN KEY (workspace_id, conversation_id) REFERENCES public.spaces_conversation(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_activerepository
    ADD CONSTRAINT repositories_activerepository_repository_id_fence FOREIGN KEY (workspace_id, repository_id) REFERENCES public.repositories_repository(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_checkout
    ADD CONSTRAINT repositories_checkou_workspace_id_673a56fc_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_checkout
    ADD CONSTRAINT repositories_checkout_conversation_id_fence FOREIGN KEY (workspace_id, conversation_id) REFERENCES public.spaces_conversation(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_checkout
    ADD CONSTRAINT repositories_checkout_repository_id_fence FOREIGN KEY (workspace_id, repository_id) REFERENCES public.repositories_repository(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushreq_workspace_id_8df7b9a5_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushrequest_agent_id_fence FOREIGN KEY (workspace_id, agent_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushrequest_approval_id_fence FOREIGN KEY (workspace_id, approval_id) REFERENCES public.guardrails_approval(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushrequest_conversation_id_fence FOREIGN KEY (workspace_id, conversation_id) REFERENCES public.spaces_conversation(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushrequest_repository_id_fence FOREIGN KEY (workspace_id, repository_id) REFERENCES public.repositories_repository(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_pushrequest
    ADD CONSTRAINT repositories_pushrequest_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_repository
    ADD CONSTRAINT repositories_reposit_workspace_id_5e106ffe_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_repository
    ADD CONSTRAINT repositories_repository_added_by_id_fence FOREIGN KEY (workspace_id, added_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_repository
    ADD CONSTRAINT repositories_repository_credential_id_fence FOREIGN KEY (workspace_id, credential_id) REFERENCES public.workspaces_credential(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_skillacceptance
    ADD CONSTRAINT repositories_skillac_workspace_id_40e2a0ac_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_skillacceptance
    ADD CONSTRAINT repositories_skillacceptance_accepted_by_id_fence FOREIGN KEY (workspace_id, accepted_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_skillacceptance
    ADD CONSTRAINT repositories_skillacceptance_repository_id_fence FOREIGN KEY (workspace_id, repository_id) REFERENCES public.repositories_repository(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_skillscan
    ADD CONSTRAINT repositories_skillsc_workspace_id_e62c6260_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_skillscan
    ADD CONSTRAINT repositories_skillscan_repository_id_fence FOREIGN KEY (workspace_id, repository_id) REFERENCES public.repositories_repository(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_skillverdict
    ADD CONSTRAINT repositories_skillve_workspace_id_9c47d40e_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_spacerepository
    ADD CONSTRAINT repositories_spacere_workspace_id_3418aecf_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_spacerepository
    ADD CONSTRAINT repositories_spacerepository_repository_id_fence FOREIGN KEY (workspace_id, repository_id) REFERENCES public.repositories_repository(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.repositories_spacerepository
    ADD CONSTRAINT repositories_spacerepository_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_agent_id_fence FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents_agent(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_conversation_id_fence FOREIGN KEY (workspace_id, conversation_id) REFERENCES public.spaces_conversation(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_message_id_fence FOREIGN KEY (workspace_id, message_id) REFERENCES public.spaces_message(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_parent_id_fence FOREIGN KEY (workspace_id, parent_id) REFERENCES public.runs_run(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_requested_by_id_fence FOREIGN KEY (workspace_id, requested_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_stop_requested_by_id_fence FOREIGN KEY (workspace_id, stop_requested_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_run
    ADD CONSTRAINT runs_run_workspace_id_c1222b68_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_runcursor
    ADD CONSTRAINT runs_runcursor_run_id_fence FOREIGN KEY (workspace_id, run_id) REFERENCES public.runs_run(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_runcursor
    ADD CONSTRAINT runs_runcursor_workspace_id_2156c3ba_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_runevent
    ADD CONSTRAINT runs_runevent_run_id_fence FOREIGN KEY (workspace_id, run_id) REFERENCES public.runs_run(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_runevent
    ADD CONSTRAINT runs_runevent_workspace_id_c63d91c4_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_subagent
    ADD CONSTRAINT runs_subagent_parent_id_fence FOREIGN KEY (workspace_id, parent_id) REFERENCES public.runs_run(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_subagent
    ADD CONSTRAINT runs_subagent_run_id_fence FOREIGN KEY (workspace_id, run_id) REFERENCES public.runs_run(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.runs_subagent
    ADD CONSTRAINT runs_subagent_workspace_id_9688b4ce_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skill
    ADD CONSTRAINT skills_skill_accepted_by_id_fence FOREIGN KEY (workspace_id, accepted_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skill
    ADD CONSTRAINT skills_skill_source_id_fence FOREIGN KEY (workspace_id, source_id) REFERENCES public.skills_skillsource(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skill
    ADD CONSTRAINT skills_skill_workspace_id_d25d6db5_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skilllisting
    ADD CONSTRAINT skills_skilllisting_source_id_fence FOREIGN KEY (workspace_id, source_id) REFERENCES public.skills_skillsource(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skilllisting
    ADD CONSTRAINT skills_skilllisting_workspace_id_f4f04c5a_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillrequest
    ADD CONSTRAINT skills_skillrequest_decided_by_id_fence FOREIGN KEY (workspace_id, decided_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillrequest
    ADD CONSTRAINT skills_skillrequest_requested_by_id_fence FOREIGN KEY (workspace_id, requested_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillrequest
    ADD CONSTRAINT skills_skillrequest_skill_id_fence FOREIGN KEY (workspace_id, skill_id) REFERENCES public.skills_skill(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillrequest
    ADD CONSTRAINT skills_skillrequest_source_id_fence FOREIGN KEY (workspace_id, source_id) REFERENCES public.skills_skillsource(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillrequest
    ADD CONSTRAINT skills_skillrequest_workspace_id_6a0695c4_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillrules
    ADD CONSTRAINT skills_skillrules_changed_by_id_fence FOREIGN KEY (workspace_id, changed_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillrules
    ADD CONSTRAINT skills_skillrules_workspace_id_47a9da4c_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillsource
    ADD CONSTRAINT skills_skillsource_added_by_id_fence FOREIGN KEY (workspace_id, added_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillsource
    ADD CONSTRAINT skills_skillsource_credential_id_fence FOREIGN KEY (workspace_id, credential_id) REFERENCES public.workspaces_credential(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.skills_skillsource
    ADD CONSTRAINT skills_skillsource_workspace_id_44a11f28_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_bounddefinition
    ADD CONSTRAINT spaces_bounddefiniti_workspace_id_4fa1a6c6_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_bounddefinition
    ADD CONSTRAINT spaces_bounddefinition_conversation_id_fence FOREIGN KEY (workspace_id, conversation_id) REFERENCES public.spaces_conversation(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_conversation
    ADD CONSTRAINT spaces_conversation_agent_id_fence FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents_agent(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_conversation
    ADD CONSTRAINT spaces_conversation_created_by_id_fence FOREIGN KEY (workspace_id, created_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_conversation
    ADD CONSTRAINT spaces_conversation_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_conversation
    ADD CONSTRAINT spaces_conversation_workspace_id_d3d192c1_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_mention
    ADD CONSTRAINT spaces_mention_message_id_fence FOREIGN KEY (workspace_id, message_id) REFERENCES public.spaces_message(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_mention
    ADD CONSTRAINT spaces_mention_principal_id_fence FOREIGN KEY (workspace_id, principal_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_mention
    ADD CONSTRAINT spaces_mention_workspace_id_784361aa_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT spaces_message_author_id_fence FOREIGN KEY (workspace_id, author_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT spaces_message_conversation_id_fence FOREIGN KEY (workspace_id, conversation_id) REFERENCES public.spaces_conversation(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT spaces_message_run_id_fence FOREIGN KEY (workspace_id, run_id) REFERENCES public.runs_run(workspace_id, id) ON DELETE SET NULL (run_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_message
    ADD CONSTRAINT spaces_message_workspace_id_14fc3dd4_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_participant
    ADD CONSTRAINT spaces_participant_principal_id_fence FOREIGN KEY (workspace_id, principal_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_participant
    ADD CONSTRAINT spaces_participant_space_id_fence FOREIGN KEY (workspace_id, space_id) REFERENCES public.spaces_space(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_participant
    ADD CONSTRAINT spaces_participant_workspace_id_c99a76d5_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_space
    ADD CONSTRAINT spaces_space_created_by_id_fence FOREIGN KEY (workspace_id, created_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.spaces_space
    ADD CONSTRAINT spaces_space_workspace_id_6344259b_fk_workspaces_workspace_id FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_user_id_af5e0a6d_fk_workspaces_user_id FOREIGN KEY (user_id) REFERENCES public.workspaces_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_apitoken
    ADD CONSTRAINT workspaces_apitoken_user_id_620bd5d5_fk_workspaces_user_id FOREIGN KEY (user_id) REFERENCES public.workspaces_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_apitoken
    ADD CONSTRAINT workspaces_apitoken_workspace_id_8589bb5e_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_auditentry
    ADD CONSTRAINT workspaces_auditentr_workspace_id_f85fa331_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_auditentry
    ADD CONSTRAINT workspaces_auditentry_actor_id_fence FOREIGN KEY (workspace_id, actor_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_auditentry
    ADD CONSTRAINT workspaces_auditentry_on_behalf_of_id_fence FOREIGN KEY (workspace_id, on_behalf_of_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_auditseal
    ADD CONSTRAINT workspaces_auditseal_workspace_id_950d82bf_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_credential
    ADD CONSTRAINT workspaces_credentia_workspace_id_fd0e172c_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_credential
    ADD CONSTRAINT workspaces_credential_created_by_id_fence FOREIGN KEY (workspace_id, created_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_invitation
    ADD CONSTRAINT workspaces_invitatio_workspace_id_5f5d7eee_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_invitation
    ADD CONSTRAINT workspaces_invitation_invited_by_id_fence FOREIGN KEY (workspace_id, invited_by_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT workspaces_membershi_workspace_id_03c7ef39_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT workspaces_membership_principal_id_fence FOREIGN KEY (workspace_id, principal_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT workspaces_membership_reports_to_id_fence FOREIGN KEY (workspace_id, reports_to_id) REFERENCES public.workspaces_principal(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_membership
    ADD CONSTRAINT workspaces_membership_user_id_96a9ee37_fk_workspaces_user_id FOREIGN KEY (user_id) REFERENCES public.workspaces_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_modelconnection
    ADD CONSTRAINT workspaces_modelconn_workspace_id_bfd8fc7c_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_modelconnection
    ADD CONSTRAINT workspaces_modelconnection_credential_id_fence FOREIGN KEY (workspace_id, credential_id) REFERENCES public.workspaces_credential(workspace_id, id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_principal
    ADD CONSTRAINT workspaces_principal_workspace_id_3974d693_fk_workspace FOREIGN KEY (workspace_id) REFERENCES public.workspaces_workspace(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.workspaces_workspace
    ADD CONSTRAINT workspaces_workspace_created_by_id_3159a5c6_fk_workspace FOREIGN KEY (created_by_id) REFERENCES public.workspaces_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE public.agents_accepteddefinition ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents_agent ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents_agentskill ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents_definitionchange ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents_definitionimport ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents_librarysetting ENABLE ROW LEVEL SECURITY;

CREATE POLICY everything ON public.agents_accepteddefinition TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.agents_agent TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.agents_agentskill TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.agents_definitionchange TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.agents_definitionimport TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.agents_librarysetting TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.guardrails_approval TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.guardrails_approvalsettings TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.guardrails_autonomy TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.guardrails_rule TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_activerepository TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_checkout TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_pushrequest TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_repository TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_skillacceptance TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_skillscan TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_skillverdict TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.repositories_spacerepository TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.runs_run TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.runs_runcursor TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.runs_runevent TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.runs_subagent TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.skills_skill TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.skills_skilllisting TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.skills_skillrequest TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.skills_skillrules TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.skills_skillsource TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.spaces_bounddefinition TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.spaces_conversation TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.spaces_mention TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.spaces_message TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.spaces_participant TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.spaces_space TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_apitoken TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_auditentry TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_auditseal TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_credential TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_invitation TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_membership TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_modelconnection TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_principal TO cc_owner, cc_system USING (true) WITH CHECK (true);

CREATE POLICY everything ON public.workspaces_workspace TO cc_owner, cc_system USING (true) WITH CHECK (true);

ALTER TABLE public.guardrails_approval ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.guardrails_approvalsettings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.guardrails_autonomy ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.guardrails_rule ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON public.workspaces_apitoken FOR SELECT TO cc_app USING ((user_id = (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid));

CREATE POLICY own ON public.workspaces_membership FOR SELECT TO cc_app USING ((user_id = (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid));

CREATE POLICY own ON public.workspaces_workspace FOR SELECT TO cc_app USING ((id IN ( SELECT workspaces_membership.workspace_id
   FROM public.workspaces_membership
  WHERE ((workspaces_membership.user_id = (NULLIF(current_setting('app.user_id'::text, true), ''::text))::uuid) AND workspaces_membership.is_active))));

ALTER TABLE public.repositories_activerepository ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repositories_checkout ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repositories_pushrequest ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repositories_repository ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repositories_skillacceptance ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repositories_skillscan ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repositories_skillverdict ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.repositories_spacerepository ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_run ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_runcursor ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_runevent ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.runs_subagent ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.skills_skill ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.skills_skilllisting ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.skills_skillrequest ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.skills_skillrules ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.skills_skillsource ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spaces_bounddefinition ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spaces_conversation ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spaces_mention ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spaces_message ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spaces_participant ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spaces_space ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant ON public.agents_accepteddefinition TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.agents_agent TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.agents_agentskill TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.agents_definitionchange TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.agents_definitionimport TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.agents_librarysetting TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.guardrails_approval TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.guardrails_approvalsettings TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.guardrails_autonomy TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.guardrails_rule TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_activerepository TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_checkout TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_pushrequest TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_repository TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_skillacceptance TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_skillscan TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_skillverdict TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.repositories_spacerepository TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.runs_run TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.runs_runcursor TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.runs_runevent TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.runs_subagent TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.skills_skill TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.skills_skilllisting TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.skills_skillrequest TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.skills_skillrules TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.skills_skillsource TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.spaces_bounddefinition TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.spaces_conversation TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.spaces_mention TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.spaces_message TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.spaces_participant TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.spaces_space TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_apitoken TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_auditentry TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_auditseal TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_credential TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_invitation TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_membership TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_modelconnection TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_principal TO cc_app USING ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((workspace_id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

CREATE POLICY tenant ON public.workspaces_workspace TO cc_app USING ((id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[]))) WITH CHECK ((id = ANY ((string_to_array(NULLIF(current_setting('app.workspaces'::text, true), ''::text), ','::text))::uuid[])));

ALTER TABLE public.workspaces_apitoken ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_auditentry ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_auditseal ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_credential ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_invitation ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_membership ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_modelconnection ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_principal ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.workspaces_workspace ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA public TO cc_app;
GRANT USAGE ON SCHEMA public TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_emailaddress TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_emailaddress TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.account_emailaddress_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.account_emailaddress_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_emailconfirmation TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_emailconfirmation TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.account_emailconfirmation_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.account_emailconfirmation_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_accepteddefinition TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_accepteddefinition TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_agent TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_agent TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_agentskill TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_agentskill TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_definitionchange TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_definitionchange TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_definitionimport TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_definitionimport TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_librarysetting TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents_librarysetting TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_group TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_group TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.auth_group_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.auth_group_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_group_permissions TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_group_permissions TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.auth_group_permissions_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.auth_group_permissions_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_permission TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.auth_permission TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.auth_permission_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.auth_permission_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.django_content_type TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.django_content_type TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.django_content_type_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.django_content_type_id_seq TO cc_system;

GRANT SELECT ON TABLE public.django_migrations TO cc_app;
GRANT SELECT ON TABLE public.django_migrations TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.django_migrations_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.django_migrations_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.django_session TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.django_session TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_approval TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_approval TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_approvalsettings TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_approvalsettings TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_autonomy TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_autonomy TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_rule TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.guardrails_rule TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mfa_authenticator TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mfa_authenticator TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.mfa_authenticator_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.mfa_authenticator_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_activerepository TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_activerepository TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_checkout TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_checkout TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_pushrequest TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_pushrequest TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_repository TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_repository TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_skillacceptance TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_skillacceptance TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_skillscan TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_skillscan TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_skillverdict TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_skillverdict TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_spacerepository TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.repositories_spacerepository TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_run TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_run TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_runcursor TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_runcursor TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_runevent TO cc_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.runs_runevent TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_subagent TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.runs_subagent TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skill TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skill TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skilllisting TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skilllisting TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skillrequest TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skillrequest TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skillrules TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skillrules TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skillsource TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills_skillsource TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_bounddefinition TO cc_system;
GRANT SELECT,INSERT,DELETE ON TABLE public.spaces_bounddefinition TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_conversation TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_conversation TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_mention TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_mention TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_message TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_message TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_participant TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_participant TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_space TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces_space TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usersessions_usersession TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usersessions_usersession TO cc_system;

GRANT SELECT,USAGE ON SEQUENCE public.usersessions_usersession_id_seq TO cc_app;
GRANT SELECT,USAGE ON SEQUENCE public.usersessions_usersession_id_seq TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_apitoken TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_apitoken TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_auditentry TO cc_system;
GRANT SELECT,INSERT ON TABLE public.workspaces_auditentry TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_auditseal TO cc_system;
GRANT SELECT,INSERT ON TABLE public.workspaces_auditseal TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_credential TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_credential TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_invitation TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_invitation TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_membership TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_membership TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_modelconnection TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_modelconnection TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_principal TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_principal TO cc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_user TO cc_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_user TO cc_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_workspace TO cc_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workspaces_workspace TO cc_app;

ALTER DEFAULT PRIVILEGES FOR ROLE cc_owner IN SCHEMA public GRANT SELECT,USAGE ON SEQUENCES TO cc_app;
ALTER DEFAULT PRIVILEGES FOR ROLE cc_owner IN SCHEMA public GRANT SELECT,USAGE ON SEQUENCES TO cc_system;

ALTER DEFAULT PRIVILEGES FOR ROLE cc_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES TO cc_app;
ALTER DEFAULT PRIVILEGES FOR ROLE cc_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES TO cc_system;

CREATE TABLE IF NOT EXISTS api_keys (
    key_id VARCHAR(32) NOT NULL,
    digest BYTEA NOT NULL,
    adapter VARCHAR(255) NOT NULL,
    user_id VARCHAR(255),
    role VARCHAR(255) NOT NULL,
    limits JSON NOT NULL,
    label VARCHAR(255) NOT NULL,
    sample BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (key_id)
);

CREATE TABLE IF NOT EXISTS audit_end (
    id INTEGER NOT NULL,
    number BIGINT NOT NULL,
    digest VARCHAR(64) NOT NULL,
    seal VARCHAR(64) NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE IF NOT EXISTS audit_entries (
    number BIGINT NOT NULL,
    at VARCHAR(40) NOT NULL,
    adapter VARCHAR(255) NOT NULL,
    key_id VARCHAR(64) NOT NULL,
    user_id VARCHAR(255),
    template_id VARCHAR(255) NOT NULL,
    outcome VARCHAR(64) NOT NULL,
    event TEXT NOT NULL,
    previous VARCHAR(64) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    PRIMARY KEY (number)
);

CREATE INDEX IF NOT EXISTS ix_audit_entries_at ON audit_entries (at);

CREATE TABLE IF NOT EXISTS conversations (
    key_id VARCHAR(64) NOT NULL,
    adapter VARCHAR(255) NOT NULL,
    user_id VARCHAR(255) NOT NULL,
    session_id VARCHAR(128) NOT NULL,
    context TEXT NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (key_id, adapter, user_id, session_id)
);

CREATE INDEX IF NOT EXISTS conversations_of_key ON conversations (key_id, updated_at);

CREATE INDEX IF NOT EXISTS ix_conversations_updated_at ON conversations (updated_at);

CREATE TABLE IF NOT EXISTS commit_events (
    id VARCHAR(32) NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    intent VARCHAR(255) NOT NULL,
    target TEXT,
    session_id VARCHAR(128) NOT NULL,
    event TEXT NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE,
    leased_by VARCHAR(32),
    attempts INTEGER NOT NULL,
    delivered_at TIMESTAMP WITH TIME ZONE,
    failure TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS ix_commit_events_at ON commit_events (at);

CREATE INDEX IF NOT EXISTS ix_commit_events_due_at ON commit_events (due_at);

CREATE TABLE IF NOT EXISTS proposals (
    proposal_id VARCHAR(32) NOT NULL,
    key_id VARCHAR(64) NOT NULL,
    adapter VARCHAR(255) NOT NULL,
    user_id VARCHAR(255) NOT NULL,
    session_id VARCHAR(128) NOT NULL,
    library VARCHAR(255) NOT NULL,
    template_id VARCHAR(255) NOT NULL,
    template_hash VARCHAR(64) NOT NULL,
    arguments TEXT NOT NULL,
    shown TEXT NOT NULL,
    intent VARCHAR(255) NOT NULL,
    target TEXT,
    detected VARCHAR(255),
    origin VARCHAR(16) NOT NULL,
    proposed_by VARCHAR(16) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    seal VARCHAR(64) NOT NULL,
    state VARCHAR(16) NOT NULL,
    state_at TIMESTAMP WITH TIME ZONE NOT NULL,
    owner VARCHAR(32),
    outcome VARCHAR(64) DEFAULT '' NOT NULL,
    PRIMARY KEY (proposal_id)
);

CREATE INDEX IF NOT EXISTS proposals_by_state ON proposals (state, expires_at);

CREATE INDEX IF NOT EXISTS proposals_of_key ON proposals (key_id, state, created_at);

CREATE TABLE IF NOT EXISTS guard_changes (
    id SERIAL NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    by VARCHAR(255) NOT NULL,
    guard VARCHAR(255) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    category VARCHAR(255) NOT NULL,
    text TEXT NOT NULL,
    number FLOAT,
    PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS ix_guard_changes_guard ON guard_changes (guard);

CREATE TABLE IF NOT EXISTS guard_counts (
    guard VARCHAR(255) NOT NULL,
    category VARCHAR(255) NOT NULL,
    method VARCHAR(32) NOT NULL,
    outcome VARCHAR(32) NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (guard, category, method, outcome)
);

CREATE TABLE IF NOT EXISTS guard_decisions (
    id SERIAL NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    guard VARCHAR(255) NOT NULL,
    turn VARCHAR(64) NOT NULL,
    question TEXT NOT NULL,
    verdict JSON NOT NULL,
    other JSON,
    PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS ix_guard_decisions_guard ON guard_decisions (guard);

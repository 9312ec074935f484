import { JournalError } from '../../error.js';
import type { Script } from '../script.js';
import { type Dialect, first, run } from './dialect.js';

type Statements = readonly string[];

/** One entry per schema version, applied in order. A published entry is never changed. */
export function migrations({
  kind,
  prefix: p,
}: Pick<Dialect, 'kind' | 'prefix'>): readonly Statements[] {
  const isSqlite = kind === 'sqlite';
  const int = isSqlite ? 'INTEGER' : 'BIGINT';
  const real = isSqlite ? 'REAL' : 'DOUBLE PRECISION';
  const serial = isSqlite
    ? 'INTEGER PRIMARY KEY'
    : 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY';
  const end = isSqlite ? ') STRICT' : ')';
  return [
    [
      `CREATE TABLE ${p}operations (
        seq ${serial},
        id TEXT NOT NULL UNIQUE,
        slot TEXT UNIQUE,
        account TEXT NOT NULL,
        tool TEXT NOT NULL,
        effect TEXT NOT NULL,
        identity_by TEXT NOT NULL,
        identity_value TEXT NOT NULL,
        args_hash TEXT NOT NULL,
        args TEXT NOT NULL,
        state TEXT NOT NULL,
        outcome TEXT,
        fence ${int} NOT NULL,
        owner TEXT,
        correlation_id TEXT NOT NULL,
        created_at ${int} NOT NULL,
        sending_at ${int},
        settled_at ${int},
        held_until ${int},
        answer TEXT,
        code TEXT,
        sends ${int} NOT NULL,
        rests_until ${int},
        steps TEXT NOT NULL,
        approval TEXT,
        approval_decision TEXT,
        approval_decided_at ${int},
        approval_expires_at ${int}
      ${end}`,
      // Partial: few operations are open, many are settled.
      `CREATE INDEX operations_open ON ${p}operations (state, owner)
        WHERE settled_at IS NULL`,
      `CREATE INDEX operations_settled ON ${p}operations (settled_at) WHERE settled_at IS NOT NULL`,
      `CREATE INDEX operations_holders ON ${p}operations (account, tool) WHERE slot IS NOT NULL`,
      `CREATE TABLE ${p}owners (
        id TEXT PRIMARY KEY,
        host TEXT NOT NULL,
        pid ${int} NOT NULL,
        started_at TEXT NOT NULL,
        tools TEXT NOT NULL,
        lease_until ${int} NOT NULL
      ${end}`,
      `CREATE TABLE ${p}hits (
        name TEXT NOT NULL,
        at ${int} NOT NULL,
        expires_at ${int} NOT NULL,
        operation_id TEXT NOT NULL,
        send ${int} NOT NULL
      ${end}`,
      `CREATE INDEX hits_by_name ON ${p}hits (name, at)`,
      `CREATE INDEX hits_by_operation ON ${p}hits (operation_id, send)`,
      `CREATE TABLE ${p}audit (
        seq ${int} PRIMARY KEY,
        at ${int} NOT NULL,
        kind TEXT NOT NULL,
        operation_id TEXT,
        tool TEXT,
        account TEXT,
        actor TEXT NOT NULL,
        detail TEXT NOT NULL,
        prev TEXT NOT NULL,
        hash TEXT NOT NULL
      ${end}`,
      `CREATE TABLE ${p}notices (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        operation_id TEXT NOT NULL,
        at ${int} NOT NULL,
        tries ${int} NOT NULL,
        due_at ${int}
      ${end}`,
      `CREATE TABLE ${p}calls (
        seq ${serial},
        correlation_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        account TEXT,
        code TEXT NOT NULL,
        at ${int} NOT NULL,
        elapsed_ms ${real} NOT NULL,
        attempts ${int} NOT NULL,
        operation_id TEXT
      ${end}`,
      `CREATE INDEX calls_by_time ON ${p}calls (at)`,
      `CREATE TABLE ${p}meta (key TEXT PRIMARY KEY, value TEXT NOT NULL${end}`,
      ...(isSqlite ? [] : onlyPostgres(p)),
    ],
    [`ALTER TABLE ${p}calls ADD COLUMN waited_ms ${real} NOT NULL DEFAULT 0`],
    [
      `ALTER TABLE ${p}operations ADD COLUMN given_key TEXT`,
      `ALTER TABLE ${p}operations ADD COLUMN other_slot TEXT`,
      `ALTER TABLE ${p}operations ADD COLUMN other_until ${int}`,
      // Partial: few operations have one.
      `CREATE UNIQUE INDEX operations_other_slot ON ${p}operations (other_slot)
        WHERE other_slot IS NOT NULL`,
    ],
    [
      `ALTER TABLE ${p}operations ADD COLUMN content_slot TEXT`,
      `ALTER TABLE ${p}operations ADD COLUMN edited_slot TEXT`,
      `ALTER TABLE ${p}operations ADD COLUMN content_until ${int}`,
      `ALTER TABLE ${p}operations ADD COLUMN window_ms ${int}`,
      `ALTER TABLE ${p}operations ADD COLUMN delivered_at ${int}`,
      `CREATE INDEX operations_content ON ${p}operations (content_slot)
        WHERE content_slot IS NOT NULL`,
      // Operations whose dedup key another one took over; an inverse looks for them, too.
      `CREATE INDEX operations_moved ON ${p}operations (account, tool)
        WHERE slot IS NULL AND content_slot IS NOT NULL`,
      `CREATE INDEX operations_edited ON ${p}operations (edited_slot)
        WHERE edited_slot IS NOT NULL`,
      // The hash recipe. Operations of version 1 are rehashed when their account is resolved.
      `ALTER TABLE ${p}operations ADD COLUMN hash_version ${int} NOT NULL DEFAULT 2`,
      `UPDATE ${p}operations SET hash_version = 1`,
      `CREATE INDEX operations_old_hash ON ${p}operations (account) WHERE hash_version < 2`,
      // The owner's own time at its last heartbeat; NULL after deregistration.
      `ALTER TABLE ${p}owners ADD COLUMN beat_at ${int}`,
    ],
    [
      ...RENAMED_COLUMNS.map(
        ([from, to]) => `ALTER TABLE ${p}operations RENAME COLUMN ${from} TO ${to}`,
      ),
      // SQLite cannot rename an index.
      `DROP INDEX ${p}operations_other_slot`,
      `CREATE UNIQUE INDEX operations_secondary_dedup_key ON ${p}operations (secondary_dedup_key)
        WHERE secondary_dedup_key IS NOT NULL`,
      `ALTER TABLE ${p}notices RENAME TO notifications`,
    ],
    ...(isSqlite ? [] : [[...heapOnlySends(p), ...auditShards(p)]]),
    [
      `CREATE TABLE ${p}records (
        pack TEXT NOT NULL,
        kind TEXT NOT NULL,
        account TEXT NOT NULL,
        id TEXT NOT NULL,
        at ${int} NOT NULL,
        subject TEXT,
        state TEXT,
        data TEXT NOT NULL,
        expires_at ${int},
        version ${int} NOT NULL,
        PRIMARY KEY (pack, kind, account, id)
      ${end}`,
      `CREATE INDEX records_by_time ON ${p}records (pack, kind, account, at, id)`,
      `CREATE INDEX records_by_subject ON ${p}records (pack, kind, account, subject, at)
        WHERE subject IS NOT NULL`,
      `CREATE INDEX records_by_expiry ON ${p}records (expires_at) WHERE expires_at IS NOT NULL`,
    ],
    [
      ...['outcome', 'process', 'timeline', 'failure'].map(
        (column) => `ALTER TABLE ${p}calls ADD COLUMN ${column} TEXT`,
      ),
      `CREATE TABLE ${p}processes (
        id TEXT PRIMARY KEY,
        started_at ${int} NOT NULL,
        reported_at ${int} NOT NULL,
        ended_at ${int},
        info TEXT NOT NULL,
        state TEXT NOT NULL
      ${end}`,
    ],
    ...(isSqlite ? [] : [fewerStatements(p)]),
  ];
}

/** Version 5: the column names that the code uses. */
const RENAMED_COLUMNS = [
  ['slot', 'dedup_key'],
  ['identity_by', 'dedup_key_by'],
  ['identity_value', 'dedup_key_value'],
  ['other_slot', 'secondary_dedup_key'],
  ['other_until', 'secondary_until'],
  ['content_slot', 'content_dedup_key'],
  ['edited_slot', 'edited_dedup_key'],
  ['rests_until', 'not_before'],
] as const;

/** The store's clock as a function, and the head of the audit chain as a row that appends lock. */
function onlyPostgres(p: string): Statements {
  return [
    `CREATE FUNCTION ${p}now_ms() RETURNS BIGINT LANGUAGE sql VOLATILE
      AS 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'`,
    `CREATE TABLE ${p}audit_head (
      singleton BOOLEAN PRIMARY KEY CHECK (singleton),
      seq BIGINT NOT NULL,
      prev TEXT NOT NULL,
      hash TEXT NOT NULL
    )`,
    `INSERT INTO ${p}audit_head VALUES (true, 0, '', repeat('0', 64))`,
  ];
}

/**
 * Version 6 of PostgreSQL: `claimed → sending` changes no indexed column and finds free space in its page,
 * so it updates no index.
 */
function heapOnlySends(p: string): Statements {
  return [
    `DROP INDEX ${p}operations_open`,
    `CREATE INDEX operations_open ON ${p}operations (owner) WHERE settled_at IS NULL`,
    `ALTER TABLE ${p}operations SET (fillfactor = 70)`,
  ];
}

/** The number of transactions that can append to the audit at once, without waiting for each other. */
const SHARDS = 64;

/**
 * Version 6 of PostgreSQL: a transaction appends its audit rows to one of several chains, a shard that no
 * other transaction has locked. `linkAudit` moves the rows to the main chain. `audit_shards` has the end of
 * each shard, `audit_links` the last row of it that was moved.
 */
function auditShards(p: string): Statements {
  const columns = 'shard INTEGER PRIMARY KEY, seq BIGINT NOT NULL, hash TEXT NOT NULL';
  const empty = `SELECT n, 0, repeat('0', 64) FROM generate_series(0, ${SHARDS - 1}) AS n`;
  return [
    // Free space in its pages keeps the many updates of a shard away from the index.
    `CREATE TABLE ${p}audit_shards (${columns}) WITH (fillfactor = 10)`,
    `INSERT INTO ${p}audit_shards ${empty}`,
    `CREATE TABLE ${p}audit_links (${columns})`,
    `INSERT INTO ${p}audit_links ${empty}`,
    `CREATE TABLE ${p}audit_pending (
      shard INTEGER NOT NULL,
      seq BIGINT NOT NULL,
      prev TEXT NOT NULL,
      hash TEXT NOT NULL,
      at BIGINT NOT NULL,
      kind TEXT NOT NULL,
      operation_id TEXT,
      tool TEXT,
      account TEXT,
      actor TEXT NOT NULL,
      detail TEXT NOT NULL,
      place BIGINT GENERATED ALWAYS AS IDENTITY,
      PRIMARY KEY (shard, seq)
    )`,
    // `place` orders the rows of different shards: it is assigned while the shard is locked.
    `CREATE FUNCTION ${p}append_audit(
      front TEXT, middle TEXT, back TEXT, at BIGINT, kind TEXT, operation_id TEXT, tool TEXT, account TEXT, actor TEXT,
      detail TEXT
    ) RETURNS VOID LANGUAGE plpgsql AS $function$
    DECLARE
      own CONSTANT INTEGER := pg_backend_pid() % ${SHARDS};
      tip ${p}audit_shards;
      digest TEXT;
    BEGIN
      SELECT * INTO tip FROM ${p}audit_shards s WHERE s.shard = own FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        SELECT * INTO tip FROM ${p}audit_shards s ORDER BY s.shard LIMIT 1 FOR UPDATE SKIP LOCKED;
      END IF;
      IF NOT FOUND THEN
        SELECT * INTO tip FROM ${p}audit_shards s WHERE s.shard = own FOR UPDATE;
      END IF;
      digest := encode(sha256(convert_to(
        front || at || middle || '"' || tip.hash || '","seq":' || (tip.seq + 1) || back, 'UTF8')), 'hex');
      UPDATE ${p}audit_shards s SET seq = tip.seq + 1, hash = digest WHERE s.shard = tip.shard;
      INSERT INTO ${p}audit_pending
        VALUES (tip.shard, tip.seq + 1, tip.hash, digest, at, kind, operation_id, tool, account, actor, detail);
    END $function$`,
  ];
}

/**
 * Version 9 of PostgreSQL: an audit row is appended by one statement, to the shard that its session has
 * reserved in `toolkeel.shard` or to one that is free; and a claim is one statement.
 */
function fewerStatements(p: string): Statements {
  return [
    // The hash that the last row of the shard continues: `UPDATE … RETURNING` sees only new values.
    `ALTER TABLE ${p}audit_shards ADD COLUMN prev TEXT NOT NULL DEFAULT ''`,
    `CREATE OR REPLACE FUNCTION ${p}append_audit(
      front TEXT, middle TEXT, back TEXT, at BIGINT, kind TEXT, operation_id TEXT, tool TEXT, account TEXT, actor TEXT,
      detail TEXT
    ) RETURNS VOID LANGUAGE plpgsql AS $function$
    DECLARE
      own INTEGER := NULLIF(current_setting('toolkeel.shard', true), '')::integer;
    BEGIN
      IF own IS NULL THEN
        SELECT s.shard INTO own
          FROM (SELECT (pg_backend_pid() + n) % ${SHARDS} AS shard FROM generate_series(0, ${SHARDS - 1}) AS n OFFSET 0) s
          WHERE pg_try_advisory_xact_lock('${p}audit_shards'::regclass::oid::integer, s.shard) LIMIT 1;
      END IF;
      IF own IS NULL THEN
        own := pg_backend_pid() % ${SHARDS};
      END IF;
      WITH tip AS (
        UPDATE ${p}audit_shards s SET seq = s.seq + 1, prev = s.hash, hash = encode(sha256(convert_to(
          front || at || middle || '"' || s.hash || '","seq":' || (s.seq + 1) || back, 'UTF8')), 'hex')
        WHERE s.shard = own RETURNING s.seq, s.prev, s.hash
      )
      INSERT INTO ${p}audit_pending
        SELECT own, tip.seq, tip.prev, tip.hash, at, kind, operation_id, tool, account, actor, detail FROM tip;
    END $function$`,
    // The lock precedes the queries, which therefore see all operations of earlier holders of the lock. Each
    // condition on the arguments is a statement of its own: inside of a query it would make a new plan per call.
    `CREATE FUNCTION ${p}may_claim(claimant TEXT, own_key TEXT, other_key TEXT, content TEXT, content_lock BIGINT)
    RETURNS BOOLEAN LANGUAGE plpgsql AS $function$
    BEGIN
      IF content IS NOT NULL AND NOT pg_try_advisory_xact_lock(content_lock) THEN
        RETURN false;
      END IF;
      IF other_key IS NOT NULL THEN
        IF EXISTS (SELECT 1 FROM ${p}operations WHERE dedup_key = other_key) THEN
          RETURN false;
        END IF;
      END IF;
      IF content IS NULL THEN
        RETURN NOT EXISTS (SELECT 1 FROM ${p}operations WHERE secondary_dedup_key = own_key)
          AND EXISTS (SELECT 1 FROM ${p}owners WHERE id = claimant AND lease_until > ${p}now_ms());
      END IF;
      IF own_key <> content THEN
        IF EXISTS (SELECT 1 FROM ${p}operations WHERE secondary_dedup_key = own_key)
          OR EXISTS (SELECT 1 FROM ${p}operations WHERE dedup_key = content) THEN
          RETURN false;
        END IF;
      END IF;
      RETURN NOT EXISTS (SELECT 1 FROM ${p}operations WHERE secondary_dedup_key = content)
        AND NOT EXISTS (SELECT 1 FROM ${p}operations
          WHERE content_dedup_key = content AND (content_until IS NULL OR content_until > ${p}now_ms()))
        AND NOT EXISTS (SELECT 1 FROM ${p}operations
          WHERE edited_dedup_key = content AND (content_until IS NULL OR content_until > ${p}now_ms()))
        AND EXISTS (SELECT 1 FROM ${p}owners WHERE id = claimant AND lease_until > ${p}now_ms());
    END $function$`,
  ];
}

/** Runs inside one exclusive transaction. `where` names the database in messages. */
export function* migrate(dialect: Dialect, where: string): Script<void> {
  const table = `${dialect.prefix}schema_version`;
  yield* run(`CREATE TABLE IF NOT EXISTS ${table} (version INTEGER NOT NULL)`);
  const found = yield* first(`SELECT version FROM ${table}`);
  const versions = migrations(dialect);
  const version = (found?.['version'] as number | undefined) ?? 0;
  refuseNewer(version, versions.length, where);
  for (const statement of versions.slice(version).flat()) yield* run(statement);
  if (found === undefined) yield* run(`INSERT INTO ${table} VALUES (${versions.length})`);
  else if (version < versions.length)
    yield* run(`UPDATE ${table} SET version = ${versions.length}`);
}

/** Whether no migration is needed. Checked first, because it needs neither a lock nor DDL privileges. */
export function* isCurrent(dialect: Dialect, where: string): Script<boolean> {
  const row = yield* first(`SELECT version FROM ${dialect.prefix}schema_version`);
  if (row === undefined) throw withoutVersion(where);
  const version = row['version'] as number;
  const known = migrations(dialect).length;
  refuseNewer(version, known, where);
  return version === known;
}

/** Checks the version while the store is open. A missing version is reported when it is next opened. */
export function* refuseIfNewer(dialect: Dialect, where: string): Script<void> {
  const row = yield* first(`SELECT version FROM ${dialect.prefix}schema_version`);
  const version = (row?.['version'] as number | undefined) ?? 0;
  refuseNewer(version, migrations(dialect).length, where);
}

function withoutVersion(where: string): JournalError {
  return new JournalError(
    'corrupt',
    `The journal in ${where} is damaged: its schema version is missing. Restore a backup, or set ` +
      'another journal.url. An empty journal has no record of earlier operations and may repeat them.',
  );
}

function refuseNewer(version: number, known: number, where: string): void {
  if (version <= known) return;
  throw new JournalError(
    'schema',
    `The journal in ${where} has schema version ${version}, and this program knows versions up to ` +
      `${known}. It was opened by a newer program: run that one, or set another journal.url.`,
  );
}
